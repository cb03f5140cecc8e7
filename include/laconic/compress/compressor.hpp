// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <type_traits>

#include "laconic/backend/host.hpp"
#include "laconic/core/description.hpp"
#include "laconic/core/error.hpp"
#include "laconic/message/message.hpp"

/// A compressor is a value and a pure function of (vector, key): it gives the same bytes on every rank and backend.
/// State that lasts from one call to the next is in feedback/.
namespace laconic {

namespace detail {

// Where C computes unless another backend is named: what it names itself, as an any_compressor does, or else the host.
template <class C>
auto named_by(int) -> typename C::backend*;
template <class C>
host* named_by(long);
template <class C>
using backend_of = std::remove_pointer_t<decltype(named_by<C>(0))>;

/// The type of the messages of C about vectors of T on the backend B.
template <class C, Scalar T = double, class B = backend_of<C>>
using message_of = typename C::template message<T, B>;

/// c.check(d), whose errors then name the compressor.
void check_by_name(auto const& c, std::size_t d) try { c.check(d); } catch (argument_error const& e) {
    throw argument_error({to_string(c), ": ", e.what()});
}

}  // namespace detail

/// Satisfied iff C is a comparable value with
///   check(d)                 throws argument_error where its parameters do not suit vectors of d numbers; d may be
///                            2^32 or more here;
///   c(on, x, key, m)         makes m the message about x, and reuses its memory. It never hides a number that is not
///                            finite: it throws argument_error, or every reader refuses the message, or the key or the
///                            parameters exclude that coordinate on both ends;
///   c.blank(on, d, key, m)   makes m what the receiver of such a message has before it reads any bit; both throw
///                            argument_error for more than 2^32 - 1 numbers, before they read or write anything;
///   c.read_message(on, source, m)   only where other messages are inside m and another compressor makes it: calls
///                            read(on, source, m, other), which reads into a blank m (wire/shape.hpp);
///   to_string(c)             is its form in C++, which parse_compressor reads; a description (core/description.hpp)
///                            gives it.
template <class C, class T = double, class B = detail::backend_of<C>>
concept Compressor = std::semiregular<C> && std::equality_comparable<C> && Message<detail::message_of<C, T, B>, T, B> &&
    requires(C const& c, B& on, std::span<T const> x, key from, detail::message_of<C, T, B>& m, std::size_t d) {
    c.check(d);
    c(on, x, from, m);
    c.blank(on, d, from, m);
    { to_string(c) } -> std::same_as<std::string>;
};

/// Compressors with E C(x) = x and E|C(x) - x|^2 <= omega |x|^2, omega = c.omega(d) for vectors of d numbers.
template <class C>
concept Unbiased = std::semiregular<C> && requires(C const& c, std::size_t d) {
    { c.omega(d) } -> std::same_as<double>;
};

/// Compressors with E|C(x) - x|^2 <= (1 - delta) |x|^2, delta = c.delta(d) in (0, 1] for vectors of d numbers.
template <class C>
concept Contractive = std::semiregular<C> && requires(C const& c, std::size_t d) {
    { c.delta(d) } -> std::same_as<double>;
};

/// Whether this value is unbiased (contractive), so that its omega(d) (delta(d)) may be called. A type that holds
/// another compressor, or one chosen at run time, answers by unbiased() and contractive(), as its type alone does not
/// decide it; for all others the type does.
template <class C>
constexpr bool is_unbiased([[maybe_unused]] C const& c) {
    if constexpr (Unbiased<C> && requires { c.unbiased(); }) return c.unbiased();
    return Unbiased<C>;
}
template <class C>
constexpr bool is_contractive([[maybe_unused]] C const& c) {
    if constexpr (Contractive<C> && requires { c.contractive(); }) return c.contractive();
    return Contractive<C>;
}

namespace detail {

/// A compressor of vectors of float, of double, or of both.
template <class C>
concept SomeCompressor = Compressor<C, float> || Compressor<C, double>;

// Both print what a C that is no compressor lacks, where it is compiled: one line for each member. The first checks
// what needs no backend, the second also the rest, for messages of T on B.
template <class C>
consteval bool require_members() {
    constexpr bool has_message = requires { typename message_of<C>; }
    || requires { typename message_of<C, float>; };
    static_assert(has_message,
                  "C is not a compressor: it needs a type of message, such as template <laconic::Scalar T, class B> "
                  "using message = laconic::full_vector<T, B>;");
    if constexpr (has_message) {
        static_assert(
            requires(C const& c, std::size_t d) { c.check(d); },
            "C is not a compressor: it needs void check(std::size_t d) const, which throws argument_error "
            "where its parameters do not suit d numbers");
        static_assert(
            requires(C const& c) {
                { to_string(c) } -> std::same_as<std::string>;
            },
            "C is not a compressor: it needs friend std::string to_string(C const&), its name and parameters");
        static_assert(std::equality_comparable<C>,
                      "C is not a compressor: it needs bool operator==(C const&) const = default;");
        static_assert(std::semiregular<C>, "C is not a compressor: it needs a default constructor, and to be copyable");
    }
    return true;
}
template <class C, Scalar T, class B>
consteval bool require_compressor() {
    require_members<C>();
    if constexpr (!Compressor<C, T, B> && requires { typename message_of<C, T, B>; }) {
        using M = message_of<C, T, B>;
        static_assert(Message<M, T, B>,
                      "C is not a compressor: its message<T, B> needs std::size_t dimension() const, ==, and terms() "
                      "const or add_message(on, out, w, m) (message/message.hpp)");
        static_assert(
            requires(C const& c, B& on, std::span<T const> x, key from, M& m) { c(on, x, from, m); },
            "C is not a compressor: it needs void operator()(B& on, std::span<T const> x, laconic::key from, "
            "message<T, B>& m) const, which makes m the message about x");
        static_assert(
            requires(C const& c, B& on, std::size_t d, key from, M& m) { c.blank(on, d, from, m); },
            "C is not a compressor: it needs void blank(B& on, std::size_t d, laconic::key from, "
            "message<T, B>& m) const, which makes m what its receiver knows before the message is read");
    }
    return true;
}
// The same for float or double, whichever C takes; and that omega and delta are as Unbiased and Contractive want them.
template <class C>
consteval bool require_compressor() {
    constexpr bool has_omega = requires(C & c, std::size_t d) { c.omega(d); };
    constexpr bool has_delta = requires(C & c, std::size_t d) { c.delta(d); };
    static_assert(!std::semiregular<C> || !has_omega || Unbiased<C>,
                  "C has an omega: it is double omega(std::size_t d) const");
    static_assert(!std::semiregular<C> || !has_delta || Contractive<C>,
                  "C has a delta: it is double delta(std::size_t d) const");
    if constexpr (SomeCompressor<C>)
        return true;
    else if constexpr (
        requires { typename message_of<C, float>; } && !requires { typename message_of<C, double>; })
        return require_compressor<C, float, host>();
    else
        return require_compressor<C, double, host>();
}

/// The largest magnitude that messages of c hold, c.largest(); infinity where c has no such bound.
template <class C>
double largest_of([[maybe_unused]] C const& c) {
    if constexpr (requires { c.largest(); }) return c.largest();
    return std::numeric_limits<double>::infinity();
}
/// Throws argument_error where a number of x, whose first coordinate is `first`, is beyond that.
template <class B, Scalar T>
void require_up_to_largest(B& on, auto const& c, std::span<T const> x, std::size_t first = 0) {
    double const most = largest_of(c);
    if (!(static_cast<double>(std::numeric_limits<T>::max()) > most && largest_magnitude(on, x) > static_cast<T>(most)))
        return;
    std::size_t i = 0;
    for (auto const seen = on_host(on, x); std::abs(seen[i]) <= static_cast<T>(most);) ++i;
    throw argument_error({to_string(c), ": coordinate ", first + i, " is beyond ", most, ", its largest number"});
}

/// What compressors throw for a coordinate that is not finite; refuse_non_finite() also where all are, and says why.
template <Scalar T>
void require_finite(auto& on, char const* name, std::span<T const> x) {
    if (auto const j = first_non_finite(on, x); j < x.size())
        throw argument_error({name, ": coordinate ", j, " is not finite"});
}
template <Scalar T>
void refuse_non_finite(auto& on, char const* name, std::span<T const> x, char const* else_why) {
    require_finite(on, name, x);
    throw argument_error({name, ": ", else_why});
}

}  // namespace detail

/// Makes one message about x, to see what a compressor does; loops reuse the message instead. Throws argument_error
/// where x has more than 2^32 - 1 numbers, the parameters do not suit its dimension or a number is not finite.
template <class C, Contiguous X, class B = detail::backend_of<C>>
requires Compressor<C, detail::element_of<X>, B>
auto compress(C const& c, X const& x, key from, B on = {}) {
    std::span<detail::element_of<X> const> const v(detail::view(x));
    messages::check_dimension(v.size());
    c.check(v.size());
    if (auto const i = first_non_finite(on, v); i < v.size())
        throw argument_error({"coordinate ", i, " is not finite"});
    detail::message_of<C, detail::element_of<X>, B> m;
    c(on, v, from, m);
    return m;
}

}  // namespace laconic
