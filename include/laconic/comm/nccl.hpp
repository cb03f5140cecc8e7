// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>

#include "laconic/comm/array_carrier.hpp"
#include "laconic/comm/nccl_rounds.hpp"
#include "laconic/core/view.hpp"

namespace laconic {

/// One rank's communicator where the ranks are GPUs that NCCL joins (laconic::nccl is CMake's name for the library with
/// it). All its work for the GPU goes through the one stream that it is given, whose device must be the current one in
/// every call. All ranks make it and destroy it together. all.hpp leaves this out.
///
/// Bytes are the host's, and go by way of memory on the device that is kept, and that grows by half where a call has
/// more bytes than any before. A call that waits for others waits for the stream too, for its lengths and then for its
/// bytes (nccl_rounds.hpp). Arrays are the device's, carried without a copy and without a wait: see the second half.
///
/// Errors of NCCL or CUDA become a comm_error with their text. It aborts the communicator at once, so that nothing of
/// it blocks the stream; later calls throw again. Errors of work that went on without a wait are found by the next call
/// that waits, or by wait().
class nccl {
  public:
    struct settings {
        /// The longest wait for the others, 0: no limit. NCCL itself notices few of the ranks that are lost.
        std::chrono::milliseconds deadline{0};
    };

    /// Over a communicator of the caller's, which the caller still owns, unless an error has aborted it: then it must
    /// not be destroyed. Nothing else may use it meanwhile.
    nccl(ncclComm_t all, cudaStream_t stream) : nccl(all, stream, settings{}) {}
    nccl(ncclComm_t all, cudaStream_t stream, settings how) : in_(all, stream, how.deadline) {}
    /// Over a communicator that is made and destroyed here: of `size` ranks, all of which were given the same id(), by
    /// MPI, a file, or shared memory. Waits until all have come, whatever the deadline.
    nccl(ncclUniqueId const& id, int rank, int size, cudaStream_t stream) : nccl(id, rank, size, stream, settings{}) {}
    nccl(ncclUniqueId const& id, int rank, int size, cudaStream_t stream, settings how)
        : in_(id, rank, size, stream, how.deadline) {}
    nccl(nccl const&) = delete;
    nccl& operator=(nccl const&) = delete;
    /// Waits until the others need nothing more of this rank.
    ~nccl() {
        try {
            rounds_.leave();
        } catch (error const&) {  // the others get the error from their own calls
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

    void all_gather(payload mine) { rounds_.run_collective({detail::nccl_call::all_gather, 0, mine}); }
    void gather(int root, payload mine) { rounds_.run_collective({detail::nccl_call::gather, checked(root), mine}); }
    void broadcast(int root, payload mine) {
        rounds_.run_collective({detail::nccl_call::broadcast, checked(root), mine});
    }
    payload from(int r) const {
        LACONIC_EXPECTS(r >= 0 && r < size());
        return rounds_.from(r);
    }
    /// A rank that waits here takes part in whatever the others wait for, but what it sends leaves this rank when it
    /// waits next, or is destroyed.
    payload exchange(int to, payload mine, int from) {
        detail::check_partners(size(), to, from);
        return rounds_.exchange(to, mine, from);
    }

    /// x <- the sum of all ranks' x, in device memory. Waits until all ranks have called it, and throws shape_error on
    /// all where their lengths differ, but does not wait for the sum, unless there is a deadline. Ranks with floats and
    /// ranks with doubles wait in vain for each other: comm_error.
    template <Scalar T>
    void all_reduce(std::span<T> x) {
        rounds_.run_collective({detail::nccl_call::all_reduce, sizeof(T), {}, x.size()});
        sum_in_stream(x);
    }

    // Arrays in the device's memory, in the order of the stream. These calls do not wait, unless there is a deadline,
    // for what would otherwise wait later without one. All ranks make the same calls, with lengths on which they agree,
    // right after the same collective call: NCCL checks neither.

    /// The same sum without the check that all ranks call it with the same length.
    template <Scalar T>
    void sum_in_stream(std::span<T> x) {
        auto const type = std::same_as<T, float> ? ncclFloat : ncclDouble;
        if (!x.empty())
            in_.check(ncclAllReduce(x.data(), x.data(), x.size(), type, ncclSum, in_.comm(), in_.stream()),
                      "ncclAllReduce");
        keep_deadline();
    }
    /// All transfers in calls() start at the same time.
    void together(auto calls) {
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
    void require_stream_of(auto const& on) const {
        if constexpr (requires {
                          { on.stream() } -> std::same_as<cudaStream_t>;
                      })
            if (on.stream() != stream())
                throw argument_error("the backend's kernels and NCCL must be given the same stream");
    }
    /// Waits until all work in the stream is done, with the deadline, and throws what went wrong since the last wait.
    void wait() { in_.wait(); }

  private:
    std::uint64_t checked(int root) const {
        detail::check_root(size(), root);
        return static_cast<std::uint64_t>(root);
    }
    void keep_deadline() {
        if (in_.has_deadline()) in_.wait();
    }

    detail::nccl_stream in_;
    detail::nccl_rounds rounds_{in_};
};

}  // namespace laconic
