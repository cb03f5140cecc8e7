// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/kept.hpp"
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

/// How a reducer takes what it sends over: a communicator by reference, what holds several as a copy.
template <class C>
using comm_argument = std::conditional_t<holds_communicators<C>, C, C&>;

/// Satisfied iff How makes the reductions of a reducer: it is an R, or a rule that returns one for each layer.
template <class How, class R>
concept MakesReduction = std::convertible_to<How const&, R> || requires(How const& rule, layer const& of) {
    { rule(of) } -> std::convertible_to<R>;
};
template <class R, MakesReduction<R> How>
R reduction_for(How const& how, layer const& of) {
    if constexpr (std::convertible_to<How const&, R>)
        return shaped_as<R>(how, of.size, of.rows);
    else
        return shaped_as<R>(how(of), of.size, of.rows);
}

/// The layers that the third argument of a reducer of numbers of T stands for.
template <Scalar T, class X>
std::vector<layer> layers_from(X const& x) {
    if constexpr (std::convertible_to<X const&, std::vector<layer>>) {
        return x;
    } else if constexpr (std::convertible_to<X const&, layer_sizes>) {
        return layers_of(x);
    } else if constexpr (std::integral<X>) {
        return {{"", x}};
    } else {
        static_assert(is_like<T, X>());
        return {{"", x.size()}};
    }
}

// The types of the reducer that is made of arguments of these types, C and X as in refused_arguments.
template <class How>
How reduction_of_type(How const&);
template <std::invocable<layer const&> Rule>
std::remove_cvref_t<std::invoke_result_t<Rule const&, layer const&>> reduction_of_type(Rule const&);
float number_of_type(...);
template <Contiguous X>
requires Scalar<element_of<X>> element_of<X> number_of_type(X const&);

template <class C>
inline constexpr bool is_communicator = false;
template <Communicator C>
inline constexpr bool is_communicator<C&> = !std::is_const_v<C>;
template <class How, class C, class X>
struct reducer_from {
    using reduction = refused_arguments<How, C, X>;
    using comm = void;
    using number = float;
};
template <class How, class C, class X>
requires(is_communicator<C> || holds_communicators<std::remove_cvref_t<C>>) &&
    (Contiguous<X> || std::integral<X> || std::convertible_to<X const&, std::vector<layer>>)  //
    struct reducer_from<How, C, X> {
    using reduction = decltype(reduction_of_type(std::declval<How const&>()));
    using comm = std::remove_cvref_t<C>;
    using number = decltype(number_of_type(std::declval<X const&>()));
};
template <class How, class C, class X = std::vector<layer>>
using reduction_from = typename reducer_from<How, C, X>::reduction;
template <class How, class C, class X = std::vector<layer>>
using comm_from = typename reducer_from<How, C, X>::comm;
template <class How, class C, class X = std::vector<layer>>
using number_from = typename reducer_from<How, C, X>::number;

// Whether a reducer can be made of a reduction and a communicator; where not, the compiler prints what to change, and,
// as a reducer asserts this, what it prints of the reducer ends there.
template <class R, class C, class T, class B>
consteval bool can_reduce() {
    constexpr bool is_over_ranks = Communicator<C>;
    static_assert(is_over_ranks,
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
                "takes it as it is; docs/reference/compressors.md says which compressors are unbiased, which "
                "contractive");
            return is_proved;
        }
    }
    return false;
}

// What to change about arguments of which no reducer can be made.
template <class How, class C, class X>
consteval bool explain() {
    using comm = std::remove_cvref_t<C>;
    constexpr bool is_over_ranks = Communicator<comm> || holds_communicators<comm>;
    constexpr bool is_swapped = !is_over_ranks && Communicator<How>;
    constexpr bool is_temporary = !std::is_lvalue_reference_v<C> && Communicator<comm>;
    constexpr bool is_const = std::is_const_v<std::remove_reference_t<C>> && Communicator<comm>;
    static_assert(!is_swapped, "the reduction comes before the communicator: reducer reduce(how, comm, gradient)");
    static_assert(is_swapped || is_over_ranks,
                  "the second argument is no communicator: threads::run gives one to each worker, and mpi is one; what "
                  "your own needs stands in comm/communicator.hpp");
    static_assert(!is_const, "the communicator is const: a reducer sends over it");
    static_assert(!is_temporary, "the communicator is a temporary, to which the reducer would refer: give it a name");
    if constexpr (is_over_ranks && !is_temporary && !is_const) {
        static_assert(!std::same_as<X, void>,
                      "a reducer needs a third argument: the gradient, or any vector of its length and number type; a "
                      "number of elements; or layers, as layers_of({n, m}) makes them");
        constexpr bool is_taken = Contiguous<X> || std::integral<X> || std::same_as<X, void>;
        static_assert(is_taken,
                      "the third argument is neither a vector whose numbers lie one after another in memory, nor a "
                      "number of elements, nor layers; an expression, such as 2 * x of Eigen's, is first assigned to a "
                      "vector, and several vectors are layers: layers_of({n, m})");
        static_assert(!is_taken || std::same_as<X, void>,
                      "what follows the third argument makes no reducer_options (reduction/options.hpp): a member is "
                      "misspelled, or not of its type; step_options are for start() and for the call");
    }
    return true;
}

}  // namespace laconic::detail
