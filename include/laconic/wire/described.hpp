// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/wire/message.hpp"
#include "laconic/wire/user_message.hpp"

/// The self-describing form, for files and for readers that do not run the same composition: a header, the shape of the
/// message, its bare form, and a checksum if asked for. docs/wire-format.md specifies it to the bit.
namespace laconic {

/// The limits for a message that is read from an untrusted source.
struct reading_limits {
    std::uint64_t dimension = detail::largest_dimension;  ///< at most 2^40
    std::uint64_t memory = std::uint64_t{1} << 30;        ///< bytes that reading one message may allocate, beside 4 KiB
    /// Steps that reading one message may take, as section 8 of docs/wire-format.md counts them: one for each number
    /// that a stage decodes, copies, scales or draws, and for each product of a low-rank matrix. A step takes some
    /// nanoseconds, a product up to 20 where the processor has no fused multiply-add.
    std::uint64_t work = std::uint64_t{1} << 30;
};

/// A message as a list of numbers and, unless it has one for each coordinate, their coordinates, ascending.
struct unpacked {
    std::uint64_t dimension = 0;
    bool dense = true;
    std::vector<std::uint64_t> at;  ///< empty where dense
    std::vector<double> values;     ///< floats are stored exactly

    /// out += w m. Throws shape_error unless out has `dimension` numbers.
    template <Scalar T>
    void add_to(std::span<T> out, T w = 1) const {
        if (out.size() != dimension)
            throw shape_error({"a message about ", dimension, " numbers cannot be added to ", out.size()});
        for (std::size_t j = 0; j < values.size(); ++j) out[dense ? j : at[j]] += w * static_cast<T>(values[j]);
    }
};

/// How a message is described.
struct description {
    bool with_checksum = true;
    position_code positions = position_code::smallest;
};

}  // namespace laconic

namespace laconic::detail {

// Reads a shape and then the bare form that it describes. B is a backend of the host, each C names a user's message.
template <Scalar T, class B = host, class... C>
class unpacker {
  public:
    unpacker(wire::bit_reader& source, reading_limits limits)
        : source_(&source), memory_left_(limits.memory), work_left_(limits.work) {}

    unpacked all(std::uint64_t dimension) {
        stages_ = read_shape<T>(*source_, wire::library_kinds{}, [this](std::size_t n) {
            if (n > wire::deepest_stage) spend(n, sizeof(wire::stage));
        });
        for (wire::stage const& s : stages_)
            if (wire::is_user_kind(s.what) && !(names_kind<C, T, B>(s.what) || ...))
                source_->refuse({name_of_user_kind(s.what), ", of which this reader was given no message of ",
                                 (sizeof(T) == 4 ? "float" : "double")});
        unpacked result;
        result.dimension = dimension;
        next_stage(dimension, result);
        return result;
    }

    // What a kind's unpack() does with it.

    /// Reads the numbers of the next stage and of those inside it, which describe n numbers.
    void next_stage(std::uint64_t n, unpacked& out) {
        wire::stage const& s = stages_[at_++];
        if (wire::is_user_kind(s.what)) return (of_user<C>(s, n, out), ...);
        wire::library_kinds::visit(s.what, [&](auto described) { described.template unpack<T, B>(*this, s, n, out); });
    }
    /// The length of the part whose stages come next.
    std::uint64_t length_of_part() const { return stages_[at_].length; }
    wire::bit_reader& source() { return *source_; }
    void refuse(std::string_view why) { source_->refuse(why); }
    /// Checks that the source can hold n numbers, and that they are within the limits.
    void prepare(std::uint64_t n, wire::reading_bounds each) {
        expect(n, each.least_bits);
        spend(n, 16);
        spend(n, each.most_bytes);
        work(n, std::max(each.most_steps, std::uint64_t{1}));
    }
    /// Reads a message that has its sizes, and decodes its numbers.
    void take(auto& m, unpacked& out) {
        B on;
        read(on, *source_, m);
        add(on, m, out);
    }
    /// Throws wire_error unless n numbers of so many bits are left.
    void expect(std::uint64_t n, std::uint64_t bits) {
        if (bits > 0 && n > source_->left() / bits) source_->refuse({"it ends too early for ", n, " numbers"});
    }
    /// Takes n times so many bytes of the memory, or steps of the work, that is left; throws wire_error where it is
    /// less.
    void spend(std::uint64_t n, std::uint64_t bytes) {
        if (bytes > 0 && n > memory_left_ / bytes) source_->refuse("reading it takes more memory than the limit");
        memory_left_ -= n * bytes;
    }
    void work(std::uint64_t n, std::uint64_t steps_each = 1) {
        if (steps_each > 0 && n > work_left_ / steps_each) source_->refuse("reading it takes more work than the limit");
        work_left_ -= n * steps_each;
    }

  private:
    // Reads a user's message, if U names the stage's. Its cost is checked against the limits before it is made.
    template <class U>
    void of_user([[maybe_unused]] wire::stage const& s, [[maybe_unused]] std::uint64_t n,
                 [[maybe_unused]] unpacked& out) {
        if constexpr (NamesUserMessage<U, T, B>) {
            if (!names_kind<U, T, B>(s.what)) return;
            if (n > largest_dimension) source_->refuse({name_of_user_kind(s.what), " of more than 2^32 - 1 numbers"});
            spend(1, s.first);
            typename U::template message<T, B> m;
            take_parameters(*source_, s, m);
            prepare(n, std::as_const(m).per_number());
            m.resize(as_size(n));
            B on;
            read(on, *source_, m);
            if (m.dimension() != n)
                source_->refuse({name_of_user_kind(s.what), " of ", m.dimension(), " numbers, where ", n, " are due"});
            add(on, m, out);
            for (double const v : out.values)
                if (!std::isfinite(v))
                    source_->refuse({name_of_user_kind(s.what), " with a number that is not finite"});
        }
    }

