// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "laconic/message/short_floats.hpp"
#include "laconic/wire/fixed_width.hpp"
#include "laconic/wire/kind.hpp"

namespace laconic {

constexpr kind kind_of(short_format f) {
    switch (f) {
        case short_format::binary16:
            return kind::binary16;
        case short_format::bfloat:
            return kind::bfloat;
        case short_format::e4m3:
            return kind::e4m3;
        case short_format::e5m2:
            return kind::e5m2;
    }
    return {};
}

/// Writes the codes, 16 or 8 bits each.
template <BitSink W, short_format F, Scalar T, class B>
void write(W& sink, short_floats<F, T, B> const& m) {
    charge(sink, part::values);
    put_codes(sink, m.codes, static_cast<unsigned>(m.layout.width()), [](unsigned code) { return code; });
}
template <class B, BitSource R, short_format F, Scalar T>
void read(B&, R& source, short_floats<F, T, B>& m) {
    take_codes(
        source, m.codes, static_cast<unsigned>(m.layout.width()),
        [](std::uint16_t code) { return layout_of(F).is_finite(code); }, "a number that is not finite",
        [](unsigned code) { return code; });
}
template <BitSink W, short_format F, Scalar T, class B>
void write_shape(W& sink, short_floats<F, T, B> const&) {
    put_kind(sink, kind_of(F));
}
template <short_format F, Scalar T, class B>
double bits_as_paper(short_floats<F, T, B> const& m) {
    return m.layout.width() * static_cast<double>(m.codes.size());
}

}  // namespace laconic
