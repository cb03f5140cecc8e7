// SPDX-License-Identifier: Apache-2.0
//
// Races methods against each other: several workers train one linear model, each method with its own messages, and what
// crosses between the workers is counted as it crosses.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "laconic/any/cost.hpp"
#include "laconic/core/version.hpp"
#include "race_data.hpp"
#include "race_report.hpp"
#include "race_run.hpp"

namespace {

struct options {
    std::string data = "fashion-mnist", objective = "logistic", cost = "bits", json, csv, plot;
    bool list = false, scale = false;
    double lambda = 0.1;
    int workers = 10, at_once = 0;
    std::vector<std::string> methods = {"gd",
                                        "qsgd(levels=4)",
                                        "ef_sgd(top_k(0.1), step=1/L)",
                                        "diana(rand_k(0.1))",
                                        "diana(rand_k(0.1) | natural)",
                                        "ef21(top_k(0.05), step=1/L)",
                                        "gd_sec(xi=100, beta=0.01)"};
    std::int64_t rounds = 2500, seed = 0;
    race::settings run{0, 0, 1e-6, 0, 0, {}};
    bool quiet = false;
};

/// Wrong input: one line, and exit status 2.
struct usage_error : laconic::error {
    using error::error;
};

void parse(CLI::App& app, options& o) {
    app.add_option("--data", o.data, "fashion-mnist, synthetic, or a LIBSVM file (plain, .gz, .xz)")
        ->capture_default_str();
    app.add_flag("--scale", o.scale, "divide each feature by its largest magnitude");
    app.add_option("--objective", o.objective, "logistic, ridge, lasso, softmax or nonconvex-logistic")
        ->check(CLI::IsMember(race::objectives()))
        ->capture_default_str();
    app.add_option("--lambda", o.lambda,
                   "weight of (lambda/2)|x|^2; of |x|_1 in lasso; of sum x^2/(1+x^2) in nonconvex-logistic")
        ->capture_default_str();
    app.add_option("--workers", o.workers, "how many workers share the rows, in contiguous equal parts")
        ->capture_default_str();
    app.add_option("--method", o.methods,
                   "a method as the C++ spells it, such as diana(rand_k(0.1)); may be given several times")
        ->take_all();
    app.add_option("--rounds", o.rounds, "at most so many rounds a method")->capture_default_str();
    app.add_option("--target", o.run.target, "a method stops where f - f* is at most this")->capture_default_str();
    app.add_option("--seconds", o.run.seconds, "a method stops after so many seconds (0: no limit)")
        ->capture_default_str();
    app.add_option("--seed", o.seed, "all randomness follows from it")->capture_default_str();
    app.add_option("--threads", o.at_once,
                   "how many workers compute at the same time (0: one per core; 1 is best where a round is short)")
        ->capture_default_str();
    app.add_option(
           "--cost", o.cost,
           "what a message costs, for cat(...) to adapt to and for the table: bits, affine:PER_BIT,PER_MESSAGE, "
           "packets:PAYLOAD,HEADER,FIXED in bytes, energy:PER_BIT,PER_PACKET,PAYLOAD,TO_WAKE in joules, or "
           "air_time:RATE,PREAMBLE,PAYLOAD,WAIT in seconds; any of them on a link that loses bits, "
           "'lossy(affine(1, 64), 0.001)'; or a cost for each way, 'two_way(UP, DOWN, answer=BITS, "
           "others=N)', where the table has what a worker sends and is handed, and cat expects a server's answer of "
           "BITS and N other messages like its own")
        ->capture_default_str();
    app.add_option("--json", o.json, "write everything, traces included, to FILE");
    app.add_option("--csv", o.csv, "write the table to FILE");
    app.add_option("--plot", o.plot, "draw f - f* against bits to FILE (.svg, .png, .pdf) with gnuplot");
    app.add_flag("--list", o.list, "print the methods, with their parameters, equation and reference");
    app.add_flag("--quiet", o.quiet, "print errors only");
    app.set_version_flag("--version", fmt::format("race (laconic {}.{}.{})", laconic::version_major,
                                                  laconic::version_minor, laconic::version_patch));
}

void check(options& o) {
    if (o.workers < 1) throw usage_error(fmt::format("--workers: {} workers; at least one is needed", o.workers));
    if (!(o.lambda >= 0 && std::isfinite(o.lambda)))
        throw usage_error(fmt::format("--lambda: {} is not at least 0", o.lambda));
    if (!(o.run.target > 0 && std::isfinite(o.run.target)))
        throw usage_error(fmt::format("--target: {} is not above 0", o.run.target));
    if (!(o.run.seconds >= 0)) throw usage_error(fmt::format("--seconds: {} is not at least 0", o.run.seconds));
    if (o.rounds < 0) throw usage_error(fmt::format("--rounds: {} is not at least 0", o.rounds));
    if (o.seed < 0) throw usage_error(fmt::format("--seed: {} is not at least 0", o.seed));
    if (auto const colon = o.cost.find_first_of(":("); colon != std::string::npos && o.cost[colon] == ':')
        o.cost = o.cost.substr(0, colon) + "(" + o.cost.substr(colon + 1) + ")";
    o.run.cost = laconic::parse_cost(o.cost);
    if (!(o.run.cost == laconic::two_way_cost{}))
        for (auto& method : o.methods) method = race::priced(method, o.run.cost);
    o.run.rounds = static_cast<std::uint64_t>(o.rounds);
    o.run.seed = static_cast<std::uint64_t>(o.seed);
    if (o.at_once < 0) throw usage_error(fmt::format("--threads: {} is not at least 0", o.at_once));
    if (!o.plot.empty() && !race::can_plot(o.plot))
        throw usage_error("--plot: " + o.plot + " does not end in .svg, .png or .pdf");
    o.run.at_once = o.at_once > 0 ? o.at_once : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    for (auto const& [flag, file] : {std::pair{"--json", o.json}, {"--csv", o.csv}, {"--plot", o.plot}})
        if (!file.empty() && !std::ofstream(file, std::ios::app))
            throw usage_error(fmt::format("{}: cannot write {}", flag, file));
}

void write(std::string const& file, std::string const& text) {
    if (file.empty()) return;
    std::ofstream out(file, std::ios::binary);
    out << text;
    if (!out.flush()) throw laconic::file_error(file, 0, 0, "cannot be written");
}

/// A bar on the terminal, at most ten times a second; nothing where the output is no terminal.
class bar {
  public:
    bar(bool on, std::string name, race::settings const& how)
        : on_(on && isatty(2)), name_(std::move(name)), how_(how) {}
    ~bar() {
        if (shown_) fmt::print(stderr, "\r\033[K");
    }
    void operator()(race::mark const& m) {
        auto const now = std::chrono::steady_clock::now();
        if (m.round == 0) first_ = m.suboptimality;
        if (!on_ || (shown_ && now - last_ < std::chrono::milliseconds(100))) return;
        shown_ = true;
        last_ = now;
        // The nearer of the two ends: all rounds, or the target on a logarithmic scale.
        double const rounds =
            static_cast<double>(m.round) / static_cast<double>(std::max<std::uint64_t>(1, how_.rounds));
        double const way = std::log(first_ / std::max(m.suboptimality, how_.target)) / std::log(first_ / how_.target);
        auto const filled =
            static_cast<int>(30 * std::clamp(std::isfinite(way) ? std::max(rounds, way) : rounds, 0.0, 1.0));
        fmt::print(stderr, "\r\033[K{:<32.32} [{:#<{}}{:<{}}] round {}: {:.1e}", name_, "", filled, "", 30 - filled,
                   m.round, m.suboptimality);
        std::fflush(stderr);
    }

