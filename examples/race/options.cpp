// SPDX-License-Identifier: Apache-2.0
// The options of race: what --help says of each, and what is refused.
#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "common/gnuplot.hpp"
#include "common/help.hpp"
#include "common/output.hpp"
#include "common/whole_number.hpp"
#include "laconic/any/cost.hpp"
#include "laconic/core/version.hpp"
#include "network.hpp"
#include "problem.hpp"

namespace race {

namespace {

void declare_data(CLI::App& app, options& o) {
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

void declare_problem(CLI::App& app, options& o) {
    app.option_defaults()->group("Problem and methods");
    app.add_option("--objective", o.objective, "logistic, ridge, lasso, softmax or nonconvex-logistic")
        ->check(CLI::IsMember(objectives()))
        ->option_text("NAME=" + o.objective);
    app.add_option("--lambda", o.lambda,
                   "weight of (lambda/2)|x|^2; of |x|_1 in lasso; of sum x^2/(1+x^2) in nonconvex-logistic")
        ->capture_default_str();
    app.add_option("--method", o.methods,
                   "a method as in the C++, such as 'diana(rand_k(0.1))'; may be given several times")
        ->option_text("METHOD ...")
        ->take_all();
    add_whole_number<std::uint64_t>(app, "--seed", o.run.seed, 0, "all randomness follows from it");
    app.add_flag(
        "--list", o.list,
        "print the methods, the compressors, the collectives, the reductions of a loop of one's own, the costs "
        "and the steps, with what they do, references, their parameters and what these may be; and other "
        "methods, which are training loops of one's own or other calls");
}

void declare_end(CLI::App& app, options& o) {
    app.option_defaults()->group("When a method stops");
    add_whole_number<std::uint64_t>(app, "--rounds", o.run.rounds, 0, "after so many rounds");
    app.add_option("--target", o.run.target, "where f - f* is at most this")->capture_default_str();
    app.add_option("--seconds", o.run.seconds, "after so many seconds (0: no limit)")->capture_default_str();
}

void declare_network(CLI::App& app, options& o) {
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

void declare_outputs(CLI::App& app, options& o) {
    app.option_defaults()->group("Output");
    app.add_option("--json", o.json, "write everything, traces included, to FILE")->option_text("FILE");
    app.add_option("--csv", o.csv, "write the table to FILE")->option_text("FILE");
    app.add_option("--plot", o.plot,
                   "draw f - f* against bits, their cost or the seconds of a delayed network to FILE (.svg, .png, "
                   ".pdf) with gnuplot")
        ->option_text("FILE");
    app.add_flag("--quiet", o.quiet, "print errors only");
}

/// Two files that are one: what is no regular file, such as /dev/null, may be used twice.
bool is_one_file(std::string const& a, std::string const& b) {
    std::error_code none;
    auto const whole = [&](std::string const& file) {
        return std::filesystem::weakly_canonical(std::filesystem::absolute(file, none), none);
    };
    return whole(a) == whole(b) && (std::filesystem::is_regular_file(a, none) || !std::filesystem::exists(a, none));
}

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

}  // namespace

void declare(CLI::App& app, options& o) {
    app.formatter(std::make_shared<output::narrow_help>());
    declare_data(app, o);
    declare_problem(app, o);
    declare_end(app, o);
    declare_network(app, o);
    declare_outputs(app, o);
    app.set_help_flag("-h,--help", "print this and end");
    app.set_version_flag(
        "--version",
        fmt::format("race (laconic {}.{}.{})", laconic::version[0], laconic::version[1], laconic::version[2]),
        "print the version and end");
    app.footer("docs/race.md has examples, and more on --network, --collective and --cost.");
}

void check(options& o, laconic::any_communicator* job) {
    o.run.on = parse_network(o.network);
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
    if (!o.run.collective.empty()) o.run.collective = text_of_collective(o.run.collective);
    if (!(o.run.cost == laconic::two_way_cost{}))
        for (auto& method : o.methods) method = priced(method, o.run.cost);
    if (!o.plot.empty() && !output::can_draw(o.plot))
        throw usage_error("--plot: " + o.plot + " does not end in .svg, .png or .pdf");
    o.run.at_once = o.at_once > 0 ? o.at_once : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    if (reports(job)) check_outputs(o);
}

}  // namespace race
