// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "laconic/message/dithered.hpp"
#include "laconic/message/either.hpp"
#include "laconic/message/factors.hpp"
#include "laconic/message/levelled.hpp"
#include "laconic/message/means.hpp"
#include "laconic/message/message.hpp"
#include "laconic/message/parts.hpp"
#include "laconic/message/quantized.hpp"
#include "laconic/message/scaled.hpp"
#include "laconic/message/signs.hpp"
#include "laconic/message/sparse.hpp"
#include "laconic/message/stepped.hpp"

/// fit(m, n): whether the arrays of m are as long as its values ask for, and m is about n numbers, so that who adds it
/// reads nothing beyond their ends. What stands in the arrays, such as coordinates, is not looked at: it may be in a
/// device's memory.
namespace laconic::detail {

// How many buckets n numbers make; no number of them where a bucket has none.
inline bool make_buckets(std::size_t buckets, std::size_t n, std::size_t bucket) {
    return bucket > 0 && buckets == n / bucket + (n % bucket != 0);
}
inline bool make_words(std::size_t words, std::size_t n) { return words == n / 64 + (n % 64 != 0); }

/// Of messages that are but one array of codes or numbers, and of kinds that are not known here.
template <class M>
bool fit(M const& m, std::size_t n) {
    return m.dimension() == n;
}
template <Scalar T, class B>
bool fit(quantized<T, B> const& m, std::size_t n) {
    return m.dimension() == n && m.with_codes(m, [n](auto const& codes) { return codes.size() == n; }) &&
           make_buckets(m.steps.size(), n, m.bucket);
}
template <Scalar T, class B>
bool fit(dithered<T, B> const& m, std::size_t n) {
    return m.codes.size() == n && make_buckets(m.norms.size(), n, m.bucket);
}
template <Scalar T, class B>
bool fit(stepped<T, B> const& m, std::size_t n) {
    return m.codes.size() == n && m.least.size() == m.steps.size() && make_buckets(m.steps.size(), n, m.bucket);
}
template <Scalar T, class B>
bool fit(signs<T, B> const& m, std::size_t n) {
    bool const votes = m.bucket == 0 && m.scales.empty();
    return m.count == n && make_words(m.words.size(), n) && (votes || make_buckets(m.scales.size(), n, m.bucket));
}
template <Scalar T, class B>
bool fit(means<T, B> const& m, std::size_t n) {
    return m.count == n && make_words(m.words.size(), n) && m.below.size() == m.above.size() &&
           make_buckets(m.below.size(), n, m.bucket);
}
template <Scalar T, class B>
bool fit(factors<T, B> const& m, std::size_t n) {
    return m.count == n && m.rows > 0 && m.rows * m.cols() == n && m.rank <= std::min(m.rows, m.cols()) &&
           m.left.size() == m.rank * m.rows && m.right.size() == m.rank * m.cols();
}
// Below, where they are needed.
template <class First, class Second>
bool fit(either<First, Second> const& m, std::size_t n);
template <class M, Scalar T>
bool fit(scaled<M, T> const& m, std::size_t n);
template <class C, class M>
bool fit(levelled<C, M> const& m, std::size_t n);
template <class M>
bool fit(parts_of<M> const& m, std::size_t n);
template <class Rest, support_is Known, Scalar T, class B, class Unit>
bool fit(sparse<Rest, Known, T, B, Unit> const& m, std::size_t n);

template <class First, class Second>
bool fit(either<First, Second> const& m, std::size_t n) {
    return m.is_first ? fit(m.first, n) : fit(m.second, n);
}
template <class M, Scalar T>
bool fit(scaled<M, T> const& m, std::size_t n) {
    return fit(m.inside, n);
}
template <class C, class M>
bool fit(levelled<C, M> const& m, std::size_t n) {
    return m.length == n && fit(m.inside, n);
}
template <class M>
bool fit(parts_of<M> const& m, std::size_t n) {
    std::size_t left = n;
    for (auto const& one : m.each) {
        if (one.dimension() > left || !fit(one, one.dimension())) return false;
        left -= one.dimension();
    }
    return m.count == n && left == 0;
}
// The last place may have fewer numbers than the others, and need not be among those that are sent.
template <class Rest, support_is Known, Scalar T, class B, class Unit>
bool fit(sparse<Rest, Known, T, B, Unit> const& m, std::size_t n) {
    if (m.length != n || m.unit.length == 0 || m.support.size() > m.places()) return false;
    std::size_t const numbers = m.payload.dimension(), all = m.support.size() * m.unit.length;
    bool const with_last = m.places() > 0 && !m.support.empty() && numbers == m.numbers(m.places() - 1);
    return (numbers == all || with_last) && fit(m.payload, numbers);
}

}  // namespace laconic::detail
