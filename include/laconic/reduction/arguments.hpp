// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/compress/compressor.hpp"
#include "laconic/core/kept.hpp"
#include "laconic/core/view.hpp"
#include "laconic/reduction/accepted.hpp"
#include "laconic/reduction/options.hpp"
#include "laconic/reduction/reduction.hpp"

namespace laconic::detail {

/// In place of a reduction: no reducer can be made of arguments of these types, C being that of the communicator as a
/// forwarding reference, and X void where there is no third argument. The reducer of it is the compiler's message.
template <class How, class C, class X>
struct refused_arguments {};

/// What stands in place of a communicator and holds several (hierarchy.hpp).
template <class C>
inline constexpr bool holds_communicators = false;

// The type of a communicator of a hierarchy, from a forwarding reference.
template <class T>
struct lasting_part {
    static_assert(Handle<std::remove_reference_t<T>> || !std::same_as<T, std::remove_reference_t<T>>,
                  "a hierarchy refers to its communicators, and one of these is a temporary: give it a name");
    using type = std::remove_reference_t<T>;
};
template <class T>
using part_of_hierarchy = typename lasting_part<T>::type;

/// Satisfied iff X is a vector of layers, or not converted to one or to sizes, so that a deduction guide for every X is
/// no better than those for lists.
template <class X>
concept AsItIs = std::same_as<X, std::vector<layer>> ||
    (!std::convertible_to<X const&, std::vector<layer>> && !std::convertible_to<X const&, layer_sizes>);

// Whether a reducer can be made of a reduction and a communicator; where not, the compiler prints what to change, and,
// as a reducer asserts this, what it prints of the reducer ends there.
template <class R, class C, class T, class B>
consteval bool can_reduce() {
    constexpr bool is_swapped = Communicator<R> && !Communicator<C>;
    constexpr bool is_over_ranks = Communicator<C>;
    constexpr bool is_const = std::is_const_v<C> && Communicator<std::remove_const_t<C>>;
    static_assert(!is_const, "the communicator is const: a reducer sends over it");
    static_assert(!is_swapped, "the reduction comes before the communicator: reducer reduce(how, comm, gradient)");
    static_assert(is_swapped || is_const || is_over_ranks,
                  "a reducer's communicator has rank(), size(), all_gather(mine), .. (comm/communicator.hpp)");
    if constexpr (is_over_ranks) {
        constexpr bool is_reduction = Reduction<R, T, B>;
        static_assert(is_reduction,
                      "a reduction is one of plain{C}, error_feedback{C}, shifted{C} and ef21_shift{C}, where C is a "
                      "compressor, majority_vote{} (reduction/reduction.hpp), or a type with the same members");
        if constexpr (is_reduction) {
            constexpr bool is_proved = R::is_proved;
            static_assert(
                is_proved,
                "no theorem covers this reduction: plain{C} and shifted{C} need an unbiased compressor, "
                "error_feedback{C} and ef21_shift{C} a contractive one; unproved{...}, except for shifted{C}, "
                "takes it as it is");
            return is_proved;
        }
    }
    return false;
}

// What to change about arguments of which no reducer can be made.
template <class How, class C, class X>
consteval bool explain() {
    using comm = std::remove_reference_t<C>;
    constexpr bool is_over_ranks =
        Communicator<std::remove_const_t<comm>> || holds_communicators<std::remove_const_t<comm>>;
    constexpr bool is_swapped = !is_over_ranks && Communicator<How>;
    constexpr bool is_temporary = std::same_as<C, comm> && !holds_communicators<comm>;
    static_assert(!is_swapped, "the reduction comes before the communicator: reducer reduce(how, comm, gradient)");
    static_assert(is_swapped || is_over_ranks,
                  "the second argument is no communicator: threads::run gives one to each worker, and mpi is one; what "
                  "your own needs stands in comm/communicator.hpp");
    if constexpr (is_over_ranks && is_temporary) {
        static_assert(!is_temporary,
                      "the communicator is a temporary, to which the reducer would refer: give it a name");
    } else if constexpr (is_over_ranks && std::same_as<X, void>) {
        static_assert(!std::same_as<X, void>,
                      "a reducer needs a third argument: the gradient, or any vector of its length and number type; a "
                      "number of elements; or layers, as layers_of({n, m}) makes them");
    } else if constexpr (is_over_ranks) {
        constexpr bool is_taken = Contiguous<X> || std::integral<X>;
        static_assert(is_taken,
                      "the third argument is neither a vector whose numbers lie one after another in memory, nor a "
                      "number of elements, nor layers; an expression, such as 2 * x of Eigen's, is first assigned to a "
                      "vector, and several vectors are layers: layers_of({n, m})");
        static_assert(!is_taken,
                      "what follows the third argument makes no reducer_options (reduction/options.hpp): a member is "
                      "misspelled, or not of its type; step_options are for start() and for the call");
    }
    return true;
}

}  // namespace laconic::detail
