// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>

#include "laconic/backend/host/impl/caches.hpp"
#include "laconic/backend/host/memory.hpp"

/// Sums of vectors, each in one pass. Every product is rounded before it is added, so that all instruction sets come to
/// the same numbers. The costs: how many vectors are read + how many are written.
namespace laconic::detail {

// How many numbers there are before the first vector of them that crosses no line of memory; n where it has none.
template <class A, Scalar T>
std::size_t before_whole_pack(std::span<T> x) {
    constexpr std::size_t bytes = sizeof(T) * simd::pack<T, A>::width;
    return std::min((bytes - reinterpret_cast<std::uintptr_t>(x.data()) % bytes) % bytes / sizeof(T), x.size());
}

// f(type, i) for all vectors of numbers i, i + 1, .. of `written`, which cross no lines of memory, and for each number
// before and after them. Those that f reads `beside` cross none either, mostly: long vectors begin in the same place of
// a line. Inline, so that what f knows stays in registers.
template <class A, Scalar T, class F, std::same_as<std::span<T const>>... X>
[[gnu::always_inline]] inline void each_pack(std::span<T> written, F f, X... beside) {
    using pack = simd::pack<T, A>;
    std::size_t const before = before_whole_pack<A>(written);
    std::size_t i = 0;
    for (; i < before; ++i) f(std::type_identity<simd::single<T, A>>{}, i);
    for (; i + pack::width <= written.size(); i += pack::width) {
        fetch_next_page(written.data() + i, sizeof(T) * pack::width);
        (fetch_next_page(beside.data() + i, sizeof(T) * pack::width), ...);
        f(std::type_identity<pack>{}, i);
    }
    for (; i < written.size(); ++i) f(std::type_identity<simd::single<T, A>>{}, i);
}

// a g_i - h_i + b e_i, without h or e where they are empty.
template <Scalar T, bool shift, bool residual>
struct delta_numbers {
    T a;
    T const* g;
    T const* h;
    T b;
    T const* e;

    // Of i and those that are in one V with it.
    template <class V>
    V at(std::size_t i) const {
        auto v = settled(V::load(g + i) * V::all(a));
        if constexpr (shift) v = v - V::load(h + i);
        if constexpr (residual) v = v + settled(V::load(e + i) * V::all(b));
        return v;
    }
    // As the functions of these names in caches.hpp, of all that is read for so many numbers from i on.
    template <std::size_t numbers>
    void fetch_next_page(std::size_t i) const {
        each([i](T const* x) { detail::fetch_next_page(x + i, numbers * sizeof(T)); });
    }
    template <std::size_t numbers>
    void fetch_ahead(std::size_t i) const {
        each([i](T const* x) { detail::fetch_ahead<numbers * sizeof(T)>(x + i); });
    }

  private:
    void each(auto use) const {
        use(g);
        if constexpr (shift) use(h);
        if constexpr (residual) use(e);
    }
};
// What pass(delta_numbers) returns.
template <Scalar T, class Pass>
bool with_delta(T a, std::span<T const> g, std::span<T const> h, T b, std::span<T const> e, Pass pass) {
    LACONIC_EXPECTS((h.empty() || h.size() == g.size()) && (e.empty() || e.size() == g.size()));
    auto const of = [&]<bool shift, bool residual>(std::bool_constant<shift>, std::bool_constant<residual>) {
        return pass(delta_numbers<T, shift, residual>{a, g.data(), h.data(), b, e.data()});
    };
    std::true_type const yes;
    std::false_type const no;
    return h.empty() ? e.empty() ? of(no, no) : of(no, yes) : e.empty() ? of(yes, no) : of(yes, yes);
}

// Whether all numbers that it is shown are finite.
template <Scalar T, class A>
struct finite_numbers {
    using pack = simd::pack<T, A>;
    std::array<pack, 2> sums{pack::all(T(0)), pack::all(T(0))};  // two, so that sums do not wait for each other
    T sum = 0;

    void add(pack v, std::size_t which) { sums[which] = sums[which] + (v - v); }  // 0, or NaN where v is not finite
    void add(simd::single<T, A> v, std::size_t) requires(pack::width > 1) { sum += v.value - v.value; }
    bool all() const {
        std::array<T, pack::width> each;
        (sums[0] + sums[1]).store(each.data());
        return sum + std::accumulate(each.begin(), each.end(), T(0)) == 0;
    }
};

// Terms that lie in buckets: terms.from(first) are those from coordinate `first` on that share its bucket.
template <class Terms>
concept InBuckets = requires(Terms const terms, std::size_t first) {
    terms.from(first);
};

}  // namespace laconic::detail

