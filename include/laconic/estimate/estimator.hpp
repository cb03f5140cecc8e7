// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/objective/objective.hpp"

namespace laconic {

/// The source of a rank's gradient: all of its data, or some of it and a memory of the rest. Satisfied iff
///   estimator(on, f, now, x, g)   writes an estimate of the gradient of f at x to g, drawing from now.gradient and
///                                 now.shared, and returns std::optional<double>: f(x) where it costs nothing. It may
///                                 be called again for the same round, and then gives the same;
///   estimator.update(on, x)       is called when all messages of the round have been received and x is the next
///                                 iterate: only here may its state change.
/// Until then only g is checked. So a number that will be remembered and is not finite must make g not finite, too
/// (detail::show_non_finite). With to_string(estimator) its parameters are among those that the ranks compare before
/// they start; with state(archive) (wire/state.hpp) its state is saved.
template <class E, class F, class T = double, class B = host>
concept Estimator = std::movable<E> &&
    requires(E& estimator, B& on, F const& f, round_context const& now, std::span<T const> x, std::span<T> g) {
    { estimator(on, f, now, x, g) } -> std::same_as<std::optional<double>>;
    estimator.update(on, x);
};

namespace detail {

/// g_j <- the first number of `kept` that is not finite, where there is one; `kept` is one or more vectors as long as
/// g.
template <class B, Scalar T>
void show_non_finite(B& on, std::span<T const> kept, std::span<T> g) {
    if (auto const j = first_non_finite(on, kept); j < kept.size())
        copy(on, kept.subspan(j, 1), g.subspan(j % g.size(), 1));
}

// Draws `size` rows of m, each from all of them: a pure function of the key.
inline void draw_rows(key from, std::size_t m, std::size_t size, std::vector<std::uint32_t>& rows) {
    rows.resize(size);
    for (std::size_t t = 0; t < size; ++t) rows[t] = static_cast<std::uint32_t>(from.below(t, m));
}

}  // namespace detail

/// The mean gradient of `size` of the rank's samples, each drawn from all of them: unbiased, with 1 / size of one
/// sample's variance. size = 0 means the full gradient, which any objective has, and f(x), too, where f is a
/// FusedObjective.
class mini_batch {
  public:
    mini_batch(std::size_t size = 0) : size_(size) {}  // NOLINT: a number

    /// Throws argument_error where the size is above 0 and f is no FiniteSum.
    template <class B, class F, Scalar T>
    std::optional<double> operator()(B&, F const& f, round_context const& now, std::span<T const> x, std::span<T> g) {
        if (size_ == 0) {
            if constexpr (FusedObjective<F, T>) return static_cast<double>(f.value_and_gradient(x, g));
            f.gradient(x, g);
        } else if constexpr (FiniteSum<F, T>) {
            detail::draw_rows(now.gradient, f.samples(), size_, rows_);
            f.batch_gradient(std::span<std::uint32_t const>(rows_), x, g);
        } else {
            throw argument_error({"batch = ", size_,
                                  ": this objective has no samples to draw from; it needs samples() and "
                                  "batch_gradient(rows, x, g)"});
        }
        return std::nullopt;
    }
    void update(auto&, auto) const {}
    friend std::string to_string(mini_batch const& e) {
        return e.size_ == 0 ? "the full gradient" : detail::concat({"mini_batch(", e.size_, ")"});
    }

  private:
    std::size_t size_;
    std::vector<std::uint32_t> rows_;
};

}  // namespace laconic
