// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "kernel.hpp"
#include "laconic/adapt/level.hpp"
#include "laconic/feedback/last_gradient.hpp"
#include "laconic/feedback/memory.hpp"
#include "laconic/message/plain.hpp"
#include "laconic/message/sparse.hpp"
#include "laconic/optim/adam.hpp"
#include "laconic/optim/lion.hpp"

namespace kernel_bench {

namespace {

using namespace laconic;

template <class T>
std::span<T const> fixed(std::vector<T> const& x) {
    return x;
}
template <class T>
std::vector<T> copied(std::span<T const> x) {
    return {x.begin(), x.end()};
}

// What passes over whole vectors, `vectors` of them, where one that is read and written counts twice.
template <class T, class Make>
void add_pass(std::string const& name, std::size_t d, std::size_t vectors, Make make) {
    add<T>({name, input::gauss, d, 0, 0, vectors * d * sizeof(T)}, make);
}

template <class T>
void add_sums(std::size_t d, bool peers) {
    add_pass<T>("add_scaled", d, 3, [](std::span<T const> x) {
        return [x, on = backend(), y = copied(x)]() mutable { add_scaled(on, T(-1), x, std::span<T>(y)); };
    });
    add_pass<T>("multiply", d, 2, [](std::span<T const> x) {
        return [on = backend(), y = copied(x)]() mutable { multiply(on, T(-1), std::span<T>(y)); };
    });
    add_pass<T>("delta", d, 4, [](std::span<T const> x) {  // g += e - h
        return [on = backend(), g = copied(x), h = copied(x), e = copied(x)]() mutable {
            compensate(on, T(1), std::span<T const>(g), fixed(h), T(1), fixed(e), std::span<T>(g));
        };
    });
    add_pass<T>("complete_and_remember", d, 4, [](std::span<T const> x) {
        return [on = backend(), m = copied(x), h = std::vector<T>(x.size())]() mutable {
            complete_and_remember(on, std::span<T>(m), T(0), std::span<T>(h));  // a = 0: nothing grows
        };
    });
    add_pass<T>("scaled_distances", d, 3, [](std::span<T const> x) {
        return [x, on = backend(), y = copied(x), bounds = copied(x)]() mutable {
            at_each_index(on, x.size(), detail::scaled_distances<T>{T(2), x, y, bounds});
        };
    });
    add_pass<T>("raise_magnitudes", d, 2, [](std::span<T const> x) {
        return [on = backend(), y = copied(x)]() mutable { raise_magnitudes(on, T(0.5), T(1), std::span<T>(y)); };
    });
    auto const add_step = [d](std::string const& name, std::size_t vectors, auto const& step) {
        add_pass<T>(name, d, vectors, [step = step](std::span<T const> x) {
            return [on = backend(), y = copied(x), along = copied(x), step]() mutable {
                step(on, std::span<T>(y), std::span<T>(along));
            };
        });
    };
    add_step("adam", 7, adam<T, backend>(1e-6));
    add_step("lion", 5, lion<T, backend>(1e-6));
    add_pass<T>("add_terms_in_order", d, 3, [](std::span<T const> x) {
        return [on = backend(), y = copied(x), m = messages::full_vector<T, backend>{copied(x)}]() mutable {
            add_message(on, std::span<T>(y), T(-1), m);
        };
    });
    if (!peers) return;
    add_pass<T>("add_scaled.plain_loop", d, 3, [](std::span<T const> x) {
        return [x, y = copied(x), a = T(-1)]() mutable {
            benchmark::DoNotOptimize(a);
            T* const to = y.data();
            for (std::size_t i = 0; i < x.size(); ++i) to[i] += a * x[i];
        };
    });
    add_pass<T>("adam.plain_loop", d, 7, [](std::span<T const> x) {
        return [x, y = copied(x), m = std::vector<T>(x.size()), v = std::vector<T>(x.size()), t = T(0)]() mutable {
            T const first = 1 - std::pow(T(0.9), ++t), second = 1 - std::pow(T(0.999), t);
            for (std::size_t i = 0; i < x.size(); ++i) {
                m[i] = T(0.9) * m[i] + T(0.1) * x[i];
                v[i] = T(0.999) * v[i] + T(0.001) * x[i] * x[i];
                y[i] -= T(1e-6) * (m[i] / first) / (std::sqrt(v[i] / second) + T(1e-8));
            }
        };
    });
    add_pass<T>("delta.plain_loop", d, 4, [](std::span<T const> x) {
        return [g = copied(x), h = copied(x), e = copied(x)]() mutable {
            for (std::size_t i = 0; i < g.size(); ++i) g[i] += e[i] - h[i];
        };
    });
    add_pass<T>("delta.copy", d, 2, [](std::span<T const> x) {
        return [x, g = copied(x)]() mutable { std::copy(x.begin(), x.end(), g.begin()); };
    });
}

template <class T>
void add_reductions(std::size_t d) {
    add<T>({"sum_of_magnitudes", input::gauss, d}, [](std::span<T const> x) {
        return [x, on = backend()]() mutable { benchmark::DoNotOptimize(sum_of_magnitudes(on, x)); };
    });
    add<T>({"sum_of_squares", input::gauss, d}, [](std::span<T const> x) {
        return [x, on = backend()]() mutable { benchmark::DoNotOptimize(sum_of_squares(on, x)); };
    });
    add<T>({"largest_magnitude", input::gauss, d}, [](std::span<T const> x) {
        return [x, on = backend()]() mutable { benchmark::DoNotOptimize(largest_magnitude(on, x)); };
    });
}

template <class T>
using sparse_message = messages::sparse<identity, messages::support_is::fixed_count, T, backend>;

template <class T>
sparse_message<T> largest(std::span<T const> x, std::size_t k) {
    backend on;
    sparse_message<T> m;
    m.length = x.size();
    select_largest(on, x, k, m.support);
    for (coordinate const i : m.support) m.payload.values.push_back(x[i]);
    return m;
}

// Of k terms of one message. The floor reads and writes one number in each cache line that they
// touch, fetched ahead: what misses alone cost.
template <class T>
void add_scatter(std::size_t d, std::size_t k) {
    scenario s{"scatter_add", input::gauss, d, k, k * (sizeof(coordinate) + sizeof(T)), 0, k};
    add<T>(s, [k](std::span<T const> x) {
        return [on = backend(), y = std::vector<T>(x.size()), m = largest(x, k)]() mutable {
            add_message(on, std::span<T>(y), T(-1), m);
        };
    });
    s.kernel = "scatter_add.floor";
    add<T>(s, [k](std::span<T const> x) {
        constexpr std::size_t in_line = 64 / sizeof(T), ahead = 64;
        auto lines = largest(x, k).support;
        for (coordinate& i : lines) i = static_cast<coordinate>(i / in_line * in_line);
        lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
        return [y = std::vector<T>(x.size()), lines]() mutable {
            for (std::size_t j = 0; j < lines.size(); ++j) {
                __builtin_prefetch(y.data() + lines[std::min(j + ahead, lines.size() - 1)], 1);
                y[lines[j]] += T(1);
            }
        };
    });
    s.kernel = "scatter_add.plain_loop";
    add<T>(s, [k](std::span<T const> x) {
        return [y = std::vector<T>(x.size()), m = largest(x, k)]() mutable {
            for (std::size_t j = 0; j < m.support.size(); ++j) y[m.support[j]] -= m.payload.values[j];
        };
    });
}

}  // namespace

void add_updates() {
    for (std::size_t const d : {in_l2, in_memory, far_in_memory}) add_sums<float>(d, d == in_memory);
    add_sums<double>(in_memory, false);
    add_reductions<float>(in_memory);
    add_reductions<double>(in_memory);
    for (double const share : {1e-3, 1e-2, 1e-1})
        add_scatter<float>(in_memory, static_cast<std::size_t>(share * static_cast<double>(in_memory)));
    add_scatter<float>(far_in_memory, far_in_memory / 100);
    add_scatter<double>(in_memory, in_memory / 100);
}

}  // namespace kernel_bench
