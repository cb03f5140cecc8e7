// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/core/text.hpp"
#include "laconic/wire/message.hpp"
#include "laconic/wire/shape.hpp"
#include "laconic/wire/user_message.hpp"

namespace laconic {

/// The limits for a message that is read from an untrusted source.
struct reading_limits {
    std::uint64_t dimension = largest_dimension;    ///< at most 2^40
    std::uint64_t memory = std::uint64_t{1} << 30;  ///< bytes that reading one message may allocate, beside 4 KiB
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

namespace detail {

// Reads a shape and then the bare form that it describes. B is a backend of the host, each C names a user's message.
template <Scalar T, class B = host, class... C>
class unpacker {
  public:
    unpacker(bit_reader& source, reading_limits limits)
        : source_(&source), memory_left_(limits.memory), work_left_(limits.work) {}

    unpacked all(std::uint64_t dimension) {
        stages_ = read_shape<T>(*source_, [this](std::size_t n) {
            if (n > deepest_stage) spend(n, sizeof(stage));
        });
        for (stage const& s : stages_)
            if (is_user_kind(s.what) && !(names_kind<C, T, B>(s.what) || ...))
                source_->refuse(concat({name_of_user_kind(s.what), ", of which this reader was given no message of ",
                                        (sizeof(T) == 4 ? "float" : "double")}));
        unpacked result;
        result.dimension = dimension;
        next_stage(dimension, result);
        return result;
    }

  private:
    // Reads the numbers of the next stage and of those inside it, which describe n numbers.
    void next_stage(std::uint64_t n, unpacked& out) {
        stage const& s = stages_[at_++];
        switch (s.what) {
            case kind::plain: {
                auto m = leaf<full_vector<T, B>>(n, 8 * sizeof(T), sizeof(T));
                m.values.resize(n);
                return take(m, out);
            }
            case kind::quantized: {
                auto m = leaf<quantized<T, B>>(
                    n, 1,
                    (s.first <= quantized<T, B>::most_in_byte ? sizeof(std::int8_t) : sizeof(std::int16_t)) +
                        sizeof(T));
                m.levels = static_cast<int>(s.first);
                m.bucket = s.second;
                m.steps.resize(buckets(n, s.second));
                m.resize(n);
                return take(m, out);
            }
            case kind::powers: {
                auto m = leaf<powers<T, B>>(n, powers<T, B>::code_width, sizeof(std::uint16_t));
                m.codes.resize(n);
                return take(m, out);
            }
            case kind::signs: {
                auto m = leaf<signs<T, B>>(n, 1, 1 + sizeof(T));
                m.count = n;
                m.bucket = s.first;
                m.scales.resize(s.first == 0 ? 0 : buckets(n, s.first));
                m.words.resize(n / 64 + (n % 64 != 0));
                return take(m, out);
            }
            case kind::dithered: {
                auto m = leaf<dithered<T, B>>(n, 1, sizeof(std::int16_t) + sizeof(T));
                m.levels = static_cast<int>(s.first);
                m.bucket = s.second;
                m.norms.resize(buckets(n, s.second));
                m.codes.resize(n);
                return take(m, out);
            }
            case kind::means: {
                auto m = leaf<means<T, B>>(n, 1, 1 + 2 * sizeof(T));
                m.count = n;
                m.bucket = s.first;
                m.below.resize(buckets(n, s.first));
                m.above.resize(m.below.size());
                m.words.resize(n / 64 + (n % 64 != 0));
                return take(m, out);
            }
            case kind::binary16:
                return short_numbers<short_format::binary16>(n, out);
            case kind::bfloat:
                return short_numbers<short_format::bfloat>(n, out);
            case kind::e4m3:
                return short_numbers<short_format::e4m3>(n, out);
            case kind::e5m2:
                return short_numbers<short_format::e5m2>(n, out);
            case kind::stepped: {
                auto m = leaf<stepped<T, B>>(n, s.first, 1 + 2 * sizeof(T));
                m.width = static_cast<int>(s.first);
                m.bucket = s.second;
                m.least.resize(buckets(n, s.second));
                m.steps.resize(m.least.size());
                m.codes.resize(n);
                return take(m, out);
            }
            case kind::low_rank: {
                auto const rows = s.first, cols = n / rows, rank = s.second;
                if (rows * cols != n || rank > std::min(rows, cols) || (rank == 0 && n > 0))
                    source_->refuse(concat({"a matrix of ", n, " numbers that there is not"}));
                auto const numbers = rank * (rows + cols);
                expect(numbers, 8 * sizeof(T));
                spend(numbers, sizeof(T));
                spend(n, 16);
                work(n, rank);
                factors<T, B> m{n, rows, rank, {}, {}};
                m.left.resize(rank * rows);
                m.right.resize(rank * cols);
                return take(m, out);
            }
            case kind::parts:
                return in_parts(s, n, out);
            case kind::scaled:
                next_stage(n, out);
                work(out.values.size());
                for (double& v : out.values) v = static_cast<double>(static_cast<T>(v) * static_cast<T>(s.factor));
                return;
            case kind::levelled:
                if (s.first > 0 && source_->take(width_of(s.first)) >= s.first)
                    source_->refuse("a level above the highest");
                return next_stage(n, out);
            default:
                if (is_user_kind(s.what)) return (of_user<C>(s, n, out), ...);
                break;
        }
        // A support: its places, then the numbers there, then their coordinates.
        auto const places = buckets(n, s.first);
        std::vector<std::uint64_t> support;
        if (s.what == kind::agreed) {
            if (places > largest_dimension || (s.drawn.how == draw_method::exactly && s.drawn.count > places))
                source_->refuse("a support that cannot be drawn");
            spend(places, 16);
            work(places);
            B on;
            std::vector<coordinate> drawn;
            draw_support(on, s.drawn, static_cast<std::size_t>(places), drawn);
            support.assign(drawn.begin(), drawn.end());
        } else {
            auto const count = s.what == kind::counted ? s.second : source_->take(width_of(places + 1));
            if (count > places) source_->refuse("more coordinates than the vector has");
            spend(count, 8);
            work(count);
            support.resize(count);
            read_support(*source_, places, std::span(support));
        }
        std::uint64_t numbers = support.size() * s.first;
        if (!support.empty() && support.back() + 1 == places) numbers -= places * s.first - n;
        next_stage(numbers, out);
        spend(out.values.size(), 8);
        work(out.values.size());
        std::vector<std::uint64_t> at(out.values.size());
        for (std::size_t j = 0; j < at.size(); ++j) {
            std::uint64_t const inner = out.dense ? j : out.at[j];
            at[j] = support[inner / s.first] * s.first + inner % s.first;
        }
        out.at = std::move(at);
        out.dense = false;
    }

