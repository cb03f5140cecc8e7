// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <string>

#if !defined(__CUDACC__) && !defined(THRUST_DEVICE_SYSTEM)
#    error "without nvcc, define THRUST_DEVICE_SYSTEM as THRUST_DEVICE_SYSTEM_CPP, or as .._OMP with OpenMP on"
#endif

#include <thrust/detail/config.h>

#if THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_CUDA
#    if !defined(__CUDACC__)
#        error "Thrust's CUDA system needs nvcc; other compilers take THRUST_DEVICE_SYSTEM_CPP or .._OMP"
#    endif
#    define LACONIC_ON_CUDA
#    include <cuda_runtime_api.h>
#endif

#include "laconic/core/error.hpp"

/// Marks what both the CPU and the device may call. nvcc calls constexpr functions without it, given its option
/// --expt-relaxed-constexpr.
#if defined(__CUDACC__)
#    define LACONIC_HOST_DEVICE __host__ __device__
#else
#    define LACONIC_HOST_DEVICE
#endif

/// Where Thrust's device system keeps its memory. One system for all of a program.
namespace laconic {

/// The device does not do what it was asked: no device, no memory, or an error of a kernel that was started before.
/// What Thrust's own algorithms find first comes as its thrust::system_error, a std::runtime_error too.
struct device_error : error {
    using error::error;
};

namespace detail::on_device {

#if defined(LACONIC_ON_CUDA)

inline void check(cudaError_t status) {
    if (status == cudaSuccess) return;
    cudaGetLastError();  // what is thrown is not to be found again by the next kernel
    throw device_error(std::string("CUDA: ") + cudaGetErrorString(status));
}

inline void* allocate(std::size_t bytes) {
    void* p = nullptr;
    check(cudaMalloc(&p, bytes));
    return p;
}
inline void release(void* p) noexcept { cudaFree(p); }

// What belongs to no stream waits for all that the device was told before, and for its own end.
inline void wait_for_all() { check(cudaDeviceSynchronize()); }
inline void clear_and_wait(void* to, std::size_t bytes) {
    wait_for_all();
    check(cudaMemset(to, 0, bytes));
    wait_for_all();
}
inline void copy_and_wait(void const* from, void* to, std::size_t bytes) {
    wait_for_all();
    check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
    wait_for_all();
}

#else

inline void* allocate(std::size_t bytes) { return ::operator new(bytes); }
inline void release(void* p) noexcept { ::operator delete(p); }
inline void wait_for_all() {}
inline void clear_and_wait(void* to, std::size_t bytes) { std::memset(to, 0, bytes); }
inline void copy_and_wait(void const* from, void* to, std::size_t bytes) { std::memcpy(to, from, bytes); }

#endif

}  // namespace detail::on_device
}  // namespace laconic
