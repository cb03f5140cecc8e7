// SPDX-License-Identifier: Apache-2.0
#include "gnuplot.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>

#include "laconic/core/contract.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "output.hpp"

extern char** environ;  // not every system's <unistd.h> declares it

namespace output {
namespace {

using laconic::detail::concat;

// gnuplot's terminal for a file, where there are so many charts; empty for other endings.
std::string terminal(std::string const& file, std::size_t charts) {
    auto const dot = file.rfind('.');
    auto const ending = dot == std::string::npos ? "" : file.substr(dot + 1);
    auto const size = [&](int width, int height) { return concat({" size ", charts * width, ",", height}); };
    bool const many = charts > 1;  // whose keys lie below them
    if (ending == "svg") return "svg" + size(800, many ? 600 : 500) + " dynamic background rgb 'white' font 'sans,14'";
    if (ending == "png") return "pngcairo" + size(960, many ? 720 : 600) + " font 'sans,11'";
    if (ending == "pdf") return "pdfcairo" + size(8, many ? 6 : 5) + " font 'sans,11'";
    return "";
}

// What draws one chart; the names of its data begin with `prefix`.
std::string script_of(chart const& of, std::string const& prefix) {
    std::string blocks, lines;
    bool is_whole = true;  // all x are
    double least_x = HUGE_VAL, most_x = -HUGE_VAL, least_y = HUGE_VAL, most_y = -HUGE_VAL;
    for (std::size_t i = 0; i < of.curves.size(); ++i) {
        auto const& all = of.curves[i].points;
        std::string points;
        int count = 0;
        // Points that lie within a hair of the last one drawn are left out: the drawing stays small.
        double last_x = -1e9, last_y = -1e9;
        for (auto const& point : all) {
            auto const [x, y] = point;
            double const at_x = of.logarithmic ? std::log10(x) : x, at_y = of.logarithmic ? std::log10(y) : y;
            if (!std::isfinite(at_x) || !std::isfinite(at_y)) continue;
            bool const is_near = std::abs(at_x - last_x) < 0.02 && std::abs(at_y - last_y) < 0.05;
            if (of.logarithmic && is_near && &point != &all.back()) continue;
            points += concat({x, " ", y, "\n"});
            ++count;
            is_whole = is_whole && x == std::floor(x);
            last_x = at_x, last_y = at_y;
            least_x = std::min(least_x, x), most_x = std::max(most_x, x);
            least_y = std::min(least_y, y), most_y = std::max(most_y, y);
        }
        auto const data = concat({"$", prefix, i});
        if (count > 0) blocks += concat({data, " << END\n", points, "END\n"});
        auto const* const style = count == 1 ? "points" : of.logarithmic ? "lines" : "linespoints";
        auto const* const none = of.logarithmic ? ", nowhere above 0" : ", no points";
        auto const title = quoted(of.curves[i].name + (count == 0 ? none : ""));
        lines += concat({i ? ", " : "plot ", count > 0 ? data + " using 1:2" : "NaN", " with ", style,
                         " linewidth 2 title ", title});
    }
    if (lines.empty()) lines = "plot NaN notitle";
    auto const range = [](char axis, double least, double most) {
        return concat({"set ", axis, "range [", least, ":", most, "]\n"});
    };
    std::string ranges = "unset logscale\nset format\nset xtics autofreq\nset xrange [*:*]\nset yrange [*:*]\n";
    if (blocks.empty()) {  // gnuplot wants to know how large that is
        double const least = of.least_y > 0 ? of.least_y : 1;
        ranges += range('x', 1, 10) + range('y', least, 10 * least);
    } else if (of.logarithmic) {
        if (of.least_y > 0) ranges += concat({"set yrange [", of.least_y, ":*]\n"});
        if (most_y <= of.least_y || least_y == most_y) ranges += range('y', least_y / 10, most_y * 10);
        if (least_x == most_x) ranges += range('x', least_x / 10, most_x * 10);
    } else if (is_whole && most_x - least_x <= 10) {
        ranges += "set xtics 1\n";  // a few rounds
    }
    if (of.logarithmic) ranges += "set logscale xy\nset format '10^{%T}'\n";
    return concat({"set xlabel ", quoted(of.x), " noenhanced\nset ylabel ", quoted(of.y), " noenhanced\nset title ",
                   quoted(of.title), " noenhanced\n", ranges, blocks, lines, "\n"});
}

// False where gnuplot is not installed.
bool run_into(std::string_view script, int out) {
    int in[2];
    if (::pipe(in) != 0) throw laconic::error("gnuplot cannot be started: " + std::string(std::strerror(errno)));
    for (int const end : in) ::fcntl(end, F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t as_usual;  // what this program ignores, another need not
    sigemptyset(&as_usual);
    sigaddset(&as_usual, SIGPIPE);
    sigaddset(&as_usual, SIGXFSZ);  // else it ends as if it had written all
    posix_spawnattr_setsigdefault(&attributes, &as_usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    char name[] = "gnuplot", defaults[] = "-d";  // the user's own settings are left out
    char* arguments[] = {name, defaults, nullptr};
    pid_t child = 0;
    int const refused = ::posix_spawnp(&child, name, &files, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    ::close(in[0]);
    if (refused != 0) {
        ::close(in[1]);
        if (refused == ENOENT) return false;
        throw laconic::error("gnuplot cannot be started: " + std::string(std::strerror(refused)));
    }
    while (!script.empty()) {  // it may end before it has read all, which its status shows
        auto const written = ::write(in[1], script.data(), script.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) break;
        script.remove_prefix(static_cast<std::size_t>(written));
    }
    ::close(in[1]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!script.empty() || status != 0) throw laconic::error("gnuplot failed");
    return true;
}

}  // namespace

// In gnuplot's single quotes only the quote itself is special, and the end of the line.
std::string quoted(std::string const& text) {
    std::string result = "'";
    for (char const c : printable(text)) result += c == '\'' ? std::string("''") : std::string(1, c);
    return result + "'";
}

bool run_gnuplot(std::string_view script, std::string const& file) {
    output::file drawn(file);  // gnuplot never gets its name
    try {
        if (!run_into(script, drawn.descriptor())) return false;
    } catch (laconic::error const& e) {
        throw laconic::error(std::string(e.what()) + "; " + file + " is not written");
    }
    drawn.commit();
    return true;
}

bool can_draw(std::string const& file) { return !terminal(file, 1).empty(); }

bool draw(std::string const& file, std::vector<chart> const& charts) {
    LACONIC_EXPECTS(!charts.empty());
    bool const many = charts.size() > 1;
    auto script = concat({"set terminal ", terminal(file, charts.size()), "\nset encoding utf8\nset grid\nset key ",
                          many                    ? "bmargin center vertical maxcols 1 samplen 2"
                          : charts[0].logarithmic ? "left bottom"
                                                  : "right top",
                          " noenhanced\n", many ? "set xlabel offset 0,0.4\n" : ""});
    if (many) script += concat({"set multiplot layout 1,", charts.size(), "\n"});
    for (std::size_t i = 0; i < charts.size(); ++i) script += script_of(charts[i], concat({"of", i, "_"}));
    if (many) script += "unset multiplot\n";
    return run_gnuplot(script, file);
}

}  // namespace output
