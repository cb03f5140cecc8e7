// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "laconic/collective/terms/sparse_sum.hpp"

namespace laconic {

/// A vector of `dimension` numbers, of which those at `indices` are `values`, and all others 0.
template <class E>
struct sparse_vector {
    std::size_t dimension = 0;
    std::vector<coordinate> indices{};  ///< counted from 0
    std::vector<E> values{};

    bool operator==(sparse_vector const&) const = default;
};

/// The same of a caller's own arrays, which must outlive it, with indices of any integral type:
/// sparse_view(1000, indices, values).
template <class E, std::integral Index = coordinate>
struct sparse_view {
    std::size_t dimension = 0;
    std::span<Index const> indices{};
    std::span<E const> values{};

    sparse_view() = default;
    sparse_view(std::size_t d, Contiguous auto const& at, Contiguous auto const& numbers)
        : dimension(d), indices(detail::view(at)), values(detail::view(numbers)) {}
    sparse_view(
        sparse_vector<E> const& x) requires std::same_as<Index, coordinate>  // NOLINT: implicit, as that of a span
        : sparse_view(x.dimension, x.indices, x.values) {}
};
template <Contiguous Indices, Contiguous Values>
sparse_view(std::size_t, Indices const&, Values const&)
    -> sparse_view<detail::element_of<Values>, detail::element_of<Indices>>;
template <class E>
sparse_view(sparse_vector<E> const&) -> sparse_view<E>;

}  // namespace laconic

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

// The type of the numbers of a vector that sum() takes.
template <class E>
E number_in(sparse_vector<E> const&);
template <class E, class Index>
E number_in(sparse_view<E, Index> const&);
template <Contiguous X>
element_of<X> number_in(X const&);
template <class X>
using number_of = decltype(number_in(std::declval<X const&>()));
template <class X>
inline constexpr bool is_sparse = !Contiguous<X> && requires(X & x) {
    number_in(x);
};

// Whether a vector of type X&& can be summed; where not, the compiler prints what to change and compiles no further.
template <class X>
consteval bool can_be_summed() {
    using held = std::remove_reference_t<X>;
    constexpr bool has_numbers = is_sparse<X> || Contiguous<held>;
    static_assert(has_numbers,
                  "what is summed is a vector whose numbers lie one after another in memory: a vector, array or span "
                  "(of one number std::span(&x, 1)), an Eigen vector or matrix, or a type with data() and size(); or "
                  "a sparse_vector or sparse_view. An expression, such as 2 * x of Eigen's, is first given a name");
    if constexpr (has_numbers) {
        constexpr bool are_addends = Addend<number_of<X>>;
        static_assert(are_addends,
                      "x holds numbers that cannot be summed: take float, double, a type of 16 bits that converts to "
                      "float, or integers of up to 64 bits");
        if constexpr (!is_sparse<X>) return can_be_written<X>() && are_addends;
        return are_addends;
    }
    return false;
}

/// A user's sparse vector of numbers of E as lists of terms, one for each word of a number. Reuses its memory.
template <Addend E>
class addend_lists {
    using T = addend_type<E>;
    static constexpr std::size_t words = addend_words<E>;

  public:
    sparse_sum<T>& operator[](std::size_t word) { return lists_[word]; }

    /// <- the terms of x, sorted; of terms with the same index their sum, in their order. Returns what is wrong with x,
    /// or nothing; then the lists are unspecified.
    template <std::integral Index>
    std::string load(host& on, sparse_view<E, Index> const& x) {
        auto const n = x.indices.size();
        if (x.values.size() != n)
            return concat({"a sparse vector has ", n, " indices and ", x.values.size(), " values"});
        if (x.dimension > largest_dimension)
            return concat({"a sparse vector of ", x.dimension, " numbers, of at most 2^32 - 1"});
        bool ascends = true;
        for (std::size_t j = 0; j < n; ++j) {
            auto const i = static_cast<std::uint64_t>(x.indices[j]);
            if (i >= x.dimension)
                return concat({"index ", x.indices[j], " in a sparse vector of ", x.dimension, " numbers"});
            ascends = ascends && (j == 0 || i > static_cast<std::uint64_t>(x.indices[j - 1]));
        }
        for (std::size_t w = 0; w < words; ++w) {
            at_[w].clear();
            values_[w].clear();
        }
        if (ascends)
            for (std::size_t j = 0; j < n; ++j) append(static_cast<coordinate>(x.indices[j]), x.values[j]);
        else {
            order_.resize(n);
            for (std::size_t j = 0; j < n; ++j) order_[j] = {static_cast<coordinate>(x.indices[j]), j};
            std::sort(order_.begin(), order_.end());
            for (auto const& [i, j] : order_) append(i, x.values[j]);
        }
        for (std::size_t w = 0; w < words; ++w)
            lists_[w].assign(on, x.dimension, std::span<coordinate const>(at_[w]), std::span<T const>(values_[w]));
        return {};
    }
    /// to <- the numbers of the lists, divided by so many, in ascending order, without those that are 0. Returns the
    /// index of the first that is outside of E, or nothing.
    std::optional<std::size_t> store(sparse_vector<E>& to, int divisor) const {
        to.dimension = lists_[0].dimension();
        to.indices.clear();
        to.values.clear();
        std::array<std::size_t, words> next{};
        for (;;) {
            auto at = std::numeric_limits<std::uint64_t>::max();
            for (std::size_t w = 0; w < words; ++w)
                if (next[w] < lists_[w].size()) at = std::min<std::uint64_t>(at, lists_[w].support()[next[w]]);
            if (at == std::numeric_limits<std::uint64_t>::max()) return {};
            typename addend<E>::all number{};
            for (std::size_t w = 0; w < words; ++w)
                if (next[w] < lists_[w].size() && lists_[w].support()[next[w]] == at)
                    number[w] = lists_[w].values()[next[w]++] / static_cast<T>(divisor);
            E x;
            if (!addend<E>::join(number, x)) return as_size(at);
            if (addend<E>::split(x) == typename addend<E>::all{}) continue;
            to.indices.push_back(static_cast<coordinate>(at));
            to.values.push_back(x);
        }
    }

  private:
    void append(coordinate i, E x) {
        auto const number = addend<E>::split(x);
        for (std::size_t w = 0; w < words; ++w) {
            if (!at_[w].empty() && at_[w].back() == i)
                values_[w].back() += number[w];
            else if (w == 0 || number[w] != 0) {
                at_[w].push_back(i);
                values_[w].push_back(number[w]);
            }
        }
    }

    std::array<sparse_sum<T>, words> lists_;
    std::array<std::vector<coordinate>, words> at_;
    std::array<std::vector<T>, words> values_;
    std::vector<std::pair<coordinate, std::size_t>> order_;
};

}  // namespace laconic::detail
