// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "laconic/backend/array.hpp"
#include "laconic/message/message.hpp"

namespace laconic::messages {

/// to <- from: copies a message on one backend to a message of the same kind on another; to's type is
/// from::for_backend<To>. To write a message of a device, copy it to the host first; to read one, read into a blank
/// message on the host and copy that. What `to` is configured with, such as its compressor, stays as it was. The call
/// blocks where one of the two is not the host's, and allocates where `to` has less room than the message needs.
template <class From, class M, class To, class N>
void copy_message(From& from_on, M const& from, To& to_on, N& to);

}  // namespace laconic::messages

namespace laconic::detail {

template <class From, class E, class To, class Array>
void copy_array(From& from_on, std::span<E const> from, To& to_on, Array& to) {
    to.resize(from.size());
    std::span<E> const target(to);
    if constexpr (std::same_as<From, To>) {
        copy(to_on, from, target);
    } else if constexpr (OnHost<To>) {
        copy_to_host(from_on, from, target);
    } else {
        static_assert(OnHost<From>, "from one device's memory to another's a message goes by way of the host");
        copy_from_host(to_on, from, target);
    }
}

void copy_field(auto& from_on, auto const& from, auto& to_on, auto& to) {
    using messages::copy_message;
    if constexpr (requires { from.dimension(); }) {
        copy_message(from_on, from, to_on, to);
    } else if constexpr (requires { from[0].dimension(); }) {
        to.resize(from.size());
        for (std::size_t i = 0; i < from.size(); ++i) copy_message(from_on, from[i], to_on, to[i]);
    } else if constexpr (requires { from.data(); }) {
        using element = std::remove_cvref_t<decltype(*from.data())>;
        copy_array(from_on, std::span<element const>(from), to_on, to);
    } else {
        to = from;
    }
}

}  // namespace laconic::detail

namespace laconic::messages {

template <class From, class M, class To, class N>
void copy_message(From& from_on, M const& from, To& to_on, N& to) {
    static_assert(std::same_as<N, moved_to<To, M>>, "copy_message: this is no message of the same kind");
    auto const source = M::fields(from);
    auto const target = N::fields(to);
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
        (detail::copy_field(from_on, std::get<Index>(source), to_on, std::get<Index>(target)), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<decltype(M::fields(from))>>{});
}

}  // namespace laconic::messages
