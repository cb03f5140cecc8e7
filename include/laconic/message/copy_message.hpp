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
