// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>
#include <span>

#include "laconic/comm/communicator.hpp"
#include "laconic/wire/failure.hpp"
#include "laconic/wire/stream.hpp"

/// How ranks share failures where all send to all, and where one answers all; session (collective/session.hpp) shares
/// them in a schedule of messages in pairs.
namespace laconic::detail {

/// After a collective call: the least failure that a rank has sent in place of its payload; none where no rank has.
template <Communicator C>
failure least_failure(C& comm) {
    failure least;
    for (int r = 0; r < comm.size(); ++r)
        if (auto const theirs = comm.from(r); theirs.is_error) least.take_least(failure::read(theirs.bytes, r));
    return least;
}

/// Throws the least failure on all ranks, unless all leave their messages out.
template <Communicator C>
void raise_unless_left_out(C& comm) {
    bool all = true;
    for (int r = 0; r < comm.size() && all; ++r)
        all = comm.from(r).is_error && failure::read(comm.from(r).bytes, r).kind == failure_kind::left_out;
    if (!all) least_failure(comm).raise();
}

/// An all-gather: each rank sends its failure, which it writes to `sink`, or `bytes` where it has none. Returns the
/// least.
template <Communicator C>
failure share_failure(C& comm, failure const& mine, wire::bit_writer& sink, std::span<std::byte const> bytes = {}) {
    comm.all_gather(mine ? mine.sent(sink) : payload{bytes});
    return least_failure(comm);
}

/// After a gather at rank 0: its answer, which is broadcast. answer() there returns what is sent, or throws. Throws on
/// all ranks the least failure that a rank sent in the gather, or else what answer() has thrown. The bytes are valid
/// until the next call of comm's. Until the caller has used them, `broken` (transport/broken_round.hpp) says that other
/// ranks may have the answer and this one not.
template <Communicator C, class Answer>
std::span<std::byte const> answer_of_rank_0(C& comm, wire::bit_writer& sink, auto& broken, Answer answer) {
    payload sent;
    if (comm.rank() == 0) {
        auto wrong = least_failure(comm);
        try {
            if (!wrong) sent.bytes = answer();
        } catch (...) {
            wrong = failure::of(std::current_exception(), 0);
        }
        if (wrong) sent = wrong.sent(sink);
    }
    broken.answer_is_on_its_way();
    comm.broadcast(0, sent);
    auto const received = comm.from(0);
    if (received.is_error) {
        broken.recover();
        failure::read(received.bytes, 0).raise();
    }
    return received.bytes;
}

}  // namespace laconic::detail
