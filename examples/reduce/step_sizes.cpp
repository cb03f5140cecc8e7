// SPDX-License-Identifier: Apache-2.0
// How long may a step be? Softmax regression over four ranks, trained with each reduction at the longest rate that the
// dense mean bears and at shares of it, beside the longest step that the reduction's theorem covers.
#include <laconic/comm/fibers.hpp>
#include <laconic/laconic.hpp>
#include <laconic/objective.hpp>

#include "common/drawn.hpp"

namespace {

using namespace laconic;

constexpr std::size_t ranks = 4, steps = 500, features = 50, labels = 10, rows = 60, batch = 6;  // rows of one rank
constexpr double of_all[] = {24, 8, 2.4, 0.8}, of_batches[] = {2.4, 0.8, 0.24};                  // rates, times 1 / L

// Points around a centre for each class.
double point(std::size_t j, std::vector<double>& x) {
    auto const label = std::size_t(key{8}.child(1).uniform(j) * double(labels));
    for (std::size_t i = 0; i < features; ++i)
        x[i] = drawn::normal(key{7}, label * features + i) + 3 * drawn::normal(key{8}, j * features + i);
    return double(label);
}

struct task {
    dataset<> points = drawn::data("points", ranks* rows, features, point);
    softmax<double> whole{points, 0.02};
    double l = whole.smoothness(), least = find_optimum(whole).value;  // f*
    softmax<double> of_rank(int r) const { return {points.part(std::size_t(r), ranks), 0.02, whole.classes()}; }
};

// Trains with a reduction; returns f - f* and the accuracy.
template <class R>
std::pair<double, double> train(task const& t, R const& how, double rate, bool batches) {
    std::vector<double> model(t.whole.dimension());
    fibers::run(int(ranks), [&](auto& comm) {
        auto const f = t.of_rank(comm.rank());
        key const draw = key{9}.child(std::uint64_t(comm.rank()));
        std::vector<double> x(model.size()), g(model.size());
        std::vector<std::uint32_t> some(batch);
        reducer reduce(how, comm, g, {.seed = 1});
        for (std::size_t step = 0; step < steps; ++step) {
            for (std::size_t i = 0; i < batch; ++i)
                some[i] = std::uint32_t(draw.uniform(step * batch + i) * double(rows));
            batches ? f.batch_gradient(some, x, std::span(g)) : f.gradient(x, std::span(g));
            reduce(g);
            for (std::size_t i = 0; i < x.size(); ++i) x[i] -= rate * g[i];
        }
        if (comm.rank() == 0) model = x;
    });
    return {t.whole.value(model) - t.least, t.whole.accuracy(model)};
}

// A line: `theorem` is the longest rate that its theorem covers, `unit` what the others are multiplied by. Returns the
// accuracy at a tenth of the first rate.
template <class R>
double line(task const& t, char const* name, double theorem, R const& how, double unit = 1) {
    std::printf("%-31s %7.4f  |", name, theorem * t.l);
    double gap = 0, accuracy = 0, tenth = 0;
    for (double const rate : of_all) {
        std::tie(gap, accuracy) = train(t, how, unit * rate / t.l, false);
        std::printf(" %5.1f", 100 * accuracy);
        if (rate == of_all[2]) tenth = accuracy;
    }
    std::printf("  %7.1e |", gap);
    for (double const rate : of_batches) std::printf(" %5.1f", 100 * train(t, how, unit * rate / t.l, true).second);
    std::printf("\n");
    return tenth;
}

}  // namespace

int main() {
    task const t;
    problem p;
    fibers::run(int(ranks), [&](auto& comm) { p = agree_on_problem(comm, t.of_rank(comm.rank())); });
    p.smoothness = t.l, p.strong_convexity = p.least_strong_convexity = 0;  // steps that need no strong convexity
    auto const rate_of = [&](auto const& method) {
        auto const r = method.template compose<double, host>(p);
        return r.scale * r.step.rate;
    };
    std::printf("d = %zu, %zu ranks, %zu steps; rates times 1 / L, accuracy in %%\n\n", p.dimension, ranks, steps);
    std::printf("%-41s| gradients of all rows             | batches of 6\n%32stheorem  |", "", "");
    std::printf("    24     8   2.4   0.8   f - f* |   2.4   0.8  0.24\n");
    double const vote = std::sqrt(2 * (std::log(double(labels)) - t.least) / (double(p.dimension) * t.l * steps));
    double const tenths[] = {
        line(t, "plain{}", 1 / t.l, plain{}),
        line(t, "plain{rand_k{0.1}}", rate_of(dcgd{rand_k{0.1}}), plain{rand_k{0.1}}),
        line(t, "plain{quantize{4}}", rate_of(dcgd{quantize{4}}), plain{quantize{4}}),
        line(t, "shifted{rand_k{0.1}}", rate_of(diana{rand_k{0.1}}), shifted{rand_k{0.1}}),
        line(t, "shifted{quantize{4}}", rate_of(diana{quantize{4}}), shifted{quantize{4}}),
        line(t, "error_feedback{top_k{0.01}}", rate_of(ef_sgd{top_k{0.01}}), error_feedback{top_k{0.01}}),
        line(t, "error_feedback{scaled_sign{}}", rate_of(ef_sgd{scaled_sign{}}), error_feedback{scaled_sign{}}),
        line(t, "ef21_shift{top_k{0.01}}", rate_of(ef21{top_k{0.01}}), ef21_shift{top_k{0.01}}),
        line(t, "ef21_shift{top_k{0.1}}", rate_of(ef21{top_k{0.1}}), ef21_shift{top_k{0.1}}),
        line(t, "majority_vote{}, rate / 100", vote, majority_vote{}, 0.01)};
    line(t, "majority_vote{}", vote, majority_vote{});
    return *std::min_element(std::begin(tenths), std::end(tenths)) > 0.95 ? 0 : 1;
}
