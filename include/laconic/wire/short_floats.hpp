// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "laconic/message/short_floats.hpp"
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

/// The codes, 16 or 8 bits each.
template <BitSink W, short_format F, Scalar T, class B>
void write(W& sink, short_floats<F, T, B> const& m) {
    charge(sink, part::values);
    for (auto const code : m.codes) sink.put(code, static_cast<unsigned>(m.layout.width()));
}
template <class B, BitSource R, short_format F, Scalar T>
void read(B&, R& source, short_floats<F, T, B>& m) {
    for (auto& code : m.codes) {
        code = static_cast<std::uint16_t>(source.take(static_cast<unsigned>(m.layout.width())));
        if (!m.layout.is_finite(code)) source.refuse("a number that is not finite");
    }
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
