// SPDX-License-Identifier: Apache-2.0
// Trains a perceptron on Fashion-MNIST with the methods that were made for networks, and compares what they reach and
// what they send, and how long that takes on some networks. Each method is one line of compositions() (methods.cpp);
// all share the data, the starting points, the rounds and the way the step falls. How long each one's step is was
// chosen with --validate, which leaves the test pictures alone.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "common/files.hpp"
#include "common/output.hpp"
#include "common/program.hpp"
#include "common/whole_number.hpp"
#include "laconic/comm/fibers.hpp"
#include "laconic/comm/metered.hpp"
#include "laconic/comm/recorded.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/objective/idx.hpp"
#include "laconic/run.hpp"
#include "methods.hpp"

namespace {

using namespace laconic;
using deep::named_method, deep::network, deep::plan;

struct options {
    std::string data = "/usr/share/datasets/fashion-mnist", csv;
    std::vector<std::string> methods;
    double epochs = 20, target = 88;
    std::optional<double> rate;  // none: each method's own
    std::size_t seeds = 3, batch = 16, hidden = 128, rows = 0;
    int workers = 8, at_once = 0;
    bool validate = false;
};

struct result {
    std::string method;
    double rate = 0;
    std::size_t seed = 0;
    double accuracy = 0, bits_sent = 0, computing = 0;  // by a worker; in a round
    std::optional<double> difference{}, ratio{};        // to dense with the same seed
    std::optional<double> rounds_to_target{};           // at the first check that has it
    std::array<double, deep::networks.size()> seconds_to_target{};
};

/// One run. The accuracy is measured four times in an epoch, or where a round is longer, after each.
result train(named_method const& m, std::vector<any_objective<float>> const& shares, network const& test,
             std::size_t seed, plan const& p, options const& o) {
    result r{.method = m.name, .rate = m.rate, .seed = seed};
    auto const start = test.initial_point(key{seed}.child(1));
    auto const rounds = p.rounds == 0 ? 0 : std::max<std::uint64_t>(1, p.rounds / m.local);
    auto const between_checks = std::max<std::uint64_t>(1, p.rounds_per_epoch / 4 / m.local);
    auto const n = static_cast<double>(shares.size());
    std::vector<deep::course> workers(shares.size());
    std::vector<double> bits_sent(shares.size());
    std::optional<std::uint64_t> reached;
    double begin = deep::processor_seconds();
    auto const work = [&](auto& engine) {
        auto const worker = static_cast<std::size_t>(engine.rank());
        recorded recording(engine);
        metered comm(recording);
        auto x = start;
        descend(m.recursion, shares[worker], x, comm, {.rounds = rounds, .seed = seed}, [&](auto const& now) {
            workers[worker].before_round.push_back(recording.log().size());
            bool const last = now.round == rounds, due = last || (!reached && now.round % between_checks == 0);
            if (worker > 0 || !due) return;
            double const before = deep::processor_seconds(CLOCK_THREAD_CPUTIME_ID);
            r.accuracy = test.accuracy(now.x);
            if (!reached && 100 * r.accuracy >= o.target) reached = now.round;
            begin += deep::processor_seconds(CLOCK_THREAD_CPUTIME_ID) - before;
        });
        workers[worker].messages = recording.take_log();
        bits_sent[worker] = 8.0 * static_cast<double>(comm.bytes_out());
    };
    if (o.at_once == 1)
        fibers::run(o.workers, work);
    else
        threads::run(o.workers, work, {.at_once = o.at_once});
    r.computing = (deep::processor_seconds() - begin) / (n * static_cast<double>(std::max<std::uint64_t>(1, rounds)));
    for (double const b : bits_sent) r.bits_sent += b / n;
    if (!reached) return r;
    r.rounds_to_target = static_cast<double>(*reached);
    for (std::size_t i = 0; i < deep::networks.size(); ++i)
        r.seconds_to_target[i] = deep::seconds_of(*reached, r.computing, deep::networks[i].network, workers);
    return r;
}

/// The pictures of one half of the data, at most so many (0: all).
dataset<float> half(options const& o, std::string const& which, std::size_t most) {
    auto const name = [&](char const* what) { return o.data + "/" + which + "-" + what + "-ubyte.gz"; };
    auto const images = name("images-idx3"), labels = name("labels-idx1");
    std::istringstream image_bytes(files::read_unpacked(images)), label_bytes(files::read_unpacked(labels));
    auto pictures = read_idx_images(image_bytes, images);
    auto classes = read_idx_labels(label_bytes, labels);
    if (most > 0 && most < pictures.count) {
        pictures.count = most;
        pictures.pixels.resize(most * pictures.height * pictures.width);
        classes.resize(std::min(most, classes.size()));
    }
    return idx_dataset<float>(pictures, classes, which);
}

/// The rows to train on, and the others that the accuracy is measured on.
struct both {
    dataset<float> train, measure;
};
both chosen_rows(options const& o) {
    auto train = half(o, "train", o.rows);
    if (!o.validate) return {std::move(train), half(o, "t10k", o.rows)};
    auto const m = train.samples(), kept = m - m / 6;
    if (kept == m) throw argument_error("--validate: " + std::to_string(m) + " rows have no sixth part");
    return {train.first(kept), train.slice(kept, m, "validation")};
}

std::string csv(std::vector<result> const& results) {
    std::string text = "method,step,seed,accuracy,difference,bits_sent_per_worker,ratio,rounds_to_target,computing";
    for (auto const& n : deep::networks) text += fmt::format(",{}", n.name);
    auto const or_nothing = [](std::optional<double> v) { return v ? fmt::format("{}", *v) : ""; };
    for (auto const& r : results) {
        text +=
            fmt::format("\n{},{},{},{},{},{},{},{},{}", r.method, r.rate, r.seed, r.accuracy, or_nothing(r.difference),
                        r.bits_sent, or_nothing(r.ratio), or_nothing(r.rounds_to_target), r.computing);
        for (double const s : r.seconds_to_target) text += r.rounds_to_target ? fmt::format(",{}", s) : ",";
    }
    return text + "\n";
}

void print_heading(double target) {
    std::string line =
        fmt::format("{:<13} {:>6} {:>4} {:>11} {:>8} {:>11} {:>7} {:>8} {:>9}", "method", "step", "seed", "accuracy, %",
                    "to dense", "bits sent", "ratio", "ms/round", fmt::format("to {:g} %", target));
    for (auto const& n : deep::networks) line += fmt::format(" {:>10}", n.name);
    output::print(line + "\n");
}
void print_line(result const& r, std::string const& seed) {
    auto const or_dash = [](bool is_there, auto const& text) { return is_there ? text() : std::string("-"); };
    std::string line = fmt::format(
        "{:<13} {:>6g} {:>4} {:>11.2f} {:>8} {:>11.3e} {:>7} {:>8.2f} {:>9}", r.method, r.rate, seed, 100 * r.accuracy,
        or_dash(r.difference.has_value(), [&] { return fmt::format("{:+.2f}", 100 * *r.difference); }), r.bits_sent,
        or_dash(r.ratio.has_value(), [&] { return fmt::format("{:.1f}", *r.ratio); }), 1e3 * r.computing,
        or_dash(r.rounds_to_target.has_value(), [&] { return fmt::format("{:.0f}", *r.rounds_to_target); }));
    for (double const s : r.seconds_to_target)
        line +=
            fmt::format(" {:>10}", or_dash(r.rounds_to_target.has_value(), [&] { return fmt::format("{:.3g}", s); }));
    output::print(line + "\n");
}

/// The mean of each number over the runs of a method; of the rounds and seconds to the target where all reach it.
result mean_of(std::string const& method, std::vector<result> const& results) {
    result mean;
    double runs = 0;
    bool all_reach = true;
    for (auto const& r : results) {
        if (r.method != method) continue;
        ++runs;
        all_reach = all_reach && r.rounds_to_target;
    }
    for (auto const& r : results) {
        if (r.method != method) continue;
        mean.method = method, mean.rate = r.rate;
        mean.accuracy += r.accuracy / runs;
        mean.bits_sent += r.bits_sent / runs;
        mean.computing += r.computing / runs;
        if (r.difference) mean.difference = mean.difference.value_or(0) + *r.difference / runs;
        if (r.ratio) mean.ratio = mean.ratio.value_or(0) + *r.ratio / runs;
        if (all_reach) mean.rounds_to_target = mean.rounds_to_target.value_or(0) + *r.rounds_to_target / runs;
        for (std::size_t i = 0; i < deep::networks.size(); ++i)
            mean.seconds_to_target[i] += r.seconds_to_target[i] / runs;
    }
    return mean;
}

void compare(options& o) {
    auto const [train_rows, test_rows] = chosen_rows(o);
    std::vector<float> const labels{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    network const test(test_rows, o.hidden, 0, labels);
    std::vector<any_objective<float>> shares;
    auto const n = static_cast<std::size_t>(o.workers);
    for (std::size_t i = 0; i < n; ++i) shares.push_back(network(train_rows.part(i, n), o.hidden, 0, labels));
    auto const per_epoch = std::max<std::size_t>(1, train_rows.samples() / (n * o.batch));
    plan const p{o.workers, o.batch, static_cast<std::uint64_t>(std::llround(o.epochs * double(per_epoch))), per_epoch};
    auto all = deep::compositions(p, test, o.rate);
    for (auto const& name : o.methods)
        if (std::none_of(all.begin(), all.end(), [&](auto const& m) { return m.name == name; })) {
            std::string names;
            for (auto const& m : all) names += (names.empty() ? "" : ", ") + m.name;
            throw argument_error("--method: there is no method '" + name + "'; there are " + names);
        }
    std::erase_if(all, [&](auto const& m) {
        return !o.methods.empty() && std::find(o.methods.begin(), o.methods.end(), m.name) == o.methods.end();
    });

    output::print(
        fmt::format("{} rows to train on, {} {}, {} workers, batches of {}, {} hidden units, d = {}, {} rounds\n\n",
                    train_rows.samples(), test_rows.samples(), o.validate ? "more to choose with" : "to test with", n,
                    o.batch, o.hidden, test.dimension(), p.rounds));
    print_heading(o.target);
    std::vector<result> results;
    bool is_written = true;
    auto const write_csv = [&] {
        try {
            output::write(o.csv, csv(results));
            return true;
        } catch (output::lost const&) {  // the next may be written, and the table on the terminal is worth going on for
            return false;
        }
    };
    for (std::size_t seed = 1; seed <= o.seeds; ++seed) {
        std::optional<result> dense;
        for (auto const& m : all) {
            auto r = train(m, shares, test, seed, p, o);
            if (m.name == "dense") dense = r;
            if (dense) {
                r.difference = r.accuracy - dense->accuracy;
                r.ratio = dense->bits_sent / r.bits_sent;
            }
            print_line(r, std::to_string(seed));
            results.push_back(r);
            is_written = o.csv.empty() || write_csv();
        }
    }
    output::print("\n");
    for (auto const& m : all) print_line(mean_of(m.name, results), "mean");
    if (!is_written) output::write(o.csv, csv(results));  // which throws the reason
}

void parse(CLI::App& app, options& o) {
    app.add_option("--epochs", o.epochs, "passes over the data")->capture_default_str();
    add_whole_number<std::size_t>(app, "--seeds", o.seeds, 1, "runs of each method, with seeds from 1 on");
    add_whole_number(app, "--workers", o.workers, 1, "threads that share the rows");
    add_whole_number<std::size_t>(app, "--batch", o.batch, 1, "rows of a worker's mini-batch", 1'000'000'000);
    add_whole_number<std::size_t>(app, "--hidden", o.hidden, 1, "hidden units", 1'000'000);
    app.add_option("--rate", o.rate, "length of the first step, for all methods (none: each has its own)");
    app.add_option("--method", o.methods, "one of the methods; may be given several times (none: all)")->take_all();
    add_whole_number<std::size_t>(app, "--rows", o.rows, 0, "only the first rows of each half of the data (0: all)");
    app.add_flag("--validate", o.validate, "train on the first five sixths of the training half, measure on the last");
    add_whole_number(app, "--threads", o.at_once, 0, "how many workers compute at the same time (0: one per core)");
    app.add_option("--target", o.target, "per cent of accuracy to which rounds and seconds are counted")
        ->capture_default_str();
    app.add_option("--data", o.data, "the folder with the four files of Debian's dataset-fashion-mnist")
        ->capture_default_str();
    app.add_option("--csv", o.csv, "write the runs to FILE, anew after each, so that it has all that have ended");
}

void check(options& o) {
    if (!(o.epochs >= 0 && o.epochs <= 1e6)) throw argument_error("--epochs: a number from 0 to 1e6");
    if (o.rate && !(*o.rate > 0 && std::isfinite(*o.rate))) throw argument_error("--rate: a number above 0");
    if (!(o.target >= 0 && o.target <= 100)) throw argument_error("--target: per cent, from 0 to 100");
    if (o.at_once == 0) o.at_once = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    if (!o.csv.empty()) output::require_writable(o.csv);
}

}  // namespace

int main(int argc, char** argv) {
    options o;
    CLI::App app("Trains a perceptron on Fashion-MNIST with compressed gradients.", "deep");
    parse(app, o);
    return output::run_program(app, argc, argv, [&] {
        check(o);
        compare(o);
        return 0;
    });
}
