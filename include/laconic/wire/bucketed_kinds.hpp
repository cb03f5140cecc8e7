// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "laconic/message/bucketed.hpp"
#include "laconic/wire/codes.hpp"
#include "laconic/wire/shape.hpp"

/// The messages of numbers in buckets, which share something: their encodings, and the descriptions of their kinds.
namespace laconic::wire {

/// Levels of a uniform grid: how many there are to a side, and the length of a bucket. The steps in full, then the
/// codes.
struct quantized_kind : leaf_kind<quantized_kind> {
    static constexpr message_kind number{2};
    template <Scalar T, class B>
    using message = messages::quantized<T, B>;
    static constexpr whole_range ranges[] = {{1, 32767}, any_length};
    static auto parameters(auto& m) { return std::tie(m.levels, m.bucket); }

    static void put(auto& sink, auto const& m) {
        sink.charge(message_part::scalars);
        put_numbers(sink, m.steps);
        sink.charge(message_part::values);
        m.with_codes(m, [&](auto const& codes) { write_codes(sink, codes, m.levels); });
    }
    template <class M>
    static void take(auto&, auto& source, M& m) {
        using T = typename M::value_type;
        for (T& step : m.steps) {
            step = take_magnitude<T>(source, "step");
            if (!std::isfinite(step * static_cast<T>(m.levels))) source.refuse("a step whose grid is not finite");
        }
        m.with_codes(m, [&](auto& codes) { read_codes(source, codes, m.levels); });
    }
    template <class M>
    static reading_bounds per_number(M const& m) {
        return {1,
                m.with_codes(m, [](auto const& codes) { return sizeof(codes[0]); }) + sizeof(typename M::value_type)};
    }
    /// Counts log2(2 levels + 1) bits a number; with one level, log2 3 (TernGrad).
    static double as_paper(auto const& m) {
        return bits_in_full(m.steps) + std::log2(2.0 * m.levels + 1) * static_cast<double>(m.dimension());
    }
};
template <Scalar T, class B>
inline constexpr quantized_kind kind_of<messages::quantized<T, B>>{};

/// Levels that halve: how many there are, and the length of a bucket. The norms in full, then the codes.
struct dithered_kind : leaf_kind<dithered_kind> {
    static constexpr message_kind number{5};
    template <Scalar T, class B>
    using message = messages::dithered<T, B>;
    static constexpr whole_range ranges[] = {{1, 1000}, any_length};
    static auto parameters(auto& m) { return std::tie(m.levels, m.bucket); }

    static void put(auto& sink, auto const& m) {
        sink.charge(message_part::scalars);
        put_numbers(sink, m.norms);
        sink.charge(message_part::values);
        write_codes(sink, m.codes, m.levels);
    }
    static void take(auto&, auto& source, auto& m) {
        take_magnitudes(source, m.norms, "norm");
        read_codes(source, m.codes, m.levels);
    }
    static reading_bounds per_number(auto const& m) { return {1, sizeof(m.codes[0]) + sizeof(m.norms[0])}; }
    /// Counts a sign and one of levels + 1 levels for each number, and the norms in full.
    static double as_paper(auto const& m) {
        return bits_in_full(m.norms) + (1 + std::log2(m.levels + 1.0)) * static_cast<double>(m.codes.size());
    }
};
template <Scalar T, class B>
inline constexpr dithered_kind kind_of<messages::dithered<T, B>>{};

/// Codes on a grid over the range: their width in bits, and the length of a bucket. For each bucket its least number,
/// then its step, in full; then the codes, `width` bits each.
struct stepped_kind : leaf_kind<stepped_kind> {
    static constexpr message_kind number{11};
    template <Scalar T, class B>
    using message = messages::stepped<T, B>;
    static constexpr whole_range ranges[] = {{1, 8}, any_length};
    static auto parameters(auto& m) { return std::tie(m.width, m.bucket); }

