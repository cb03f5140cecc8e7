// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <set>
#include <span>
#include <vector>

#include "laconic/backend/code_words.hpp"
#include "laconic/backend/host/impl/single.hpp"
#include "laconic/backend/scales.hpp"
#include "laconic/backend/short_format.hpp"
#include "laconic/message/message.hpp"
#include "support/both.hpp"
#include "support/lists_of_terms.hpp"
#include "support/test.hpp"

/// The kernels of a backend B are the reference's, to the bit: each law is one call, with numbers of all kinds in
/// vectors of lengths around those of registers, pages of bits, and stretches of sums.
namespace kernel_laws {

using namespace both;
using namespace laconic::kernels;
using laconic::p_norm;
using laconic::rounding;

inline constexpr p_norm all_norms[] = {p_norm::one, p_norm::two, p_norm::largest};
inline constexpr short_format all_short_formats[] = {short_format::binary16, short_format::bfloat, short_format::e4m3,
                                                     short_format::e5m2};
inline std::size_t buckets_of(std::size_t n, std::size_t bucket) { return (n + bucket - 1) / bucket; }

template <class T>
struct in_a_row {
    T const* values;
    std::size_t count;
    static constexpr bool in_order = true;
    constexpr std::size_t size() const { return count; }
    constexpr laconic::messages::term<T> operator[](std::size_t j) const {
        return {static_cast<coordinate>(j), values[j]};
    }
};
// The same by vectors of numbers, and each number in its own way.
template <class T>
struct halved_distance {
    using number = T;
    std::span<T const> x;
    std::span<T> y;

    template <class V>
    constexpr void at(std::size_t i) const {
        (magnitude(V::load(x.data() + i) - V::load(y.data() + i)) / V::all(2)).store(y.data() + i);
    }
    constexpr void operator()(std::size_t i) const { at<laconic::simd::single<T>>(i); }
};
template <class T>
struct added_product {
    std::span<T const> x;
    std::span<T> y;

