// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "laconic/wire/shape.hpp"

/// Messages of users' own types in the self-describing form, under the kinds that are reserved for them.
namespace laconic::detail {

template <class M>
concept DeclaresUserKind = requires {
    M::user_kind;
};
template <class M>
concept UserKindIsConstant = requires {
    requires !std::is_member_object_pointer_v<decltype(&M::user_kind)>;
    typename std::integral_constant<long long, static_cast<long long>(M::user_kind)>;
};
template <class M>
concept HasUserKind = UserKindIsConstant<M> && wire::is_user_kind(static_cast<long long>(M::user_kind));
template <class M>
concept WritesParameters = requires(wire::bit_writer& sink, M const& m) {
    write_parameters(sink, m);
};
template <class M>
concept ReadsParameters = requires(wire::bit_reader& source, M& m) {
    read_parameters(source, m);
};
template <class M>
concept IsWrittenWithShape = HasUserKind<M> && WritesParameters<M>
== ReadsParameters<M>&& requires(wire::bit_writer& sink, M const& m) {
    requires Scalar<typename M::value_type>;
    { m.dimension() } -> std::same_as<std::size_t>;
    write(sink, m);
};

/// The third argument of read_described: the users' messages that it can read, user_messages<C...>. Each C names a
/// UserMessage for numbers of T as a compressor does, C::message<T, B>; it may have none for one of float and double.
template <class... C>
struct user_messages_t {};

}  // namespace laconic::detail

namespace laconic {

using wire::reading_bounds;

template <class... C>
inline constexpr detail::user_messages_t<C...> user_messages{};

/// A message type of a user's that write_described() can write and, where its type is given, read_described() can read.
/// Satisfied iff M is a Message with
///   value_type                                 its numbers' type, T;
///   static constexpr unsigned user_kind        128 .. 255, by which readers identify it;
///   write(sink, m), read(on, source, m)        as every message has them (wire/message.hpp);
///   write_parameters(sink, m)                  writes what a reader needs beside the dimension before it can read the
///                                              bare form, in at most longest_parameters bytes; may be absent;
///   read_parameters(source, m)                 reads them into a default-constructed m, of which it allocates at most
///                                              as many bytes as it reads. The source ends where the parameters do.
///                                              Absent where write_parameters is;
///   m.per_number()                             a reading_bounds, which may depend on the parameters;
///   m.resize(n)                                prepares m, whose parameters have been read, for read(), as a
///                                              compressor's blank() does. n is below 2^32.
/// Both readers call source.refuse(why), which throws wire_error, for what cannot be right; an exception of another
/// type passes through read_described(). Numbers that are not finite are refused after add_message() in any case.
template <class M, class T, class B>
concept UserMessage = Message<M, T, B> && detail::IsWrittenWithShape<M> && std::same_as<typename M::value_type, T> &&
    requires(M& m, M const& same, B& on, wire::bit_reader& source, std::size_t n) {
    read(on, source, m);
    { same.per_number() } -> std::same_as<reading_bounds>;
    m.resize(n);
};

}  // namespace laconic

