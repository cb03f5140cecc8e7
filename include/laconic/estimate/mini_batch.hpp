// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/estimate/estimator.hpp"
#include "laconic/objective/finite_sum.hpp"

namespace laconic {

namespace detail {

// Draws `size` rows of m, each from all of them: a pure function of the key.
inline void draw_rows(key from, std::size_t m, std::size_t size, std::vector<std::uint32_t>& rows) {
    rows.resize(size);
    for (std::size_t t = 0; t < size; ++t) rows[t] = static_cast<std::uint32_t>(from.below(t, m));
}

}  // namespace detail

/// The mean gradient of `size` of the rank's samples, each drawn from all of them; size = 0 means the full gradient,
/// which any objective has. Unbiased, with 1 / size of one sample's variance.
class mini_batch {
  public:
    mini_batch(std::size_t size = 0) : size_(size) {}  // NOLINT: a number

    /// Throws argument_error where the size is above 0 and f is no FiniteSum.
    template <class B, class F, Scalar T>
    std::optional<double> operator()(B& on, F const& f, round_context const& now, std::span<T const> x,
                                     std::span<T> g) {
        if (size_ == 0) return full_gradient{}(on, f, now, x, g);
        if constexpr (FiniteSum<F, T>) {
            detail::draw_rows(now.gradient, f.samples(), size_, rows_);
            f.batch_gradient(std::span<std::uint32_t const>(rows_), x, g);
            return std::nullopt;
        } else {
            throw argument_error(detail::concat({"batch = ", size_,
                                                 ": this objective has no samples to draw from; it needs samples() and "
                                                 "batch_gradient(rows, x, g)"}));
        }
    }
    template <class B, Scalar T>
    void update(B&, std::span<T const>) const {}
    friend std::string to_string(mini_batch const& e) {
        return e.size_ == 0 ? "the full gradient" : detail::concat({"mini_batch(", e.size_, ")"});
    }

  private:
    std::size_t size_;
    std::vector<std::uint32_t> rows_;
};

}  // namespace laconic
