// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/wire/stream.hpp"

namespace laconic {

/// What a rank sends in place of a message that it could not make: the first coordinate that is not finite, or the
/// reason as a text. Every rank raises the same error from it. Eight bytes, the low one first, and the text. A frame of
/// a rank that leaves its message out is an error only where another rank does not leave its own out.
class error_frame {
  public:
    bool is_set() const { return !bytes_.empty(); }
    void clear() { bytes_.clear(); }
    void not_finite(std::size_t coordinate) { put(coordinate); }
    void because(std::string_view why) { put_text(no_coordinate, why); }
    /// This rank leaves its message out, for this reason.
    void left_out(std::string_view why) { put_text(no_message, why); }

    /// Valid until the frame changes.
    std::span<std::byte const> bytes() const { return bytes_; }
    /// Whether it has a coordinate, not a text.
    bool is_not_finite() const { return is_set() && !is_text(detail::load_word(bytes_.data())); }
    /// The coordinate; 0 where there is a text for the reason.
    std::size_t coordinate() const {
        auto const at = is_set() ? detail::load_word(bytes_.data()) : no_coordinate;
        return is_text(at) ? 0 : static_cast<std::size_t>(at);
    }

    /// Throws what that rank's frame of that round holds: non_finite_error, or compression_error with the reason;
    /// comm_error where the bytes are no frame.
    [[noreturn, gnu::cold, gnu::noinline]] static void raise(int rank, std::uint64_t round,
                                                             std::span<std::byte const> bytes) {
        auto const at = bytes.size() < 8 ? 0 : detail::load_word(bytes.data());
        if (bytes.size() < 8 || (bytes.size() > 8 && !is_text(at)))
            throw comm_error(rank, detail::concat({"rank ", rank, " sent an unreadable error frame"}));
        if (!is_text(at)) throw non_finite_error(rank, round, static_cast<std::size_t>(at));
        auto const text = bytes.subspan(8);
        throw compression_error(rank, round, std::string(reinterpret_cast<char const*>(text.data()), text.size()));
    }

    /// Where a collective has thrown the same `e` on all ranks, about the vector of rank e.rank: that rank's frame, if
    /// it has one, is broadcast, and all throw that; else this returns. All ranks must call it.
    template <Communicator C>
    void explain(C& comm, non_finite_error const& e) const {
        if (e.rank < 0 || e.rank >= comm.size()) return;
        comm.broadcast(e.rank, {bytes_, true});
        if (auto const theirs = comm.from(e.rank).bytes; !theirs.empty()) raise(e.rank, e.round, theirs);
    }

    /// After a collective call: throws what the first frame holds, in the order of ranks, if any rank has sent one;
    /// frames of left_out() come after all others.
    template <Communicator C>
    static void raise_first(C& comm, std::uint64_t round) {
        int leaves_out = no_rank;
        for (int r = 0; r < comm.size(); ++r)
            if (auto const theirs = comm.from(r); theirs.is_error) {
                if (!is_left_out(theirs)) raise(r, round, theirs.bytes);
                if (leaves_out == no_rank) leaves_out = r;
            }
        if (leaves_out != no_rank) raise(leaves_out, round, comm.from(leaves_out).bytes);
    }
    /// The same, unless all ranks leave their messages out.
    template <Communicator C>
    static void raise_unless_left_out(C& comm, std::uint64_t round) {
        int r = 0;
        while (r < comm.size() && is_left_out(comm.from(r))) ++r;
        if (r < comm.size()) raise_first(comm, round);
    }

  private:
    static constexpr std::uint64_t no_coordinate = ~std::uint64_t{0}, no_message = no_coordinate - 1;
    static constexpr bool is_text(std::uint64_t word) { return word >= no_message; }
    static bool is_left_out(payload const& p) {
        return p.is_error && p.bytes.size() >= 8 && detail::load_word(p.bytes.data()) == no_message;
    }

    void put_text(std::uint64_t word, std::string_view why) {
        put(word);
        auto const text = std::as_bytes(std::span(why.data(), why.size()));
        bytes_.insert(bytes_.end(), text.begin(), text.end());
    }
    void put(std::uint64_t word) {
        bytes_.resize(8);
        detail::store_word(bytes_.data(), word);
    }

    std::vector<std::byte> bytes_;
};

}  // namespace laconic
