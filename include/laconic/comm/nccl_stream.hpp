// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>

#include "laconic/comm/deadline.hpp"

namespace laconic::detail {

/// A NCCL communicator and the stream that it uses: their errors, and how long to wait. Any error aborts the
/// communicator at once (ncclCommAbort), so that nothing of it is left in the stream; from then on every call throws
/// comm_error.
class nccl_stream {
  public:
    /// A communicator that the caller destroys, unless an error aborted it: then there is nothing to destroy.
    nccl_stream(ncclComm_t comm, cudaStream_t stream, std::chrono::milliseconds longest_wait)
        : comm_(comm), stream_(stream), deadline_(longest_wait), owned_(false) {
        introduce();
    }
    /// Makes a communicator of its own. Waits until all ranks make theirs, whatever the deadline.
    nccl_stream(ncclUniqueId const& id, int rank, int size, cudaStream_t stream, std::chrono::milliseconds longest_wait)
        : stream_(stream), deadline_(longest_wait), owned_(true) {
        check(ncclCommInitRank(&comm_, size, id, rank), "ncclCommInitRank");
        introduce();
    }
    nccl_stream(nccl_stream const&) = delete;
    nccl_stream& operator=(nccl_stream const&) = delete;
    ~nccl_stream() {
        if (comm_ != nullptr && owned_) ncclCommDestroy(comm_);
    }

    int rank() const { return rank_; }
    int size() const { return size_; }
    /// Whether no error has aborted it.
    bool alive() const { return comm_ != nullptr; }
    /// Throws where an error has aborted it.
    ncclComm_t comm() const {
        if (comm_ == nullptr) throw comm_error(-1, {"an error has aborted NCCL's communicator before: ", failure_});
        return comm_;
    }
    cudaStream_t stream() const { return stream_; }
    bool has_deadline() const { return static_cast<bool>(deadline_); }

    /// Throws comm_error, with NCCL's or CUDA's own text, where `status` is an error of `call`.
    void check(ncclResult_t status, char const* call) {
        if (status == ncclSuccess) return;
        std::string why = concat({std::string(call), ": ", ncclGetErrorString(status)});
        if (char const* const last = ncclGetLastError(comm_); last != nullptr && *last != 0)
            why += concat({", ", std::string(last)});
        fail(why);
    }
    void check(cudaError_t status, char const* call) {
        if (status != cudaSuccess) fail(concat({std::string(call), ": ", cudaGetErrorString(status)}));
    }

    /// NCCL starts all calls within calls() at the same time: what one rank sends need not be received before it
    /// receives.
    void together(auto calls) {
        comm();
        check(ncclGroupStart(), "ncclGroupStart");
        grouped_ = true;
        try {
            calls();
        } catch (...) {  // an open group would keep this thread's later calls of NCCL
            ncclGroupEnd();
            grouped_ = false;
            abort();
            throw;
        }
        grouped_ = false;
        check(ncclGroupEnd(), "ncclGroupEnd");
    }

    /// Waits until all work in the stream is done; throws comm_error where NCCL reports an error meanwhile, or where
    /// the deadline passes. NCCL cannot name the rank that it waits for.
    void wait() {
        auto const until = deadline_.from_now();
        for (;; std::this_thread::yield()) {
            check_later_error();
            auto const status = cudaStreamQuery(stream_);
            if (status == cudaSuccess) break;
            if (status != cudaErrorNotReady) check(status, "cudaStreamQuery");
            // CUDA keeps "not ready" as the last error, which the next kernel's launch would report.
            static_cast<void>(cudaGetLastError());
            if (deadline_.is_over(until)) fail(concat({"not all ranks came within ", deadline_.text()}));
        }
        check_later_error();
    }

  private:
    void introduce() {
        check(ncclCommUserRank(comm(), &rank_), "ncclCommUserRank");
        check(ncclCommCount(comm(), &size_), "ncclCommCount");
    }
    void check_later_error() {
        ncclResult_t later = ncclSuccess;
        check(ncclCommGetAsyncError(comm(), &later), "ncclCommGetAsyncError");
        if (later != ncclInProgress) check(later, "NCCL, after a call had returned");
    }
    [[noreturn]] void fail(std::string const& why) {
        failure_ = why;
        if (!grouped_) abort();
        throw comm_error(-1, why);
    }
    void abort() {
        if (auto* const lost = std::exchange(comm_, nullptr)) ncclCommAbort(lost);
    }

    ncclComm_t comm_ = nullptr;
    cudaStream_t stream_;
    deadline const deadline_;
    bool owned_, grouped_ = false;
    int rank_ = 0, size_ = 1;
    std::string failure_;
};

/// As many bytes of the host's page-locked memory as of the device's, and the copies between them. It grows only, and
/// then waits for the device, as the lengths of the ranks' bytes are not known beforehand.
class nccl_staging {
  public:
    explicit nccl_staging(nccl_stream& in) : in_(&in) {}
    nccl_staging(nccl_staging const&) = delete;
    nccl_staging& operator=(nccl_staging const&) = delete;
    ~nccl_staging() { release(); }

    std::byte* host() const { return host_; }
    std::byte* device() const { return device_; }

    /// Makes room for n bytes; the contents are lost where there was less. No copy to it or from it may be in flight.
    void make_room(std::size_t n) {
        if (n <= room_) return;
        n = std::max(n, room_ + room_ / 2);  // lengths differ a little from round to round
        release();
        void* p = nullptr;
        in_->check(cudaMallocHost(&p, n), "cudaMallocHost");
        host_ = static_cast<std::byte*>(p);
        in_->check(cudaMalloc(&p, n), "cudaMalloc");
        device_ = static_cast<std::byte*>(p);
        room_ = n;
    }
    /// Copies bytes first .. first + n - 1, in the order of the stream.
    void to_device(std::size_t first, std::size_t n) { copy(host_ + first, device_ + first, n); }
    void to_host(std::size_t first, std::size_t n) { copy(device_ + first, host_ + first, n); }

  private:
    void copy(std::byte const* from, std::byte* to, std::size_t n) {
        if (n > 0) in_->check(cudaMemcpyAsync(to, from, n, cudaMemcpyDefault, in_->stream()), "cudaMemcpyAsync");
    }
    void release() {
        cudaFree(std::exchange(device_, nullptr));  // first: it waits until nothing is under way
        cudaFreeHost(std::exchange(host_, nullptr));
        room_ = 0;
    }

    nccl_stream* in_;
    std::byte *host_ = nullptr, *device_ = nullptr;
    std::size_t room_ = 0;
};

}  // namespace laconic::detail
