// SPDX-License-Identifier: Apache-2.0
#include "race_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "gnuplot.hpp"
#include "output.hpp"

namespace race {
namespace {

std::string bits_text(double bits) {
    if (bits >= 1e9) return fmt::format("{:.2f} Gbit", bits / 1e9);
    if (bits >= 1e6) return fmt::format("{:.2f} Mbit", bits / 1e6);
    if (bits >= 1e3) return fmt::format("{:.1f} kbit", bits / 1e3);
    return fmt::format("{:.0f} bit", bits);
}

// The bits that gradient descent needed for the target, 0 where it did not run or did not get there.
double bits_of_gd(std::vector<result> const& results) {
    for (auto const& r : results)
        if (r.method.starts_with("gd") && !r.method.starts_with("gd_") && r.reached) return r.reached->bits_up;
    return 0;
}

std::string ratio_text(result const& r, double gd) {
    return r.reached && gd > 0 && r.reached->bits_up > 0 ? fmt::format("{:.3g}x", gd / r.reached->bits_up) : "-";
}

std::string quoted(std::string const& text) {
    std::string result = "\"";
    for (char const c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
    return result + "\"";
}

std::string ending(std::string const& file) {
    auto const dot = file.rfind('.');
    return dot == std::string::npos ? "" : file.substr(dot + 1);
}

std::string terminal(std::string const& file) {
    if (ending(file) == "svg") return "svg size 800,500 dynamic background rgb 'white' font 'sans,14'";
    if (ending(file) == "png") return "pngcairo size 960,600 font 'sans,11'";
    if (ending(file) == "pdf") return "pdfcairo size 8,5 font 'sans,11'";
    return "";
}

// In gnuplot's single quotes only the quote itself is special, and the end of the line.
std::string gnuplot_quoted(std::string const& text) {
    std::string result = "'";
    for (char const c : printable(text)) result += c == '\'' ? std::string("''") : std::string(1, c);
    return result + "'";
}

/// Marks as they lie on logarithmic axes, and what the axes must hold.
struct drawing {
    std::string blocks, curves;
    double least_x = HUGE_VAL, most_x = 0, least_y = HUGE_VAL, most_y = 0;
};

drawing draw(setting const& on, std::vector<result> const& results) {
    drawing d;
    bool const priced = on.costs_more_than_bits();
    for (std::size_t i = 0; i < results.size(); ++i) {
        std::string points;
        int count = 0;
        // Marks that lie within a hair of the last one drawn are left out: the drawing stays small.
        double last_x = -1e9, last_y = -1e9;
        auto const& trace = results[i].trace;
        for (auto const& m : trace) {
            double const sent = on.is_delayed ? m.clock : priced ? m.cost : m.bits_up;
            double const x = std::log10(sent), y = std::log10(m.suboptimality);
            if (!std::isfinite(x) || !std::isfinite(y)) continue;
            if (std::abs(x - last_x) < 0.02 && std::abs(y - last_y) < 0.05 && &m != &trace.back()) continue;
            points += fmt::format("{} {}\n", sent, m.suboptimality);
            ++count;
            last_x = x;
            last_y = y;
            d.least_x = std::min(d.least_x, sent);
            d.most_x = std::max(d.most_x, sent);
            d.least_y = std::min(d.least_y, m.suboptimality);
            d.most_y = std::max(d.most_y, m.suboptimality);
        }
        auto const title = gnuplot_quoted(results[i].method + (count == 0 ? ", nowhere above 0" : ""));
        if (count > 0) d.blocks += fmt::format("$run{} << END\n{}END\n", i, points);
        d.curves +=
            fmt::format("{}{} with {} linewidth 2 title {}", i ? ", " : "plot ",
                        count > 0 ? fmt::format("$run{} using 1:2", i) : "NaN", count == 1 ? "points" : "lines", title);
    }
    return d;
}

}  // namespace

std::string printable(std::string const& text) {
    std::string result;
    auto const byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    for (std::size_t i = 0; i < text.size();) {
        unsigned const lead = byte(i);
        std::size_t const length = lead < 0x80   ? 1
                                   : lead < 0xc2 ? 0
                                   : lead < 0xe0 ? 2
                                   : lead < 0xf0 ? 3
                                   : lead < 0xf5 ? 4
                                                 : 0;
        bool fine = length > 0 && lead >= 0x20 && lead != 0x7f;
        for (std::size_t j = 1; j < length; ++j) fine = fine && (byte(i + j) & 0xc0) == 0x80;
        // Too long an encoding, a surrogate, or beyond U+10FFFF; and the control characters from U+0080 to U+009F.
        if ((lead == 0xe0 && byte(i + 1) < 0xa0) || (lead == 0xed && byte(i + 1) > 0x9f) ||
            (lead == 0xf0 && byte(i + 1) < 0x90) || (lead == 0xf4 && byte(i + 1) > 0x8f) ||
            (lead == 0xc2 && byte(i + 1) < 0xa0))
            fine = false;
        result += fine ? text.substr(i, length) : "?";
        i += fine ? length : 1;
    }
    return result;
}

std::string table(setting const& on, std::vector<result> const& results) {
    std::vector<std::vector<std::string>> rows = {{"method", "rounds", "up/worker", "down/worker", on.measure,
                                                   fmt::format("up to {:g}", on.target), "vs gd", "seconds"}};
    bool const priced = on.costs_more_than_bits();
    if (priced) rows[0].insert(rows[0].end() - 1, {"cost", fmt::format("cost to {:g}", on.target)});
    if (on.is_delayed) rows[0].insert(rows[0].end() - 1, {"on network", fmt::format("to {:g}", on.target)});
    double const gd = bits_of_gd(results);
    for (auto const& r : results) {
        rows.push_back({r.method, std::to_string(r.rounds), bits_text(r.bits_up), bits_text(r.bits_down),
                        r.diverged ? "diverged" : fmt::format("{:.2e}", r.suboptimality),
                        r.reached ? bits_text(r.reached->bits_up) : "-", ratio_text(r, gd),
                        fmt::format("{:.1f}", r.seconds)});
        if (priced)
            rows.back().insert(rows.back().end() - 1, {fmt::format("{:.4g}", r.cost),
                                                       r.reached ? fmt::format("{:.4g}", r.reached->cost) : "-"});
        if (on.is_delayed)
            rows.back().insert(rows.back().end() - 1, {fmt::format("{:.4g} s", r.clock),
                                                       r.reached ? fmt::format("{:.4g} s", r.reached->clock) : "-"});
    }
    std::vector<std::size_t> widths(rows[0].size());
    for (auto const& row : rows)
        for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    std::string text;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        for (std::size_t c = 0; c < rows[r].size(); ++c)
            text +=
                c == 0 ? fmt::format("{:<{}}", rows[r][c], widths[c]) : fmt::format("  {:>{}}", rows[r][c], widths[c]);
        text += '\n';
        if (r == 0) {
            for (std::size_t c = 0; c < widths.size(); ++c) text += (c ? "  " : "") + std::string(widths[c], '-');
            text += '\n';
        }
    }
    return text;
}

std::string csv(setting const& on, std::vector<result> const& results) {
    std::string text =
        "method,step,rounds,bits_up_per_worker,bits_down_per_worker,final_suboptimality,final_gradient_norm,"
        "round_reaching_target,bits_up_reaching_target,ratio_to_gd,seconds,cost,cost_reaching_target,network_seconds,"
        "network_seconds_reaching_target\n";
    double const gd = bits_of_gd(results);
    for (auto const& r : results) {
        text += fmt::format("{},{},{},{},{},{},{},", quoted(r.method), r.step, r.rounds, r.bits_up, r.bits_down,
                            r.suboptimality, r.gradient_norm);
        if (r.reached)
            text += fmt::format("{},{},", r.reached->round, r.reached->bits_up);
        else
            text += ",,";
        if (r.reached && gd > 0 && r.reached->bits_up > 0) text += fmt::format("{}", gd / r.reached->bits_up);
        text += fmt::format(",{},{},{},", r.seconds, r.cost, r.reached ? fmt::format("{}", r.reached->cost) : "");
        if (on.is_delayed) text += fmt::format("{}", r.clock);
        text += ',';
        if (on.is_delayed && r.reached) text += fmt::format("{}", r.reached->clock);
        text += '\n';
    }
    return text;
}

std::string json(setting const& on, std::vector<result> const& results) {
    nlohmann::ordered_json root, methods = nlohmann::ordered_json::array();
    root["problem"] = {{"data", on.data},
                       {"scaled", on.scaled},
                       {"objective", on.objective},
                       {"lambda", on.lambda},
                       {"measure", on.measure},
                       {"workers", on.constants.workers},
                       {"dimension", on.constants.dimension},
                       {"samples", on.samples},
                       {"cost", to_string(on.cost)},
                       {"network", on.network},
                       {"collective", nullptr},
                       {"f_star", on.f_star},
                       {"smoothness", on.constants.smoothness},
                       {"strong_convexity", on.constants.strong_convexity}};
    if (!on.collective.empty()) root["problem"]["collective"] = on.collective;
    for (auto const& r : results) {
        nlohmann::ordered_json trace = nlohmann::ordered_json::array(), method;
        for (auto const& m : r.trace) {
            trace.push_back({m.round, m.bits_up, m.suboptimality, m.cost});
            if (on.is_delayed) trace.back().push_back(m.clock);
        }
        method = {{"method", r.method},
                  {"step", r.step},
                  {"rounds", r.rounds},
                  {"bits_up_per_worker", r.bits_up},
                  {"bits_down_per_worker", r.bits_down},
                  {"final_suboptimality", r.suboptimality},
                  {"final_gradient_norm", r.gradient_norm},
                  {"round_reaching_target", nullptr},
                  {"bits_up_reaching_target", nullptr},
                  {"cost", r.cost},
                  {"cost_reaching_target", nullptr},
                  {"network_seconds", nullptr},
                  {"network_seconds_reaching_target", nullptr},
                  {"seconds", r.seconds},
                  {"interrupted", r.interrupted}};
        if (on.is_delayed) method["network_seconds"] = r.clock;
        if (r.reached) {
            method["round_reaching_target"] = r.reached->round;
            method["bits_up_reaching_target"] = r.reached->bits_up;
            method["cost_reaching_target"] = r.reached->cost;
            if (on.is_delayed) method["network_seconds_reaching_target"] = r.reached->clock;
        }
        method["trace"] = std::move(trace);
        methods.push_back(std::move(method));
    }
    root["methods"] = std::move(methods);
    return root.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

bool can_plot(std::string const& file) { return !terminal(file).empty(); }

bool plot(std::string const& file, setting const& on, std::vector<result> const& results) {
    auto const d = draw(on, results);
    auto ranges = fmt::format("set yrange [{}:*]\n", on.target / 10);
    if (d.most_x == 0)  // nothing to draw: gnuplot wants to know how large that is
        ranges = fmt::format("set xrange [1:10]\nset yrange [{}:{}]\n", on.target / 10, on.target);
    else if (d.most_y <= on.target / 10)
        ranges = fmt::format("set yrange [{}:{}]\n", d.least_y / 10, d.most_y * 10);
    if (d.least_x == d.most_x) ranges += fmt::format("set xrange [{}:{}]\n", d.least_x / 10, d.most_x * 10);
    auto const script = fmt::format(
        "set terminal {}\nset encoding utf8\nset logscale xy\nset format y '10^{{%T}}'\nset format x '10^{{%T}}'\n"
        "set xlabel {} noenhanced\nset ylabel {} noenhanced\nset grid\nset key left bottom noenhanced\n"
        "set title {} noenhanced\n{}{}{}\n",
        terminal(file),
        gnuplot_quoted(on.is_delayed               ? "seconds on the network, " + on.network
                       : on.costs_more_than_bits() ? "cost of a worker's messages, " + to_string(on.cost)
                                                   : "bits sent per worker"),
        gnuplot_quoted(on.measure),
        gnuplot_quoted(fmt::format("{}, {}, {} workers, d = {}", on.data, on.objective, on.constants.workers,
                                   on.constants.dimension)),
        ranges, d.blocks, d.curves);
    output::file drawn(file);  // gnuplot never gets its name
    try {
        if (!output::run_gnuplot(script, drawn.descriptor())) return false;
    } catch (laconic::error const& e) {
        throw laconic::error(std::string(e.what()) + "; " + file + " is not written");
    }
    drawn.commit();
    return true;
}

}  // namespace race
