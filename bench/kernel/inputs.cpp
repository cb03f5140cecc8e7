// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include "kernel.hpp"
#include "laconic/core/key.hpp"

namespace kernel_bench {

namespace {

// Gaussian numbers by coordinate, so that any length is drawn fast: those of 2^16, in another order in each stretch.
std::vector<double> const& gauss_table() {
    static std::vector<double> const table = [] {
        std::mt19937_64 draw(1);
        std::normal_distribution<double> normal;
        std::vector<double> some(1 << 16);
        for (double& v : some) v = normal(draw);
        return some;
    }();
    return table;
}
double gauss(std::size_t i) {
    auto const h = (i + 1) * 0x9E3779B97F4A7C15u;
    auto const& table = gauss_table();
    // No two alike: the table's number, moved by less than its distance to the next.
    return table[(h >> 40) % table.size()] * (1 + static_cast<double>(h % 4096) * 0x1p-18);
}

// Student's t with 2 degrees of freedom, of a uniform number.
double heavy(std::size_t i) {
    double const u = laconic::key{2}.uniform(i), v = 2 * u - 1;
    return v * std::sqrt(2 / (1 - v * v + 1e-12));
}

}  // namespace

char const* name_of(input from) {
    constexpr char const* names[] = {"gauss",          "heavy",  "zeros_90", "zeros_99", "zero_blocks_90",
                                     "zero_blocks_99", "sorted", "equal",    "one_block"};
    return names[static_cast<std::size_t>(from)];
}

template <class T>
std::span<T const> numbers(input from, std::size_t d, std::size_t copies) {
    static std::vector<T> all;
    static input last = input::gauss;
    static std::size_t last_d = 0;
    if (all.size() == d * copies && last_d == d && last == from) return all;
    last = from;
    last_d = d;
    std::vector<T>().swap(all);
    all.resize(d * copies);
    auto const x = std::span(all).first(d);
    auto const zero = [](std::size_t n, std::size_t percent) {
        return (n * 0x9E3779B97F4A7C15u >> 33) % 100 < percent;
    };
    for (std::size_t i = 0; i < d; ++i) {
        bool const is_0 = from == input::zeros_90         ? zero(i, 90)
                          : from == input::zeros_99       ? zero(i, 99)
                          : from == input::zero_blocks_90 ? zero(i / 256, 90)
                          : from == input::zero_blocks_99 ? zero(i / 256, 99)
                                                          : false;
        x[i] = static_cast<T>(is_0 ? 0.0 : from == input::heavy ? heavy(i) : from == input::equal ? 1.0 : gauss(i));
    }
    if (from == input::one_block)
        for (std::size_t i = d / 2; i < d / 2 + d / 64; ++i) x[i] *= 1000;
    if (from == input::sorted) std::sort(x.begin(), x.end(), [](T a, T b) { return std::abs(a) < std::abs(b); });
    for (std::size_t c = 1; c < copies; ++c)
        std::copy(x.begin(), x.end(), all.begin() + static_cast<std::ptrdiff_t>(c * d));
    return all;
}
template std::span<float const> numbers(input, std::size_t, std::size_t);
template std::span<double const> numbers(input, std::size_t, std::size_t);

}  // namespace kernel_bench
