// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <tuple>

#include "laconic/message/quantized.hpp"
#include "laconic/wire/codes.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/shape.hpp"

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
        charge(sink, message_part::scalars);
        put_numbers(sink, m.steps);
        charge(sink, message_part::values);
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

}  // namespace laconic::wire
