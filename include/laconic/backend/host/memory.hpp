// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "laconic/backend/host/simd.hpp"

namespace laconic {

/// The CPU as a backend: arrays are std::vector, kernels are loops over xsimd's vectors. One object per rank; it holds
/// the kernels' scratch memory, so that from the second call on nothing is allocated, and is not shared by threads.
/// The instruction set is part of the type: translation units compiled for different ones never share a kernel.
template <class Arch>
class basic_host {
  public:
    template <class T>
    using array = std::vector<T>;

    /// Scratch memory for n numbers, with arbitrary contents, valid until the next call with the same slot.
    template <class T>
    requires std::is_trivially_copyable_v<T> std::span<T> scratch(std::size_t slot, std::size_t n) {
        auto& bytes = scratch_[slot];
        if (bytes.size() < n * sizeof(T)) bytes.resize(n * sizeof(T));
        return {reinterpret_cast<T*>(bytes.data()), n};
    }

  private:
    std::array<std::vector<std::byte>, 2> scratch_;
};

using host = basic_host<simd::arch>;

}  // namespace laconic