namespace laconic::detail {

// Whether C names a message for T and B, of any numbers; a user's message of T; a user's message or none.
template <class C, class T, class B>
concept NamesMessage = requires {
    typename C::template message<T, B>;
};
template <class C, class T, class B>
concept NamesUserMessage = NamesMessage<C, T, B> && UserMessage<typename C::template message<T, B>, T, B>;
template <class C, class T, class B>
concept NamesNothingElse =
    !NamesMessage<C, T, B> ||
    UserMessage<typename C::template message<T, B>, typename C::template message<T, B>::value_type, B>;
template <class C, class B>
concept NamesUserMessages = NamesNothingElse<C, float, B> && NamesNothingElse<C, double, B> &&
    (NamesMessage<C, float, B> || NamesMessage<C, double, B>);

// These print what is missing, where it is compiled: of what writing needs, and of the rest.
template <class M>
consteval bool require_user_kind() {
    static_assert(
        requires { requires Scalar<typename M::value_type>; },
        "M is not a user's message: it needs using value_type = T, float or double");
    static_assert(UserKindIsConstant<M>,
                  "M is not a user's message: it needs static constexpr unsigned user_kind, from 128 to 255");
    static_assert(!UserKindIsConstant<M> || HasUserKind<M>,
                  "M is not a user's message: its user_kind is outside 128 .. 255, the kinds reserved for users");
    static_assert(WritesParameters<M> || !ReadsParameters<M>,
                  "M is not a user's message: it has read_parameters and lacks write_parameters(sink, m)");
    static_assert(ReadsParameters<M> || !WritesParameters<M>,
                  "M is not a user's message: it has write_parameters and lacks read_parameters(source, m)");
    static_assert(
        requires(M const& m) {
            { m.dimension() } -> std::same_as<std::size_t>;
        },
        "M is not a user's message: it needs std::size_t dimension() const");
    static_assert(
        requires(wire::bit_writer & sink, M const& m) { write(sink, m); },
        "M is not a user's message: it needs write(sink, m)");
    return true;
}
template <class M, class B>
consteval bool require_user_message() {
    require_user_kind<M>();
    if constexpr (IsWrittenWithShape<M>)
        static_assert(Message<M, typename M::value_type, B>,
                      "M is not a user's message: it needs ==, a default constructor, and terms() const or "
                      "add_message(on, out, w, m) (message/message.hpp)");
    static_assert(
        requires(B & on, wire::bit_reader & source, M & m) { read(on, source, m); },
        "M is not a user's message: it needs read(on, source, m)");
    static_assert(
        requires(M const& m) {
            { m.per_number() } -> std::same_as<reading_bounds>;
        },
        "M is not a user's message: it needs laconic::reading_bounds per_number() const");
    static_assert(
        requires(M & m, std::size_t n) { m.resize(n); },
        "M is not a user's message: it needs void resize(std::size_t n)");
    return true;
}
template <class C, class T, class B>
consteval bool require_if_named() {
    if constexpr (NamesMessage<C, T, B>) require_user_message<typename C::template message<T, B>, B>();
    return NamesMessage<C, T, B>;
}
template <class C, class T, class B>
consteval long long kind_named() {
    if constexpr (NamesUserMessage<C, T, B>)
        return static_cast<long long>(C::template message<T, B>::user_kind);
    else
        return -1;
}
template <class T, class B, class... C>
consteval bool kinds_differ() {
    std::array<long long, sizeof...(C)> const kinds{kind_named<C, T, B>()...};
    for (std::size_t i = 0; i < kinds.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (kinds[i] >= 0 && kinds[i] == kinds[j]) return false;
    return true;
}
template <class B, class... C>
consteval bool require_user_messages() {
    static_assert(((require_if_named<C, double, B>() + require_if_named<C, float, B>() > 0) && ...),
                  "user_messages<C>: C names no message; it needs template <laconic::Scalar T, class B> using message, "
                  "as a compressor has it");
    static_assert(kinds_differ<float, B, C...>() && kinds_differ<double, B, C...>(),
                  "user_messages<C...>: two of them have the same user_kind");
    return true;
}

// Whether C names the user's message of T that has this kind.
template <class C, class T, class B>
constexpr bool names_kind(wire::message_kind k) {
    return kind_named<C, T, B>() == static_cast<long long>(k);
}
inline std::string name_of_user_kind(wire::message_kind k) { return concat({"user kind ", static_cast<unsigned>(k)}); }

// Reads the parameters of a stage of a shape from `whole`, and no bit beyond them.
template <class M>
void take_parameters(wire::bit_reader const& whole, wire::stage const& s, M& m) {
    wire::bit_reader source(whole.bytes().first(as_size(s.second / 8 + s.first)));
    source.skip(s.second);
    if constexpr (ReadsParameters<M>) read_parameters(source, m);
    if (source.left() >= 8)
        source.refuse({source.left(), " bits of the parameters of ", name_of_user_kind(s.what), " are left over"});
    source.finish();
}

}  // namespace laconic::detail

namespace laconic::wire {

/// Writes the kind of a user's message, the number of bytes that its parameters take, and these. Throws argument_error
/// where they are more than longest_parameters.
template <BitSink W, detail::DeclaresUserKind M>
void write_shape(W& sink, M const& m) {
    static_assert(detail::require_user_kind<M>());
    if constexpr (detail::IsWrittenWithShape<M>) {
        constexpr auto what = static_cast<message_kind>(M::user_kind);
        bit_writer parameters;
        if constexpr (detail::WritesParameters<M>) write_parameters(parameters, m);
        auto const bytes = parameters.finish();
        if (bytes.size() > longest_parameters)
            throw argument_error({detail::name_of_user_kind(what), " writes ", bytes.size(),
                                  " bytes of parameters, where at most ", longest_parameters, " may be"});
        put_kind(sink, what);
        put_whole(sink, bytes.size());
        for (std::byte const b : bytes) sink.put(std::to_integer<std::uint64_t>(b), 8);
    }
}

}  // namespace laconic::wire
