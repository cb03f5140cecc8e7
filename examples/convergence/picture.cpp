// SPDX-License-Identifier: Apache-2.0
// Draws the lines of a family by gnuplot.
#include "picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/gnuplot.hpp"

namespace convergence {

std::string table(std::vector<line> const& lines) {
    std::vector<std::vector<std::string>> rows = {
        {"method", "theorem", "problem", "rounds", "runs", "run/bound", "rate", "verdict"}};
    for (auto const& l : lines) {
        auto const v = judge(l);
        rows.push_back({l.method, l.theorem, l.problem, std::to_string(l.bound.size() - 1), std::to_string(l.runs),
                        fmt::format("{:.4f}", v.worst), fmt::format("{:.3f}", v.tightness),
                        v.holds ? "holds" : fmt::format("BROKEN in round {}", v.broken_at)});
    }
    std::vector<std::size_t> widths(rows[0].size());
    for (auto const& row : rows)
        for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    std::string text;
    for (auto const& row : rows) {
        for (std::size_t c = 0; c + 1 < row.size(); ++c)
            text += c < 3 ? fmt::format("{:<{}}  ", row[c], widths[c]) : fmt::format("{:>{}}  ", row[c], widths[c]);
        text += row.back() + "\n";
    }
    return text;
}

namespace {

// Those lines that are exact, or those that are not, in one panel; empty where there are none.
std::string panel(std::vector<line> const& lines, bool exact) {
    std::string blocks, curves;
    int i = 0;
    for (auto const& l : lines) {
        if (l.is_exact != exact) continue;
        std::size_t const rounds = l.bound.size() - 1, apart = std::max<std::size_t>(1, rounds / 100);
        std::size_t const marks = std::max<std::size_t>(1, rounds / apart / 20);
        std::string run, bound;
        for (std::size_t k = 0; k <= rounds; k += apart) {
            double const now = l.run.mean[k] / l.run.mean[0], says = l.bound[k] / l.bound[0];
            // What is below this is rounding, or nothing at all.
            if (now > 1e-24) run += fmt::format("{} {:.4g}\n", k, now);
            if (says > 1e-24 && (!exact || k / apart % marks == 0)) bound += fmt::format("{} {:.4g}\n", k, says);
        }
        blocks += fmt::format("$run{0} << END\n{1}END\n$bound{0} << END\n{2}END\n", i, run, bound);
        curves += fmt::format(
            "{0}$run{1} with lines linewidth {5} linecolor {2} title {3}, $bound{1} with {4} linecolor {2} notitle",
            i ? ", " : "plot ", i, i + 1, output::quoted(l.method),
            exact ? "points pointtype 6 pointsize 0.9"
                  : "linespoints linewidth 2 dashtype 2 pointtype 6 pointsize 0.9 pointinterval 10",
            std::max(1.5, 5 - 2.0 * i));  // a curve that another one covers shows beside it
        ++i;
    }
    if (i == 0) return "";
    return fmt::format("set title '{}'\n{}{}\n", exact ? "circles: exact" : "dashed: the bound", blocks, curves);
}

}  // namespace

bool draw(std::string const& folder, family const& of, std::vector<line> const& lines) {
    auto const exact = panel(lines, true), bounded = panel(lines, false);
    bool const both = !exact.empty() && !bounded.empty();
    auto const script = fmt::format(
        "set terminal svg size {},{} dynamic background rgb 'white' font 'sans,14'\nset encoding utf8\n"
        "set logscale y\nset format y '10^{{%T}}'\nset xlabel 'rounds' offset 0,0.4\nset ylabel 'bounded function / "
        "its start'\nset mytics 1\nset grid\n"
        "set key bmargin center vertical maxcols 1 samplen 2 noenhanced\n"
        "set multiplot layout 1,{} title {} noenhanced\n{}{}unset multiplot\n",
        both ? 1000 : 600, 400 + 16 * lines.size(), both ? 2 : 1, output::quoted(of.name + ": " + of.about), exact,
        bounded);
    return output::run_gnuplot(script, folder + "/" + of.name + ".svg");
}

}  // namespace convergence
