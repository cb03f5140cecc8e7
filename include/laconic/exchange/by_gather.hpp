// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "laconic/backend/host.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/wire/message.hpp"

namespace laconic {

/// Everyone hears everyone: each rank writes its message, all messages go to all ranks, and each rank decodes them
/// straight into the mean, in the order of ranks, so that all ranks get the same bits. Reuses its memory.
template <class M, Scalar T, class B = host>
class by_gather {
  public:
    /// `positions` is how this rank spells coordinates; the others need not agree.
    explicit by_gather(position_code positions = position_code::smallest) : sink_(positions) {}

    /// out <- mean of all ranks' messages. blank(r, m) makes m what is known of rank r's message beforehand. Throws
    /// wire_error, which names the rank, for bytes that are no such message, and `complaint(r, bytes)` decides what a
    /// rank's complaint means (it should throw the same on every rank). In both cases `out` is unspecified.
    template <Communicator C, class Blank, class OnComplaint>
    void mean(B& on, C& comm, M const& mine, Blank blank, OnComplaint complaint, std::span<T> out) {
        sink_.reserve(out.size() * (sizeof(T) + 1) +
                      64);  // for numbers in full: a later message may be longer than this one
        sink_.clear();
        write(sink_, mine);
        comm.all_gather({sink_.finish(), false});
        listen(comm, complaint);
        std::fill(out.begin(), out.end(), T(0));
        T const share = T(1) / static_cast<T>(comm.size());
        for (int r = 0; r < comm.size(); ++r) {
            bit_reader source(comm.from(r).bytes);
            try {
                blank(r, theirs_);
                read(on, source, theirs_);
                source.finish();
            } catch (wire_error const& e) {
                throw wire_error(e.bit, "from rank " + std::to_string(r) + ": " + e.why);
            }
            add_message(on, out, share, theirs_);
        }
    }

    /// Takes part in the same meeting with a complaint instead of a message, and hears everybody's complaints.
    template <Communicator C, class OnComplaint>
    static void complain(C& comm, std::span<std::byte const> what, OnComplaint complaint) {
        comm.all_gather({what, true});
        listen(comm, complaint);
    }

  private:
    template <Communicator C, class OnComplaint>
    static void listen(C& comm, OnComplaint complaint) {
        for (int r = 0; r < comm.size(); ++r)
            if (auto const heard = comm.from(r); heard.complaint) complaint(r, heard.bytes);
    }

    bit_writer sink_;
    M theirs_;
};

}  // namespace laconic
