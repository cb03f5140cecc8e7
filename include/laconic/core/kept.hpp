// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>

#include "laconic/core/contract.hpp"

namespace laconic::detail {

/// A handle: a type whose copies refer to the same object, which outlives them. Satisfied iff T is copyable and
/// T::is_handle is true.
template <class T>
concept Handle = std::copyable<T> && requires {
    requires T::is_handle;
};

/// What an object keeps of another to which it refers: the address; of a handle, a copy, as the caller's may end first.
template <class T>
class kept {
    static constexpr bool is_handle = Handle<std::remove_const_t<T>>;

  public:
    explicit kept(T& of) requires is_handle : of_(of) {}
    explicit kept(T& of) : of_(&of) {}
    T& operator*() const {
        if constexpr (is_handle)
            return of_;
        else
            return *of_;
    }
    T* operator->() const { return &**this; }

  private:
    // mutable: a pointer to const does not make what it points at const either.
    mutable std::conditional_t<is_handle, std::remove_const_t<T>, T*> of_;
};

/// The member of an aggregate that refers to a T: a reference; of a handle, a copy.
template <class T>
using kept_member = std::conditional_t<Handle<std::remove_const_t<T>>, std::remove_const_t<T>, T&>;

}  // namespace laconic::detail
