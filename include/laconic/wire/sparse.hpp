// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "laconic/wire/shape.hpp"

namespace laconic::wire {

/// A support and a message about the numbers there: the length of a unit, and the number of places or their recipe. The
/// part of the support that the receiver does not have, then the payload.
template <messages::support_is Known>
struct sparse_kind {
    static constexpr message_kind number{16 + static_cast<std::uint8_t>(Known)};
    static constexpr follow next = follow::one_shape;
    static constexpr bool listed = Known == messages::support_is::listed,
                          from_seed = Known == messages::support_is::from_seed;

    static void put(auto& sink, auto const& m) {
        if constexpr (listed) {
            sink.charge(message_part::header);
            sink.put(m.support.size(), detail::width_of(std::uint64_t{m.places()} + 1));
        }
        if constexpr (!from_seed) write_support(sink, m.places(), std::span<coordinate const>(m.support));
        write(sink, m.payload);
    }
    static void take(auto& on, auto& source, auto& m, auto const& c) {
        if constexpr (listed) m.support.resize(detail::as_size(take_count(source, m.places())));
        if constexpr (!from_seed) {
            read_support(source, m.places(), std::span<coordinate>(m.support));
            m.expect_payload(on, c);
        }
        read(on, source, m.payload, c.rest);
    }
    static void put_parameters(auto& sink, auto const& m) {
        put_length(sink, m.unit.length, m.length);
        if constexpr (Known == messages::support_is::fixed_count) put_whole(sink, m.support.size());
        if constexpr (from_seed) {
            sink.put(static_cast<std::uint64_t>(m.drawn.how), 8);
            if (m.drawn.how == messages::draw_method::exactly)
                put_whole(sink, m.drawn.count);
            else
                put_number(sink, m.drawn.p);
            sink.put(m.drawn.from.bits, 64);
        }
        write_shape(sink, m.payload);
    }
    template <Scalar T>
    static void take_parameters(bit_reader& source, stage& s) {
        s.first = take_between(source, 1, longest_support);
        if constexpr (Known == messages::support_is::fixed_count) s.second = take_between(source, 0, longest_support);
        if constexpr (from_seed) s.drawn = take_recipe(source);
    }
    template <Scalar T, class B, class Reader, class Out>
    static void unpack(Reader& reader, stage const& s, std::uint64_t n, Out& out) {
        auto const places = detail::pieces_in(n, s.first);
        auto const support = places_of<B>(reader, s, places);
        std::uint64_t numbers = support.size() * s.first;
        if (!support.empty() && support.back() + 1 == places) numbers -= places * s.first - n;
        reader.next_stage(numbers, out);
        reader.spend(out.values.size(), 8);
        reader.work(out.values.size());
        std::vector<std::uint64_t> at(out.values.size());
        for (std::size_t j = 0; j < at.size(); ++j) {
            std::uint64_t const inner = out.dense ? j : out.at[j];
            at[j] = support[inner / s.first] * s.first + inner % s.first;
        }
        out.at = std::move(at);
        out.dense = false;
    }
    /// Counts ceil(log2 d) bits for each position that is not drawn from a seed, and nothing for their count (Khirirat
    /// et al., CAT).
    static double as_paper(auto const& m) {
        double const position = from_seed ? 0 : detail::width_of(m.places());
        return position * static_cast<double>(m.support.size()) + bits_as_paper(m.payload);
    }

  private:
    static std::uint64_t take_count(auto& source, std::uint64_t places) {
        auto const count = source.take(detail::width_of(places + 1));
        if (count > places) source.refuse("more coordinates than the vector has");
        return count;
    }
    static messages::draw take_recipe(auto& source) {
        messages::draw d;
        auto const how = source.take(8);
        if (how < 1 || how > 3) source.refuse("an unknown draw method");
        d.how = static_cast<messages::draw_method>(how);
        if (d.how == messages::draw_method::exactly) {
            d.count = detail::as_size(take_whole(source, longest_support));
        } else {
            d.p = take_magnitude<double>(source, "probability");
            if (!(d.p <= 1)) source.refuse("a probability above 1");
        }
        d.from = {source.take(64)};
        return d;
    }
    template <class B, class Reader>
    static std::vector<std::uint64_t> places_of(Reader& reader, stage const& s, std::uint64_t places) {
        if constexpr (from_seed) {
            if (places > detail::largest_dimension ||
                (s.drawn.how == messages::draw_method::exactly && s.drawn.count > places))
                reader.refuse("a support that cannot be drawn");
            reader.spend(places, 16);
            reader.work(places);
            B on;
            std::vector<coordinate> drawn;
            messages::draw_support(on, s.drawn, detail::as_size(places), drawn);
            return {drawn.begin(), drawn.end()};
        } else {
            auto const count = listed ? take_count(reader.source(), places) : s.second;
            if (count > places) reader.refuse("more coordinates than the vector has");
            reader.spend(count, 8);
            reader.work(count);
            std::vector<std::uint64_t> support(count);
            read_support(reader.source(), places, std::span(support));
            return support;
        }
    }
};
template <class Rest, messages::support_is Known, Scalar T, class B, class Unit>
inline constexpr sparse_kind<Known> kind_of<messages::sparse<Rest, Known, T, B, Unit>>{};

}  // namespace laconic::wire
