// SPDX-License-Identifier: Apache-2.0
// Races methods against each other: several workers train one linear model, each method with its own messages, and what
// crosses between the workers is counted as it crosses.
#include <fmt/format.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "common/gnuplot.hpp"
#include "common/help.hpp"
#include "common/output.hpp"
#include "common/program.hpp"
#include "common/race_data.hpp"
#include "common/whole_number.hpp"
#include "job.hpp"
#include "laconic/any/communicator.hpp"
#include "laconic/any/cost.hpp"
#include "laconic/collective/agreement.hpp"
#include "laconic/core/description.hpp"
#include "laconic/core/text.hpp"
#include "laconic/core/version.hpp"
#include "progress_line.hpp"
#include "report.hpp"
#include "run.hpp"
#include "stop.hpp"

namespace {

// What --list prints.
std::string lines_of(std::vector<laconic::listed_value> const& all) {
    std::string text;
    for (auto const& x : all) {
        text += x.name + x.parameters + "\n    " + x.about + (x.source.empty() ? "\n" : "\n    " + x.source + "\n");
        for (auto const& f : x.fields)
            if (!f.values.empty()) text += fmt::format("    {}: {}\n", f.name, f.values);
    }
    return text;
}

struct options {
    std::string data = "fashion-mnist", objective = "logistic", cost = "bits", network = "threads", json, csv, plot;
    bool list = false, scale = false;
    double lambda = 0.1;
    int workers = 10, at_once = 0;
    bool workers_given = false;
    std::vector<std::string> methods = {"gd",
                                        "dcgd(bf16(random=yes))",
                                        "qsgd(levels=4)",
                                        "ef_sgd(top_k(0.1), step=1/L)",
                                        "diana(rand_k(0.1))",
                                        "diana(rand_k(0.1) | natural)",
                                        "ef21(top_k(0.05), step=1/L)",
                                        "gd_sec(xi=100, beta=0.01)"};
    std::uint64_t data_limit = 0, first_index = 1;
    race::settings run{2500, 0, 1e-6, 0, 0, {}, {}, {}, nullptr};
    bool quiet = false;
};

/// Wrong input: one line, and exit status 2.
struct usage_error : laconic::error {
    using error::error;
};

/// Of a job's ranks one prints and writes.
bool reports(laconic::any_communicator const* job) { return !job || job->rank() == 0; }

void parse_data(CLI::App& app, options& o) {
    app.option_defaults()->group("Data");
    app.add_option("--data", o.data, "fashion-mnist, synthetic, or a LIBSVM file (plain, .gz, .xz, .bz2)")
        ->option_text("DATA=" + o.data);
    add_whole_number<std::uint64_t>(
        app, "--data-limit", o.data_limit, 0,
        "how many bytes the data file may hold once it is decompressed (0: 64 MiB, or 200 times the file's size where "
        "that is more)");
    add_whole_number<std::uint64_t>(app, "--first-index", o.first_index, 0,
                                    "the index of the first feature in the data file: 0 where they count from 0, as "
                                    "scikit-learn writes them",
                                    1);
    app.add_flag("--scale", o.scale, "divide each feature by its largest magnitude");
    add_whole_number(app, "--workers", o.workers, 1,
                     "how many workers share the rows, in contiguous equal parts; with --network mpi as many as the "
                     "job has ranks, which need not be given");
}

void parse_problem(CLI::App& app, options& o) {
    app.option_defaults()->group("Problem and methods");
    app.add_option("--objective", o.objective, "logistic, ridge, lasso, softmax or nonconvex-logistic")
        ->check(CLI::IsMember(race::objectives()))
        ->option_text("NAME=" + o.objective);
    app.add_option("--lambda", o.lambda,
                   "weight of (lambda/2)|x|^2; of |x|_1 in lasso; of sum x^2/(1+x^2) in nonconvex-logistic")
        ->capture_default_str();
    app.add_option("--method", o.methods,
                   "a method as in the C++, such as 'diana(rand_k(0.1))'; may be given several times")
        ->option_text("METHOD ...")
        ->take_all();
    add_whole_number<std::uint64_t>(app, "--seed", o.run.seed, 0, "all randomness follows from it");
    app.add_flag("--list", o.list,
                 "print the methods, the compressors, the collectives, the reductions of a loop of one's own and the "
                 "costs, with what they do, references, their parameters and what these may be");
}

void parse_end(CLI::App& app, options& o) {
    app.option_defaults()->group("When a method stops");
    add_whole_number<std::uint64_t>(app, "--rounds", o.run.rounds, 0, "after so many rounds");
    app.add_option("--target", o.run.target, "where f - f* is at most this")->capture_default_str();
    app.add_option("--seconds", o.run.seconds, "after so many seconds (0: no limit)")->capture_default_str();
}

void parse_network(CLI::App& app, options& o) {
    app.option_defaults()->group("Between the workers");
    app.add_option("--network", o.network,
                   "where the workers are: threads of this process; mpi, where each rank of a job that mpirun started "
                   "is a worker; or delayed:LATENCY,BANDWIDTH[,OVERHEAD], such as delayed:20us,1Gbit/s, threads with "
                   "the clocks of such a network")
        ->option_text("NETWORK=" + o.network);
    app.add_option("--collective", o.run.collective,
                   "how the workers' messages are added up, such as ring or 'gtop_k(0.01)' (not given: the method's "
                   "own way, which is gather for most)")
        ->option_text("SUM");
    app.add_option("--cost", o.cost,
                   "what a message costs, for cat(...) to adapt to and for the table: bits; "
                   "affine:PER_BIT,PER_MESSAGE; packets:PAYLOAD,HEADER,FIXED in bytes; "
                   "energy:PER_BIT,PER_PACKET,PAYLOAD,TO_WAKE in joules; air_time:RATE,PREAMBLE,PAYLOAD,WAIT in "
                   "seconds; 'lossy(COST, SHARE)'; or 'two_way(UP, DOWN, answer=BITS, others=N)'")
        ->option_text("COST=" + o.cost);
    add_whole_number(app, "--threads", o.at_once, 0,
                     "how many workers compute at the same time (0: one per core; 1 is best where a round is short)");
}

void parse_outputs(CLI::App& app, options& o) {
    app.option_defaults()->group("Output");
    app.add_option("--json", o.json, "write everything, traces included, to FILE")->option_text("FILE");
    app.add_option("--csv", o.csv, "write the table to FILE")->option_text("FILE");
    app.add_option("--plot", o.plot,
                   "draw f - f* against bits, their cost or the seconds of a delayed network to FILE (.svg, .png, "
                   ".pdf) with gnuplot")
        ->option_text("FILE");
    app.add_flag("--quiet", o.quiet, "print errors only");
}

void parse(CLI::App& app, options& o) {
    app.formatter(std::make_shared<output::narrow_help>());
    parse_data(app, o);
    parse_problem(app, o);
    parse_end(app, o);
    parse_network(app, o);
    parse_outputs(app, o);
    app.set_help_flag("-h,--help", "print this and end");
    app.set_version_flag(
        "--version",
        fmt::format("race (laconic {}.{}.{})", laconic::version[0], laconic::version[1], laconic::version[2]),
        "print the version and end");
    app.footer("docs/race.md has examples, and more on --network, --collective and --cost.");
}

/// Two files that are one: what is no regular file, such as /dev/null, may be used twice.
bool is_one_file(std::string const& a, std::string const& b) {
    std::error_code none;
    auto const whole = [&](std::string const& file) {
        return std::filesystem::weakly_canonical(std::filesystem::absolute(file, none), none);
    };
    return whole(a) == whole(b) && (std::filesystem::is_regular_file(a, none) || !std::filesystem::exists(a, none));
}

/// Before anything runs, so that nothing is lost at the end.
void check_outputs(options const& o) {
    std::pair<char const*, std::string> const files[] = {
        {"--data", o.data}, {"--json", o.json}, {"--csv", o.csv}, {"--plot", o.plot}};
    for (auto const* one = std::begin(files); one != std::end(files); ++one) {
        if (one->second.empty()) continue;
        for (auto const* other = std::begin(files); other != one; ++other)
            if (!other->second.empty() && is_one_file(one->second, other->second))
                throw usage_error(fmt::format("{} and {}: both are {}", other->first, one->first, one->second));
        if (one == std::begin(files)) continue;
        try {
            output::require_writable(one->second);
        } catch (laconic::file_error const& e) {
            throw usage_error(fmt::format("{}: {}", one->first, e.what()));
        }
    }
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
        // What Open MPI and MPICH set for the processes of a job.
        for (char const* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
            if (char const* const size = std::getenv(name); size && std::atoi(size) > 1)
                throw usage_error(fmt::format(
                    "mpirun started {} of these, which would race apart and write the same files: give --network mpi",
                    size));
    }
    if (!(o.lambda >= 0 && std::isfinite(o.lambda)))
        throw usage_error(fmt::format("--lambda: {} is not at least 0", o.lambda));
    if (!(o.run.target > 0 && std::isfinite(o.run.target)))
        throw usage_error(fmt::format("--target: {} is not above 0", o.run.target));
    if (!(o.run.seconds >= 0)) throw usage_error(fmt::format("--seconds: {} is not at least 0", o.run.seconds));
    if (auto const colon = o.cost.find_first_of(":("); colon != std::string::npos && o.cost[colon] == ':')
        o.cost = o.cost.substr(0, colon) + "(" + o.cost.substr(colon + 1) + ")";
    o.run.cost = laconic::parse_cost(o.cost);
    if (!o.run.collective.empty()) o.run.collective = race::text_of_collective(o.run.collective);
    if (!(o.run.cost == laconic::two_way_cost{}))
        for (auto& method : o.methods) method = race::priced(method, o.run.cost);
    if (!o.plot.empty() && !output::can_draw(o.plot))
        throw usage_error("--plot: " + o.plot + " does not end in .svg, .png or .pdf");
    o.run.at_once = o.at_once > 0 ? o.at_once : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    if (reports(job)) check_outputs(o);
}

/// A race, ready to start.
struct entry {
    options chosen;
    race::contest contest;
    race::setting on;
    std::size_t rows = 0, features = 0;  // of the data, before they are cut
};

laconic::dataset<double> loaded(options const& o) {
    auto const ignored = [&](std::string const& what) {
        if (reports(o.run.job) && !o.quiet) output::report("race: " + what);
    };
    try {
        return race::load(o.data, o.run.seed, {o.data_limit, "--data-limit"},
                          {.first_index = o.first_index, .option = "--first-index 0", .on_ignored = ignored});
    } catch (std::bad_alloc const&) {
        throw laconic::file_error(o.data, 0, 0, "what it holds does not fit into memory");
    }
}

race::contest prepared(laconic::dataset<double> data, options const& o) {
    auto const rows = data.samples(), features = data.features();
    try {
        if (o.scale) scale_features(data);
        return race::prepare(std::move(data), o.objective, o.lambda, o.workers);
    } catch (std::bad_alloc const&) {
        throw laconic::file_error(o.data, 0, 0,
                                  fmt::format("{} row{} of {} features need more memory than there is; is the largest "
                                              "index right?",
                                              rows, rows == 1 ? "" : "s", features));
    }
}

/// Reads the arguments and the data; nothing where only help was asked for. What cannot run is reported before anything
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
    output::refuse_empty_values(app);
    o.workers_given = app.count("--workers") > 0;
    check(o, job);
    if (o.list) {
        if (reports(job))
            output::print(lines_of(race::list_of_methods()) + "\n" + lines_of(race::list_of_compressors()) + "\n" +
                          lines_of(race::list_of_collectives()) + "\n" + lines_of(race::list_of_reductions()) + "\n" +
                          lines_of(laconic::list_costs()));
        return {};
    }
    auto data = loaded(o);
    for (auto const& method : o.methods) static_cast<void>(race::text_of(method));
    auto const rows = data.samples(), features = data.features();
    auto contest = prepared(std::move(data), o);
    auto const& p = contest.constants;
    for (auto const& method : o.methods) {
        try {
            race::check(method, contest, o.run.collective);
        } catch (laconic::error const& e) {
            throw usage_error("--method '" + method + "': " + e.what());
        }
    }
    race::setting const on{
        o.data, o.objective,       o.scale,    o.lambda,  contest.f_star,        o.run.target,    contest.samples,
        p,      contest.measure(), o.run.cost, o.network, o.run.on.is_delayed(), o.run.collective};
    return entry{std::move(o), std::move(contest), on, rows, features};
}

