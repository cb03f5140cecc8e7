// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "laconic/collective/addend.hpp"
#include "laconic/collective/terms/sparse_vector.hpp"
#include "laconic/core/view.hpp"

/// Which vectors sum() takes.
namespace laconic::detail {

template <class X>
struct summed_vector {
    static constexpr bool is_sparse = false;
};
template <class E>
struct summed_vector<sparse_vector<E>> {
    static constexpr bool is_sparse = true;
    using number = E;
};
template <class E, class Index>
struct summed_vector<sparse_view<E, Index>> : summed_vector<sparse_vector<E>> {};
template <class X>
requires Contiguous<X>
struct summed_vector<X> {
    static constexpr bool is_sparse = false;
    using number = element_of<X>;
};
template <class X>
inline constexpr bool is_sparse = summed_vector<std::remove_cvref_t<X>>::is_sparse;
template <class X>
using number_of = typename summed_vector<std::remove_cvref_t<X>>::number;

// Whether a vector of type X&& can be summed; where not, the compiler prints what to change and compiles no further.
template <class X>
consteval bool can_be_summed() {
    using held = std::remove_reference_t<X>;
    constexpr bool has_numbers = is_sparse<X> || Contiguous<held>;
    static_assert(has_numbers,
                  "what is summed is a vector whose numbers lie one after another in memory: a vector, array or span, "
                  "an Eigen vector or matrix, or your own type with data() and size(); or a sparse_vector or "
                  "sparse_view. An expression, such as 2 * x of Eigen's, is first assigned to a vector");
    if constexpr (has_numbers) {
        constexpr bool are_addends = Addend<number_of<X>>;
        static_assert(are_addends,
                      "x holds numbers that cannot be summed: take float, double, a type of 16 bits that converts to "
                      "float, or integers of up to 64 bits");
        if constexpr (is_sparse<X>)
            return are_addends;
        else
            return can_be_written<X>() && are_addends;
    }
    return false;
}

}  // namespace laconic::detail
