// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

#include "laconic/message/binned.hpp"
#include "laconic/message/bucketed.hpp"
#include "laconic/wire/codes.hpp"
#include "laconic/wire/shape.hpp"

/// The messages of numbers in buckets, which share something: their encodings, and the descriptions of their kinds.
namespace laconic::wire {

/// What they have in common: the numbers that the buckets have in full, one bucket after another, then the rest. Of K,
///   of_buckets(m)              the arrays of the former, one number per bucket each;
///   take_bucket(source, m, b)  reads those of bucket b, and refuses what cannot be;
///   put_rest(sink, m), take_rest(source, m)   write and read the codes or signs;
///   paper_width(m)             how many bits of these papers count for a number.
template <class K>
struct bucketed_kind : leaf_kind<K> {
    static void put(auto& sink, auto const& m) {
        sink.charge(message_part::scalars);
        put_buckets(sink, m);
        sink.charge(message_part::values);
        K::put_rest(sink, m);
    }
    static void put_buckets(auto& sink, auto const& m) {
        auto const put_all = [&](auto const& first, auto const&... more) {
            if constexpr (sizeof...(more) == 0)
                put_numbers(sink, first);
            else
                for (std::size_t b = 0; b < first.size(); ++b)
                    put_number(sink, first[b]), (put_number(sink, more[b]), ...);
        };
        std::apply(put_all, K::of_buckets(m));
    }
    /// Writes the message that c makes of x, but its codes as they are made: m has none. c.begin(m, d) sets what m has
    /// before it has numbers, c.make_codes(on, x, key, m, codes) the rest. What buckets have comes before and is known
    /// behind, so its room is kept. sink has whole bytes.
    template <OnHost B, class C, Scalar T, class M>
    static bool put_made(B& on, bit_writer& sink, C const& c, std::span<T const> x, key from, M& m) requires requires {
        c.begin(m, x.size());
        K::put_made_rest(on, sink, m, x.size(), [](auto) {});
    }
    {
        messages::check_dimension(x.size());
        c.begin(m, x.size());
        std::size_t const buckets = detail::pieces_in(x.size(), m.bucket);
        std::apply([buckets](auto&... each) { (each.resize(buckets), ...); }, K::of_buckets(m));
        auto const bytes_of = [](auto const&... each) { return ((each.size() * sizeof(each[0])) + ...); };
        std::size_t const bytes = std::apply(bytes_of, K::of_buckets(m));
        sink.reserve(detail::as_size(sink.bits() / 8) + bytes + K::code_bytes(m, x.size()) + 64);
        struct {
            std::byte* to;
            void put(std::uint64_t word, unsigned width) {
                for (; width > 0; width -= 8, word >>= 8) *to++ = static_cast<std::byte>(word);
            }
        } room{sink.append(bytes).data()};
        bool const right =
            K::put_made_rest(on, sink, m, x.size(), [&](auto codes) { c.make_codes(on, x, from, m, codes); });
        put_buckets(room, m);
        return right;
    }
    static void take(auto& on, auto& source, auto& m) {
        take_buckets(source, m);
        K::take_rest(on, source, m);
    }
    template <class M, Scalar T>
    static void take_and_add(auto& on, auto& source, M& m, T w, added_to<T> out) requires requires {
        K::add_rest(on, source, m, w, out);
    }
    {
        take_buckets(source, m);
        K::add_rest(on, source, m, w, out);
    }
    static void take_buckets(auto& source, auto& m) {
        for (std::size_t b = 0; b < std::get<0>(K::of_buckets(m)).size(); ++b) K::take_bucket(source, m, b);
    }
    static double as_paper(auto const& m) {
        auto const in_full = [](auto const&... each) { return (bits_in_full(each) + ...); };
        return std::apply(in_full, K::of_buckets(m)) + K::paper_width(m) * static_cast<double>(m.dimension());
    }
};

/// Levels of a uniform grid: how many there are to a side, and the length of a bucket. The steps, then the codes.
struct quantized_kind : bucketed_kind<quantized_kind> {
    static constexpr message_kind number{2};
    template <Scalar T, class B>
    using message = messages::quantized<T, B>;
    static constexpr whole_range ranges[] = {{1, 32767}, any_length};
    static auto parameters(auto& m) { return std::tie(m.levels, m.bucket); }
    static auto of_buckets(auto& m) { return std::tie(m.steps); }

