// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "kernel.hpp"

namespace kernel_bench {

namespace {

using namespace laconic;

constexpr std::size_t block = 256;

template <class T>
void add_above(input from, std::size_t d, std::size_t k) {
    // The bound that k numbers are above.
    auto const bound_for = [k](std::span<T const> x) {
        std::vector<T> sizes(x.size());
        std::transform(x.begin(), x.end(), sizes.begin(), [](T v) { return std::abs(v); });
        std::nth_element(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(k), sizes.end(), std::greater<>{});
        return sizes[k];
    };
    add<T>({"select_above", from, d, k}, [bound_for](std::span<T const> x) {
        return [x, bound = bound_for(x), on = backend(), at = std::vector<coordinate>()]() mutable {
            select_above(on, x, bound, at);
        };
    });
    add<T>({"select_above.loop", from, d, k}, [bound_for](std::span<T const> x) {
        return [x, bound = bound_for(x), at = std::vector<coordinate>()]() mutable {
            at.clear();
            for (std::size_t i = 0; i < x.size(); ++i)
                if (std::abs(x[i]) > bound) at.push_back(static_cast<coordinate>(i));
        };
    });
}

template <class T>
void add_about(input from, std::size_t d, std::size_t k) {
    add<T>({"select_about", from, d, k}, [k](std::span<T const> x) {
        return [x, k, on = backend(), at = std::vector<coordinate>()]() mutable {
            select_about(on, x, k - k / 8, k, k + k / 8, at);
        };
    });
}

template <class T>
void add_blocks(input from, std::size_t d) {
    add<T>({"nonzero_blocks", from, d}, [](std::span<T const> x) {
        return [x, on = backend(), at = std::vector<coordinate>()]() mutable { select_nonzero_blocks(on, x, block, at); };
    });
    add<T>({"nonzero_blocks.any_of", from, d}, [](std::span<T const> x) {
        return [x, at = std::vector<coordinate>()]() mutable {
            at.clear();
            for (std::size_t i = 0; i < x.size(); i += block) {
                auto const part = x.subspan(i, std::min(block, x.size() - i));
                if (std::any_of(part.begin(), part.end(), [](T v) { return v != 0; }))
                    at.push_back(static_cast<coordinate>(i / block));
            }
        };
    });
}

template <class T>
void add_largest_blocks(std::size_t d, std::size_t k) {
    add<T>({"largest_blocks", input::gauss, d, k}, [k](std::span<T const> x) {
        return [x, k, on = backend(), at = std::vector<coordinate>()]() mutable {
            select_largest_blocks(on, x, block, k, at);
        };
    });
}

template <class T>
void add_sort(std::size_t d) {
    add<T>({"sort_magnitudes", input::gauss, d}, [](std::span<T const> x) {
        return [x, on = backend(), sorted = std::vector<T>()]() mutable { sort_magnitudes(on, x, sorted); };
    });
    add<T>({"sort_magnitudes.sort", input::gauss, d}, [](std::span<T const> x) {
        return [x, sorted = std::vector<T>(x.size())]() mutable {
            std::transform(x.begin(), x.end(), sorted.begin(), [](T v) { return std::abs(v); });
            std::sort(sorted.begin(), sorted.end(), std::greater<>{});
        };
    });
}

template <class T>
void add_count(std::size_t d) {
    add<T>({"count_by_magnitude", input::gauss, d}, [](std::span<T const> x) {
        backend on;
        T const largest = largest_magnitude(on, x);
        return [x, largest, on = backend(), counts = std::vector<std::uint32_t>(kernels::magnitude_bins::count)]() mutable {
            count_by_magnitude(on, x, largest, std::span<std::uint32_t>(counts));
        };
    });
}

}  // namespace

void add_select() {
    for (std::size_t const k : {in_memory / 1000, in_memory / 100, in_memory / 10}) {
        add_above<float>(input::gauss, in_memory, k);
        add_about<float>(input::gauss, in_memory, k);
    }
    add_above<double>(input::gauss, in_memory, in_memory / 100);
    add_about<float>(input::zeros_99, in_memory, in_memory / 10);
    for (input const from : {input::gauss, input::zero_blocks_90, input::zero_blocks_99})
        add_blocks<float>(from, in_memory);
    add_blocks<float>(input::zero_blocks_90, far_in_memory);
    add_blocks<double>(input::zero_blocks_99, in_memory);
    add_largest_blocks<float>(in_memory, in_memory / block / 100);
    add_largest_blocks<double>(in_memory, in_memory / block / 100);
    add_sort<float>(in_l3);
    add_sort<double>(in_l3);
    add_count<float>(in_memory);
    add_count<double>(in_memory);
}

}  // namespace kernel_bench