    static void add(B& on, auto const& m, unpacked& out) {
        std::vector<T> values(m.dimension(), T(0));
        add_message(on, std::span<T>(values), T(1), m);
        out.values.assign(values.begin(), values.end());
    }

    wire::bit_reader* source_;
    std::uint64_t memory_left_, work_left_;
    std::vector<wire::stage> stages_;
    std::size_t at_ = 0;
};

// The first four bytes of the self-describing form.
inline constexpr std::uint32_t described_magic = 0x6e63616c;  // "lacn"
inline constexpr unsigned flag_checksum = 1, flag_double = 2;

template <class M>
concept HasShape = requires(wire::bit_writer& sink, M const& m) {
    write_shape(sink, m);
};
template <class M>
concept HasDescription = HasShape<M> &&(!DeclaresUserKind<M> || IsWrittenWithShape<M>);

// Prints what a message lacks that has no self-describing form.
template <class M>
consteval bool require_description() {
    if constexpr (DeclaresUserKind<M>)
        return require_user_kind<M>();
    else
        static_assert(HasShape<M>,
                      "M has no self-describing form: a message of your own needs static constexpr unsigned user_kind, "
                      "from 128 to 255 (wire/user_message.hpp)");
    return true;
}

// Writes all but the checksum.
template <class W, class M>
void write_described_to(W& sink, M const& m, description how) {
    wire::ledger announced(how.positions);
    write_shape(announced, m);
    write(announced, m);
    sink.charge(wire::message_part::header);
    sink.put(described_magic, 32);
    sink.put(wire::wire_version, 8);
    sink.put((how.with_checksum ? flag_checksum : 0) | (sizeof(typename M::value_type) == 8 ? flag_double : 0), 8);
    put_whole(sink, m.dimension());
    put_whole(sink, announced.unpadded());
    write_shape(sink, m);
    sink.charge(wire::message_part::values);
    write(sink, m);
}

template <class B, class... C>
unpacked read_description(std::span<std::byte const> bytes, reading_limits limits) {
    wire::bit_reader source(bytes);
    if (source.take(32) != described_magic) source.refuse("this is no message: it does not begin with \"lacn\"");
    if (auto const version = source.take(8); version != wire::wire_version)
        source.refuse({"version ", version, ", where only 1 is known"});
    auto const flags = source.take(8);
    if (flags > (flag_checksum | flag_double)) source.refuse("unknown flags");
    if ((flags & flag_checksum) != 0) {
        if (source.left() < 32) source.refuse("it ends before its checksum");
        auto const body = bytes.first(bytes.size() - 4);
        wire::bit_reader last(bytes.last(4));
        if (last.take(32) != wire::checksum(body))
            throw wire_error(8 * body.size(), "the checksum is another: it is damaged");
        source.limit(8 * body.size());
    }
    auto const dimension = take_whole(source, wire::longest_support);
    if (dimension > limits.dimension)
        source.refuse({"dimension ", dimension, ", where the limit is ", limits.dimension});
    auto const bits = take_whole(source, std::uint64_t{1} << 60);
    if (bits > source.left() || source.left() - bits >= 8)
        source.refuse({bits, " bits are announced, ", source.left(), " are left"});
    auto const end = source.at() + bits;
    unpacked result;
    if ((flags & flag_double) != 0)
        result = unpacker<double, B, C...>(source, limits).all(dimension);
    else
        result = unpacker<float, B, C...>(source, limits).all(dimension);
    if (source.at() != end)
        source.refuse(source.at() < end ? "it is shorter than announced" : "it is longer than announced");
    source.finish();
    return result;
}

}  // namespace laconic::detail

namespace laconic {

/// Writes the self-describing form of a message. Throws argument_error where a user's message has more than
/// longest_parameters bytes of parameters.
template <class M>
std::vector<std::byte> write_described(M const& m, description how = {}) {
    static_assert(detail::require_description<M>());
    if constexpr (detail::HasDescription<M>) {
        wire::bit_writer sink(how.positions);
        detail::write_described_to(sink, m, how);
        auto all = sink.finish();
        if (how.with_checksum) {
            sink.put(wire::checksum(all), 32);
            all = sink.finish();
        }
        return {all.begin(), all.end()};
    }
}

/// The bits of the self-describing form, by what they are spent on: together 8 times its bytes.
template <class M>
wire::ledger account_described(M const& m, description how = {}) {
    static_assert(detail::require_description<M>());
    if constexpr (detail::HasDescription<M>) {
        wire::ledger books(how.positions);
        detail::write_described_to(books, m, how);
        books.charge(wire::message_part::header);
        if (how.with_checksum) books.put(0, 32);
        return books;
    }
}

/// Reads the self-describing form of one message and trusts none of it. Throws wire_error, with the bit and the reason,
/// for anything else, for damage that the checksum shows, and where the message exceeds the limits. Messages of users'
/// types are read where these are given, as user_messages<C...> (wire/user_message.hpp); others are refused by the
/// number of their kind. What a user's functions throw passes through. B is a backend of the host.
template <class B = host, class... C>
unpacked read_described(std::span<std::byte const> bytes, reading_limits limits = {},
                        detail::user_messages_t<C...> = {}) {
    static_assert(detail::require_user_messages<B, C...>());
    if constexpr ((detail::NamesUserMessages<C, B> && ...)) return detail::read_description<B, C...>(bytes, limits);
}

}  // namespace laconic