    template <class M>
    static void take_bucket(auto& source, M& m, std::size_t b) {
        using T = typename M::value_type;
        m.steps[b] = take_magnitude<T>(source, "step");
        if (!std::isfinite(m.steps[b] * static_cast<T>(m.levels))) source.refuse("a step whose grid is not finite");
    }
    static void put_rest(auto& sink, auto const& m) {
        m.with_codes(m, [&](auto const& codes) { write_codes(sink, codes, m.levels); });
    }
    static void take_rest(auto& on, auto& source, auto& m) {
        m.with_codes(m, [&](auto& codes) { read_codes(on, source, std::span(codes), m.levels); });
    }
    static bool put_made_rest(auto& on, auto& sink, auto& m, std::size_t n, auto make) {
        return m.with_codes(m, [&]<class Codes>(Codes&) {
            return write_made<typename Codes::value_type>(on, sink, m.levels, n, make);
        });
    }
    static std::size_t code_bytes(auto const& m, std::size_t n) { return bytes_of_codes(n, m.levels); }
    static void add_rest(auto& on, auto& source, auto& m, auto w, auto out) {
        m.with_codes(m, [&](auto& codes) { add_levels(on, source, m, std::span(codes), w, out); });
    }
    static reading_bounds per_number(auto const& m) {
        return {1, m.with_codes(m, [](auto const& codes) { return sizeof(codes[0]); }) + sizeof(m.steps[0])};
    }
    /// With one level, log2 3 (TernGrad).
    static double paper_width(auto const& m) { return std::log2(2.0 * m.levels + 1); }
};
template <Scalar T, class B>
inline constexpr quantized_kind kind_of<messages::quantized<T, B>>{};

/// Levels that halve: how many there are, and the length of a bucket. The norms, then the codes.
struct dithered_kind : bucketed_kind<dithered_kind> {
    static constexpr message_kind number{5};
    template <Scalar T, class B>
    using message = messages::dithered<T, B>;
    static constexpr whole_range ranges[] = {{1, 1000}, any_length};
    static auto parameters(auto& m) { return std::tie(m.levels, m.bucket); }
    static auto of_buckets(auto& m) { return std::tie(m.norms); }

    template <class M>
    static void take_bucket(auto& source, M& m, std::size_t b) {
        m.norms[b] = take_magnitude<typename M::value_type>(source, "norm");
    }
    static void put_rest(auto& sink, auto const& m) { write_codes(sink, m.codes, m.levels); }
    static void take_rest(auto& on, auto& source, auto& m) { read_codes(on, source, std::span(m.codes), m.levels); }
    static bool put_made_rest(auto& on, auto& sink, auto& m, std::size_t n, auto make) {
        return write_made<std::int16_t>(on, sink, m.levels, n, make);
    }
    static std::size_t code_bytes(auto const& m, std::size_t n) { return bytes_of_codes(n, m.levels); }
    static void add_rest(auto& on, auto& source, auto& m, auto w, auto out) {
        add_levels(on, source, m, std::span(m.codes), w, out);
    }
    static reading_bounds per_number(auto const& m) { return {1, sizeof(m.codes[0]) + sizeof(m.norms[0])}; }
    /// A sign and one of levels + 1 levels.
    static double paper_width(auto const& m) { return 1 + std::log2(m.levels + 1.0); }
};
template <Scalar T, class B>
inline constexpr dithered_kind kind_of<messages::dithered<T, B>>{};

/// Codes on a grid over the range: their width in bits, and the length of a bucket. Of each bucket its least number,
/// then its step; then the codes, `width` bits each.
struct stepped_kind : bucketed_kind<stepped_kind> {
    static constexpr message_kind number{11};
    template <Scalar T, class B>
    using message = messages::stepped<T, B>;
    static constexpr whole_range ranges[] = {{1, 8}, any_length};
    static auto parameters(auto& m) { return std::tie(m.width, m.bucket); }
    static auto of_buckets(auto& m) { return std::tie(m.least, m.steps); }

    template <class M>
    static void take_bucket(auto& source, M& m, std::size_t b) {
        using T = typename M::value_type;
        m.least[b] = take_number<T>(source);
        m.steps[b] = take_magnitude<T>(source, "step");
        if (!std::isfinite(messages::stepped_value(m.least[b], m.steps[b], (1 << m.width) - 1)))
            source.refuse("a grid that is not finite");
    }
    static kernels::code_words words(auto const& m) { return {static_cast<unsigned>(m.width)}; }
    static void put_rest(auto& sink, auto const& m) { put_codes(sink, m.codes, words(m)); }
    static void take_rest(auto& on, auto& source, auto& m) { take_codes(on, source, std::span(m.codes), words(m), ""); }
    static bool put_made_rest(auto& on, auto& sink, auto& m, std::size_t n, auto make) {
        return wire::put_made<std::uint8_t>(on, sink, words(m), n, make);
    }
    static std::size_t code_bytes(auto const& m, std::size_t n) { return bytes_of_words(n, words(m)); }
    static void add_rest(auto& on, auto& source, auto& m, auto w, auto out) {
        add_codes<std::uint8_t>(on, source, m, m.bucket, words(m), "", w, out);
    }
    static reading_bounds per_number(auto const& m) {
        return {static_cast<std::uint64_t>(m.width), 1 + 2 * sizeof(m.steps[0])};
    }
    static double paper_width(auto const& m) { return m.width; }
};
template <Scalar T, class B>
inline constexpr stepped_kind kind_of<messages::stepped<T, B>>{};

/// Of those with a bit for each sign.
template <class K>
struct signed_kind : bucketed_kind<K> {
    static void put_rest(auto& sink, auto const& m) {
        if constexpr (std::endian::native == std::endian::little && requires { sink.put_bits({}, 0); })
            sink.put_bits(std::as_bytes(std::span(m.words)), m.count);
        else
            for (std::size_t w = 0; w < m.words.size(); ++w) sink.put(m.words[w], signs_in(w, m));
    }
    static void take_rest(auto&, auto& source, auto& m) {
        for (std::size_t w = 0; w < m.words.size(); ++w) m.words[w] = source.take(signs_in(w, m));
    }
    static reading_bounds per_number(auto const& m) {
        auto const of_buckets = K::of_buckets(m);
        return {1, 1 + std::tuple_size_v<decltype(of_buckets)> * sizeof(std::get<0>(of_buckets)[0])};
    }
    static double paper_width(auto const&) { return 1; }

