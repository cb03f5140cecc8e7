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
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "laconic/any/communicator.hpp"
#include "laconic/any/cost.hpp"
#include "laconic/core/text.hpp"
#include "laconic/core/version.hpp"
#include "laconic/exchange/agreement.hpp"
#include "race_data.hpp"
#include "race_exchange.hpp"
#include "race_job.hpp"
#include "race_report.hpp"
#include "race_run.hpp"

namespace {

struct options {
    std::string data = "fashion-mnist", objective = "logistic", cost = "bits", network = "threads", json, csv, plot;
    bool list = false, scale = false;
    double lambda = 0.1;
    int workers = 10, at_once = 0;
    bool workers_given = false;
    std::vector<std::string> methods = {"gd",
                                        "qsgd(levels=4)",
                                        "ef_sgd(top_k(0.1), step=1/L)",
                                        "diana(rand_k(0.1))",
                                        "diana(rand_k(0.1) | natural)",
                                        "ef21(top_k(0.05), step=1/L)",
                                        "gd_sec(xi=100, beta=0.01)"};
    std::int64_t rounds = 2500, seed = 0;
    race::settings run{0, 0, 1e-6, 0, 0, {}, {}, {}, nullptr};
    bool quiet = false;
};

/// Wrong input: one line, and exit status 2.
struct usage_error : laconic::error {
    using error::error;
};

/// Of a job's ranks one prints and writes.
bool reports(laconic::any_communicator const* job) { return !job || job->rank() == 0; }

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
    app.add_option("--workers", o.workers,
                   "how many workers share the rows, in contiguous equal parts; with --network mpi as many as the job "
                   "has ranks, which need not be said")
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
           "--network", o.network,
           "where the workers talk: threads of this process; mpi, where each rank of a job that mpirun started is a "
           "worker, with the same iterates and bytes, and rank 0 reports; or delayed:LATENCY,BANDWIDTH[,OVERHEAD], "
           "such "
           "as delayed:20us,1Gbit/s, threads with clocks, which tell how many seconds all messages would take on that "
           "network until the last worker has its last one (computing takes none; a message to everybody goes around a "
           "ring, a server hears and answers one worker after another)")
        ->capture_default_str();
    app.add_option(
        "--exchange", o.run.exchange,
        "how the workers' messages are added up, as the C++ spells it, such as ring or gtop_k(0.01), in every "
        "method; what is counted, priced and timed is what each worker hands over and is handed, the mean over "
        "the workers where they differ (not given: the method's own, which is gather for most)");
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
    app.add_option(
        "--plot", o.plot,
        "draw f - f* against bits, their cost or the seconds of a delayed network to FILE (.svg, .png, .pdf) "
        "with gnuplot");
    app.add_flag("--list", o.list,
                 "print the methods and the exchanges, with their parameters, what they do, and references");
    app.add_flag("--quiet", o.quiet, "print errors only");
    app.set_version_flag("--version", fmt::format("race (laconic {}.{}.{})", laconic::version_major,
                                                  laconic::version_minor, laconic::version_patch));
}

