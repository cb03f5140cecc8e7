// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "laconic/adapt/level.hpp"

namespace laconic {

/// Sets a threshold's bounds to scale |x_i - last x_i|, which follow the last move of the iterate, coordinate by
/// coordinate. All bounds are 0 in the first round, so that every number but 0 is sent once (GD-SEC, Chen et al.,
/// arXiv:2202.02491), and in a round in which a bound overflows.
template <Scalar T, class B = host>
class follow_last_move {
  public:
    explicit follow_last_move(double scale = 0) : scale_(static_cast<T>(scale)) {}

    void tune(B& on, auto& compressor, round_context const&, std::span<T const> x, std::span<T const>) {
        bounds_.resize(x.size());
        bool follows = !last_.empty();
        if (follows) {
            scaled_distances(on, scale_, x, std::span<T const>(last_), std::span<T>(bounds_));
            follows = first_non_finite(on, std::span<T const>(bounds_)) == bounds_.size();
        }
        if (!follows) bounds_.assign(x.size(), T(0));
        compressor.bound = std::span<T const>(bounds_);
    }
    void update(B& on, std::span<T const> x, auto const&) { kernels::assign(on, x, last_); }
    void state(auto& archive) { archive.vectors(last_); }
    friend std::string to_string(follow_last_move const& l) {
        return detail::concat({"follow_last_move(", double{l.scale_}, ")"});
    }

  private:
    T scale_;
    typename B::template array<T> last_, bounds_;
};

}  // namespace laconic
