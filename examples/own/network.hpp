// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "laconic/core/key.hpp"

/// What own_loop and own_loop_mpi train: a network of two layers, by hand, that learns whether a point lies within a
/// ring.
namespace own {

constexpr std::size_t hidden = 64, points = 256, batch = 32;

struct network {  // p(x is in the ring) = sigmoid(second . tanh(first x))
    std::vector<float> first = std::vector<float>(3 * hidden), second = std::vector<float>(hidden);
};
struct point {
    float x[3];  // and a 1, for the biases
    float label;
};

inline network fresh() {
    network net;
    for (std::size_t i = 0; i < net.first.size(); ++i) net.first[i] = float(4 * laconic::key{2}.uniform(i) - 2);
    return net;
}
inline std::vector<point> points_of(int rank) {
    std::vector<point> all;
    auto const draw = laconic::key{1}.child(std::uint64_t(rank));
    for (std::size_t i = 0; i < points; ++i) {
        auto const x = float(4 * draw.uniform(2 * i) - 2), y = float(4 * draw.uniform(2 * i + 1) - 2);
        float const r = std::hypot(x, y);
        all.push_back({{x, y, 1}, float(r > 0.7f && r < 1.5f)});
    }
    return all;
}

/// The loss at a point; adds the gradient, and the point to those that are classified right.
inline float backward(network const& net, point const& at, network& gradient, int& right) {
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
inline void step(network& net, network const& gradient) {
    for (std::size_t i = 0; i < net.first.size(); ++i) net.first[i] -= 0.5f * gradient.first[i];
    for (std::size_t i = 0; i < net.second.size(); ++i) net.second[i] -= 0.5f * gradient.second[i];
}

}  // namespace own
