// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
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
/// reason as a text. Every rank raises the same error from it. Eight bytes, the low one first, and the text.
class error_frame {
  public:
    bool is_set() const { return !bytes_.empty(); }
    void clear() { bytes_.clear(); }
    void not_finite(std::size_t coordinate) { put(coordinate); }
    void because(std::string_view why) {
        put(no_coordinate);
        auto const text = std::as_bytes(std::span(why.data(), why.size()));
        bytes_.insert(bytes_.end(), text.begin(), text.end());
    }

    /// Valid until the frame changes.
    std::span<std::byte const> bytes() const { return bytes_; }
    /// Whether it has a coordinate, not a text.
    bool is_not_finite() const { return is_set() && detail::load_word(bytes_.data()) != no_coordinate; }
    /// The coordinate; 0 where there is a text for the reason.
    std::size_t coordinate() const {
        auto const at = is_set() ? detail::load_word(bytes_.data()) : no_coordinate;
        return at == no_coordinate ? 0 : static_cast<std::size_t>(at);
    }

    /// Throws what that rank's frame of that round holds: non_finite_error, or compression_error with the reason;
    /// comm_error where the bytes are no frame.
    [[noreturn, gnu::cold, gnu::noinline]] static void raise(int rank, std::uint64_t round,
                                                             std::span<std::byte const> bytes) {
        auto const at = bytes.size() < 8 ? 0 : detail::load_word(bytes.data());
        if (bytes.size() < 8 || (bytes.size() > 8 && at != no_coordinate))
            throw comm_error(rank, detail::concat({"rank ", rank, " sent an unreadable error frame"}));
        if (at != no_coordinate) throw non_finite_error(rank, round, static_cast<std::size_t>(at));
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

    /// After a collective call: throws what the first frame holds, in the order of ranks, if any rank has sent one.
    template <Communicator C>
    static void raise_first(C& comm, std::uint64_t round) {
        for (int r = 0; r < comm.size(); ++r)
            if (auto const theirs = comm.from(r); theirs.is_error) raise(r, round, theirs.bytes);
    }
    /// The same after an all-gather in which this rank has sent its frame, unless all ranks have sent the same frame.
    template <Communicator C>
    void raise_unless_alike(C& comm, std::uint64_t round) const {
        bool alike = true;
        for (int r = 0; r < comm.size(); ++r) {
            auto const theirs = comm.from(r);
            alike = alike && theirs.is_error &&
                    std::equal(theirs.bytes.begin(), theirs.bytes.end(), bytes_.begin(), bytes_.end());
        }
        if (!alike) raise_first(comm, round);
    }

  private:
    static constexpr std::uint64_t no_coordinate = ~std::uint64_t{0};

    void put(std::uint64_t word) {
        bytes_.resize(8);
        detail::store_word(bytes_.data(), word);
    }

    std::vector<std::byte> bytes_;
};

}  // namespace laconic