  private:
    bool on_, shown_ = false;
    std::string name_;
    race::settings how_;
    double first_ = 1;
    std::chrono::steady_clock::time_point last_;
};

void hold(laconic::dataset<double> data, options const& o) {
    for (auto const& method : o.methods) static_cast<void>(race::spelled(method));
    auto const rows = data.samples(), features = data.features();
    if (o.scale) scale_features(data);
    auto const contest = race::prepare(std::move(data), o.objective, o.lambda, o.workers);
    auto const& p = contest.constants;
    for (auto const& method : o.methods) {  // what cannot run is said before anything runs
        try {
            race::check(method, contest);
        } catch (laconic::error const& e) {
            throw usage_error("--method '" + method + "': " + e.what());
        }
    }
    race::setting const on{o.data,       o.objective,     o.scale, o.lambda,          contest.f_star,
                           o.run.target, contest.samples, p,       contest.measure(), o.run.cost};
    if (!o.quiet) {
        fmt::print("{}: {} rows of {} features{}, {} workers with {} rows each", o.data, rows, features,
                   o.scale ? " scaled to [-1, 1]" : "", p.workers, contest.samples_per_worker);
        if (auto const dropped = rows - on.samples; dropped > 0)
            fmt::print("; the last {} row{} dropped", dropped, dropped == 1 ? " is" : "s are");
        fmt::print("\n{} with lambda = {:g}: d = {}, L = {:.6g}, mu = {:.6g}", o.objective, o.lambda, p.dimension,
                   p.smoothness, p.strong_convexity);
        if (contest.convex) fmt::print(", f* = {:.15g}", contest.f_star);
        fmt::print("\n\n");
        std::fflush(stdout);
    }
    std::vector<race::result> results;
    for (auto const& m : o.methods) {
        bar progress(!o.quiet, race::spelled(m), o.run);
        results.push_back(race::run(m, contest, o.run, [&](race::mark const& now) { progress(now); }));
    }
    if (!o.quiet) fmt::print("{}", race::table(on, results));
    write(o.json, race::json(on, results));
    write(o.csv, race::csv(results));
    if (!o.plot.empty() && !race::plot(o.plot, on, results))
        fmt::print(stderr, "race: gnuplot is not installed; no {}\n", o.plot);
    if (!o.quiet)
        for (auto const& file : {o.csv, o.json, o.plot})
            if (!file.empty()) fmt::print("wrote {}\n", file);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        options o;
        CLI::App app("Races methods of communication-efficient distributed optimization against each other.", "race");
        parse(app, o);
        try {
            app.parse(argc, argv);
        } catch (CLI::ParseError const& e) {
            if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
            throw usage_error(e.what());
        }
        check(o);
        if (o.list) {
            fmt::print("{}", race::list_of_methods());
            return 0;
        }
        hold(race::load(o.data, o.run.seed), o);
        return 0;
    } catch (laconic::error const& e) {
        fmt::print(stderr, "race: {}\n", e.what());
        return 2;
    } catch (std::exception const& e) {
        fmt::print(stderr, "race: {}\n", e.what());
        return 1;
    }
}
