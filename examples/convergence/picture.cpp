// SPDX-License-Identifier: Apache-2.0
#include "picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gnuplot.hpp"
#include "output.hpp"

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

bool draw(std::string const& folder, family const& of, std::vector<line> const& lines) {
    std::string blocks, curves;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        auto const& l = lines[i];
        std::size_t const rounds = l.bound.size() - 1, apart = std::max<std::size_t>(1, rounds / 150);
        std::string run, bound;
        for (std::size_t k = 0; k <= rounds; k += apart) {
            // What is below this is rounding, or nothing at all.
            double const now = l.run.mean[k] / l.run.mean[0], says = l.bound[k] / l.bound[0];
            if (now > 1e-24) run += fmt::format("{} {:.4g}\n", k, now);
            bool const is_mark = !l.is_exact || k / apart % std::max<std::size_t>(1, rounds / apart / 20) == 0;
            if (is_mark && says > 1e-24) bound += fmt::format("{} {:.4g}\n", k, says);
        }
        blocks += fmt::format("$run{} << END\n{}END\n$bound{} << END\n{}END\n", i, run, i, bound);
        curves += fmt::format(
            "{}$run{} with lines linewidth 2 linecolor {} title '{}', "
            "$bound{} with {} linecolor {} title '{}'",
            i ? ", " : "plot ", i, i + 1, l.method, i,
            l.is_exact ? "points pointtype 6 pointsize 0.7" : "lines linewidth 2 dashtype 2", i + 1,
            l.is_exact ? "  exact expectation" : "  bound");
    }
    auto const script = fmt::format(
        "set terminal svg size 800,{} dynamic background rgb 'white' font 'sans,14'\nset encoding utf8\n"
        "set logscale y\nset format y '10^{{%T}}'\nset xlabel 'rounds'\nset ylabel 'over its start'\nset grid\n"
        "set key outside below noenhanced\nset title '{}' noenhanced\n{}{}\n",
        420 + 24 * lines.size(), of.name + ": " + of.about, blocks, curves);
    output::file drawn(folder + "/" + of.name + ".svg");
    if (!output::run_gnuplot(script, drawn.descriptor())) return false;
    drawn.commit();
    return true;
}

}  // namespace convergence
