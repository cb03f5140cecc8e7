// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "laconic/message/stepped.hpp"
#include "laconic/wire/fixed_width.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/shape.hpp"

namespace laconic::messages {

/// Writes for each bucket its least number, then its step, in full; then the codes, `width` bits each.
template <BitSink W, Scalar T, class B>
void write(W& sink, stepped<T, B> const& m) {
    charge(sink, message_part::scalars);
    for (std::size_t b = 0; b < m.steps.size(); ++b) {
        put_number<T>(sink, m.least[b]);
        put_number<T>(sink, m.steps[b]);
    }
    charge(sink, message_part::values);
    put_codes(sink, m.codes, static_cast<unsigned>(m.width), [](unsigned code) { return code; });
}
template <class B, BitSource R, Scalar T>
void read(B&, R& source, stepped<T, B>& m) {
    for (std::size_t b = 0; b < m.steps.size(); ++b) {
        m.least[b] = take_number<T>(source);
        m.steps[b] = take_magnitude<T>(source, "step");
        if (!std::isfinite(stepped_value(m.least[b], m.steps[b], (1 << m.width) - 1)))
            source.refuse("a grid that is not finite");
    }
    take_codes(
        source, m.codes, static_cast<unsigned>(m.width), [](unsigned) { return true; }, "",
        [](unsigned word) { return word; });
}

}  // namespace laconic::messages

namespace laconic::wire {

/// Codes on a grid over the range: their width in bits, and the length of a bucket.
struct stepped_kind : leaf_kind {
    static constexpr message_kind number{11};
    template <Scalar T, BitSource R>
    static void take(R& source, stage& s) {
        s.first = take_between(source, 1, 8);
        s.second = take_between(source, 1, longest_support);
    }
    template <Scalar T, class B, class Reader, class Out>
    static void unpack(Reader& reader, stage const& s, std::uint64_t n, Out& out) {
        auto m = reader.template leaf<messages::stepped<T, B>>(n, s.first, 1 + 2 * sizeof(T));
        m.width = static_cast<int>(s.first);
        m.bucket = s.second;
        m.least.resize(buckets_of(n, s.second));
        m.steps.resize(m.least.size());
        m.codes.resize(n);
        reader.take(m, out);
    }
};

}  // namespace laconic::wire

namespace laconic::messages {

template <BitSink W, Scalar T, class B>
void write_shape(W& sink, stepped<T, B> const& m) {
    put_kind(sink, stepped_kind::number);
    put_whole(sink, static_cast<std::uint64_t>(m.width));
    put_length(sink, m.bucket, m.codes.size());
}
template <Scalar T, class B>
double bits_as_paper(stepped<T, B> const& m) {
    return 16.0 * sizeof(T) * static_cast<double>(m.steps.size()) + m.width * static_cast<double>(m.codes.size());
}

}  // namespace laconic::messages
