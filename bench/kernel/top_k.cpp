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
#include "laconic/backend/host.hpp"

namespace kernel_bench {

namespace {

using namespace laconic;

template <class T>
void add_case(input from, std::size_t d, std::size_t k, bool peers) {
    add<T>({"top_k", from, d, k}, [k](std::span<T const> x) {
        return [x, k, on = host(), at = std::vector<coordinate>()]() mutable { select_largest(on, x, k, at); };
    });
    if (!peers) return;
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
    for (std::size_t const d : {in_l2, in_l3, in_memory, far_in_memory})
        for (double const share : {1e-4, 1e-3, 1e-2, 1e-1})
            add_case<float>(input::gauss, d, static_cast<std::size_t>(share * static_cast<double>(d)), true);
}

}  // namespace kernel_bench
