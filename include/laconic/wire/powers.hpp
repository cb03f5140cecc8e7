// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "laconic/message/powers.hpp"
#include "laconic/wire/fixed_width.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/shape.hpp"

namespace laconic::messages {

/// Writes 9 (float) or 12 (double) bits for each number: the exponent field, then the sign above it.
template <BitSink W, Scalar T, class B>
void write(W& sink, powers<T, B> const& m) {
    charge(sink, message_part::values);
    put_codes(sink, m.codes, powers<T, B>::code_width, [](unsigned code) { return code; });
}
template <class B, BitSource R, Scalar T>
void read(B&, R& source, powers<T, B>& m) {
    using message = powers<T, B>;
    auto const is_finite = [](unsigned code) {
        return (code & ((1u << message::exponent_width) - 1)) <= message::largest_exponent;
    };
    take_codes(source, m.codes, message::code_width, is_finite, "an exponent that is not finite",
               [](unsigned code) { return code; });
}

}  // namespace laconic::messages

namespace laconic::wire {

/// Powers of two.
struct powers_kind : leaf_kind {
    static constexpr message_kind number{3};
    template <Scalar T, class B, class Reader, class Out>
    static void unpack(Reader& reader, stage const&, std::uint64_t n, Out& out) {
        auto m =
            reader.template leaf<messages::powers<T, B>>(n, messages::powers<T, B>::code_width, sizeof(std::uint16_t));
        m.codes.resize(n);
        reader.take(m, out);
    }
};

}  // namespace laconic::wire

namespace laconic::messages {

template <BitSink W, Scalar T, class B>
void write_shape(W& sink, powers<T, B> const&) {
    put_kind(sink, powers_kind::number);
}
template <Scalar T, class B>
double bits_as_paper(powers<T, B> const& m) {
    return powers<T, B>::code_width * static_cast<double>(m.codes.size());
}

}  // namespace laconic::messages
