// SPDX-License-Identifier: Apache-2.0
// A training loop of one's own, where reduce() stands in place of the dense all-reduce: a network of two layers, by
// hand, learns whether a point lies within a ring. Four ranks have points of their own and send one message a layer.
#include <cmath>
#include <cstdio>
#include <vector>

#include "laconic/comm/metered.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/reducer.hpp"

namespace {

constexpr std::size_t hidden = 64, points = 256, batch = 32;

struct network {  // p(x is in the ring) = sigmoid(second . tanh(first x))
    std::vector<float> first = std::vector<float>(3 * hidden), second = std::vector<float>(hidden);
};
struct point {
    float x[3];  // and a 1, for the biases
    float label;
};

std::vector<point> points_of(int rank) {
    std::vector<point> all;
    auto const draw = laconic::key{1}.child(std::uint64_t(rank));
    for (std::size_t i = 0; i < points; ++i) {
        auto const x = float(4 * draw.uniform(2 * i) - 2), y = float(4 * draw.uniform(2 * i + 1) - 2);
        float const r = std::hypot(x, y);
        all.push_back({{x, y, 1}, float(r > 0.7f && r < 1.5f)});
    }
    return all;
}

// The loss at a point; adds the gradient, and the point to those that are told right.
float backward(network const& net, point const& at, network& gradient, int& right) {
    float h[hidden], out = 0;
    for (std::size_t j = 0; j < hidden; ++j) {
        h[j] = std::tanh(net.first[3 * j] * at.x[0] + net.first[3 * j + 1] * at.x[1] + net.first[3 * j + 2]);
        out += net.second[j] * h[j];
    }
    right += (out > 0) == (at.label > 0.5f);
    float const slope = 1 / (1 + std::exp(-out)) - at.label;
    for (std::size_t j = 0; j < hidden; ++j) {
        gradient.second[j] += slope * h[j] / float(batch);
        for (std::size_t i = 0; i < 3; ++i)
            gradient.first[3 * j + i] += slope * net.second[j] * (1 - h[j] * h[j]) * at.x[i] / float(batch);
    }
    return std::log1p(std::exp(at.label > 0.5f ? -out : out));
}

// Trains with this reduction; the share of all ranks' points that are told right.
template <class Reduction>
double train(char const* name, Reduction const& how) {
    double accuracy = 0;
    laconic::threads::run(4, [&](laconic::threads::member& comm) {
        auto const mine = points_of(comm.rank());
        network net, gradient;
        for (std::size_t i = 0; i < net.first.size(); ++i) net.first[i] = float(4 * laconic::key{2}.uniform(i) - 2);
        laconic::metered wire(comm);
        laconic::reducer reduce(how, wire, {{"first", net.first.size()}, {"second", net.second.size()}});
        int const steps = 3000;
        for (int step = 0; step < steps; ++step) {
            gradient = {};
            int right = 0;
            for (std::size_t i = 0; i < batch; ++i)
                backward(net, mine[(std::size_t(step) * batch + i) % points], gradient, right);
            reduce.start(1, gradient.second);  // in the order in which a backward pass has them
            reduce.start(0, gradient.first);
            reduce.finish();
            for (std::size_t i = 0; i < net.first.size(); ++i) net.first[i] -= 0.5f * gradient.first[i];
            for (std::size_t i = 0; i < net.second.size(); ++i) net.second[i] -= 0.5f * gradient.second[i];
        }
        double const bytes = double(wire.bytes_sent()) / steps;
        std::vector<float> share(2);
        int right = 0;
        for (auto const& p : mine) share[0] += backward(net, p, gradient, right) / float(points);
        share[1] = float(right) / float(points);
        laconic::reducer mean(laconic::plain{}, comm, share);  // of all ranks
        mean(share);
        if (comm.rank() == 0)
            std::printf("%-24s %6.1f bytes a step, loss %.3f, accuracy %.3f\n", name, bytes, share[0], share[1]);
        if (comm.rank() == 0) accuracy = share[1];
    });
    return accuracy;
}

}  // namespace

int main() {
    double const dense = train("dense", laconic::plain{});
    double const sparse = train("top-k, 2 %", laconic::error_feedback{laconic::top_k{0.02}});
    return dense > 0.9 && sparse > dense - 0.03 ? 0 : 1;
}
