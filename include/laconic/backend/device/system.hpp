// SPDX-License-Identifier: Apache-2.0
#pragma once

#if !defined(__CUDACC__) && !defined(THRUST_DEVICE_SYSTEM)
#    error "without nvcc, define THRUST_DEVICE_SYSTEM as THRUST_DEVICE_SYSTEM_CPP, or as .._OMP with OpenMP on"
#endif

#include <thrust/detail/config.h>
#include <thrust/system_error.h>

#if THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_CUDA
#    if !defined(__CUDACC__)
#        error "Thrust's CUDA system needs nvcc; other compilers take THRUST_DEVICE_SYSTEM_CPP or .._OMP"
#    endif
#    if !defined(__CUDACC_EXTENDED_LAMBDA__)
#        error "give nvcc --extended-lambda and --expt-relaxed-constexpr, as the CMake target laconic::device does"
#    endif
#    define LACONIC_ON_CUDA
#    include <cuda_runtime_api.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>

#include "laconic/core/error.hpp"

#if defined(LACONIC_DEVICE_MEMORY) && !defined(LACONIC_ON_CUDA)
#    include LACONIC_DEVICE_MEMORY  // allocate(), release() and memory_open of a test
#endif

/// Marks what both the CPU and the device may call. nvcc calls constexpr functions without it, given its option
/// --expt-relaxed-constexpr.
#if defined(__CUDACC__)
#    define LACONIC_HOST_DEVICE __host__ __device__
#else
#    define LACONIC_HOST_DEVICE
#endif

/// Marks a lambda that the device calls, between [=] and its parameters: nvcc takes it given --extended-lambda.
#if defined(LACONIC_ON_CUDA)
#    define LACONIC_DEVICE __device__
#else
#    define LACONIC_DEVICE
#endif

/// Where Thrust's device system keeps its memory. One system for all of a program.
namespace laconic {

/// The device does not do what it was asked: there is none, its memory is full, or a kernel that was started before has
/// failed. The text has the remedy. (Where the processor is the device and its memory is full,
/// std::bad_alloc.)
struct device_error : error {
    int code;  ///< CUDA's number of it, a cudaError_t

    device_error(int code_, std::string const& why) : error(why), code(code_) {}
};

}  // namespace laconic

namespace laconic::detail::on_device {

/// What this thread has asked of the device so far that costs it time, for tests and for who looks for a delay.
struct interruptions {
    std::uint64_t waits = 0;        ///< until all was done that had been started, or a stream
    std::uint64_t allocations = 0;  ///< of its memory
};
inline thread_local interruptions interrupted;

#if defined(LACONIC_ON_CUDA)

inline char const* advice(cudaError_t status) {
    switch (status) {
        case cudaErrorNoDevice:
        case cudaErrorInsufficientDriver:
        case cudaErrorSystemDriverMismatch:
        case cudaErrorInitializationError:
            return ": run this where nvidia-smi lists a GPU and a driver for this version of CUDA, or compile it for "
                   "the processor, with Thrust's OMP system";
        case cudaErrorMemoryAllocation:
            return ": put fewer ranks on this GPU, or shorter vectors";
        case cudaErrorNoKernelImageForDevice:
        case cudaErrorInvalidDeviceFunction:
        case cudaErrorUnsupportedPtxVersion:
            return ": compile this for the GPU's architecture, which CMAKE_CUDA_ARCHITECTURES names";
        case cudaErrorIllegalAddress:
        case cudaErrorMisalignedAddress:
        case cudaErrorIllegalInstruction:
        case cudaErrorAssert:
        case cudaErrorLaunchFailure:
        case cudaErrorLaunchTimeout:
            return ": a kernel that was started before has failed, and this process can use the GPU no more; "
                   "compute-sanitizer tells which kernel";
        default:
            return "";
    }
}

[[noreturn]] inline void refuse(int code) {
    // What Thrust names may be but what followed; and what CUDA has noted is not to be found again by the next kernel.
    if (auto const noted = cudaGetLastError(); noted != cudaSuccess) code = noted;
    auto const status = static_cast<cudaError_t>(code);
    throw device_error(code, std::string("CUDA: ") + cudaGetErrorString(status) + advice(status));
}

inline void check(cudaError_t status) {
    if (status != cudaSuccess) refuse(status);
}

#else

[[noreturn]] inline void refuse(int code) { throw device_error(code, concat({"Thrust: error ", code})); }

#endif

#if defined(LACONIC_ON_CUDA) || !defined(LACONIC_DEVICE_MEMORY)
/// Lives wherever the device's memory is read or written. A test that keeps that closed at all other times, where the
/// processor is the device, brings its own.
struct memory_open {
    memory_open() {}
};
#endif

/// Calls f, which calls Thrust's algorithms; what they throw becomes a device_error.
template <class F>
auto with_own_errors(F f) {
    [[maybe_unused]] memory_open const now;
    try {
        return f();
    } catch (thrust::system_error const& e) {
        refuse(e.code().value());
    }
}

#if defined(LACONIC_ON_CUDA)
using stream_type = cudaStream_t;
inline void* allocate(std::size_t bytes) {
    void* p = nullptr;
    check(cudaMalloc(&p, bytes));
    return p;
}
inline void release(void* p) noexcept { cudaFree(p); }
inline void finish_all() { check(cudaDeviceSynchronize()); }
// Copies between any two places, and zeros, in the order of the stream.
inline void copy_bytes(stream_type in, void const* from, void* to, std::size_t bytes) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, in));
}
inline void clear_bytes(stream_type in, void* to, std::size_t bytes) { check(cudaMemsetAsync(to, 0, bytes, in)); }
#else
using stream_type = void*;  // there are none
#    if !defined(LACONIC_DEVICE_MEMORY)
inline void* allocate(std::size_t bytes) { return ::operator new(bytes); }
inline void release(void* p) noexcept { ::operator delete(p); }
#    endif
inline void finish_all() {}
inline void copy_bytes(stream_type, void const* from, void* to, std::size_t bytes) {
    [[maybe_unused]] memory_open const now;
    std::memcpy(to, from, bytes);
}
inline void clear_bytes(stream_type, void* to, std::size_t bytes) {
    [[maybe_unused]] memory_open const now;
    std::memset(to, 0, bytes);
}
#endif
// What belongs to no stream waits for all that was started on the device before, and for its own end.
inline void wait_for_all() {
    ++interrupted.waits;
    finish_all();
}
inline void clear_and_wait(void* to, std::size_t bytes) {
    wait_for_all();
    clear_bytes(nullptr, to, bytes);
    finish_all();
}
inline void copy_and_wait(void const* from, void* to, std::size_t bytes) {
    wait_for_all();
    copy_bytes(nullptr, from, to, bytes);
    finish_all();
}

}  // namespace laconic::detail::on_device
