// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/message/constant.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/shape.hpp"

namespace laconic::wire {

/// The number in full.
struct constant_kind : leaf_kind<constant_kind> {
    static constexpr message_kind number{40};
    template <Scalar T, class B>
    using message = messages::constant<T, B>;

    static void put(auto& sink, auto const& m) {
        sink.charge(message_part::scalars);
        put_number(sink, m.value);
    }
    static void take(auto&, auto& source, auto& m) { m.value = take_number<decltype(m.value)>(source); }
    static reading_bounds per_number(auto const& m) { return {0, sizeof(m.value)}; }
    static double as_paper(auto const& m) { return 8.0 * sizeof(m.value); }
};
template <Scalar T, class B>
inline constexpr constant_kind kind_of<messages::constant<T, B>>{};

}  // namespace laconic::wire
