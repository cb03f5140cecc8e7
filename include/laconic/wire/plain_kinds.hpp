// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <span>

#include "laconic/wire/fixed_width.hpp"
#include "laconic/wire/shape.hpp"

/// The messages with neither buckets nor others inside: their encodings, and the descriptions of their kinds.
namespace laconic::wire {

/// Numbers in full: 32 or 64 bits each.
struct plain_kind : leaf_kind<plain_kind> {
    static constexpr message_kind number{1};
    template <Scalar T, class B>
    using message = messages::full_vector<T, B>;

    static void put(auto& sink, auto const& m) { put_numbers(sink, m.values); }
    /// As that of bucketed_kind, where the message is the vector itself.
    template <OnHost B, class C, Scalar T>
    static bool put_made(B& on, bit_writer& sink, C const&, std::span<T const> x, key,
                         auto&) requires std::same_as<typename C::sends_vector, C> {
        messages::check_dimension(x.size());
        if (first_non_finite(on, x) < x.size()) throw argument_error("a number is not finite");
        sink.reserve(detail::as_size(sink.bits() / 8) + x.size_bytes() + 64);
        put_numbers(sink, x);
        return true;
    }
    static void take(auto&, auto& source, auto& m) { take_numbers(source, m.values); }
    template <OnHost B, Scalar T>
    static void take_and_add(B& on, bit_reader& source, auto&, T w, added_to<T> out) {
        add_numbers(on, source, w, out);
    }
    template <class M>
    static reading_bounds per_number(M const&) {
        return {8 * sizeof(typename M::value_type), sizeof(typename M::value_type)};
    }
    static double as_paper(auto const& m) { return bits_in_full(m.values); }
};
template <Scalar T, class B>
inline constexpr plain_kind kind_of<messages::full_vector<T, B>>{};

/// Numbers as codes. Powers of two: 9 (float) or 12 (double) bits for each number, the exponent field, then the sign
/// above it. Of a short format: codes of 16 or 8 bits.
template <class Format, std::uint8_t Number>
struct coded_kind : leaf_kind<coded_kind<Format, Number>> {
    static constexpr message_kind number{Number};
    template <Scalar T, class B>
    using message = messages::coded<Format, T, B>;

    static constexpr char const* wrong = "a number that is not finite";

    static void put(auto& sink, auto const& m) { put_codes(sink, m.codes, m.words); }
    /// As that of bucketed_kind.
    template <OnHost B, class C, Scalar T, class M>
    static bool put_made(B& on, bit_writer& sink, C const& c, std::span<T const> x, key from, M& m) requires
        requires(kernels::code_stream<std::uint16_t> codes) {
        c.make_codes(on, x, from, m, codes);
    }
    {
        messages::check_dimension(x.size());
        sink.reserve(detail::as_size(sink.bits() / 8) + bytes_of_words(x.size(), m.words) + 64);
        return wire::put_made<std::uint16_t>(on, sink, m.words, x.size(),
                                             [&](auto codes) { c.make_codes(on, x, from, m, codes); });
    }
    static void take(auto& on, auto& source, auto& m) { take_codes(on, source, std::span(m.codes), m.words, wrong); }
    template <class M, Scalar T>
    static void take_and_add(auto& on, auto& source, M& m, T w, added_to<T> out) {
        add_codes<std::uint16_t>(on, source, m, detail::codes_together, m.words, wrong, w, out);
    }
    static reading_bounds per_number(auto const& m) { return {m.code_width, sizeof(std::uint16_t)}; }
    static double as_paper(auto const& m) { return m.code_width * static_cast<double>(m.codes.size()); }
};
using powers_kind = coded_kind<messages::power_of_two, 3>;
template <kernels::short_format F>
using short_kind = coded_kind<messages::short_number<F>, 7 + static_cast<std::uint8_t>(F)>;
template <Scalar T, class B>
inline constexpr powers_kind kind_of<messages::powers<T, B>>{};
template <kernels::short_format F, Scalar T, class B>
inline constexpr short_kind<F> kind_of<messages::short_floats<F, T, B>>{};

/// A matrix as two factors: how many rows it has, and its rank. The left factor in full, then the right one.
struct low_rank_kind : leaf_kind<low_rank_kind> {
    static constexpr message_kind number{32};
    static constexpr whole_range ranges[] = {any_length, {0, longest_support}};

    static void put(auto& sink, auto const& m) {
        put_numbers(sink, m.left);
        put_numbers(sink, m.right);
    }
    /// Refuses factors of so large numbers that their product may not be finite; see product_is_finite.
    template <class M>
    static void take(auto&, auto& source, M& m) {
        using T = typename M::value_type;
        if (m.rows * m.cols() != m.count)
            source.refuse(detail::text_pieces{m.count, " numbers are no matrix of ", m.rows, " rows"});
        T largest[] = {0, 0};
        for (auto* const factor : {&m.left, &m.right}) {
            take_numbers(source, *factor);
            for (T const v : *factor) largest[factor == &m.right] = std::max(largest[factor == &m.right], std::abs(v));
        }
        if (!messages::product_is_finite(largest[0], largest[1], m.rank))
            source.refuse("factors whose product may not be finite");
    }
    static void put_parameters(auto& sink, auto const& m) {
        put_whole(sink, m.rows);
        put_whole(sink, m.rank);
    }
    template <Scalar T, class B, class Reader, class Out>
    static void unpack(Reader& reader, stage const& s, std::uint64_t n, Out& out) {
        auto const rows = s.first, cols = n / rows, rank = s.second;
        if (rows * cols != n || rank > std::min(rows, cols) || (rank == 0 && n > 0))
            reader.refuse(detail::concat({"a matrix of ", n, " numbers that there is not"}));
        auto const numbers = rank * (rows + cols);
        reader.expect(numbers, 8 * sizeof(T));
        reader.spend(numbers, sizeof(T));
        reader.spend(n, 16);
        reader.work(n, rank);
        messages::factors<T, B> m{n, rows, rank, {}, {}};
        m.left.resize(rank * rows);
        m.right.resize(rank * cols);
        reader.take(m, out);
    }
    static double as_paper(auto const& m) { return bits_in_full(m.left) + bits_in_full(m.right); }
};
template <Scalar T, class B>
inline constexpr low_rank_kind kind_of<messages::factors<T, B>>{};

}  // namespace laconic::wire
