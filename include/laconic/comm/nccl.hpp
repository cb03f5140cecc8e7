// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "laconic/comm/array_carrier.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/comm/nccl_rounds.hpp"
#include "laconic/comm/nccl_stream.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/core/view.hpp"

namespace laconic {

/// One rank's end where the ranks are GPUs that NCCL joins (laconic::nccl is CMake's name for the library with it). All
/// that it tells the GPU goes through the one stream that it is given, and that stream's device must be the current one
/// wherever it is called. All ranks make it and let go of it together. laconic.hpp leaves this out.
///
/// Bytes are the host's, and go by way of memory on the device that is kept, and grows by half where a meeting's bytes
/// are more than of any before: no bound is known for them here. A call that waits for others waits for the stream too,
/// for its lengths and then for its bytes (nccl_rounds.hpp). Arrays are the device's, and are carried without a copy,
/// and without waiting: see the second half.
///
/// What NCCL or CUDA refuse is a comm_error with their words. It ends the communicator, which is aborted at once, so
/// that nothing of it holds the stream up; later calls throw again. Errors of what went on without waiting are found by
/// the next call that waits, or by wait().
class nccl {
  public:
    struct settings {
        /// The longest wait for the others, 0: none. NCCL by itself notices few of the ranks that are lost.
        std::chrono::milliseconds deadline{0};
    };

    /// Over a communicator of the caller's, which goes on being its own, unless an error has aborted it: then it must
    /// not be destroyed. Nothing else may go through it meanwhile.
    nccl(ncclComm_t all, cudaStream_t stream) : nccl(all, stream, settings{}) {}
    nccl(ncclComm_t all, cudaStream_t stream, settings how) : in_(all, stream, how.deadline) {}
    /// Over one that is made, and destroyed, here: of `size` ranks, all of which were handed the same id(), by MPI, a
    /// file, or memory that they share. Waits until all have come, whatever the deadline.
    nccl(ncclUniqueId const& id, int rank, int size, cudaStream_t stream) : nccl(id, rank, size, stream, settings{}) {}
    nccl(ncclUniqueId const& id, int rank, int size, cudaStream_t stream, settings how)
        : in_(id, rank, size, stream, how.deadline) {}
    nccl(nccl const&) = delete;
    nccl& operator=(nccl const&) = delete;
    /// Waits until the others need nothing more of this rank.
    ~nccl() {
        try {
            rounds_.leave();
        } catch (error const&) {  // the others are told by their own calls
        }
    }
    static ncclUniqueId id() {
        ncclUniqueId made;
        if (auto const status = ncclGetUniqueId(&made); status != ncclSuccess)
            throw comm_error(-1, std::string("ncclGetUniqueId: ") + ncclGetErrorString(status));
        return made;
    }

    int rank() const { return in_.rank(); }
    int size() const { return in_.size(); }
    cudaStream_t stream() const { return in_.stream(); }

    void all_gather(contribution mine) { rounds_.meet({detail::nccl_call::all_gather, 0, mine}); }
    void gather(int root, contribution mine) { rounds_.meet({detail::nccl_call::gather, checked(root), mine}); }
    void broadcast(int root, contribution mine) { rounds_.meet({detail::nccl_call::broadcast, checked(root), mine}); }
    contribution from(int r) const {
        LACONIC_EXPECTS(r >= 0 && r < size());
        return rounds_.from(r);
    }
    /// A rank that waits here takes part in whatever the others wait for, but what is handed over leaves this rank when
    /// it waits next, or is let go of.
    contribution exchange(int to, contribution mine, int from) {
        detail::check_partners(size(), to, from);
        return rounds_.exchange(to, mine, from);
    }

    /// x <- the sum of all ranks' x, in device memory. Waits until all have come to it, and throws shape_error on all
    /// where they bring different lengths, but does not wait for the sum, unless there is a deadline to keep. Floats
    /// and doubles do not meet.
    template <Scalar T>
    void all_reduce(std::span<T> x) {
        rounds_.meet({detail::nccl_call::all_reduce, sizeof(T), {}, x.size()});
        sum_in_stream(x);
    }

    // Arrays in the device's memory, in the order of the stream. Nobody waits, but where there is a deadline, for what
    // else would wait later, without one. All ranks make the same calls, with lengths on which they agree, right after
    // the same meeting: NCCL sees to neither.

    /// The same sum with nobody asked whether all ranks have come to it, and with as many numbers.
    template <Scalar T>
    void sum_in_stream(std::span<T> x) {
        auto const type = std::same_as<T, float> ? ncclFloat : ncclDouble;
        if (!x.empty())
            in_.check(ncclAllReduce(x.data(), x.data(), x.size(), type, ncclSum, in_.comm(), in_.stream()),
                      "ncclAllReduce");
        keep_deadline();
    }
    /// All that calls() carries starts at the same time.
    template <class Calls>
    void together(Calls calls) {
        in_.together(calls);
        keep_deadline();
    }
    /// Within together(): `mine` on rank `root`, anything elsewhere, goes to `theirs` on all ranks.
    template <class E>
    void spread(int root, std::span<E const> mine, std::span<E> theirs) {
        if (theirs.empty()) return;
        auto const* const source = rank() == root ? mine.data() : theirs.data();
        in_.check(ncclBroadcast(source, theirs.data(), theirs.size_bytes(), ncclUint8, root, in_.comm(), in_.stream()),
                  "ncclBroadcast");
    }
    /// Within together().
    template <class E>
    void send(int to, std::span<E const> mine) {
        if (!mine.empty())
            in_.check(ncclSend(mine.data(), mine.size_bytes(), ncclUint8, to, in_.comm(), in_.stream()), "ncclSend");
    }
    /// Within together().
    template <class E>
    void receive(int from, std::span<E> theirs) {
        if (!theirs.empty())
            in_.check(ncclRecv(theirs.data(), theirs.size_bytes(), ncclUint8, from, in_.comm(), in_.stream()),
                      "ncclRecv");
    }
    /// Throws argument_error where a backend's kernels run in another stream than this.
    template <class B>
    void require_stream_of(B const& on) const {
        if constexpr (requires { on.stream(); })
            if (on.stream() != stream())
                throw argument_error("the backend's kernels and NCCL must be given the same stream");
    }
    /// Waits until all that was told to the stream is done, with the deadline, and finds what went wrong since.
    void wait() { in_.wait(); }

  private:
    std::uint64_t checked(int root) const {
        if (root < 0 || root >= size())
            throw argument_error(detail::concat({"the root is rank ", root, " of ", size()}));
        return static_cast<std::uint64_t>(root);
    }
    void keep_deadline() {
        if (in_.has_deadline()) in_.wait();
    }

    detail::nccl_stream in_;
    detail::nccl_rounds rounds_{in_};
};

}  // namespace laconic
