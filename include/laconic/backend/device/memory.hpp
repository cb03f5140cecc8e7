// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/backend/device/array.hpp"  // first: it refuses compilers that Thrust would not

#include <thrust/execution_policy.h>
#include <thrust/fill.h>

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "laconic/backend/arguments.hpp"

namespace laconic::detail::on_device {

// Memory that Thrust's algorithms ask for while they run, kept for the next. All of them run in one stream, one after
// another, so a piece that was handed back may be used again at once.
class arena {
  public:
    using value_type = char;

    char* allocate(std::ptrdiff_t bytes) {
        auto const n = static_cast<std::size_t>(bytes);
        piece* best = nullptr;
        for (auto& p : pieces_)
            if (!p.taken && p.memory.size() >= n && (best == nullptr || p.memory.size() < best->memory.size()))
                best = &p;
        if (best == nullptr) {  // the largest that is free grows, so that no small ones are left over
            for (auto& p : pieces_)
                if (!p.taken && (best == nullptr || p.memory.size() > best->memory.size())) best = &p;
            if (best == nullptr) best = &pieces_.emplace_back();
            best->memory = {};  // its contents need not move
            best->memory.resize_to_overwrite(n);
        }
        best->taken = true;
        return best->memory.data();
    }
    void deallocate(char* memory, std::size_t) {
        for (auto& p : pieces_)
            if (p.memory.data() == memory) p.taken = false;
    }

  private:
    struct piece {
        kernels::device_array<char> memory;
        bool taken = false;
    };
    std::vector<piece> pieces_;
};

// What scratch memory is for; kernels that call each other use different ones.
enum class scratch_for { sums, counts, marks, numbers, temporary, result, kinds };

}  // namespace laconic::detail::on_device

namespace laconic::kernels {

/// A device of Thrust as a backend: a GPU (nvcc, the CUDA system), or the CPU as if it were one (CPP, OMP). Arrays live
/// in its memory, kernels are Thrust's algorithms on it. One object per rank; it holds the kernels' scratch memory, so
/// that from the second call on nothing is allocated (but by Thrust's sort with OMP), and is not shared by threads.
/// Kernels are started in one stream, and those that return nothing and size nothing by what they find do not wait for
/// their end. With CUDA, the stream and its device are the caller's, and the device has to be the current one whenever
/// a kernel is called.
class device {
  public:
    template <class T>
    using array = device_array<T>;

    device() = default;
#if defined(LACONIC_ON_CUDA)
    explicit device(cudaStream_t stream) : stream_(stream) {}
#endif
    detail::on_device::stream_type stream() const { return stream_; }

    /// Whether there is a GPU. Without CUDA the processor is the device.
    static bool is_there() {
#if defined(LACONIC_ON_CUDA)
        int count = 0;
        return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
#else
        return true;
#endif
    }

    /// Scratch memory for n numbers, with arbitrary contents, valid until the next call for the same use.
    template <class T>
    requires std::is_trivially_copyable_v<T> std::span<T> scratch(detail::on_device::scratch_for use, std::size_t n) {
        auto& bytes = scratch_[static_cast<std::size_t>(use)];
        if (bytes.size() < n * sizeof(T)) {
            bytes = {};  // its contents need not move
            bytes.resize_to_overwrite(n * sizeof(T));
        }
        return {reinterpret_cast<T*>(bytes.data()), n};
    }
    /// The same in the CPU's memory.
    template <class T>
    requires std::is_trivially_copyable_v<T> std::span<T> host_scratch(std::size_t n) {
        if (host_scratch_.size() < n * sizeof(T)) host_scratch_.resize(n * sizeof(T));
        return {reinterpret_cast<T*>(host_scratch_.data()), n};
    }

    /// How Thrust's algorithms run here.
    auto policy() {
#if defined(LACONIC_ON_CUDA)
        return thrust::cuda::par_nosync(arena_).on(stream_);
#else
        return thrust::device(arena_);
#endif
    }
    /// Calls f(policy()), which calls Thrust's algorithms, a caller's own for example, on arrays of the device. What
    /// they throw becomes a device_error.
    template <class F>
    auto call_thrust(F f) {
        return detail::on_device::with_own_errors([&] { return f(policy()); });
    }
    /// Waits for all that was started.
    void wait() {
        ++detail::on_device::interrupted.waits;
#if defined(LACONIC_ON_CUDA)
        detail::on_device::check(cudaStreamSynchronize(stream_));
#endif
    }

  private:
    detail::on_device::arena arena_;
    std::array<device_array<std::byte>, static_cast<std::size_t>(detail::on_device::scratch_for::kinds)> scratch_;
    std::vector<std::byte> host_scratch_;
    detail::on_device::stream_type stream_ = nullptr;
};

}  // namespace laconic::kernels

namespace laconic {

using kernels::device;

}  // namespace laconic

namespace laconic::detail::on_device {

inline void copy_bytes(device& on, void const* from, void* to, std::size_t bytes) {
    if (bytes > 0) copy_bytes(on.stream(), from, to, bytes);
}
inline void clear_bytes(device& on, void* to, std::size_t bytes) {
    if (bytes > 0) clear_bytes(on.stream(), to, bytes);
}

// The value at an address of the device. Waits.
template <class T>
T fetched(device& on, T const* from) {
    T value;
    copy_bytes(on, from, &value, sizeof value);
    on.wait();
    return value;
}

}  // namespace laconic::detail::on_device

namespace laconic::kernels {

/// The spans are as long as one another and do not overlap.
template <class T>
void copy(device& on, std::span<T const> from, std::span<T> to) {
    LACONIC_EXPECTS(from.size() == to.size());
    detail::on_device::copy_bytes(on, from.data(), to.data(), from.size_bytes());
}

template <class T>
void fill(device& on, std::span<T> to, T value) {
    on.call_thrust([&](auto const& how) { thrust::fill(how, to.data(), to.data() + to.size(), value); });
}

/// `to` is the CPU's memory. Waits.
template <class T>
void copy_to_host(device& on, std::span<T const> from, std::span<T> to) {
    copy(on, from, to);
    on.wait();
}

/// `from` is the CPU's memory. Waits.
template <class T>
void copy_from_host(device& on, std::span<T const> from, std::span<T> to) {
    copy_to_host(on, from, to);
}

/// A copy of x in the CPU's memory, valid until the next such call. Waits.
template <class T>
std::span<T const> on_host(device& on, std::span<T const> x) {
    auto const copy = on.host_scratch<T>(x.size());
    copy_to_host(on, x, copy);
    return copy;
}

}  // namespace laconic::kernels
