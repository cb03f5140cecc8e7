// SPDX-License-Identifier: Apache-2.0
// Trains a perceptron on Fashion-MNIST with the methods that were made for networks, and compares what they reach and
// what they say. Each method is one line of compositions() (methods.cpp); all share the data, the starting points, the
// rounds and the way the step falls. How long each one's step is was chosen with --validate, which leaves the test
// pictures alone.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/files.hpp"
#include "common/output.hpp"
#include "common/program.hpp"
#include "common/whole_number.hpp"
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
    double epochs = 20;
    std::optional<double> rate;  // none: each method's own
    std::size_t seeds = 3, batch = 16, hidden = 128, rows = 0;
    int workers = 8, at_once = 0;
    bool validate = false;
};

struct result {
    std::string method;
    double rate = 0;
    std::size_t seed = 0;
    double accuracy = 0, bits_up = 0, seconds = 0;
    std::optional<double> difference, ratio;  // to dense with the same seed
};

result train(named_method const& m, std::vector<any_objective<float>> const& shares, network const& test,
             std::size_t seed, plan const& p, int at_once) {
    result r{m.name, m.rate, seed, 0, 0, 0, {}, {}};
    auto const start = test.initial_point(key{seed}.child(1));
    auto const rounds = p.rounds == 0 ? 0 : std::max<std::uint64_t>(1, p.rounds / m.local);
    threads::run(
        static_cast<int>(shares.size()),
        [&](threads::member& comm) {
            auto x = start;
            std::vector<trace_point> trace;
            descend(
                m.recursion, shares[static_cast<std::size_t>(comm.rank())], x, comm,
                {.rounds = rounds, .seed = seed, .check_every = std::max<std::uint64_t>(1, rounds), .trace = &trace});
            if (comm.rank() > 0) return;
            r.accuracy = test.accuracy(std::span<float const>(x));
            r.bits_up = trace.back().bits_up;
            r.seconds = trace.back().seconds;
        },
        {.at_once = at_once});
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
    std::string text = "method,step,seed,accuracy,difference,bits_up_per_worker,ratio,seconds\n";
    for (auto const& r : results)
        text += fmt::format("{},{},{},{},{},{},{},{}\n", r.method, r.rate, r.seed, r.accuracy,
                            r.difference ? fmt::format("{}", *r.difference) : "", r.bits_up,
                            r.ratio ? fmt::format("{}", *r.ratio) : "", r.seconds);
    return text;
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
    output::print(fmt::format("{:<12} {:>5} {:>4} {:>12} {:>10} {:>14} {:>8} {:>8}\n", "method", "step", "seed",
                              "accuracy, %", "to dense", "bits up/worker", "ratio", "seconds"));
    std::vector<result> results;
    auto const line = [](result const& r, std::string const& seed) {
        output::print(fmt::format("{:<12} {:>5g} {:>4} {:>12.2f} {:>10} {:>14.3e} {:>8} {:>8.1f}\n", r.method, r.rate,
                                  seed, 100 * r.accuracy,
                                  r.difference ? fmt::format("{:+.2f}", 100 * *r.difference) : "-", r.bits_up,
                                  r.ratio ? fmt::format("{:.1f}", *r.ratio) : "-", r.seconds));
    };
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
            auto r = train(m, shares, test, seed, p, o.at_once);
            if (m.name == "dense") dense = r;
            if (dense) {
                r.difference = r.accuracy - dense->accuracy;
                r.ratio = dense->bits_up / r.bits_up;
            }
            line(r, std::to_string(seed));
            results.push_back(r);
            is_written = o.csv.empty() || write_csv();
        }
    }
    output::print("\n");
    for (auto const& m : all) {
        result mean{m.name, m.rate, 0, 0, 0, 0, {}, {}};
        for (auto const& r : results)
            if (r.method == m.name) {
                auto const share = 1 / double(o.seeds);
                mean.accuracy += share * r.accuracy;
                mean.bits_up += share * r.bits_up;
                mean.seconds += share * r.seconds;
                if (r.difference) mean.difference = mean.difference.value_or(0) + share * *r.difference;
                if (r.ratio) mean.ratio = mean.ratio.value_or(0) + share * *r.ratio;
            }
        line(mean, "mean");
    }
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
    app.add_option("--data", o.data, "the folder with the four files of Debian's dataset-fashion-mnist")
        ->capture_default_str();
    app.add_option("--csv", o.csv, "write the runs to FILE, anew after each, so that it has all that have ended");
}

void check(options& o) {
    if (!(o.epochs >= 0 && o.epochs <= 1e6)) throw argument_error("--epochs: a number from 0 to 1e6");
    if (o.rate && !(*o.rate > 0 && std::isfinite(*o.rate))) throw argument_error("--rate: a number above 0");
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
