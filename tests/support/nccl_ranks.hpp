// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <exception>
#include <thread>

#include "laconic/comm/nccl.hpp"
#include "support/test.hpp"

/// Ranks over NCCL as threads of this process, each with a device and a stream of its own; over the stand-in (see
/// stand_ins/nccl.hpp) as many as one likes, over NCCL itself as many as there are GPUs.
namespace nccl_ranks {

inline void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}
inline int devices() {
    int count = 0;
    check(cudaGetDeviceCount(&count));
    return count;
}
/// Of 1, 2, 3, 4, 5, 8 what is at least `least`, as far as there are devices; prints a message where that is nothing.
inline std::vector<int> counts(int least = 1) {
    std::vector<int> all{1, 2, 3, 4, 5, 8};
    std::erase_if(all, [=, most = devices()](int n) { return n < least || n > most; });
    if (all.empty()) MESSAGE("skipped: it needs ", least, " GPUs, and there are fewer");
    return all;
}

/// A stream of its own for the current device; nullptr where that is asked for.
struct stream {
    cudaStream_t is = nullptr;
    explicit stream(bool of_its_own) {
        if (of_its_own) check(cudaStreamCreate(&is));
    }
    stream(stream const&) = delete;
    stream& operator=(stream const&) = delete;
    ~stream() {
        if (is != nullptr) cudaStreamDestroy(is);
    }
};

/// body(rank, id, stream) on all ranks at the same time; throws the first exception by rank.
template <class Body>
void each(int ranks, Body body, bool own_stream = true) {
    auto const id = laconic::nccl::id();
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(ranks));
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r)
        threads.emplace_back([&, r] {
            try {
                check(cudaSetDevice(r));
                stream const mine(own_stream);
                body(r, id, mine.is);
            } catch (...) {
                failures[static_cast<std::size_t>(r)] = std::current_exception();
            }
        });
    for (auto& t : threads) t.join();
    for (auto const& f : failures)
        if (f) std::rethrow_exception(f);
}
/// body(comm) on all ranks.
template <class Body>
void run(int ranks, Body body, laconic::nccl::settings how = {}, bool own_stream = true) {
    each(
        ranks,
        [&](int rank, ncclUniqueId const& id, cudaStream_t in) {
            laconic::nccl comm(id, rank, ranks, in, how);
            body(comm);
        },
        own_stream);
}
/// The error that each rank throws, or "none".
template <class Body>
std::vector<std::string> errors_on(int ranks, Body body, laconic::nccl::settings how = {}) {
    std::vector<std::string> errors(static_cast<std::size_t>(ranks), "none");
    run(
        ranks,
        [&](laconic::nccl& comm) {
            try {
                body(comm);
            } catch (laconic::error const& e) {
                errors[static_cast<std::size_t>(comm.rank())] = e.what();
            }
        },
        how);
    return errors;
}

/// Numbers in the device's memory.
template <class T>
class on_device {
  public:
    explicit on_device(std::vector<T> const& x, cudaStream_t in) : size_(x.size()), in_(in) {
        void* p = nullptr;
        check(cudaMalloc(&p, std::max<std::size_t>(1, size_) * sizeof(T)));
        data_ = static_cast<T*>(p);
        check(cudaMemcpyAsync(data_, x.data(), size_ * sizeof(T), cudaMemcpyDefault, in_));
        wait();
    }
    on_device(on_device const&) = delete;
    on_device& operator=(on_device const&) = delete;
    ~on_device() { cudaFree(data_); }
    std::span<T> span() const { return {data_, size_}; }
    /// Waits for all work in the stream.
    std::vector<T> numbers() const {
        std::vector<T> x(size_);
        check(cudaMemcpyAsync(x.data(), data_, size_ * sizeof(T), cudaMemcpyDefault, in_));
        wait();
        return x;
    }

  private:
    void wait() const {
        while (cudaStreamQuery(in_) == cudaErrorNotReady) std::this_thread::yield();
        static_cast<void>(cudaGetLastError());
    }
    T* data_ = nullptr;
    std::size_t size_;
    cudaStream_t in_;
};

}  // namespace nccl_ranks
