// SPDX-License-Identifier: Apache-2.0
// How long may a step be? Softmax regression over four ranks, trained with each reduction at the longest rate that the
// dense mean bears and at shares of it, beside the longest step that the reduction's theorem covers.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <numbers>
#include <span>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/comm/fibers.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/signs.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/core/key.hpp"
#include "laconic/method/dcgd.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/method/ef21.hpp"
#include "laconic/method/ef_sgd.hpp"
#include "laconic/objective/dataset.hpp"
#include "laconic/objective/optimum.hpp"
#include "laconic/objective/objective.hpp"
#include "laconic/objective/softmax.hpp"
#include "laconic/reducer.hpp"

namespace {

using namespace laconic;

constexpr int ranks = 4, steps = 500;
constexpr std::size_t features = 50, labels = 10, rows = 60, batch = 6;           // of one rank
constexpr double in_full[] = {24, 8, 2.4, 0.8}, in_batches[] = {2.4, 0.8, 0.24};  // rates, times 1 / L

double normal(key k, std::uint64_t n) {
    return std::sqrt(-2 * std::log1p(-k.uniform(2 * n))) * std::cos(2 * std::numbers::pi * k.uniform(2 * n + 1));
}

// Points around a centre for each class. A rank has points of its own.
dataset<double> points_of(std::size_t first, std::size_t n) {
    dataset<double> data{"points", {}, {}};
    data.rows.resize(std::ptrdiff_t(n), std::ptrdiff_t(features));
    key const centres{7}, draw{8};
    for (std::size_t j = 0; j < n; ++j) {
        auto const label = std::size_t(draw.child(1).uniform(first + j) * double(labels));
        data.labels.push_back(double(label));
        for (std::size_t i = 0; i < features; ++i)
            data.rows.insert(std::ptrdiff_t(j), std::ptrdiff_t(i)) =
                normal(centres, label * features + i) + 3 * normal(draw, (first + j) * features + i);
    }
    data.rows.makeCompressed();
    return data;
}

struct task {
    std::vector<softmax<double>> of_rank;
    softmax<double> whole;
    problem constants;
    double least;  // f*
};

task made() {
    std::vector<double> classes;
    for (std::size_t c = 0; c < labels; ++c) classes.push_back(double(c));
    auto const on = [&](std::size_t first, std::size_t n) {
        return softmax<double>(points_of(first, n), 0.02, classes);
    };
    task t{{}, on(0, ranks * rows), {}, 0};
    for (std::size_t r = 0; r < ranks; ++r) t.of_rank.push_back(on(r * rows, rows));
    auto& p = t.constants;
    p.dimension = t.whole.dimension();
    p.workers = ranks;
    p.smoothness = t.whole.smoothness();
    for (auto const& f : t.of_rank) {
        p.largest_smoothness = std::max(p.largest_smoothness, f.smoothness());
        p.mean_square_smoothness += f.smoothness() * f.smoothness() / ranks;
    }
    p.mean_square_smoothness = std::sqrt(p.mean_square_smoothness);
    t.least = find_optimum(t.whole).value;
    return t;
}

struct outcome {
    double accuracy, gap;  // f - f*
};

template <class R>
outcome train(task const& t, R const& how, double rate, bool batches) {
    std::vector<double> model;
    fibers::run(ranks, [&](fibers::member& comm) {
        auto const& f = t.of_rank[std::size_t(comm.rank())];
        std::vector<double> x(f.dimension()), g(x.size());
        reducer<R, fibers::member, double> reduce(how, comm, x.size(), {.seed = 1});
        key const draw = key{9}.child(std::uint64_t(comm.rank()));
        for (std::size_t step = 0; step < steps; ++step) {
            if (batches) {
                std::array<std::uint32_t, batch> some;
                for (std::size_t i = 0; i < batch; ++i)
                    some[i] = std::uint32_t(draw.uniform(step * batch + i) * double(rows));
                f.batch_gradient(some, x, std::span<double>(g));
            } else {
                f.gradient(x, std::span<double>(g));
            }
            reduce(g);
            for (std::size_t i = 0; i < x.size(); ++i) x[i] -= rate * g[i];
        }
        if (comm.rank() == 0) model = x;
    });
    return {t.whole.accuracy(model), t.whole.value(model) - t.least};
}

// A line of the table: `theorem` is the longest rate that its theorem covers, `unit` what the others are multiplied by.
// Returns the accuracy at a tenth of the first rate.
template <class R>
double line(task const& t, char const* name, double theorem, R const& how, double unit = 1) {
    double const l = t.constants.smoothness;
    std::printf("%-31s %7.4f  |", name, theorem * l);
    outcome last{};
    double tenth = 0;
    for (double const rate : in_full) {
        last = train(t, how, unit * rate / l, false);
        std::printf(" %5.1f", 100 * last.accuracy);
        if (rate == in_full[2]) tenth = last.accuracy;
    }
    std::printf("  %7.1e |", last.gap);
    for (double const rate : in_batches) std::printf(" %5.1f", 100 * train(t, how, unit * rate / l, true).accuracy);
    std::printf("\n");
    return tenth;
}

// The rate that a method's theorem gives.
template <class M>
double rate_of(M const& method, problem const& p) {
    auto const r = method.template compose<double, host>(p);
    return r.scale * r.step.rate;
}

}  // namespace

int main() {
    auto const t = made();
    auto const& p = t.constants;
    std::printf("d = %zu, %d ranks, %d steps; rates times 1 / L, accuracy in %%\n\n", p.dimension, ranks, steps);
    std::printf("%-31s %7s  | %-33s | %s\n%-31s %7s  |", "", "", "gradients of all rows", "batches of 6", "",
                "theorem");
    for (double const rate : in_full) std::printf(" %5g", rate);
    std::printf("  %7s |", "f - f*");
    for (double const rate : in_batches) std::printf(" %5g", rate);
    std::printf("\n");
    double const vote =
        std::sqrt(2 * (std::log(double(labels)) - t.least) / (double(p.dimension) * p.smoothness * steps));
    double const tenths[] = {
        line(t, "plain{}", 1 / p.smoothness, plain{}),
        line(t, "plain{rand_k{0.1}}", rate_of(dcgd{rand_k{0.1}}, p), plain{rand_k{0.1}}),
        line(t, "plain{quantize{4}}", rate_of(dcgd{quantize{4}}, p), plain{quantize{4}}),
        line(t, "shifted{rand_k{0.1}}", rate_of(diana{rand_k{0.1}}, p), shifted{rand_k{0.1}}),
        line(t, "shifted{quantize{4}}", rate_of(diana{quantize{4}}, p), shifted{quantize{4}}),
        line(t, "error_feedback{top_k{0.01}}", rate_of(ef_sgd{top_k{0.01}}, p), error_feedback{top_k{0.01}}),
        line(t, "error_feedback{scaled_sign{}}", rate_of(ef_sgd{scaled_sign{}}, p), error_feedback{scaled_sign{}}),
        line(t, "ef21_shift{top_k{0.01}}", rate_of(ef21{top_k{0.01}}, p), ef21_shift{top_k{0.01}}),
        line(t, "ef21_shift{top_k{0.1}}", rate_of(ef21{top_k{0.1}}, p), ef21_shift{top_k{0.1}}),
        line(t, "majority_vote{}, rate / 100", vote, majority_vote{}, 0.01)};
    line(t, "majority_vote{}", vote, majority_vote{});
    return *std::min_element(std::begin(tenths), std::end(tenths)) > 0.95 ? 0 : 1;
}
