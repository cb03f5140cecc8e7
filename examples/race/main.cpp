// SPDX-License-Identifier: Apache-2.0
// Races methods against each other: several workers train one linear model, each method with its own messages, and what
// crosses between the workers is counted as it crosses.
#include <fmt/format.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/output.hpp"
#include "common/program.hpp"
#include "common/race_data.hpp"
#include "job.hpp"
#include "laconic/any/communicator.hpp"
#include "laconic/any/cost.hpp"
#include "laconic/collective/agreement.hpp"
#include "laconic/core/description.hpp"
#include "laconic/core/text.hpp"
#include "options.hpp"
#include "progress_line.hpp"
#include "report.hpp"
#include "run.hpp"
#include "stop.hpp"

namespace {

using race::options, race::reports, race::usage_error;

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

// Methods that race does not run, as each is a loop of one's own or another call than descend().
std::vector<laconic::listed_value> const not_raced{
    {.name = "MuLoCo",
     .about = "DiLoCo with Muon for the matrices: outer_reducer around local steps of muon; no theorem here covers it",
     .source = "Therien et al., arXiv:2505.23725"},
    {.name = "Streaming DiLoCo",
     .about =
         "DiLoCo of one part of the model after another, whose messages travel during local steps: an outer_reducer "
         "for each part; no theorem here covers it",
     .source = "Douillard et al., arXiv:2501.18512"},
    {.name = "DES-LOC",
     .about = "local steps of Adam, whose m and v are averaged more rarely than the model: an outer_reducer and two "
              "reducers; no theorem here covers it",
     .source = "Iacob et al., arXiv:2505.22549"},
    {.name = "SCAFFOLD, option I",
     .about =
         "local gradients corrected by those at the agreed model: an outer_reducer, and a reducer of the gradients; "
         "its fixed point is the optimum",
     .source = "Karimireddy et al., ICML 2020"},
    {.name = "0/1 Adam",
     .about = "local steps of Adam whose v changes ever more rarely, and the signs of the sums of these steps: a "
              "reducer whose collective is two_shot(scaled_sign, owner_keeps=yes); no theorem here covers it",
     .source = "Lu et al., ICLR 2023"},
    {.name = "FedBCD",
     .about = "ranks that have different features of the same samples: fed_bcd",
     .source = "Liu et al., IEEE TSP 70, 2022"},
    {.name = "AdaNet", .about = "ensembles of networks that grow: adanet", .source = "Cortes et al., ICML 2017"},
};

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
    race::declare(app, o);
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& e) {
        if (e.get_exit_code() != 0) throw usage_error(e.what());
        if (reports(job)) app.exit(e);  // --help, --version
        return {};
    }
    output::refuse_empty_values(app);
    o.workers_given = app.count("--workers") > 0;
    race::check(o, job);
    if (o.list) {
        if (reports(job))
            output::print(lines_of(race::list_of_methods()) + "\n" + lines_of(race::list_of_compressors()) + "\n" +
                          lines_of(race::list_of_collectives()) + "\n" + lines_of(race::list_of_reductions()) + "\n" +
                          lines_of(laconic::list_costs()) + "\n" + lines_of(race::list_of_steps()) +
                          "\nnot for --method, but training loops of one's own or other calls:\n" +
                          lines_of(not_raced));
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
