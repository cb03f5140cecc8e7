// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "laconic/core/text.hpp"
#include "laconic/message/factors.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/shape.hpp"

namespace laconic::messages {

/// Writes the left factor in full, then the right one.
template <BitSink W, Scalar T, class B>
void write(W& sink, factors<T, B> const& m) {
    charge(sink, message_part::values);
    for (T const v : m.left) put_number(sink, v);
    for (T const v : m.right) put_number(sink, v);
}
/// Refuses factors of so large numbers that their product may not be finite; see product_is_finite.
template <class B, BitSource R, Scalar T>
void read(B&, R& source, factors<T, B>& m) {
    if (m.rows * m.cols() != m.count)
        source.refuse(detail::concat(detail::text_pieces{m.count, " numbers are no matrix of ", m.rows, " rows"}));
    auto const take = [&](auto& factor) {
        T largest = 0;
        for (T& v : factor) {
            v = take_number<T>(source);
            largest = std::max(largest, std::abs(v));
        }
        return largest;
    };
    T const left = take(m.left), right = take(m.right);
    if (!product_is_finite(left, right, m.rank)) source.refuse("factors whose product may not be finite");
}

}  // namespace laconic::messages

namespace laconic::wire {

/// A matrix as two factors: how many rows it has, and its rank.
struct low_rank_kind : leaf_kind {
    static constexpr message_kind number{32};
    template <Scalar T, BitSource R>
    static void take(R& source, stage& s) {
        s.first = take_between(source, 1, longest_support);
        s.second = take_between(source, 0, longest_support);
    }
    template <Scalar T, class B, class Reader, class Out>
    static void unpack(Reader& reader, stage const& s, std::uint64_t n, Out& out) {
        auto const rows = s.first, cols = n / rows, rank = s.second;
        if (rows * cols != n || rank > std::min(rows, cols) || (rank == 0 && n > 0))
            reader.refuse(detail::concat({"a matrix of ", n, " numbers that there is not"}));
        auto const numbers = rank * (rows + cols);
        reader.expect(numbers, 8 * sizeof(T));
        reader.spend(numbers, sizeof(T));
        reader.spend(n, 16);
        reader.work(n, rank);
        messages::factors<T, B> m{n, rows, rank, {}, {}};
        m.left.resize(rank * rows);
        m.right.resize(rank * cols);
        reader.take(m, out);
    }
};

}  // namespace laconic::wire

namespace laconic::messages {

template <BitSink W, Scalar T, class B>
void write_shape(W& sink, factors<T, B> const& m) {
    put_kind(sink, low_rank_kind::number);
    put_whole(sink, m.rows);
    put_whole(sink, m.rank);
}
template <Scalar T, class B>
double bits_as_paper(factors<T, B> const& m) {
    return 8.0 * sizeof(T) * static_cast<double>(m.left.size() + m.right.size());
}

}  // namespace laconic::messages
