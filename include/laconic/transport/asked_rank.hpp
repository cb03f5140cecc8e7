// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>

#include "laconic/comm/communicator.hpp"
#include "laconic/transport/broken_round.hpp"
#include "laconic/transport/error_frame.hpp"
#include "laconic/wire/stream.hpp"

namespace laconic {

/// Rank 0 works something out for all ranks from what they send it. Reuses its memory.
class asked_rank {
  public:
    /// A collective call. Rank 0 gathers every rank's `mine`, or its frame where that is set; answer(sink, rank) there
    /// reads comm.from(r) of every rank and writes the answer, which is broadcast. Returns its bytes, valid until the
    /// next call of comm's. Throws on every rank what the first rank's frame holds; or what rank 0's does, where
    /// answer() sets it or throws, as that of the rank to which it has set `rank`. Where the answer does not come,
    /// `broken` says so until the caller has used it.
    template <Communicator C, class Answer>
    std::span<std::byte const> operator()(C& comm, std::uint64_t round, std::span<std::byte const> mine,
                                          error_frame& frame, detail::broken_round& broken, Answer answer) {
        comm.gather(0, {frame.is_set() ? frame.bytes() : mine, frame.is_set()});
        broken.answer_is_on_its_way();
        comm.broadcast(0, comm.rank() == 0 ? worked_out(comm, frame, answer) : payload{});
        auto const received = comm.from(0);
        if (!received.is_error) return received.bytes;
        bit_reader source(received.bytes);
        auto const rank = static_cast<int>(source.take(32));
        broken.make_whole();
        error_frame::raise(rank, round, received.bytes.subspan(4));
    }

  private:
    template <class C, class Answer>
    payload worked_out(C& comm, error_frame& frame, Answer& answer) {
        int rank = 0;
        while (rank < comm.size() && !comm.from(rank).is_error) ++rank;
        std::span<std::byte const> wrong;
        sink_.clear();
        if (rank < comm.size()) {
            wrong = comm.from(rank).bytes;
        } else {
            rank = 0;
            try {
                answer(sink_, rank);
            } catch (std::exception const& e) {
                frame.because(e.what());
            }
            if (frame.is_set()) wrong = frame.bytes();
        }
        if (wrong.empty()) return {sink_.finish(), false};
        sink_.clear();
        sink_.put(static_cast<std::uint64_t>(rank), 32);
        sink_.put_bytes(wrong);
        return {sink_.finish(), true};
    }

    bit_writer sink_;
};

}  // namespace laconic
