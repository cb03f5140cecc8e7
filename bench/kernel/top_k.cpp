// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "kernel.hpp"

namespace kernel_bench {

namespace {

using namespace laconic;

template <class T>
void add_case(input from, std::size_t d, std::size_t k, bool peers) {
    add<T>({"top_k", from, d, k}, [k](std::span<T const> x) {
        return [x, k, on = backend(), at = std::vector<coordinate>()]() mutable { select_largest(on, x, k, at); };
    });
    if (!peers) return;
    // The floor of any way: one pass that compares with a threshold that is known, and lists what is above.
    add<T>({"top_k.threshold_known", from, d, k}, [k](std::span<T const> x) {
        backend on;
        std::vector<coordinate> at;
        select_largest(on, x, k, at);
        T threshold = std::abs(x[at[0]]);
        for (coordinate const i : at) threshold = std::min(threshold, std::abs(x[i]));
        return [x, threshold, on = backend(), at]() mutable { select_above(on, x, std::nextafter(threshold, T(0)), at); };
    });
    // The magnitudes alone are selected, then one pass finds where they are.
    add<T>({"top_k.nth_element", from, d, k}, [k](std::span<T const> x) {
        return [x, k, sizes = std::vector<T>(x.size()), at = std::vector<coordinate>(k)]() mutable {
            std::transform(x.begin(), x.end(), sizes.begin(), [](T v) { return std::abs(v); });
            auto const kth = sizes.begin() + static_cast<std::ptrdiff_t>(k - 1);
            std::nth_element(sizes.begin(), kth, sizes.end(), std::greater<>{});
            T const threshold = *kth;
            std::size_t n = 0;
            for (std::size_t i = 0; i < x.size() && n < k; ++i)
                if (std::abs(x[i]) >= threshold) at[n++] = static_cast<coordinate>(i);
        };
    });
}

}  // namespace

void add_top_k() {
    for (std::size_t const d : {in_memory, far_in_memory})
        for (std::size_t const parts : {10000u, 1000u, 100u, 10u})
            add_case<float>(input::gauss, d, d / parts, d == in_memory);
    for (input const from : {input::heavy, input::zeros_90, input::zeros_99, input::zero_blocks_99, input::sorted,
                             input::equal, input::one_block})
        add_case<float>(from, in_memory, in_memory / 100, false);
    add_case<float>(input::zeros_90, in_memory, in_memory / 10, false);
    add_case<float>(input::gauss, in_memory, in_memory / 2, false);
    for (std::size_t const d : {in_l2, in_l3}) add_case<float>(input::gauss, d, d / 100, true);
    for (std::size_t const parts : {100u, 10u}) add_case<double>(input::gauss, in_memory, in_memory / parts, true);
}

}  // namespace kernel_bench