/// Throws on every rank of a job what the ranks do not have the same.
void require_same(laconic::any_communicator& job, entry const& e) {
    auto const& [o, contest, on, rows, features] = e;
    std::string methods;
    for (auto const& m : o.methods) methods += race::text_of(m) + "; ";
    require_agreement(job, {{"--seed", o.run.seed},
                            {"--rounds", o.run.rounds},
                            {"--target", o.run.target},
                            {"--cost", to_string(o.run.cost)},
                            {"--collective", o.run.collective},
                            {"--scale", o.scale ? "on" : "off"},
                            {"--objective", o.objective},
                            {"--lambda", o.lambda},
                            {"the data", fmt::format("{} rows of {} features", rows, features)},
                            {"the smoothness", on.constants.smoothness},
                            {"f*", on.f_star},
                            {"the methods", methods}});
}

std::string introduction(entry const& e) {
    auto const& [o, contest, on, rows, features] = e;
    auto const& p = on.constants;
    auto const least = rows / contest.workers.size();
    auto text = fmt::format("{}: {} rows of {} features{}, {} workers with {}{} rows each", output::printable(o.data),
                            rows, features, o.scale ? " scaled to [-1, 1]" : "", p.workers, least,
                            rows % contest.workers.size() == 0 ? "" : fmt::format(" or {}", least + 1));
    text += fmt::format("\n{} with lambda = {:g}: d = {}, L = {:.6g}, mu = {:.6g}", o.objective, o.lambda, p.dimension,
                        p.smoothness, p.strong_convexity);
    if (contest.convex) text += fmt::format(", f* = {:.15g}", contest.f_star);
    if (o.network != "threads") text += fmt::format("\nover {}", o.network);
    if (!o.run.collective.empty())
        text += fmt::format("{}messages added up by {}", o.network == "threads" ? "\n" : ", ", o.run.collective);
    return text + "\n\n";
}

