// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "laconic/backend/arguments.hpp"
#include "laconic/backend/array.hpp"
#include "laconic/backend/host/impl/instruction_set.hpp"

namespace laconic::detail {

/// What scratch memory is for; kernels that call each other use different ones.
enum class scratch_for { numbers, energies, marks, counts, parts, coordinates, sums, kinds };

}  // namespace laconic::detail

namespace laconic::kernels {

/// The CPU as a backend: arrays are std::vector, kernels are loops over xsimd's vectors. One object per rank; it holds
/// the kernels' scratch memory, so that from the second call on nothing is allocated, and is not shared by threads.
/// The instruction set is part of the type: translation units compiled for different ones never share a kernel.
template <class Arch>
class basic_host {
  public:
    template <class T>
    using array = std::vector<T>;

    /// Scratch memory for n numbers, with arbitrary contents, valid until the next call for the same use.
    template <class T>
    requires std::is_trivially_copyable_v<T> std::span<T> scratch(detail::scratch_for use, std::size_t n) {
        auto& bytes = scratch_[static_cast<std::size_t>(use)];
        if (bytes.size() < n * sizeof(T)) bytes.resize(n * sizeof(T));
        return {reinterpret_cast<T*>(bytes.data()), n};
    }

  private:
    std::array<std::vector<std::byte>, static_cast<std::size_t>(detail::scratch_for::kinds)> scratch_;
};

using host = basic_host<simd::arch>;

/// to <- from, of one length.
template <class A, class E>
void copy(basic_host<A>&, std::span<E const> from, std::span<E> to) {
    LACONIC_EXPECTS(from.size() == to.size());
    std::copy(from.begin(), from.end(), to.begin());
}

/// to_i <- value.
template <class A, class E>
void fill(basic_host<A>&, std::span<E> to, E value) {
    if (to.empty()) return;
    if (std::bit_cast<std::array<std::byte, sizeof(E)>>(value) == std::array<std::byte, sizeof(E)>{})
        std::memset(to.data(), 0, to.size_bytes());  // which spares the processor to read what is there
    else
        std::fill(to.begin(), to.end(), value);
}

}  // namespace laconic::kernels

namespace laconic {

using kernels::host;

}  // namespace laconic