    static void put(auto& sink, auto const& m) {
        sink.charge(message_part::scalars);
        for (std::size_t b = 0; b < m.steps.size(); ++b) {
            put_number(sink, m.least[b]);
            put_number(sink, m.steps[b]);
        }
        sink.charge(message_part::values);
        put_codes(sink, m.codes, static_cast<unsigned>(m.width));
    }
    template <class M>
    static void take(auto&, auto& source, M& m) {
        using T = typename M::value_type;
        for (std::size_t b = 0; b < m.steps.size(); ++b) {
            m.least[b] = take_number<T>(source);
            m.steps[b] = take_magnitude<T>(source, "step");
            if (!std::isfinite(messages::stepped_value(m.least[b], m.steps[b], (1 << m.width) - 1)))
                source.refuse("a grid that is not finite");
        }
        take_codes(
            source, m.codes, static_cast<unsigned>(m.width), [](unsigned) { return true; }, "");
    }
    template <class M>
    static reading_bounds per_number(M const& m) {
        return {static_cast<std::uint64_t>(m.width), 1 + 2 * sizeof(typename M::value_type)};
    }
    static double as_paper(auto const& m) {
        return bits_in_full(m.least) + bits_in_full(m.steps) + m.width * static_cast<double>(m.codes.size());
    }
};
template <Scalar T, class B>
inline constexpr stepped_kind kind_of<messages::stepped<T, B>>{};

void write_signs(auto& sink, auto const& words, std::size_t count) {
    sink.charge(message_part::values);
    for (std::size_t w = 0; w < words.size(); ++w)
        sink.put(words[w], static_cast<unsigned>(std::min<std::size_t>(64, count - 64 * w)));
}
void read_signs(auto& source, auto& words, std::size_t count) {
    for (std::size_t w = 0; w < words.size(); ++w)
        words[w] = source.take(static_cast<unsigned>(std::min<std::size_t>(64, count - 64 * w)));
}

/// Signs: the length of a bucket, 0 where there are no scales. The scales in full, then a bit for each sign.
struct signs_kind : leaf_kind<signs_kind> {
    static constexpr message_kind number{4};
    template <Scalar T, class B>
    using message = messages::signs<T, B>;
    static constexpr whole_range ranges[] = {{0, longest_support}};
    static auto parameters(auto& m) { return std::tie(m.bucket); }

    static void put(auto& sink, auto const& m) {
        sink.charge(message_part::scalars);
        put_numbers(sink, m.scales);
        write_signs(sink, m.words, m.count);
    }
    static void take(auto&, auto& source, auto& m) {
        take_magnitudes(source, m.scales, "scale");
        read_signs(source, m.words, m.count);
    }
    static reading_bounds per_number(auto const& m) { return {1, 1 + sizeof(m.scales[0])}; }
    static double as_paper(auto const& m) { return bits_in_full(m.scales) + static_cast<double>(m.count); }
};
template <Scalar T, class B>
inline constexpr signs_kind kind_of<messages::signs<T, B>>{};

/// Signs with two means: the length of a bucket. For each bucket the magnitude of its negative numbers, then that of
/// the others, in full; then a bit for each sign.
struct means_kind : leaf_kind<means_kind> {
    static constexpr message_kind number{6};
    template <Scalar T, class B>
    using message = messages::means<T, B>;
    static constexpr whole_range ranges[] = {any_length};
    static auto parameters(auto& m) { return std::tie(m.bucket); }

    static void put(auto& sink, auto const& m) {
        sink.charge(message_part::scalars);
        for (std::size_t b = 0; b < m.above.size(); ++b) {
            put_number(sink, m.below[b]);
            put_number(sink, m.above[b]);
        }
        write_signs(sink, m.words, m.count);
    }
    template <class M>
    static void take(auto&, auto& source, M& m) {
        for (std::size_t b = 0; b < m.above.size(); ++b)
            for (auto* const magnitude : {&m.below[b], &m.above[b]})
                *magnitude = take_magnitude<typename M::value_type>(source, "magnitude of a mean");
        read_signs(source, m.words, m.count);
    }
    static reading_bounds per_number(auto const& m) { return {1, 1 + 2 * sizeof(m.above[0])}; }
    static double as_paper(auto const& m) {
        return bits_in_full(m.below) + bits_in_full(m.above) + static_cast<double>(m.count);
    }
};
template <Scalar T, class B>
inline constexpr means_kind kind_of<messages::means<T, B>>{};

}  // namespace laconic::wire
