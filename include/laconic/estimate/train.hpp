// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/view.hpp"
#include "laconic/estimate/mini_batch.hpp"
#include "laconic/objective/finite_sum.hpp"
#include "laconic/optim/step.hpp"

namespace laconic {

/// Moves x by `steps` steps on one rank, the i-th along the mean gradient of `batch` rows that are drawn from all by
/// child i of the key: a function of x and the key. Allocates before the first step.
template <Scalar T, FiniteSum<T> F, Step<T, host> S>
void train(F const& f, S step, std::span<T> x, key from, std::size_t steps, std::size_t batch) {
    host on;
    std::vector<T> g(x.size());
    std::vector<std::uint32_t> rows;
    for (std::size_t i = 0; i < steps; ++i) {
        detail::draw_rows(from.child(i), f.samples(), batch, rows);
        f.batch_gradient(std::span<std::uint32_t const>(rows), std::span<T const>(x), std::span<T>(g));
        step(on, x, std::span<T>(g));
    }
}

}  // namespace laconic
