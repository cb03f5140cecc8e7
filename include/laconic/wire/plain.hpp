// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "laconic/message/full_vector.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/shape.hpp"

namespace laconic::messages {

/// Writes the numbers in full: 32 or 64 bits each.
template <BitSink W, Scalar T, class B>
void write(W& sink, full_vector<T, B> const& m) {
    charge(sink, message_part::values);
    put_numbers(sink, m.values);
}
template <class B, BitSource R, Scalar T>
void read(B&, R& source, full_vector<T, B>& m) {
    take_numbers(source, m.values);
}

}  // namespace laconic::messages

namespace laconic::wire {

/// Numbers in full.
struct plain_kind : leaf_kind {
    static constexpr message_kind number{1};
    template <Scalar T, class B, class Reader, class Out>
    static void unpack(Reader& reader, stage const&, std::uint64_t n, Out& out) {
        auto m = reader.template leaf<messages::full_vector<T, B>>(n, 8 * sizeof(T), sizeof(T));
        m.values.resize(n);
        reader.take(m, out);
    }
};

}  // namespace laconic::wire

namespace laconic::messages {

template <BitSink W, Scalar T, class B>
void write_shape(W& sink, full_vector<T, B> const&) {
    put_kind(sink, plain_kind::number);
}
template <Scalar T, class B>
double bits_as_paper(full_vector<T, B> const& m) {
    return 8.0 * sizeof(T) * static_cast<double>(m.values.size());
}

}  // namespace laconic::messages
