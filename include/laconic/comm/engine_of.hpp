// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"

namespace laconic {

/// A communicator made of two functions of another library, which has an all-gather of blocks of equal length, as MPI,
/// gloo and NCCL have:
///   start(lane, mine, all)   starts to gather. `mine` has n bytes, with the same n on all ranks; rank r's come to the
///                            bytes r n .. (r + 1) n - 1 of `all`. Neither moves or changes until
///   finish(lane)             has waited until `all` is complete.
/// Up to eight gathers are in flight, each in a lane of its own, 0 to 7. All ranks start and finish in the same order,
/// in which a lane may be started and finished again while older lanes are in flight. A library without gathers in the
/// background gathers in finish(). What the functions throw reaches the caller; then no gather is in flight. Ranks are
/// processes or threads, each with an object of its own.
///
///     laconic::engine_of comm(
///         rank, size,
///         [&](int lane, std::span<std::byte const> mine, std::span<std::byte> all) {
///             MPI_Iallgather(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, all.data(),
///                            static_cast<int>(mine.size()), MPI_BYTE, MPI_COMM_WORLD, &requests[lane]);
///         },
///         [&](int lane) { MPI_Wait(&requests[lane], MPI_STATUS_IGNORE); });
///
/// Messages have different lengths: a block is as long as the longest message lately was among those with the same
/// payload::most, and 3 % more, and has its length in 8 bytes, with a check of them. Where a message is longer than
/// that, all ranks know it from its length, and gather once more. Cost beside the functions': a copy of each message.
/// gather() and broadcast() are all-gathers, too. It is an AllReducer, and not PointToPoint: sums over it are by
/// engine_all_reduce.
template <class Start, class Finish>
requires std::invocable<Start&, int, std::span<std::byte const>, std::span<std::byte>> && std::invocable<Finish&, int>
class engine_of {
  public:
    /// Throws argument_error unless 0 <= rank < size.
    engine_of(int rank, int size, Start start, Finish finish)
        : rank_(rank), size_(size), start_(std::move(start)), finish_(std::move(finish)) {
        if (rank < 0 || rank >= size) throw argument_error({"an engine of rank ", rank, " of ", size});
    }

    int rank() const { return rank_; }
    int size() const { return size_; }
    void all_gather(payload mine) {
        in_flight_.check_none();
        start_all_gather(mine);
        finish();
    }
    void start_all_gather(payload mine, int lane = 0) {
        in_flight_.start(lane, [&] {
            lanes_[lane].sent = mine;
            gather(lane, room_[mine.most]);
        });
    }
    void finish(int lane = 0) {
        in_flight_.finish(lane, [&] {
            auto& of = lanes_[lane];
            finish_(lane);
            if (auto const longest = of.longest(size_); longest > of.room()) {
                gather(lane, longest);
                finish_(lane);
                if (of.longest(size_) != longest)
                    throw comm_error(no_rank, "ranks sent other lengths than before: all must make the same calls");
            }
            learn(of.sent.most, of.longest(size_));
            shown_ = lane;
        });
    }
    void gather(int root, payload mine) {
        detail::check_root(size_, root);
        all_gather(mine);
    }
    void broadcast(int root, payload mine) {
        detail::check_root(size_, root);
        all_gather(rank_ == root ? mine : payload{{}, false, mine.most});
    }
    payload from(int r) const { return lanes_[shown_].from(r); }
    /// x <- the sum of all ranks' x, added up in the order of ranks. Each rank receives all others' numbers, in pieces.
    template <std::floating_point T>
    void all_reduce(std::span<T> x) {
        std::size_t const piece = (std::size_t{1} << 20) / sizeof(T);
        for (; !x.empty(); x = x.subspan(std::min(piece, x.size()))) {
            auto const part = x.first(std::min(piece, x.size()));
            all_gather({std::as_bytes(part), false, piece * sizeof(T)});
            std::fill(part.begin(), part.end(), T(0));
            for (int r = 0; r < size_; ++r) {
                auto const theirs = detail::bytes_from(*this, r, part.size_bytes(), "a part of its vector");
                for (std::size_t i = 0; i < part.size(); ++i) {
                    T number;
                    std::memcpy(&number, theirs.data() + i * sizeof(T), sizeof number);
                    part[i] += number;
                }
            }
        }
    }

  private:
    // The length and, in the lowest bit, whether it is an error frame; in the upper 16 bits a check of these.
    using header = std::uint64_t;
    static constexpr header lower = (header{1} << 48) - 1;
    static constexpr header with_check(header h) { return h | (((h + 1) * 0x9e3779b97f4a7c15) & ~lower); }
    static constexpr std::size_t length(header h) { return (h & lower) / 2; }

    struct gathered {
        payload sent;
        std::vector<std::byte> mine, all;

        std::size_t room() const { return mine.size() - sizeof(header); }
        header header_of(int r) const {
            header h;
            std::memcpy(&h, all.data() + static_cast<std::size_t>(r) * mine.size(), sizeof h);
            return h;
        }
        // Throws comm_error, before anything is allocated, where a block does not begin with a header.
        std::size_t longest(int ranks) const {
            std::size_t most = 0;
            for (int r = 0; r < ranks; ++r) {
                auto const h = header_of(r);
                if (h != with_check(h & lower)) throw comm_error(r, {"the block of rank ", r, " is damaged"});
                most = std::max(most, length(h));
            }
            return most;
        }
        payload from(int r) const {
            auto const at = static_cast<std::size_t>(r) * mine.size() + sizeof(header);
            return {std::span(all).subspan(at, length(header_of(r))), header_of(r) % 2 == 1};
        }
    };

    // Starts to gather blocks with room for so many bytes of each message.
    void gather(int lane, std::size_t room) {
        auto& of = lanes_[lane];
        auto const& bytes = of.sent.bytes;
        of.mine.resize(sizeof(header) + room);
        of.all.resize(of.mine.size() * static_cast<std::size_t>(size_));
        header const h = with_check(header{bytes.size()} * 2 + (of.sent.is_error ? 1 : 0));
        std::memcpy(of.mine.data(), &h, sizeof h);
        std::copy_n(bytes.begin(), std::min(room, bytes.size()), of.mine.begin() + sizeof h);
        start_(lane, std::span<std::byte const>(of.mine), std::span<std::byte>(of.all));
    }
    // The same on all ranks, as all have the same lengths. A single long message is forgotten slowly.
    void learn(std::size_t most, std::size_t longest) {
        auto& room = room_[most];
        std::size_t const wanted = longest + longest / 32;
        room = wanted > room ? wanted : room - (room - wanted) / 4;
    }

    int rank_, size_;
    Start start_;
    Finish finish_;
    detail::under_way in_flight_;
    detail::per_lane<gathered> lanes_;
    std::map<std::size_t, std::size_t> room_;  // by payload::most
    int shown_ = 0;
};

}  // namespace laconic