    constexpr void operator()(std::size_t i) const {
        y[i] += laconic::simd::rounded_product(static_cast<T>(i % 7), x[i]);
    }
};
template <class T>
struct every_third {
    T const* values;
    std::size_t count;
    static constexpr bool in_order = false;
    constexpr std::size_t size() const { return count / 3; }
    constexpr laconic::messages::term<T> operator[](std::size_t j) const {
        return {static_cast<coordinate>(3 * j), values[j]};
    }
};

/// Numbers go there and back, and within.
template <class B>
void moves() {
    B on;
    std::vector<double> const numbers{1, -2, 0.5};
    auto const x = there(on, numbers);
    typename B::template array<double> y, z(2);
    assign(on, in(x), y);
    CHECK(y == x);
    CHECK(same_bits(on_host(on, in(y)), std::span(numbers)));
    copy(on, in(x).last(2), out(z));
    CHECK(here(on, z) == std::vector<double>{-2, 0.5});
    assign(on, in(x).last(1), y);
    CHECK(y.size() == 1);
    CHECK(element(on, in(y), 0) == 0.5);
    assign(on, std::span<double const>(), y);
    CHECK(y.empty());
    copy(on, in(y), out(y));
    typename B::template array<std::uint16_t> codes(5);
    fill(on, out(codes).subspan(1, 3), std::uint16_t{9});
    CHECK(here(on, codes) == std::vector<std::uint16_t>{0, 9, 9, 9, 0});
}

/// Vectors begin in any place of a line of memory.
template <class B, class T>
void updates() {
    beside_reference<B> pair;
    auto const check = [&](std::vector<T> const& x, std::size_t skip) {
        // pass(on, x, y, v, w): what it changes are v and w.
        auto const same = [&](char const* kernel, auto pass) {
            CAPTURE(kernel);
            CHECK(pair.same(
                [&](auto& on, auto& p, auto& q, auto& v, auto& w) {
                    return pass(on, in(p).subspan(skip), in(q).subspan(skip), out(v).subspan(skip),
                                out(w).subspan(skip));
                },
                x, numbers<T>(kind::odd, x.size()), numbers<T>(kind::noise, x.size()), x));
        };
        same("add_scaled", [](auto& on, auto p, auto, auto v, auto) { add_scaled(on, T(0.3), p, v); });
        same("multiply", [](auto& on, auto, auto, auto, auto w) { multiply(on, T(0.3), w); });
        same("at_each_index", [](auto& on, auto p, auto, auto v, auto) {
            at_each_index(on, v.size(), added_product<T>{p, v});
        });
        same("at_each_index", [](auto& on, auto p, auto, auto v, auto) {
            at_each_index(on, v.size(), halved_distance<T>{p, v});
        });
        same("complete_and_remember",
             [](auto& on, auto, auto, auto v, auto w) { complete_and_remember(on, v, T(0.3), w); });
        for (int which = 0; which < 4; ++which)
            same("compensate", [which](auto& on, auto p, auto q, auto v, auto) {
                if (which % 2 == 0) p = {};
                if (which / 2 == 0) q = {};
                return compensate(on, T(0.7), std::span<T const>(v), p, T(0.6), q, v);
            });
        same("add_terms", [](auto& on, auto p, auto, auto v, auto) {
            add_terms(on, v, T(0.3), in_a_row<T>{p.data(), p.size()});
        });
        same("add_terms", [](auto& on, auto p, auto, auto v, auto) {
            add_terms(on, v, T(0.3), every_third<T>{p.data(), p.size()});
        });
        same("clear_terms", [](auto& on, auto p, auto, auto v, auto) {
            clear_terms(on, v, every_third<T>{p.data(), p.size()});
        });
        for (T const by : {T(0), T(0.5), std::numeric_limits<T>::max()}) {
            same("soft_threshold", [by](auto& on, auto, auto, auto, auto w) { soft_threshold(on, by, w); });
            same("raise_magnitudes", [by](auto& on, auto, auto, auto v, auto) { raise_magnitudes(on, by, T(0.3), v); });
        }
    };
    each_vector<T>([&](std::vector<T> const& x) { check(x, 0); });
    for (std::size_t d = 14; d <= 84; d += d < 46 ? 1 : 7)  // every rest of a register, and more of them
        for (std::size_t const skip : {1u, 3u, 5u, 9u, 14u}) check(numbers<T>(kind::odd, d), skip);
}

template <class B, class T>
void reductions() {
    beside_reference<B> pair;
    auto const check = [&](std::vector<T> const& x) {
        auto const same = [&](char const* kernel, auto reduce) {
            CAPTURE(kernel);
            CHECK(pair.same([&](auto& on, auto& p) { return reduce(on, in(p)); }, x));
        };
        same("sum_of_magnitudes", [](auto& on, auto v) { return sum_of_magnitudes(on, v); });
        same("sum_of_squares", [](auto& on, auto v) { return sum_of_squares(on, v); });
        if constexpr (sizeof(T) == 4)
            same("sum_of_squares_in_floats", [](auto& on, auto v) { return sum_of_squares_in_floats(on, v); });
        for (double const scale : {0.3, 1., 1e300, 0x1p-700})
            for (double const centre : {0., 0.7, -1e9}) {
                same("sum_of_squares", [=](auto& on, auto v) { return sum_of_squares(on, v, scale, centre); });
                same("sum_of_numbers", [=](auto& on, auto v) { return sum_of_numbers(on, v, scale, centre); });
            }
        same("largest_magnitude", [](auto& on, auto v) { return largest_magnitude(on, v); });
        same("first_non_finite", [](auto& on, auto v) { return first_non_finite(on, v); });
    };
    each_vector<T>(check);
    for (std::size_t d = 0; d <= 70; ++d) check(numbers<T>(kind::last_kind_of_finite, d));
    for (std::size_t i = 0; i < 70; ++i) {  // what is not finite, at every place
        std::vector<T> x(70, T(1));
        x[i] = x[69] = i % 2 == 0 ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::quiet_NaN();
        check(x);
    }
    each_finite_vector<T>([&](std::vector<T> const& x) {
        for (T const step : {T(0.125), T(3), T(3e-5)})
            if (largest_magnitude(pair.plain, in(x)) <= step * T(0x1p51))
                CHECK(pair.same([&](auto& on, auto& v) { return rounding_variance(on, in(v), step); }, x));
    });
}

template <class B, class T>
void selections() {
    beside_reference<B> pair;
    auto const same = [&](std::vector<T> const& x, auto select) {
        return pair.same([&](auto& on, auto& p, auto& at) { select(on, in(p), at); }, x, coordinates{7, 7});
    };
    auto const same_largest = [&](std::vector<T> const& x, std::size_t k) {
        return same(x, [k](auto& on, auto v, auto& at) { select_largest(on, v, k, at); });
    };
    // All that compensate() and select_largest() make, from some place of a line of memory on.
    auto const same_of_sum = [&](std::vector<T> const& x, std::size_t k, std::size_t skip, std::size_t which) {
        return pair.same(
            [=](auto& on, auto& p, auto& q, auto& v, auto& at) {
                auto h = in(p), e = in(q);
                if (which % 2 == 0) h = {};
                if (which / 2 == 0) e = {};
                auto const d = out(v).subspan(skip);
                bool const finite =
                    compensate_and_select_largest(on, T(0.7), std::span<T const>(d), h, T(0.6), e, d, k, at);
                if (!finite) at.resize(0);  // arbitrary
                return finite;
            },
            std::vector<T>(x.begin() + static_cast<std::ptrdiff_t>(skip), x.end()),
            numbers<T>(kind::noise, x.size() - skip), x, coordinates{7});
    };
    each_vector<T>([&](std::vector<T> const& x) {
        std::size_t const d = x.size();
        for (std::size_t const k : {std::size_t{0}, std::size_t{1}, std::size_t{2}, d / 100, d / 8, d / 2, d - 1, d})
            if (k <= d) {
                CHECK(same_largest(x, k));
                CHECK(same_of_sum(x, k, 0, k % 4));
            }
        for (std::size_t const k : {d / 100, d / 8, d / 2, d})
            for (std::size_t const slack : {std::size_t{0}, k / 8, k / 2})
                if (d <= 1000)  // from there on the reference takes long
                    CHECK(same(x, [=](auto& on, auto v, auto& at) {
                        select_about(on, v, k - slack, k, std::min(k + slack, d), at);
                    }));
        for (T const bound : {T(-1), T(0), T(0.5), T(3), std::numeric_limits<T>::infinity()})
            CHECK(same(x, [=](auto& on, auto v, auto& at) { select_above(on, v, bound, at); }));
        auto bounds = numbers<T>(kind::noise, d);
        for (std::size_t i = 0; i < d; i += 7) bounds[i] = std::abs(x[i]);
        CHECK(pair.same([](auto& on, auto& p, auto& b, auto& at) { select_above(on, in(p), in(b), at); }, x, bounds,
                        coordinates{7}));
        for (std::size_t const block : {1u, 3u, 16u, 100u, 100000u}) {
            CAPTURE(block);
            CHECK(same(x, [=](auto& on, auto v, auto& at) { select_nonzero_blocks(on, v, block, at); }));
            std::size_t const blocks = buckets_of(d, block);
            for (std::size_t const k : {std::size_t{0}, std::size_t{1}, (block + 9) / 10, block / 2, block})
                CHECK(same(x, [=](auto& on, auto v, auto& at) { select_largest_of_each(on, v, block, k, at); }));
            for (std::size_t const k : {std::size_t{0}, (blocks + 9) / 10, blocks / 2, blocks})
                CHECK(same(x, [=](auto& on, auto v, auto& at) { select_largest_blocks(on, v, block, k, at); }));
            if (block > d) break;  // all in one, as in those that are larger
        }
        for (std::size_t const unit : {1u, 3u, 64u})
            for (std::size_t const first : {0u, 1u}) {
                coordinates at;
                for (std::size_t u = first; u < buckets_of(d, unit); u += 2) at.push_back(static_cast<coordinate>(u));
                CHECK(pair.same(
                    [=](auto& on, auto& p, auto& places, auto& found, auto& back) {
                        gather(on, in(p), in(places), unit, T(-0.3), found);
                        scatter(on, in(found), in(places), unit, out(back));
                    },
                    x, at, std::vector<T>(3), numbers<T>(kind::noise, d)));
            }
    });
    for (std::size_t d = 1; d <= 40; ++d)  // every k, many ties
        for (std::size_t k = 0; k <= d; ++k) {
            REQUIRE(same_largest(numbers<T>(kind::ties, d), k));
            for (std::size_t const chunk : {k, k + 1, 2 * k + 1})
                if (chunk > 0)
                    REQUIRE(same(numbers<T>(kind::ties, d),
                                 [=](auto& on, auto v, auto& at) { select_largest_of_each(on, v, chunk, k, at); }));
        }
    each_finite_vector<T>([&](std::vector<T> const& x) {
        CHECK(pair.same([](auto& on, auto& p, auto& sorted) { sort_magnitudes(on, in(p), sorted); }, x,
                        std::vector<T>(3)));
        for (T const bound : {T(0), T(0.5), T(4)})
            CHECK(same(x, [=](auto& on, auto v, auto& at) { sample_in_proportion(on, v, bound, key{5}, at); }));
        T const largest = largest_magnitude(pair.plain, in(x));
        for (std::size_t const bins : {std::size_t{0}, std::size_t{257}, std::size_t{magnitude_bins::count}})
            if (largest > 0)
                CHECK(pair.same(
                    [&](auto& on, auto& p) {
                        std::vector<std::uint32_t> counts(bins, 9);
                        count_by_magnitude(on, in(p), largest, std::span(counts));
                        return counts;
                    },
                    x));
    });
}

/// Blocks that are the same numbers in other orders, whose sums differ in their last bits, if at all; some that are far
/// larger, far smaller, or 0; and others. At all scales, as squares may leave the range.
template <class B, class T>
void nearly_equal_blocks() {
    beside_reference<B> pair;
    constexpr std::size_t block = 40, blocks = 24;
    auto const check = [&](std::vector<T> const& x, std::size_t k) {
        CHECK(pair.same([k](auto& on, auto& v, auto& at) { select_largest_blocks(on, in(v), block, k, at); }, x,
                        coordinates{7}));
    };
    std::vector<T> x(block * blocks - 3);
    for (std::size_t i = 0; i < x.size(); ++i) {
        std::size_t const n = i / block, j = i % block;
        double const v = 1 + key{1}.uniform((j * (2 * n + 1)) % block);
        x[i] = static_cast<T>(n == 2 ? 0 : n == 3 ? v * 1e-30 : n == 4 ? v * 30 : n < 12 ? v : 1 + key{2}.uniform(i));
    }
    double const largest = std::numeric_limits<T>::max() / 128, least = std::numeric_limits<T>::denorm_min();
    for (double const scale : {1.0, 0.3, largest, std::sqrt(largest), std::sqrt(least), 16 * least, 0.0})
        for (T const extra : {T(1), T(0), std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()}) {
            auto y = x;
            for (T& v : y) v = static_cast<T>(v * scale);
            y[7 * block + 5] *= extra;
            CAPTURE(scale);
            CAPTURE(extra);
            for (std::size_t k = 0; k <= blocks; ++k) check(y, k);
        }
    // Which sums are larger depends on whether numbers are divided by the largest before they are squared.
    int moved = 0;
    for (std::uint64_t n = 0; n < 6; ++n) {
        std::vector<T> y(block * blocks);
        for (std::size_t i = 0; i < y.size(); ++i)
            y[i] = static_cast<T>(key{77}.child(n).uniform((i * (2 * (i / block) + 1) * 11 + 7 * (i / block)) % block) -
                                  0.5);
        if (n % 2 == 1) y[3] = 9;  // one is certainly larger
        std::vector<double> squares(blocks);
        for (std::size_t b = 0; b < blocks; ++b)
            squares[b] = sum_of_squares(pair.plain, in(y).subspan(b * block, block));
        for (std::size_t k = 1; k < blocks; ++k) {
            check(y, k);
            coordinates divided, undivided;
            select_largest_blocks(pair.plain, in(y), block, k, divided);
            select_largest(pair.plain, in(squares), k, undivided);
            moved += divided != undivided;
        }
    }
    if constexpr (sizeof(T) == 8) CHECK(moved > 10);
}

/// On both sides of where a table becomes a bitmap: from one in `few` on.
template <class B>
void samples(std::size_t few) {
    beside_reference<B> pair;
    auto const check = [&](std::size_t d, std::size_t k) {
        CAPTURE(d);
        CAPTURE(k);
        CHECK(pair.same([=](auto& on, auto& at) { sample(on, key{d}.child(k), d, k, at); }, coordinates{7, 7, 7}));
    };
    for (std::size_t const d : {0u, 1u, 2u, 5u, 64u, 100u})
        for (std::size_t k = 0; k <= d; ++k) check(d, k);
    for (std::size_t const d : {few, 2 * few - 1, 2 * few, 10 * few, 10 * few + 1, 1000 * few})
        for (std::size_t const k : {std::size_t{1}, d / few - 1, d / few, d / few + 1, d / 2, d / 2 + 1, d - 1})
            check(d, k);
    for (std::size_t const d : lengths)
        for (double const p : {0.0, 0.3, 1.0})
            CHECK(pair.same([=](auto& on, auto& at) { sample_each(on, key{d}, d, p, at); }, coordinates{7}));
    // The largest dimension costs nothing for a few coordinates.
    std::set<coordinate> first;
    for (std::uint64_t n = 0; first.size() < 1000; ++n)
        first.insert(static_cast<coordinate>(key{3}.below(n, laconic::detail::largest_dimension)));
    typename B::template array<coordinate> at;
    sample(pair.on, key{3}, laconic::detail::largest_dimension, 1000, at);
    CHECK(here(pair.on, at) == coordinates(first.begin(), first.end()));
}

/// Codes of 8 and 16 bits, that all have words and of which some have none, to words and back.
template <class B>
void words() {
    beside_reference<B> pair;
    auto const same = [&]<class Code>(Code, unsigned width, std::size_t n) {
        std::vector<std::byte> bytes((width * n + 7) / 8 + n % 3 * 9);
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(key{n}.below(i, 256));
        unsigned const last = (1u << width) - 1;
        for (code_words const f : {code_words{width},
                                   {width, 3},
                                   {width, 0, last / 2, last / 2},
                                   {width, 1, last, last - 1},
                                   {width, 0, last / 2, 0}}) {
            CHECK(pair.same([f](auto& on, auto& from, auto& to) { return unpack_codes(on, in(from), f, out(to)); },
                            bytes, std::vector<Code>(n)));
            std::vector<Code> codes(n);
            for (std::size_t i = 0; i < n; ++i)
                codes[i] = static_cast<Code>(static_cast<int>(key{width}.below(i, last + 1)) - f.offset);
            CHECK(pair.same(
                [f](auto& on, auto& from, auto& to) {
                    bool const right = pack_codes(on, in(from), f, out(to));
                    to.resize((f.width * from.size() + 7) / 8);
                    return right;
                },
                codes, bytes));
        }
        // One alone that has no word, wherever it is.
        std::vector<Code> codes(n, Code{0});
        if (n == 0) return;
        codes[key{n}.below(width, n)] = static_cast<Code>(last);
        CHECK(pair.same(
            [&](auto& on, auto& from, auto& to) {
                return pack_codes(on, in(from), code_words{width, 0, last, last - 1}, out(to));
            },
            codes, std::vector<std::byte>((width * n + 7) / 8)));
    };
    for (unsigned width = 1; width <= 16; ++width)
        for (std::size_t const n :
             {0u, 1u, 7u, 8u, 9u, 16u, 31u, 32u, 40u, 63u, 64u, 65u, 127u, 128u, 511u, 512u, 520u, 1027u}) {
            CAPTURE(width);
            CAPTURE(n);
            same(std::uint16_t{}, width, n);
            if (width <= 8) same(std::uint8_t{}, width, n);
        }
}

/// What make(on, x, scales, scales, codes) makes where codes is a stream is what it makes where that is an array.
template <class Code, class B, class T>
void streams_are_arrays(B& on, std::vector<T> const& x, std::size_t buckets, auto make) {
    if constexpr (laconic::OnHost<B>) {
        struct list {
            std::vector<Code> codes;
            bool whole = true;
        } all;
        std::vector<T> first(buckets), second(buckets), its_first(buckets), its_second(buckets);
        std::vector<Code> codes(x.size());
        code_stream<Code> const stream{&all, [](void* to, Code const* some, std::size_t n) {
                                           auto& l = *static_cast<list*>(to);
                                           l.whole = l.whole && l.codes.size() % 320 == 0;
                                           l.codes.insert(l.codes.end(), some, some + n);
                                       }};
        bool const finite = make(on, in(x), out(first), out(second), out(codes));
        CHECK(make(on, in(x), out(its_first), out(its_second), stream) == finite);
        CHECK(all.whole);
        if (!finite) return;
        CHECK(all.codes == codes);
        CHECK(its_first == first);
        CHECK(its_second == second);
    }
}

template <class B, class T>
void short_codes() {
    beside_reference<B> pair;
    using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    using codes = std::vector<std::uint16_t>;
    auto const same = [&](std::vector<T> const& x, auto round) {
        CHECK(pair.same([&](auto& on, auto& p, auto& c) { round(on, in(p), out(c)); }, x, codes(x.size())));
        streams_are_arrays<std::uint16_t>(pair.on, x, 0, [&](auto& on, auto p, auto, auto, auto c) {
            round(on, p, c);
            return true;
        });
    };
    each_vector<T>([&](std::vector<T> const& x) {
        for (std::uint64_t const first : {0ull, 1ull, 1003ull, (1ull << 34) - 100})
            for (key const from : {key{7}, key{7, 70, 0xabcd}})
                same(x, [=](auto& on, auto p, auto c) { round_to_powers(on, p, from, first, c); });
    });
    each_vector<T>([&](std::vector<T> const& x) {
        CHECK(pair.same([](auto& on, auto& p, auto& words) { pack_signs(on, in(p), out(words)); }, x,
                        std::vector<std::uint64_t>((x.size() + 63) / 64, 99)));
    });
    std::vector<short_layout> layouts{
        {3, 2, false, true}, {2, 3, false, true}, {2, 1, false, true}, {1, 6, false, true}};
    for (auto const format : all_short_formats) layouts.push_back(layout_of(format));
    for (short_layout const f : layouts) {  // any bits, and near every border
        std::vector<T> x;
        for (std::uint64_t i = 0; i < 20000; ++i) {
            x.push_back(std::bit_cast<T>(static_cast<bits>(key{3}.long_word(i))));
            x.push_back(
                static_cast<T>(std::ldexp(key{4}.uniform(i) - 0.5, static_cast<int>(key{5}.below(i, 48)) - 28)));
        }
        for (std::uint16_t c = 0; c < f.largest(); c = static_cast<std::uint16_t>(c + (f.width() <= 8 ? 1 : 37))) {
            T const low = short_value<T>(f, c), high = short_value<T>(f, static_cast<std::uint16_t>(c + 1));
            T const halfway = low / 2 + high / 2;
            for (T const v : {low, -high, std::nextafter(halfway, T(0)), -halfway, std::nextafter(halfway, high)})
                x.push_back(v);
        }
        same(x, [=](auto& on, auto p, auto c) { round_to_short(on, p, f, c); });
        for (std::uint64_t const first : {0ull, 1003ull, (1ull << 34) - 100})
            for (key const from : {key{7}, key{7, 70, 0xabcd}})
                same(x, [=](auto& on, auto p, auto c) { round_to_short(on, p, f, from, first, c); });
    }
}

/// How many of the kernels for buckets find something that is not finite; what they write then is of no use.
template <class T, class B>
int refused_buckets(beside_reference<B>& pair, std::vector<T> const& x, std::size_t bucket, key from) {
    CAPTURE(bucket);
    int refused = 0;
    std::vector<T> const scales(buckets_of(x.size(), bucket), T(7));
    auto const same = [&]<class Code>(Code, std::size_t codes, auto round) {
        int found = 0;  // by both
        CHECK(pair.same(
            [&](auto& on, auto& p, auto& first, auto& second, auto& c) {
                bool const finite = round(on, in(p), out(first), out(second), out(c));
                found += !finite;
                for (auto* const a : {&first, &second})
                    if (!finite) fill(on, out(*a), T(0));
                if (!finite) fill(on, out(c), Code{0});
                return finite;
            },
            x, scales, scales, std::vector<Code>(codes, 7)));
        refused += found / 2;
        if constexpr (sizeof(Code) <= 2) streams_are_arrays<Code>(pair.on, x, scales.size(), round);
    };
    std::size_t const d = x.size(), words = (d + 63) / 64;
    for (auto const p : all_norms)
        for (int const levels : {1, 3, 127, 1000, 32767}) {
            auto const to_levels = [=](auto& on, auto v, auto steps, auto damped, auto codes) {
                if (!round_buckets_to_levels(on, v, bucket, p, levels, from, steps, codes)) return false;
                copy(on, std::span<T const>(steps), damped);
                damp_steps(on, v, bucket, damped);
                return true;
            };
            same(std::int16_t{}, d, to_levels);
            if (levels <= most_levels<std::int8_t>) same(std::int8_t{}, d, to_levels);
            same(std::int16_t{}, d, [=](auto& on, auto v, auto norms, auto, auto codes) {
                return round_buckets_to_halvings(on, v, bucket, p, std::min(levels, 1000), from, norms, codes);
            });
        }
    for (rounding const how : {rounding::random, rounding::nearest})
        for (int const most : {1, 7, 255})
            same(std::uint8_t{}, d, [=](auto& on, auto v, auto least, auto steps, auto codes) {
                return round_buckets_to_range(on, v, bucket, how, most, from, least, steps, codes);
            });
    for (auto const how : {rounding::random, rounding::nearest})
        for (auto const format :
             {block_format::mxfp8_e5m2, block_format::mxfp4, block_format::nvfp4, block_format::int8}) {
            auto f = layout_of(format);
            f.block = bucket;
            T const shared = format == block_format::nvfp4 ? T(0x1p-8) : T(1);
            int found = 0;
            CHECK(pair.same(
                [&](auto& on, auto& p, auto& s, auto& c) {
                    bool const finite = round_blocks_to_short(on, in(p), f, how, shared, from, out(s), out(c));
                    found += !finite;
                    if (!finite) fill(on, out(s), T(0)), fill(on, out(c), std::uint16_t{0});
                    return finite;
                },
                x, scales, std::vector<std::uint16_t>(d, 7)));
            refused += found / 2;
        }
    same(std::uint64_t{}, words, [=](auto& on, auto v, auto means, auto, auto codes) {
        return pack_signs_and_means(on, v, bucket, means, codes);
    });
    same(std::uint64_t{}, words, [=](auto& on, auto v, auto below, auto above, auto codes) {
        return pack_signs_and_two_means(on, v, bucket, below, above, codes);
    });
    return refused;
}

template <class B, class T>
void buckets() {
    using limits = std::numeric_limits<T>;
    beside_reference<B> pair;
    each_vector<T>([&](std::vector<T> const& x) {
        for (std::size_t const bucket : {1u, 7u, 64u, 500u, 1537u, 100000u}) {
            if (x.size() <= 130 || (x.size() <= 2048 && bucket >= 64))
                refused_buckets(pair, x, bucket, key{bucket, bucket + 1, static_cast<std::uint16_t>(40000 * bucket)});
            if (bucket > x.size()) break;  // all in one, as in those that are larger
        }
    });
    for (std::size_t const bucket : {448u, 512u, 520u, 1537u, 100000u})  // chances are drawn before a bucket begins
        refused_buckets(pair, numbers<T>(kind::last_kind_of_finite, 7001), bucket, key{bucket});
    for (double const size : {1e-200, 1e-150, 1e-30, 1e-15, 1e15, 1e30, 1e150, 1e200}) {  // squares leave the range
        auto x = numbers<T>(kind::noise, 300);
        for (std::size_t i = 100; i < 200; ++i) x[i] = static_cast<T>(x[i] * size);
        for (std::size_t const bucket : {1u, 7u, 128u, 100000u}) refused_buckets(pair, x, bucket, key{2});
    }
    int const all = refused_buckets(pair, std::vector<T>{limits::quiet_NaN()}, 1, key{1});
    CHECK(all == 55);
    for (T const bad : {limits::infinity(), -limits::infinity(), limits::quiet_NaN()})
        for (std::size_t const bucket : {1u, 16u, 64u, 100u, 200u})
            for (std::size_t const i : {0u, 15u, 16u, 99u, 100u, 140u}) {
                auto x = numbers<T>(kind::last_kind_of_finite, 141);
                x[i] = bad;
                CHECK(refused_buckets(pair, x, bucket, key{i}) == all);
            }
    // The numbers are finite, but not their 1-norm, their range, or the sum of doubles.
    CHECK(refused_buckets(pair, std::vector<T>{limits::max(), -limits::max(), 0}, 3, key{1}) > 5);
    // Two formats of blocks, rounded either way, whose scales are powers of two up to 2^127.
    CHECK(refused_buckets(pair, std::vector<T>{limits::max() / 2, -limits::max() / 2, 0}, 1, key{1}) ==
          (sizeof(T) == 8 ? 4 : 0));
    CHECK(refused_buckets(pair, std::vector<T>{}, 1, key{1}) == 0);
}

template <class B, class T>
void lists() {
    beside_reference<B> pair;
    auto const some_terms = [](std::size_t d, double share, std::size_t block, std::uint64_t seed) {
        return lists_of_terms::drawn<T>(0, d, share, block, seed,
                                        {0, T(-0.0), std::numeric_limits<T>::denorm_min(), T(1e30), T(-1e30)});
    };
    auto const of = [](auto& at, auto& values) { return listed_terms<T>{in(at), in(values)}; };
    // kernel(on, a, b, chosen, at, values, left_at, left) makes lists of the lists a and b, and of the numbers of terms
    // of a.
    auto const check = [&](auto const& a, auto const& b, coordinates const& chosen) {
        auto const same = [&](auto kernel) {
            return pair.same(
                [&](auto& on, auto& a_at, auto& a_values, auto& b_at, auto& b_values, auto& which, auto&... results) {
                    kernel(on, of(a_at, a_values), of(b_at, b_values), in(which), results...);
                },
                a.at, a.values, b.at, b.values, chosen, coordinates{}, std::vector<T>{}, coordinates{},
                std::vector<T>{});
        };
        CHECK(same([](auto& on, auto p, auto q, auto, auto& at, auto& values, auto&, auto&) {
            add_lists(on, p, q, at, values);
        }));
        for (std::size_t const count : {0u, 1u, 2u, 3u, 6u})
            CHECK(same([=](auto& on, auto p, auto q, auto, auto& at, auto& values, auto& left_at, auto& left) {
                listed_terms<T> const all[] = {p, q, {}, p, p, q};
                sum_lists(on, std::span(all).first(count), at, values, left_at, left);
                left_at = {};
                left = {};
            }));
        CHECK(same([](auto& on, auto p, auto, auto which, auto& at, auto& values, auto& left_at, auto& left) {
            part_list(on, p, which, at, values, left_at, left);
        }));
        CHECK(same([](auto& on, auto p, auto, auto which, auto& at, auto& values, auto&, auto&) {
            take_list(on, p, which, at, values);
        }));
        CHECK(same([](auto& on, auto p, auto q, auto, auto& at, auto& values, auto&, auto&) {
            list_without(on, p, q.at, at, values);
        }));
    };
    for (std::size_t const d : {0u, 1u, 17u, 64u, 700u, 3000u})
        for (double const share : {0., .05, .5, 1.})
            for (double const other : {0., .3, 1.})
                for (std::size_t const block : {1u, 8u}) {
                    auto const a = some_terms(d, share, block, 1), b = some_terms(d, other, block, 2);
                    coordinates chosen;
                    for (std::size_t j = 0; j < a.at.size(); ++j)
                        if (key{7}.uniform(j) < other) chosen.push_back(static_cast<coordinate>(j));
                    check(a, b, chosen);
                }
    lists_of_terms::drawn_list<T> far, ends{{0, 2147483648u, laconic::detail::largest_dimension - 1}, {1, 2, 3}};
    for (coordinate i = 0; i < 200; ++i) far.at.push_back(20000000 * i), far.values.push_back(T(i) / 3);
    check(far, ends, {0, 150});
    check(ends, far, {2});
    for (std::size_t const n : {0u, 1u, 700u}) {
        coordinates at(n);
        for (std::size_t j = 0; j < n; ++j) at[j] = static_cast<coordinate>(key{n}.below(j, 300));
        CHECK(pair.same([](auto& on, auto& places, auto& values, auto& sorted_at,
                           auto& sorted) { sort_list(on, in(places), in(values), 300, out(sorted_at), out(sorted)); },
                        at, numbers<T>(kind::ascending, n), at, std::vector<T>(n)));
        CHECK(pair.same(
            [](auto& on, auto& numbers, auto& listed_at, auto& values) {
                list_terms(on, every_third<T>{numbers.data(), 3 * values.size()}, out(listed_at), out(values));
            },
            numbers<T>(kind::odd, 3 * n), at, std::vector<T>(n)));
    }
}

template <class B, class T>
void matrices() {
    beside_reference<B> pair;
    auto const straight = matrix_is::as_it_stands, turned = matrix_is::transposed;
    auto const check = [&](std::vector<T> const& x, std::size_t rows, std::size_t width, std::size_t columns) {
        CHECK(pair.same(
            [&](auto& on, auto& a, auto& q, auto& y, auto& z, auto& back, auto& other) {
                draw_symmetric(on, key{rows}, 9, out(q));
                multiply_matrix(on, in(a), straight, in(q), columns, out(y));
                multiply_to_orthonormal(on, in(a), straight, in(q), columns, out(z));
                multiply_matrix(on, in(a), turned, in(z), columns, out(back));
                multiply_to_orthonormal(on, in(a), turned, in(z), columns, out(other));
            },
            x, std::vector<T>(width * columns), std::vector<T>(rows * columns), std::vector<T>(rows * columns),
            std::vector<T>(width * columns), std::vector<T>(width * columns)));
    };
    for (std::size_t const rows : {1u, 2u, 16u, 33u, 100u})
        for (std::size_t const width : {1u, 15u, 48u, 200u})
            for (std::size_t const columns : {1u, 2u, 5u})
                for (auto const of : {kind::noise, kind::ties, kind::subnormal, kind::huge})
                    check(numbers<T>(of, rows * width), rows, width, columns);
    for (std::size_t const block : {1u, 2u, 4u, 8u, 16u, 32u, 256u, 512u, 8192u, 16384u})
        for (std::size_t const blocks : {0u, 1u, 3u})
            for (auto const how : {straight, turned})
                for (auto const of : {kind::noise, kind::subnormal, kind::ties})
                    CHECK(pair.same([=](auto& on, auto& y) { rotate_blocks(on, block, how, key{block}, 77, out(y)); },
                                    numbers<T>(of, block * blocks)));
    std::size_t const stretches = 2 * 4096 + 33;
    check(numbers<T>(kind::noise, 3 * stretches), 3, stretches, 2);
    check(numbers<T>(kind::last_kind_of_finite, 3 * stretches), stretches, 3, 2);
    // Columns that depend on each other, vanish or overflow.
    T const huge = std::numeric_limits<T>::max(), tiny = std::numeric_limits<T>::denorm_min();
    std::vector<std::vector<T>> const all{{1, 2, 3, 4, 2, 4, 6, 8, 1, 1, 1, 1},
                                          {0, 0, 0, 0, 1, 0, 0, 1, 3, 0, 0, 3},
                                          std::vector<T>(12, huge),
                                          std::vector<T>(12, tiny),
                                          {huge, tiny, 1, -huge, tiny, -tiny, 0, tiny, 1, -1, 1, huge}};
    for (auto const& y : all)
        for (std::size_t const columns : {1u, 3u, 4u, 12u}) {
            std::vector<T> identity(columns * columns, T(0));
            for (std::size_t c = 0; c < columns; ++c) identity[c * (columns + 1)] = 1;
            CHECK(pair.same([=](auto& on, auto& v, auto& by,
                                auto& q) { multiply_to_orthonormal(on, in(v), turned, in(by), columns, out(q)); },
                            y, identity, std::vector<T>(12)));
        }
}

}  // namespace kernel_laws