    // Reads part after part; coordinates are listed once a part lists its own.
    void in_parts(stage const& s, std::uint64_t n, unpacked& out) {
        std::uint64_t begin = 0;
        for (auto left = s.first; left > 0; --left) {
            auto const length = stages_[at_].length;
            if (length > n - begin) source_->refuse("parts of more numbers than there are");
            unpacked one;
            next_stage(length, one);
            spend(one.values.size(), 32);
            work(one.values.size());
            if (out.dense && !one.dense)
                for (std::uint64_t j = 0; j < begin; ++j) out.at.push_back(j);
            out.dense = out.dense && one.dense;
            for (std::size_t j = 0; j < one.values.size() && !out.dense; ++j)
                out.at.push_back(begin + (one.dense ? j : one.at[j]));
            out.values.insert(out.values.end(), one.values.begin(), one.values.end());
            begin += length;
        }
        if (begin != n) source_->refuse("parts of fewer numbers than there are");
    }

    // Reads a user's message, if U names the one that the stage is. Its cost is checked against the limits before it is
    // made.
    template <class U>
    void of_user([[maybe_unused]] stage const& s, [[maybe_unused]] std::uint64_t n, [[maybe_unused]] unpacked& out) {
        if constexpr (NamesUserMessage<U, T, B>) {
            if (!names_kind<U, T, B>(s.what)) return;
            if (n > largest_dimension)
                source_->refuse(concat({name_of_user_kind(s.what), " of more than 2^32 - 1 numbers"}));
            spend(1, s.first);
            typename U::template message<T, B> m;
            take_parameters(*source_, s, m);
            reading_bounds const each = std::as_const(m).per_number();
            expect(n, each.least_bits);
            spend(n, 16);
            spend(n, each.most_bytes);
            work(n, std::max(each.most_steps, std::uint64_t{1}));
            m.resize(static_cast<std::size_t>(n));
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

    template <short_format F>
    void short_numbers(std::uint64_t n, unpacked& out) {
        auto m = leaf<short_floats<F, T, B>>(n, layout_of(F).width(), sizeof(std::uint16_t));
        m.codes.resize(n);
        take(m, out);
    }

    static std::uint64_t buckets(std::uint64_t n, std::uint64_t bucket) { return n / bucket + (n % bucket != 0); }

    // Makes a message that ends a shape, once the source can hold its n numbers of at least `bits` bits each.
    template <class M>
    M leaf(std::uint64_t n, std::uint64_t bits, std::uint64_t bytes) {
        expect(n, bits);
        spend(n, bytes + 16);
        work(n);
        return M{};
    }
    template <class M>
    void take(M& m, unpacked& out) {
        B on;
        read(on, *source_, m);
        add(on, m, out);
    }
    template <class M>
    static void add(B& on, M const& m, unpacked& out) {
        std::vector<T> values(m.dimension(), T(0));
        add_message(on, std::span<T>(values), T(1), m);
        out.values.assign(values.begin(), values.end());
    }
    void expect(std::uint64_t n, std::uint64_t bits) {
        if (bits > 0 && n > source_->left() / bits) source_->refuse(concat({"it ends too early for ", n, " numbers"}));
    }
    void spend(std::uint64_t n, std::uint64_t bytes) {
        if (bytes > 0 && n > memory_left_ / bytes) source_->refuse("reading it takes more memory than the limit");
        memory_left_ -= n * bytes;
    }
    void work(std::uint64_t n, std::uint64_t steps_each = 1) {
        if (steps_each > 0 && n > work_left_ / steps_each) source_->refuse("reading it takes more work than the limit");
        work_left_ -= n * steps_each;
    }

    bit_reader* source_;
    std::uint64_t memory_left_, work_left_;
    std::vector<stage> stages_;
    std::size_t at_ = 0;
};

}  // namespace detail
}  // namespace laconic
