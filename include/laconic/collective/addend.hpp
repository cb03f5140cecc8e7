// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "laconic/collective/terms/sparse_vector.hpp"
#include "laconic/core/view.hpp"

namespace laconic::detail {

template <class E>
concept WholeNumber = std::integral<E> && !std::same_as<E, bool> && sizeof(E) <= 8;

/// The numbers that sum() adds up: float and double, numbers of 16 bits, and integers of up to 64 bits.
template <class E>
concept Addend = Scalar<E> || Number16<E> || detail::WholeNumber<E>;

/// How numbers of E are added up, as `words` numbers of `type` each:
///   name()            what they are called, for ranks to compare;
///   split(x)          the words of x, without rounding;
///   join(words, x)    sets x to what they mean, rounded where E is of 16 bits; false where that is outside of E.
/// Sums of the words of integers are exact over up to 2^21 ranks.
template <Addend E>
struct addend {  // float and double as they are
    using type = E;
    using all = std::array<type, 1>;
    static std::string_view name() { return sizeof(E) == 4 ? "float" : "double"; }
    static all split(E x) { return {x}; }
    static bool join(all const& words, E& x) {
        x = words[0];
        return true;
    }
};
template <Number16 E>
struct addend<E> {  // in float
    using type = float;
    using all = std::array<type, 1>;
    static std::string_view name() {
        return std::isfinite(static_cast<float>(static_cast<E>(65536.0f))) ? "bfloat16" : "half";
    }
    static all split(E x) { return {static_cast<float>(x)}; }
    static bool join(all const& words, E& x) {
        x = static_cast<E>(words[0]);
        return std::isfinite(static_cast<float>(x));
    }
};
template <WholeNumber E>
requires(sizeof(E) <= 4) struct addend<E> {  // in double, whose integers of up to 53 bits are exact
    using type = double;
    using all = std::array<type, 1>;
    static std::string_view name() { return std::is_signed_v<E> ? "signed integers" : "unsigned integers"; }
    static all split(E x) { return {static_cast<double>(x)}; }
    static bool join(all const& words, E& x) {
        double const sum = words[0];
        if (!(sum >= std::numeric_limits<E>::min() && sum <= std::numeric_limits<E>::max())) return false;
        x = static_cast<E>(sum);
        return true;
    }
};
template <WholeNumber E>
requires(sizeof(E) == 8) struct addend<E> {  // high 2^32 + low, low from -2^31 on: of small numbers high is 0
    using type = double;
    using all = std::array<type, 2>;
    static std::string_view name() { return std::is_signed_v<E> ? "signed integers" : "unsigned integers"; }
    static all split(E x) {
        auto const low = static_cast<std::int32_t>(static_cast<std::uint32_t>(x));
        return {static_cast<double>(low), static_cast<double>(x >> 32) + (low < 0)};
    }
    static bool join(all const& words, E& x) {
        using half = std::conditional_t<std::is_signed_v<E>, std::int32_t, std::uint32_t>;
        double const carry = std::floor(words[0] * 0x1p-32), high = words[1] + carry;
        if (!(high >= std::numeric_limits<half>::min() && high <= std::numeric_limits<half>::max())) return false;
        auto const low = static_cast<std::uint64_t>(words[0] - carry * 0x1p32);
        x = static_cast<E>(static_cast<std::uint64_t>(static_cast<std::int64_t>(high)) << 32 | low);
        return true;
    }
};

/// The type that numbers of E are added up in, and how many of them one number is.
template <Addend E>
using addend_type = typename addend<E>::type;
template <Addend E>
inline constexpr std::size_t addend_words = std::tuple_size_v<typename addend<E>::all>;

}  // namespace laconic::detail

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