/// Reports what goes wrong and goes on: what one output or method cannot do costs the others nothing.
class each_for_itself {
  public:
    template <class Work>
    bool operator()(std::string const& what, Work work) {
        try {
            work();
            return true;
        } catch (std::bad_alloc const&) {
            report(what + "there is not enough memory");
        } catch (std::exception const& e) {
            report(what + e.what());
        }
        return false;
    }
    void report(std::string const& line) {
        failed_ = true;
        output::report("race: " + line);
    }
    bool failed() const { return failed_; }

  private:
    bool failed_ = false;
};

/// What the methods did that ran; fewer than all where a signal came, which is reported.
std::vector<race::result> raced(entry const& e, bool aloud, each_for_itself& attempt) {
    auto const& o = e.chosen;
    std::vector<race::result> results;
    for (std::size_t i = 0; i < o.methods.size(); ++i) {
        auto const name = race::text_of(o.methods[i]);
        auto const run = [&] {
            race::progress_line progress(aloud, name, e.contest.measure(), o.run);
            results.push_back(race::run(o.methods[i], e.contest, o.run, [&](race::mark const& now) { progress(now); }));
        };
        if (o.run.job) {
            run();  // what it throws ends the job: the others would wait for this rank
        } else if (!attempt("--method '" + name + "': ", run)) {
            continue;
        }
        if (auto const& why = results.back().failure; !why.empty()) attempt.report("--method '" + name + "': " + why);
        if (!results.back().interrupted) continue;
        if (reports(o.run.job))
            attempt.report(fmt::format("interrupted in round {} of '{}'; {} of {} methods did not start",
                                       results.back().rounds, name, o.methods.size() - i - 1, o.methods.size()));
        break;
    }
    return results;
}

