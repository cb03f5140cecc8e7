// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/backend/arguments.hpp"
#include "laconic/backend/array.hpp"

namespace laconic::kernels {

/// Plain loops, one a kernel, each the shortest that defines its result: the definition that the other backends
/// are tested against. Slow. Each kernel's contract stands at its host form. One object per rank, not shared by
/// threads.
struct reference {
    template <class T>
    using array = std::vector<T>;

    /// What kernels put aside within one call; kept, so that from the second call on nothing is allocated.
    struct {
        std::vector<coordinate> order;
        std::vector<bool> drawn;
        std::vector<std::uint64_t> grid;
        std::vector<double> block, energies, products, matrix;
    } scratch;
};

template <class E>
void copy(reference&, std::span<E const> from, std::span<E> to) {
    std::copy(from.begin(), from.end(), to.begin());
}
template <class E>
void fill(reference&, std::span<E> to, E value) {
    std::fill(to.begin(), to.end(), value);
}

}  // namespace laconic::kernels

namespace laconic {

using kernels::reference;

}  // namespace laconic
