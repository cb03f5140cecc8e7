// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "laconic/backend/array.hpp"
#include "laconic/backend/backend.hpp"

namespace laconic::messages {

/// A vector as a list of terms v e_i, each computed on access: a view is cheap to copy and may be passed to a kernel.
/// Satisfied iff it is trivially copyable, has size(), t[j] with members `at` and `value`, and a constant `in_order`
/// that is true where t[j].at == j for every j. Numbers in buckets that share something may have t.from(first): the
/// terms from coordinate `first` on within its bucket, counted from 0, for backends that work bucket by bucket. size()
/// and [] are constexpr, and so may run on a device.
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

/// One summand v e_i of a vector written as a sum of scaled basis vectors.
template <class T>
struct term {
    coordinate at;
    T value;
};

/// The terms of `count` numbers in order, number j being of(j). Where numbers in buckets share something, of.from(j)
/// computes those of the bucket from number j on, counted from 0, of which there are of.left(j) or fewer.
template <class Of>
struct terms_in_order {
    Of of;
    std::size_t count;
    static constexpr bool in_order = true;
    constexpr std::size_t size() const { return count; }
    constexpr auto operator[](std::size_t j) const { return term<decltype(of(j))>{static_cast<coordinate>(j), of(j)}; }
    constexpr auto from(std::size_t first) const requires requires { of.from(first); }
    { return terms_in_order<decltype(of.from(first))>{of.from(first), std::min(of.left(first), count - first)}; }
};

/// The type of X on another backend: X::for_backend<B> where X has that, else X.
template <class B, class X>
struct moved {
    using type = X;
};
template <class B, class X>
requires requires { typename X::template for_backend<B>; }
struct moved<B, X> {
    using type = typename X::template for_backend<B>;
};
template <class B, class X>
using moved_to = typename moved<B, X>::type;

/// m.fits(n): whether the arrays of m are as long as its values ask for, and m is about n numbers, so that who adds it
/// reads nothing beyond their ends. What is in the arrays, such as coordinates, is not read: it may be in a device's
/// memory. A message with more than one array has it.
template <class M>
concept ChecksArrays = requires(M const& m, std::size_t n) {
    { m.fits(n) } -> std::same_as<bool>;
};
/// A message whose kind may be chosen at run time: m.holds<N>() is whether it is an N.
template <class M, class N>
concept MayBe = std::same_as<M, N> || requires(M const& m) {
    { m.template holds<N>() } -> std::same_as<bool>;
};
/// m.most_terms() is how many terms m has, or a later message of its kind may have.
template <class M>
concept MayGrow = requires(M const& m) {
    { m.most_terms() } -> std::same_as<std::size_t>;
};

}  // namespace laconic::messages

namespace laconic {

/// out += w m: the one decoder, for every message and every backend, without a temporary.
template <class B, Scalar T, messages::TermMessage M>
void add_message(B& on, std::span<T> out, T w, M const& m) {
    add_terms(on, out, w, m.terms());
}

/// A message: a value that can be added to a vector. Satisfied iff it has the dimension() of that vector and
/// add_message(on, out, w, m) adds w times its numbers to out; a message that has terms() needs no add_message of its
/// own. One that also has the template for_backend, its type on another backend, and fields(m), a tuple of references
/// to all its contents, can be copied by copy_message. The library's messages without others inside have resize(n),
/// which makes room for n numbers once all else is set.
template <class M, class T, class B>
concept Message = std::movable<M> && std::default_initializable<M> && std::equality_comparable<M> &&
    requires(M const& m, B& on, std::span<T> out, T w) {
    { m.dimension() } -> std::same_as<std::size_t>;
    add_message(on, out, w, m);
};

}  // namespace laconic

namespace laconic::detail {

template <class F>
concept HasData = requires(F const& f) {
    f.data();
};
template <class... F>
constexpr int arrays_among(std::tuple<F&...> const*) {
    return (0 + ... + static_cast<int>(HasData<F>));
}
template <class M>
bool fits(M const& m, std::size_t n) {
    if constexpr (messages::ChecksArrays<M>) {
        return m.fits(n);
    } else {
        if constexpr (requires { M::fields(m); })
            static_assert(
                arrays_among(static_cast<decltype(M::fields(m))*>(nullptr)) <= 1,
                "a message with more than one array needs fits(n): whether they are as long as its values ask "
                "for, and it is about n numbers");
        return m.dimension() == n;
    }
}

}  // namespace laconic::detail

namespace laconic::messages {

using laconic::add_message;  // beside those of the messages here

/// Of a message about a transform that all ranks share, which has these as members: adds numbers of the transform, and
/// makes of their sum that of the vectors, in place. Others are added as they are.
template <class B, Scalar T, class M>
void add_unturned(B& on, std::span<T> out, T w, M const& m) {
    if constexpr (requires { m.add_unturned(on, out, w); }) return m.add_unturned(on, out, w);
    add_message(on, out, w, m);
}
void turn_back(auto& on, auto y, auto const& m) {
    if constexpr (requires { m.turn_back(on, y); }) m.turn_back(on, y);
}

/// Makes a message whose other values are set one about d numbers. Throws argument_error for more than 2^32 - 1.
void begin_message(auto& m, std::size_t d) {
    check_dimension(d);
    m.resize(d);
}

/// to <- from: copies a message on one backend to a message of the same kind on another; to's type is
/// from::for_backend<To>. To write a message of a device, copy it to the host first; to read one, read into a blank
/// message on the host and copy that. The call blocks where one of the two is not the host's, and allocates where `to`
/// has less room than the message needs.
template <class From, class M, class To, class N>
void copy_message(From& from_on, M const& from, To& to_on, N& to) {
    static_assert(std::same_as<N, moved_to<To, M>>, "copy_message: this is no message of the same kind");
    auto const copy_array = [&]<class E>(std::span<E const> x, std::span<E> target) {
        if constexpr (std::same_as<From, To>) {
            copy(to_on, x, target);
        } else if constexpr (OnHost<To>) {
            copy_to_host(from_on, x, target);
        } else {
            static_assert(OnHost<From>, "from one device's memory to another's a message goes by way of the host");
            copy_from_host(to_on, x, target);
        }
    };
    auto const copy_field = [&](auto const& one, auto& other) {
        if constexpr (requires { one.dimension(); }) {
            copy_message(from_on, one, to_on, other);
        } else if constexpr (requires { one.data(); }) {
            using element = std::remove_cvref_t<decltype(*one.data())>;
            other.resize(one.size());
            if constexpr (requires { one[0].dimension(); })
                for (std::size_t i = 0; i < one.size(); ++i) copy_message(from_on, one[i], to_on, other[i]);
            else
                copy_array(std::span<element const>(one), std::span<element>(other));
        } else {
            other = one;
        }
    };
    auto const source = M::fields(from);
    auto const target = N::fields(to);
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
        (copy_field(std::get<Index>(source), std::get<Index>(target)), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<decltype(M::fields(from))>>{});
}

}  // namespace laconic::messages
