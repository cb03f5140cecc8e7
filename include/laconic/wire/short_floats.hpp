// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "laconic/message/short_floats.hpp"
#include "laconic/wire/fixed_width.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/shape.hpp"

namespace laconic::wire {

/// Numbers of a short format.
template <kernels::short_format F>
struct short_kind : leaf_kind {
    static constexpr message_kind number{7 + static_cast<std::uint8_t>(F)};
    template <Scalar T, class B, class Reader, class Out>
    static void unpack(Reader& reader, stage const&, std::uint64_t n, Out& out) {
        auto m = reader.template leaf<messages::short_floats<F, T, B>>(n, kernels::layout_of(F).width(),
                                                                       sizeof(std::uint16_t));
        m.codes.resize(n);
        reader.take(m, out);
    }
};

}  // namespace laconic::wire

namespace laconic::messages {

/// Writes the codes, 16 or 8 bits each.
template <BitSink W, kernels::short_format F, Scalar T, class B>
void write(W& sink, short_floats<F, T, B> const& m) {
    charge(sink, message_part::values);
    put_codes(sink, m.codes, static_cast<unsigned>(m.layout.width()), [](unsigned code) { return code; });
}
template <class B, BitSource R, kernels::short_format F, Scalar T>
void read(B&, R& source, short_floats<F, T, B>& m) {
    take_codes(
        source, m.codes, static_cast<unsigned>(m.layout.width()),
        [](std::uint16_t code) { return kernels::layout_of(F).is_finite(code); }, "a number that is not finite",
        [](unsigned code) { return code; });
}
template <BitSink W, kernels::short_format F, Scalar T, class B>
void write_shape(W& sink, short_floats<F, T, B> const&) {
    put_kind(sink, short_kind<F>::number);
}
template <kernels::short_format F, Scalar T, class B>
double bits_as_paper(short_floats<F, T, B> const& m) {
    return m.layout.width() * static_cast<double>(m.codes.size());
}

}  // namespace laconic::messages
