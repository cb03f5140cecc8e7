// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "laconic/message/constant.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/shape.hpp"

namespace laconic::messages {

/// Writes the number in full.
template <BitSink W, Scalar T, class B>
void write(W& sink, constant<T, B> const& m) {
    charge(sink, message_part::scalars);
    put_number(sink, m.value);
}
template <class B, BitSource R, Scalar T>
void read(B&, R& source, constant<T, B>& m) {
    m.value = take_number<T>(source);
}

}  // namespace laconic::messages

namespace laconic::wire {

struct constant_kind : leaf_kind {
    static constexpr message_kind number{40};
    template <Scalar T, class B, class Reader, class Out>
    static void unpack(Reader& reader, stage const&, std::uint64_t n, Out& out) {
        auto m = reader.template leaf<messages::constant<T, B>>(n, 0, sizeof(T));
        m.count = n;
        reader.take(m, out);
    }
};

}  // namespace laconic::wire

namespace laconic::messages {

template <BitSink W, Scalar T, class B>
void write_shape(W& sink, constant<T, B> const&) {
    put_kind(sink, constant_kind::number);
}
template <Scalar T, class B>
double bits_as_paper(constant<T, B> const&) {
    return 8.0 * sizeof(T);
}

}  // namespace laconic::messages