namespace laconic::kernels {

/// f(i) for all i < n, in any order; here from `first` on. f is of a class with a name, has a constexpr operator(), and
/// changes elements of arrays by spans that it holds, each element by one call at most. If it has a type f.number,
/// f.at<V>(i) does the same for the numbers i, i + 1, .. of a V (impl/xsimd_pack.hpp), and the host calls that.
template <class A, class F>
void at_each_index(basic_host<A>&, std::size_t n, F f, std::size_t first = 0) {
    if constexpr (requires { typename F::number; }) {
        using pack = simd::pack<typename F::number, A>;
        for (std::size_t whole = n / pack::width; whole > 0; --whole, first += pack::width) f.template at<pack>(first);
        n %= pack::width;
        for (std::size_t i = 0; i < n; ++i) f.template at<simd::single<typename F::number, A>>(first + i);
    } else {
        for (std::size_t i = 0; i < n; ++i) f(first + i);
    }
}

/// y += a x, for x and y of one length. 2 + 1.
template <class A, Scalar T>
void add_scaled(basic_host<A>&, T a, std::span<T const> x, std::span<T> y) {
    LACONIC_EXPECTS(x.size() == y.size());
    auto const add = [&]<class V>(std::type_identity<V>, std::size_t i) {
        (V::load(y.data() + i) + settled(V::all(a) * V::load(x.data() + i))).store(y.data() + i);
    };
    detail::each_pack<A>(y, add, x);
}

/// x *= a. 1 + 1.
template <class A, Scalar T>
void multiply(basic_host<A>&, T a, std::span<T> x) {
    detail::each_pack<A>(x, [&]<class V>(std::type_identity<V>, std::size_t i) {
        (V::load(x.data() + i) * V::all(a)).store(x.data() + i);
    });
}

/// out <- a g - h + b e, where an empty h or e stands for zeros, and out may be g: what a worker has to send. True
/// where all of it is finite. 1 + 1, and one more read for each of h and e that is not empty.
template <class A, Scalar T>
bool compensate(basic_host<A>&, T a, std::span<T const> g, std::span<T const> h, T b, std::span<T const> e,
                std::span<T> out) {
    LACONIC_EXPECTS(out.size() == g.size());
    using pack = simd::pack<T, A>;
    return detail::with_delta(a, g, h, b, e, [&](auto delta) {
        detail::finite_numbers<T, A> finite;
        auto const make = [&]<class V>(std::type_identity<V>, std::size_t i, std::size_t which) {
            V const v = delta.template at<V>(i);
            v.store(out.data() + i);
            finite.add(v, which);
        };
        std::size_t i = 0;
        for (std::size_t const n = detail::before_whole_pack<A>(out); i < n; ++i)
            make(std::type_identity<simd::single<T, A>>{}, i, 0);
        for (; i + 2 * pack::width <= g.size(); i += 2 * pack::width) {
            delta.template fetch_next_page<2 * pack::width>(i);
            make(std::type_identity<pack>{}, i, 0);
            make(std::type_identity<pack>{}, i + pack::width, 1);
        }
        for (; i < g.size(); ++i) make(std::type_identity<simd::single<T, A>>{}, i, 0);
        return finite.all();
    });
}

/// (m, h) <- (m + h, h + a m): the messages' mean becomes an estimate, and is remembered. 2 + 2.
template <class A, Scalar T>
void complete_and_remember(basic_host<A>&, std::span<T> m, T a, std::span<T> h) {
    LACONIC_EXPECTS(m.size() == h.size());
    auto const complete = [&]<class V>(std::type_identity<V>, std::size_t i) {
        auto const sent = V::load(m.data() + i), shift = V::load(h.data() + i);
        (sent + shift).store(m.data() + i);
        (shift + settled(V::all(a) * sent)).store(h.data() + i);
    };
    detail::each_pack<A>(m, complete, std::span<T const>(h));
}

/// out_i += w v for every term v e_i of a message: the one decoder. Terms in order of coordinates without gaps (a
/// property of their type) are a plain sum of vectors; of others, lines of memory are fetched ahead, so that their
/// number is what it costs.
template <class A, Scalar T, class Terms>
void add_terms(basic_host<A>&, std::span<T> out, T w, Terms terms) {
    auto const summand = [&](std::size_t j) { return w * static_cast<T>(terms[j].value); };
    std::size_t j = 0;
    if constexpr (Terms::in_order) {
        LACONIC_EXPECTS(terms.size() == out.size());
        using pack = simd::pack<T, A>;
        auto const in_blocks_of = [&]<std::size_t block>(std::integral_constant<std::size_t, block>) {
            static_assert(block % pack::width == 0);
            for (; out.size() - j >= block; j += block) {
                std::array<T, block> summands;
                for (std::size_t l = 0; l < block; ++l) summands[l] = summand(j + l);
                for (std::size_t l = 0; l < block; l += pack::width)
                    (pack::load(out.data() + j + l) + settled(pack::load(summands.data() + l)))
                        .store(out.data() + j + l);
            }
        };
        in_blocks_of(std::integral_constant<std::size_t, 64>{});  // which compilers make vectors of, not unroll
        in_blocks_of(std::integral_constant<std::size_t, 16>{});  // the length of the shortest buckets that are usual
        for (; j < out.size(); ++j) out[j] += settled(simd::single<T, A>{summand(j)}).value;
    } else {
        constexpr std::size_t ahead = 32;
        auto const add = [&](std::size_t at) {
            LACONIC_EXPECTS_COSTLY(at < out.size());
            out[at] += settled(simd::single<T, A>{summand(j)}).value;
        };
        for (; j + ahead < terms.size(); ++j) {
            detail::fetch_to_write(out.data() + terms[j + ahead].at);
            add(terms[j].at);
        }
        for (; j < terms.size(); ++j) add(terms[j].at);
    }
}

/// |y_i| <- max(|y_i|, least) x factor, the signs as they are. No y_i is NaN. 1 + 1.
template <class A, Scalar T>
void raise_magnitudes(basic_host<A>&, T least, T factor, std::span<T> y) {
    detail::each_pack<A>(y, [&]<class V>(std::type_identity<V>, std::size_t i) {
        auto const v = V::load(y.data() + i);
        (with_sign_of(larger(magnitude(v), V::all(least)), v) * V::all(factor)).store(y.data() + i);
    });
}

/// |x_i| <- |x_i| - by, or 0 where that is not above 0; NaN becomes 0. by >= 0.
template <class A, Scalar T>
void soft_threshold(basic_host<A>&, T by, std::span<T> x) {
    for (T& v : x) v = v > by ? v - by : v < -by ? v + by : T(0);
}

/// out_i += w v for every term v e_i, bucket by bucket, so that no term looks for its bucket. Flat, as a call for each
/// word of signs would cost half as much again.
template <class A, Scalar T, detail::InBuckets Terms>
[[gnu::flatten]] void add_terms(basic_host<A>& on, std::span<T> out, T w, Terms terms) {
    LACONIC_EXPECTS(terms.size() == out.size());
    for (std::size_t first = 0; first < out.size();) {
        auto const part = terms.from(first);
        add_terms(on, out.subspan(first, part.size()), w, part);
        first += part.size();
    }
}

/// out_i <- 0 for every term v e_i whose v, as a T, is not 0.
template <class A, Scalar T, class Terms>
void clear_terms(basic_host<A>&, std::span<T> out, Terms terms) {
    for (std::size_t j = 0; j < terms.size(); ++j)
        if (auto const t = terms[j]; static_cast<T>(t.value) != 0) out[t.at] = 0;
}

/// The numbers of out in the units at_0, at_1, .. become those of `values`, in their order: what gather() has read is
/// put back. A unit is `unit` consecutive numbers; the last of out may be shorter.
template <class A, Scalar T>
void scatter(basic_host<A>&, std::span<T const> values, std::span<coordinate const> at, std::size_t unit,
             std::span<T> out) {
    for (coordinate const u : at) {
        auto const part = out.subspan(u * unit, std::min(unit, out.size() - u * unit));
        LACONIC_EXPECTS(part.size() <= values.size());
        std::copy_n(values.begin(), part.size(), part.begin());
        values = values.subspan(part.size());
    }
    LACONIC_EXPECTS(values.empty());
}

}  // namespace laconic::kernels
