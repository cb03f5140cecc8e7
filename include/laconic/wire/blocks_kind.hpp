// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <tuple>

#include "laconic/message/block_floats.hpp"
#include "laconic/wire/fixed_width.hpp"
#include "laconic/wire/shape.hpp"

namespace laconic::wire {

/// Short numbers over scales: the format, and the length of a block. Where scales are of e4m3 the number that they
/// share; the scales, in full or in eight bits each; then the codes.
struct blocks_kind : leaf_kind<blocks_kind> {
    static constexpr message_kind number{13};
    template <Scalar T, class B>
    using message = messages::block_floats<T, B>;
    static constexpr whole_range ranges[] = {{0, kernels::block_names.size() - 1}, any_length};
    static auto parameters(auto& m) { return std::tie(m.format, m.block); }

    static void put(auto& sink, auto const& m) {
        auto const kind = m.layout().scale;
        sink.charge(message_part::scalars);
        if (kind == kernels::scale_format::e4m3) put_number(sink, m.shared);
        if (kind == kernels::scale_format::number)
            put_numbers(sink, m.scales);
        else
            for (auto const s : m.scales) sink.put(kernels::code_of_scale(kind, s), 8);
        sink.charge(message_part::values);
        put_codes(sink, m.codes, m.words());
    }
    static void take(auto& on, auto& source, auto& m) {
        take_scales(source, m);
        take_codes(on, source, std::span(m.codes), m.words(), "a number that is not finite");
    }
    template <class M, Scalar T>
    static void take_and_add(auto& on, auto& source, M& m, T w, added_to<T> out) {
        take_scales(source, m);
        add_codes<std::uint16_t>(on, source, m, m.block, m.words(), "a number that is not finite", w, out);
    }
    template <class M>
    static void take_scales(auto& source, M& m) {
        using T = typename M::value_type;
        auto const f = m.layout();
        T const top = kernels::largest_value<T>(f.element);
        m.shared = f.scale == kernels::scale_format::e4m3 ? take_magnitude<T>(source, "scale") : T(1);
        for (T& s : m.scales) {
            s = f.scale == kernels::scale_format::number
                    ? take_magnitude<T>(source, "scale")
                    : kernels::scale_of_code<T>(f.scale, static_cast<unsigned>(source.take(8)));
            if (!std::isfinite(m.shared * s * top)) source.refuse("a scale whose numbers are not finite");
        }
    }
    static reading_bounds per_number(auto const& m) { return {m.words().width, sizeof(m.codes[0]) + sizeof(m.shared)}; }
    static double as_paper(auto const& m) {
        auto const f = m.layout();
        double const full = 8 * sizeof(m.shared);
        return f.element.width() * static_cast<double>(m.codes.size()) +
               (f.scale == kernels::scale_format::number ? full : 8) * static_cast<double>(m.scales.size()) +
               (f.scale == kernels::scale_format::e4m3 ? full : 0);
    }
};
template <Scalar T, class B>
inline constexpr blocks_kind kind_of<messages::block_floats<T, B>>{};

}  // namespace laconic::wire