  private:
    static unsigned signs_in(std::size_t word, auto const& m) {
        return static_cast<unsigned>(std::min<std::size_t>(64, m.count - 64 * word));
    }
};

/// Signs: the length of a bucket, 0 where there are no scales. The scales, then the signs.
struct signs_kind : signed_kind<signs_kind> {
    static constexpr message_kind number{4};
    template <Scalar T, class B>
    using message = messages::signs<T, B>;
    static constexpr whole_range ranges[] = {{0, longest_support}};
    static auto parameters(auto& m) { return std::tie(m.bucket); }
    static auto of_buckets(auto& m) { return std::tie(m.scales); }

    template <class M>
    static void take_bucket(auto& source, M& m, std::size_t b) {
        m.scales[b] = take_magnitude<typename M::value_type>(source, "scale");
    }
};
template <Scalar T, class B>
inline constexpr signs_kind kind_of<messages::signs<T, B>>{};

/// Signs with two means: the length of a bucket. Of each bucket the magnitude of its negative numbers, then that of the
/// others; then the signs.
struct means_kind : signed_kind<means_kind> {
    static constexpr message_kind number{6};
    template <Scalar T, class B>
    using message = messages::means<T, B>;
    static constexpr whole_range ranges[] = {any_length};
    static auto parameters(auto& m) { return std::tie(m.bucket); }
    static auto of_buckets(auto& m) { return std::tie(m.below, m.above); }

    template <class M>
    static void take_bucket(auto& source, M& m, std::size_t b) {
        for (auto* const magnitude : {&m.below[b], &m.above[b]})
            *magnitude = take_magnitude<typename M::value_type>(source, "magnitude of a mean");
    }
};
template <Scalar T, class B>
inline constexpr means_kind kind_of<messages::means<T, B>>{};

/// Numbers in bins: the width, and the length of a bucket. Of each bucket the number of each bin, or its scale; then the
/// codes.
struct binned_kind : bucketed_kind<binned_kind> {
    static constexpr message_kind number{12};
    template <Scalar T, class B>
    using message = messages::binned<T, B>;
    static constexpr whole_range ranges[] = {{1, 12}, any_length};
    static auto parameters(auto& m) { return std::tie(m.width, m.bucket); }
    static auto of_buckets(auto& m) { return std::tie(m.scaled() ? m.scales : m.table); }

    template <class M>
    static void take_bucket(auto& source, M& m, std::size_t k) {
        using T = typename M::value_type;
        if (!m.scaled()) return void(m.table[k] = take_number<T>(source));
        m.scales[k] = take_magnitude<T>(source, "scale");
        m.fill_table(k);
        if (!std::isfinite(m.table[((k + 1) << m.bits()) - 1])) source.refuse("a scale whose numbers are not finite");
    }
    static kernels::code_words words(auto const& m) { return {static_cast<unsigned>(m.bits())}; }
    static void put_rest(auto& sink, auto const& m) { put_codes(sink, m.codes, words(m)); }
    static void take_rest(auto& on, auto& source, auto& m) { take_codes(on, source, std::span(m.codes), words(m), ""); }
    static void add_rest(auto& on, auto& source, auto& m, auto w, auto out) {
        add_codes<std::uint8_t>(on, source, m, m.bucket, words(m), "", w, out);
    }
    static reading_bounds per_number(auto const& m) {
        return {static_cast<std::uint64_t>(m.bits()),
                1 + detail::pieces_in(sizeof(m.table[0]) * ((1u << m.bits()) + 1), m.bucket)};
    }
    static double paper_width(auto const& m) { return m.bits(); }
};
template <Scalar T, class B>
inline constexpr binned_kind kind_of<messages::binned<T, B>>{};

}  // namespace laconic::wire
