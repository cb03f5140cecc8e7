// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "laconic/backend/reference/memory.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

namespace laconic::kernels {

template <Scalar T, class Terms>
void clear_terms(reference&, std::span<T> out, Terms terms) {
    for (std::size_t j = 0; j < terms.size(); ++j)
        if (static_cast<T>(terms[j].value) != 0) out[terms[j].at] = 0;
}
template <Scalar T>
void scatter(reference&, std::span<T const> values, std::span<coordinate const> at, std::size_t unit,
             std::span<T> out) {
    std::size_t next = 0;
    for (coordinate const u : at)
        for (std::size_t i = u * unit; i < std::min(out.size(), (u + 1) * unit); ++i) out[i] = values[next++];
}

}  // namespace laconic::kernels
