// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/gnuplot.hpp"
#include "common/output.hpp"

namespace race {
namespace {

std::string bits_text(double bits) {
    if (bits >= 1e9) return fmt::format("{:.2f} Gbit", bits / 1e9);
    if (bits >= 1e6) return fmt::format("{:.2f} Mbit", bits / 1e6);
    if (bits >= 1e3) return fmt::format("{:.1f} kbit", bits / 1e3);
    return fmt::format("{:.0f} bit", bits);
}

bool is_gd(std::string const& method) { return method.starts_with("gd") && !method.starts_with("gd_"); }
// Gradient descent whose messages have 16 bits a number.
bool is_in_16_bits(std::string const& method) {
    return method.starts_with("dcgd(bf16(random=yes)") || method.starts_with("dcgd(fp16(random=yes)");
}
// The bits that such a method needed for the target, 0 where none ran or got there.
double bits_of(std::vector<result> const& results, bool (*is_such)(std::string const&)) {
    for (auto const& r : results)
        if (is_such(r.method) && r.reached) return r.reached->bits_up;
    return 0;
}

// How many times more bits than r that was; nothing where one of them did not get there.
std::optional<double> ratio(double bits, result const& r) {
    if (!r.reached || bits == 0 || r.reached->bits_up == 0) return std::nullopt;
    return bits / r.reached->bits_up;
}
std::string ratio_text(double bits, result const& r) {
    auto const times = ratio(bits, r);
    return times ? fmt::format("{:.3g}x", *times) : "-";
}

std::string quoted(std::string const& text) {
    std::string result = "\"";
    for (char const c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
    return result + "\"";
}

}  // namespace

std::string table(setting const& on, std::vector<result> const& results) {
    std::vector<std::vector<std::string>> rows = {{"method", "rounds", "up/worker", "down/worker", on.measure,
                                                   fmt::format("up to {:g}", on.target), "vs gd", "seconds"}};
    double const gd = bits_of(results, is_gd), in_16_bits = bits_of(results, is_in_16_bits);
    bool const priced = on.costs_more_than_bits(), beside_16_bits = in_16_bits > 0;
    if (beside_16_bits) rows[0].insert(rows[0].end() - 1, "vs 16 bits");
    if (priced) rows[0].insert(rows[0].end() - 1, {"cost", fmt::format("cost to {:g}", on.target)});
    if (on.is_delayed) rows[0].insert(rows[0].end() - 1, {"on network", fmt::format("to {:g}", on.target)});
    for (auto const& r : results) {
        rows.push_back({r.method, std::to_string(r.rounds), bits_text(r.bits_up), bits_text(r.bits_down),
                        !r.failure.empty() ? "failed"
                        : r.diverged       ? "diverged"
                                           : fmt::format("{:.2e}", r.suboptimality),
                        r.reached ? bits_text(r.reached->bits_up) : "-", ratio_text(gd, r),
                        fmt::format("{:.1f}", r.seconds)});
        if (beside_16_bits) rows.back().insert(rows.back().end() - 1, ratio_text(in_16_bits, r));
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
        "round_reaching_target,bits_up_reaching_target,ratio_to_gd,ratio_to_16_bits,seconds,cost,cost_reaching_target,"
        "network_seconds,network_seconds_reaching_target\n";
    double const gd = bits_of(results, is_gd), in_16_bits = bits_of(results, is_in_16_bits);
    for (auto const& r : results) {
        text += fmt::format("{},{},{},{},{},{},{},", quoted(r.method), r.step, r.rounds, r.bits_up, r.bits_down,
                            r.suboptimality, r.gradient_norm);
        if (r.reached)
            text += fmt::format("{},{},", r.reached->round, r.reached->bits_up);
        else
            text += ",,";
        for (double const bits : {gd, in_16_bits}) {
            if (auto const times = ratio(bits, r)) text += fmt::format("{}", *times);
            text += ',';
        }
        text += fmt::format("{},{},{},", r.seconds, r.cost, r.reached ? fmt::format("{}", r.reached->cost) : "");
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

bool plot(std::string const& file, setting const& on, std::vector<result> const& results) {
    output::chart drawn{.title = fmt::format("{}, {}, {} workers, d = {}", on.data, on.objective, on.constants.workers,
                                             on.constants.dimension),
                        .x = on.is_delayed               ? "seconds on the network, " + on.network
                             : on.costs_more_than_bits() ? "cost of a worker's messages, " + to_string(on.cost)
                                                         : "bits sent per worker",
                        .y = on.measure,
                        .least_y = on.target / 10};
    for (auto const& r : results) {
        drawn.curves.push_back({r.method});
        for (auto const& m : r.trace)
            drawn.curves.back().points.emplace_back(on.is_delayed               ? m.clock
                                                    : on.costs_more_than_bits() ? m.cost
                                                                                : m.bits_up,
                                                    m.suboptimality);
    }
    return output::draw(file, {drawn});
}

}  // namespace race
