// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "laconic/adapt/level.hpp"
#include "laconic/compress/threshold.hpp"

namespace laconic {

/// All or nothing (lazily aggregated gradients, LAG; Chen, Giannakis, Sun, Yin, NeurIPS 2018): delta is sent in full,
/// except for zeros, in the first round and where
///     |delta|^2  >  (xi / step^2) sum of the last D squared moves |x^j - x^(j-1)|^2 ,
/// else nothing is sent. `step` is the step size. With a smoothness L_i, which need not be the same on all ranks, L_i
/// |x - the last x at which this rank sent| replaces |delta|, which it bounds: then the iterates alone decide. Where a
/// square leaves the range of doubles, so that the two cannot be compared, delta is sent.
template <Scalar T = double, class B = host>
class lag {
  public:
    lag(double xi, std::size_t d, double step, double smoothness = 0)
        : xi_(xi), step_(step), smoothness_(smoothness), moves_(d > 0 ? d - 1 : 0) {}

    void tune(B& on, threshold<>& compressor, round_context const&, std::span<T const> x, std::span<T const> delta) {
        away_.resize(x.size());
        move_ = last_.empty() ? 0 : square_of_distance(on, x, last_);
        double const moved = std::accumulate(moves_.begin(), moves_.end(), move_);
        sends_ = last_.empty() || outweighs(on, x, delta, xi_ / (step_ * step_) * moved);
        compressor.bound = sends_ ? 0 : std::numeric_limits<double>::infinity();
    }
    void update(B& on, std::span<T const> x, auto const&) {
        if (sends_) kernels::assign(on, x, last_sent_x_);
        kernels::assign(on, x, last_);
        if (!moves_.empty()) {
            std::rotate(moves_.begin(), moves_.end() - 1, moves_.end());
            moves_[0] = move_;
        }
    }

    /// Whether this rank sent its delta in the last round.
    bool sent() const { return sends_; }

    void state(auto& archive) {
        archive.vectors(last_, last_sent_x_);
        archive(moves_);
    }
    /// The text, which ranks compare, leaves out the smoothness, as that may differ between ranks.
    friend std::string to_string(lag const& l) {
        return detail::concat({"lag(xi=", l.xi_, ", D=", l.moves_.size() + 1, ", step=", l.step_,
                               (l.smoothness_ > 0 ? ", by the iterate)" : ", by delta)")});
    }

  private:
    // Not "changed > bound", which is false where both are infinite.
    bool outweighs(B& on, std::span<T const> x, std::span<T const> delta, double bound) {
        double changed = smoothness_ > 0 ? square_of_distance(on, x, last_sent_x_) : sum_of_squares(on, delta);
        std::span<T const> const of = smoothness_ > 0 ? std::span<T const>(away_) : delta;
        if (smoothness_ > 0) changed *= smoothness_ * smoothness_;
        bool const vanished = changed == 0 && largest_magnitude(on, of) > 0;
        return vanished || !std::isfinite(bound) || !(changed <= bound);
    }
    double square_of_distance(B& on, std::span<T const> x, std::span<T const> y) {
        kernels::assign(on, x, away_);
        add_scaled(on, T(-1), y, std::span<T>(away_));
        return sum_of_squares(on, std::span<T const>(away_));
    }

    double xi_, step_, smoothness_, move_ = 0;
    bool sends_ = false;
    std::vector<double> moves_;  // squared, the newest first
    typename B::template array<T> last_, last_sent_x_, away_;
};

}  // namespace laconic