/// Runs the race and writes what it gave. Returns the program's exit status.
int hold(entry const& e) {
    auto const& o = e.chosen;
    bool const reporting = reports(o.run.job), aloud = !o.quiet && reporting;
    race::stop_by_signal const until(reporting);
    if (aloud) output::print(introduction(e));
    each_for_itself attempt;
    auto const results = raced(e, aloud, attempt);
    if (!reporting) return 0;
    if (aloud) output::print(race::table(e.on, results));
    std::vector<std::string> written;
    bool lost = false;
    auto const write = [&](std::string const& file, std::function<bool()> const& work) {
        bool done = false;
        if (file.empty()) return;
        attempt("", [&] { done = work(); });
        if (done) written.push_back(file);
        lost |= !done;
    };
    write(o.csv, [&] { return output::write(o.csv, race::csv(e.on, results)), true; });
    write(o.json, [&] { return output::write(o.json, race::json(e.on, results)), true; });
    write(o.plot, [&] {
        bool const there = race::plot(o.plot, e.on, results);
        if (!there) output::report("race: gnuplot is not installed; no " + o.plot);
        return there;
    });
    if (!aloud && lost && written.empty()) output::print(race::table(e.on, results));  // so that they are somewhere
    if (aloud)
        for (auto const& file : written) output::print("wrote " + file + "\n");
    if (!results.empty() && results.back().interrupted)  // as a shell reports it; of a job, perhaps another rank's
        return 128 + (race::stop_signal() != 0 ? race::stop_signal() : SIGTERM);
    return attempt.failed() ? 1 : 0;
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
        auto const received = job.from(r);
        if (!received.is_error) continue;
        std::string const text(reinterpret_cast<char const*>(received.bytes.data()), received.bytes.size());
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
        ready ? require_same(job, *ready) : void(require_agreement(job, {{"the race", "none"}}));
    } catch (laconic::comm_error const&) {
        throw;
    } catch (laconic::error const& e) {  // the same on every rank
        if (reports(&job)) output::report(std::string("race: ") + e.what());
        return 2;
    }
    return ready ? hold(*ready) : 0;
}

/// Whether --network mpi is among the arguments: then MPI starts before the others are read, so that one rank reports
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
        return false;  // which is reported when all are read
    }
    return network == "mpi";
}

int run(int argc, char** argv) {
    if (asks_for_job(argc, argv))
        return race::join_job(argc, argv, [&](laconic::any_communicator job) { return play(argc, argv, job); });
    auto const ready = enter(argc, argv, nullptr);
    return ready ? hold(*ready) : 0;
}

}  // namespace

int main(int argc, char** argv) {
    output::prepare();
    try {
        int const status = run(argc, argv);
        output::require_printed();
        return status;
    } catch (output::lost const& e) {
        output::report(std::string("race: ") + e.what());
        return 1;
    } catch (laconic::error const& e) {
        output::report(std::string("race: ") + e.what());
        return 2;
    } catch (std::exception const& e) {
        output::report(std::string("race: ") + e.what());
        return 1;
    }
}
