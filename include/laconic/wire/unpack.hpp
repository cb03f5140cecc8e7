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
#include "laconic/wire/shape.hpp"
#include "laconic/wire/user_message.hpp"

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
            throw shape_error(
                detail::concat({"a message about ", dimension, " numbers cannot be added to ", out.size()}));
        for (std::size_t j = 0; j < values.size(); ++j) out[dense ? j : at[j]] += w * static_cast<T>(values[j]);
    }
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
                source_->refuse(concat({name_of_user_kind(s.what), ", of which this reader was given no message of ",
                                        (sizeof(T) == 4 ? "float" : "double")}));
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
    template <class M>
    void take(M& m, unpacked& out) {
        B on;
        read(on, *source_, m);
        add(on, m, out);
    }
    /// Throws wire_error unless n numbers of so many bits are left.
    void expect(std::uint64_t n, std::uint64_t bits) {
        if (bits > 0 && n > source_->left() / bits) source_->refuse(concat({"it ends too early for ", n, " numbers"}));
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
    // Reads a user's message, if U names the one that the stage is. Its cost is checked against the limits before it is
    // made.
    template <class U>
    void of_user([[maybe_unused]] wire::stage const& s, [[maybe_unused]] std::uint64_t n,
                 [[maybe_unused]] unpacked& out) {
        if constexpr (NamesUserMessage<U, T, B>) {
            if (!names_kind<U, T, B>(s.what)) return;
            if (n > largest_dimension)
                source_->refuse(concat({name_of_user_kind(s.what), " of more than 2^32 - 1 numbers"}));
            spend(1, s.first);
            typename U::template message<T, B> m;
            take_parameters(*source_, s, m);
            prepare(n, std::as_const(m).per_number());
            m.resize(as_size(n));
            B on;
            read(on, *source_, m);
            if (m.dimension() != n)
                source_->refuse(
                    concat({name_of_user_kind(s.what), " of ", m.dimension(), " numbers, where ", n, " are due"}));
            add(on, m, out);
            for (double const v : out.values)
                if (!std::isfinite(v))
                    source_->refuse(concat({name_of_user_kind(s.what), " with a number that is not finite"}));
        }
    }

    template <class M>
    static void add(B& on, M const& m, unpacked& out) {
        std::vector<T> values(m.dimension(), T(0));
        add_message(on, std::span<T>(values), T(1), m);
        out.values.assign(values.begin(), values.end());
    }

    wire::bit_reader* source_;
    std::uint64_t memory_left_, work_left_;
    std::vector<wire::stage> stages_;
    std::size_t at_ = 0;
};

}  // namespace laconic::detail
