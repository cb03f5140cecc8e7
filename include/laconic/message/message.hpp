// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

#include "laconic/backend/backend.hpp"
#include "laconic/core/term.hpp"

namespace laconic {

/// A vector spelled as terms v e_i, each computed on access: free to copy, safe to hand to a kernel. Satisfied iff it
/// is trivially copyable, has size(), t[j] with members `at` and `value`, and a constant `in_order` that is true where
/// t[j].at == j for every j.
template <class V>
concept Terms = std::is_trivially_copyable_v<V> && requires(V const t, std::size_t j) {
    { t.size() } -> std::convertible_to<std::size_t>;
    { t[j].at } -> std::convertible_to<coordinate>;
    { t[j].value } -> std::convertible_to<double>;
    {std::bool_constant<V::in_order>{}};
};

/// A message that lists its terms.
template <class M>
concept TermMessage = requires(M const& m) {
    { m.terms() } -> Terms;
};

/// out += w m: the one decoder, for every message and every backend, without a temporary.
template <class B, Scalar T, TermMessage M>
void add_message(B& on, std::span<T> out, T w, M const& m) {
    add_terms(on, out, w, m.terms());
}

/// A message whose numbers lie in buckets that share something: terms_from(first) are the terms from coordinate `first`
/// on that share it with that one, counted from 0, so that no term looks for its bucket.
template <class M>
concept BucketedMessage = TermMessage<M> && requires(M const& m, std::size_t first) {
    { m.terms_from(first) } -> Terms;
};

template <class B, Scalar T, BucketedMessage M>
void add_message(B& on, std::span<T> out, T w, M const& m) {
    for (std::size_t first = 0; first < out.size();) {
        auto const terms = m.terms_from(first);
        add_terms(on, out.subspan(first, terms.size()), w, terms);
        first += terms.size();
    }
}

/// Something that a receiver can add to a vector. Satisfied iff it knows the dimension of that vector and
/// add_message(on, out, w, m) adds w times itself; a message that has terms() gets that for nothing.
template <class M, class T, class B>
concept Message = std::movable<M> && std::default_initializable<M> && std::equality_comparable<M> &&
    requires(M const& m, B& on, std::span<T> out, T w) {
    { m.dimension() } -> std::same_as<std::size_t>;
    add_message(on, out, w, m);
};

}  // namespace laconic