void check(options& o, laconic::any_communicator* job) {
    o.run.on = race::parse_network(o.network);
    o.run.job = job;
    if (job) {
        if (o.workers_given && o.workers != job->size())
            throw usage_error(fmt::format("--workers: {} workers in a job of {} rank{}: each rank is a worker",
                                          o.workers, job->size(), job->size() == 1 ? "" : "s"));
        o.workers = job->size();
    } else {
        // What Open MPI and MPICH tell the processes of a job.
        for (char const* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
            if (char const* const size = std::getenv(name); size && std::atoi(size) > 1)
                throw usage_error(fmt::format(
                    "mpirun started {} of these, which would race apart and write the same files: give --network mpi",
                    size));
    }
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
    if (!o.run.exchange.empty()) o.run.exchange = to_string(race::exchange_named(o.run.exchange));
    if (!(o.run.cost == laconic::two_way_cost{}))
        for (auto& method : o.methods) method = race::priced(method, o.run.cost);
    o.run.rounds = static_cast<std::uint64_t>(o.rounds);
    o.run.seed = static_cast<std::uint64_t>(o.seed);
    if (o.at_once < 0) throw usage_error(fmt::format("--threads: {} is not at least 0", o.at_once));
    if (!o.plot.empty() && !race::can_plot(o.plot))
        throw usage_error("--plot: " + o.plot + " does not end in .svg, .png or .pdf");
    o.run.at_once = o.at_once > 0 ? o.at_once : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    for (auto const& [flag, file] : {std::pair{"--json", o.json}, {"--csv", o.csv}, {"--plot", o.plot}})
        if (!file.empty() && reports(job) && !std::ofstream(file, std::ios::app))
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

/// A race, ready to start.
struct entry {
    options chosen;
    race::contest contest;
    race::setting on;
    std::size_t rows = 0, features = 0;  // of the data, before they are cut
};

/// Reads the arguments and the data; nothing where only help was asked for. What cannot run is said before anything
/// runs.
std::optional<entry> enter(int argc, char** argv, laconic::any_communicator* job) {
    options o;
    CLI::App app("Races methods of communication-efficient distributed optimization against each other.", "race");
    parse(app, o);
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& e) {
        if (e.get_exit_code() != 0) throw usage_error(e.what());
        if (reports(job)) app.exit(e);  // --help, --version
        return {};
    }
    o.workers_given = app.count("--workers") > 0;
    check(o, job);
    if (o.list) {
        if (reports(job)) fmt::print("{}\n{}", race::list_of_methods(), race::list_of_exchanges());
        return {};
    }
    auto data = race::load(o.data, o.run.seed);
    for (auto const& method : o.methods) static_cast<void>(race::spelled(method));
    auto const rows = data.samples(), features = data.features();
    if (o.scale) scale_features(data);
    auto contest = race::prepare(std::move(data), o.objective, o.lambda, o.workers);
    auto const& p = contest.constants;
    for (auto const& method : o.methods) {
        try {
            race::check(method, contest, o.run.exchange);
        } catch (laconic::error const& e) {
            throw usage_error("--method '" + method + "': " + e.what());
        }
    }
    race::setting const on{
        o.data, o.objective,       o.scale,    o.lambda,  contest.f_star,        o.run.target,  contest.samples,
        p,      contest.measure(), o.run.cost, o.network, o.run.on.is_delayed(), o.run.exchange};
    return entry{std::move(o), std::move(contest), on, rows, features};
}

/// What every rank of a job must have the same.
std::vector<laconic::agreed_item> terms(entry const& e) {
    auto const& [o, contest, on, rows, features] = e;
    std::vector<laconic::agreed_item> all = {{"--seed", std::to_string(o.seed)},
                                             {"--rounds", std::to_string(o.rounds)},
                                             {"--target", laconic::shortest(o.run.target)},
                                             {"--cost", to_string(o.run.cost)},
                                             {"--exchange", o.run.exchange},
                                             {"--scale", o.scale ? "on" : "off"},
                                             {"--objective", o.objective},
                                             {"--lambda", laconic::shortest(o.lambda)},
                                             {"the data", fmt::format("{} rows of {} features", rows, features)},
                                             {"the smoothness", laconic::shortest(on.constants.smoothness)},
                                             {"f*", laconic::shortest(on.f_star)},
                                             {"the methods", std::to_string(o.methods.size())}};
    for (auto const& m : o.methods) all.emplace_back("--method", race::spelled(m));
    return all;
}

void introduce(entry const& e) {
    auto const& [o, contest, on, rows, features] = e;
    auto const& p = on.constants;
    fmt::print("{}: {} rows of {} features{}, {} workers with {} rows each", o.data, rows, features,
               o.scale ? " scaled to [-1, 1]" : "", p.workers, contest.samples_per_worker);
    if (auto const dropped = rows - on.samples; dropped > 0)
        fmt::print("; the last {} row{} dropped", dropped, dropped == 1 ? " is" : "s are");
    fmt::print("\n{} with lambda = {:g}: d = {}, L = {:.6g}, mu = {:.6g}", o.objective, o.lambda, p.dimension,
               p.smoothness, p.strong_convexity);
    if (contest.convex) fmt::print(", f* = {:.15g}", contest.f_star);
    if (o.network != "threads") fmt::print("\nover {}", o.network);
    if (!o.run.exchange.empty())
        fmt::print("{}messages added up by {}", o.network == "threads" ? "\n" : ", ", o.run.exchange);
    fmt::print("\n\n");
    std::fflush(stdout);
}

void hold(entry const& e) {
    auto const& [o, contest, on, rows, features] = e;
    bool const aloud = !o.quiet && reports(o.run.job);
    if (aloud) introduce(e);
    std::vector<race::result> results;
    for (auto const& m : o.methods) {
        bar progress(aloud, race::spelled(m), o.run);
        results.push_back(race::run(m, contest, o.run, [&](race::mark const& now) { progress(now); }));
    }
    if (!reports(o.run.job)) return;
    if (aloud) fmt::print("{}", race::table(on, results));
    write(o.json, race::json(on, results));
    write(o.csv, race::csv(on, results));
    if (!o.plot.empty() && !race::plot(o.plot, on, results))
        fmt::print(stderr, "race: gnuplot is not installed; no {}\n", o.plot);
    if (aloud)
        for (auto const& file : {o.csv, o.json, o.plot})
            if (!file.empty()) fmt::print("wrote {}\n", file);
}

/// What work() returns, where it can on every rank; else every rank throws what is wrong on the first that cannot.
template <class Work>
auto together(laconic::any_communicator& job, Work work) {
    std::optional<decltype(work())> done;
    std::string why;
    try {
        done.emplace(work());
    } catch (std::exception const& e) {
        why = e.what();
    }
    job.all_gather({std::as_bytes(std::span(why)), !done});
    std::string wrong;
    int named = laconic::no_rank, like_it = 0;
    for (int r = 0; r < job.size(); ++r) {
        auto const heard = job.from(r);
        if (!heard.complaint) continue;
        std::string const text(reinterpret_cast<char const*>(heard.bytes.data()), heard.bytes.size());
        if (named == laconic::no_rank) {
            named = r;
            wrong = text;
        }
        like_it += text == wrong;
    }
    if (named != laconic::no_rank)
        throw usage_error(like_it == job.size() ? wrong : fmt::format("rank {} of {}: {}", named, job.size(), wrong));
    return std::move(*done);
}

/// In a job, a rank's part. What goes wrong in the race itself is thrown on, and ends the job.
int play(int argc, char** argv, laconic::any_communicator job) {
    std::optional<entry> ready;
    try {
        ready = together(job, [&] { return enter(argc, argv, &job); });
        require_agreement(job, ready ? terms(*ready) : std::vector<laconic::agreed_item>{{"the race", "none"}});
    } catch (laconic::comm_error const&) {
        throw;
    } catch (laconic::error const& e) {  // the same on every rank
        if (reports(&job)) fmt::print(stderr, "race: {}\n", e.what());
        return 2;
    }
    if (ready) hold(*ready);
    return 0;
}

/// Whether --network mpi is among the arguments: then MPI starts before the others are read, so that one rank tells
/// what is wrong with them.
bool asks_for_job(int argc, char** argv) {
    std::string network;
    CLI::App app;
    app.set_help_flag();
    app.allow_extras();
    app.add_option("--network", network);
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const&) {
        return false;  // which is said when all are read
    }
    return network == "mpi";
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (asks_for_job(argc, argv))
            return race::join_job(argc, argv, [&](laconic::any_communicator job) { return play(argc, argv, job); });
        if (auto const ready = enter(argc, argv, nullptr)) hold(*ready);
        return 0;
    } catch (laconic::error const& e) {
        fmt::print(stderr, "race: {}\n", e.what());
        return 2;
    } catch (std::exception const& e) {
        fmt::print(stderr, "race: {}\n", e.what());
        return 1;
    }
}
