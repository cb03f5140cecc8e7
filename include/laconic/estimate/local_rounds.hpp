// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/compress/of_participants.hpp"
#include "laconic/estimate/estimator.hpp"
#include "laconic/optim/step.hpp"

namespace laconic {

/// How the local steps of a round go.
struct local_round {
    std::uint64_t steps = 1;       ///< H, their number, at least 1
    double pull = 0;               ///< mu of FedProx: the local gradient is grad f_i(y) + pull (y - x); at least 0
    double corrected_for = 0;      ///< SCAFFOLD's local step size, above 0; 0: no correction
    std::size_t batch = 0;         ///< the rows of a gradient, drawn anew for each local step; 0: all
    std::size_t participants = 0;  ///< how many ranks send, and move the correction (participation); 0: all
};

/// A fixed number H of local steps of each rank in a round: from y = x on, H times y <- inner(y, grad f_i(y)). The
/// estimate is x - y, so that gradient_step{1} moves x to the mean of the y_i. The inner step keeps its state across
/// rounds, on its rank. If the f_i differ, the fixed point is not the optimum if H > 1: for quadratics f_i(x) = (x -
/// b_i)' A_i (x - b_i) / 2 and gradient steps of size s it solves sum_i (I - (I - s A_i)^H)(x - b_i) = 0. FedProx's
/// pull (Li et al., MLSys 2020) brings it nearer to the optimum, and SCAFFOLD's correction (Karimireddy et al., ICML
/// 2020) makes the optimum the fixed point: each local gradient becomes grad f_i(y) - c_i + c, and after the round, by
/// its option II,
///     c_i <- c_i - c + (x - y_i) / (H s),    c <- mean c_i = (x - x+) / (H s) ,
/// which needs gradient_step{1} and messages that leave nothing out; c then costs no message. c and c_i are 0 at the
/// start. If m of n ranks take part, only those move their c_i, and c <- (1 - m / n) c + (m / n) (x - x+) / (H s).
template <class S = gradient_step, Scalar T = double, class B = host>
class local_rounds {
  public:
    /// Throws argument_error where `how` is out of its ranges.
    explicit local_rounds(local_round how, S inner = {})
        : how_(how), inner_(std::move(inner)), trial_(inner_), gradient_(how.batch) {
        if (how.steps < 1) throw argument_error("local_rounds: a round has at least one step");
        if (!(how.pull >= 0 && how.corrected_for >= 0))
            throw argument_error({"local_rounds: pull = ", how.pull, ", corrected_for = ", how.corrected_for,
                                  " are not both at least 0"});
    }

    std::optional<double> operator()(B& on, auto const& f, round_context const& now, std::span<T const> x,
                                     std::span<T> g) {
        kernels::assign(on, x, start_), kernels::assign(on, x, local_);
        std::span<T> const y(local_);
        trial_ = inner_;
        if (how_.participants > 0) {
            takes_part_ = detail::lot_of(now.own) <= detail::largest_lot(now, how_.participants, lots_);
            share_ = std::min(1.0, static_cast<double>(how_.participants) / now.ranks);
        }
        std::optional<double> value;
        round_context at = now;
        for (std::uint64_t l = 0; l < how_.steps; ++l) {
            at.gradient = now.gradient.child(l);
            auto const here = gradient_(on, f, at, std::span<T const>(y), g);
            if (l == 0) value = here;
            if (how_.pull > 0) {
                add_scaled(on, static_cast<T>(how_.pull), std::span<T const>(y), g);
                add_scaled(on, static_cast<T>(-how_.pull), x, g);
            }
            if (!own_.empty()) {
                add_scaled(on, T(-1), std::span<T const>(own_), g);
                add_scaled(on, T(1), std::span<T const>(mean_), g);
            }
            trial_(on, y, g);
        }
        compensate(on, T(1), x, std::span<T const>(y), T(0), std::span<T const>(), g);
        if constexpr (requires { std::as_const(trial_).square(); })  // it may overflow where y does not
            detail::show_non_finite(on, std::as_const(trial_).square(), g);
        return value;
    }
    void update(B& on, std::span<T const> x) {
        inner_ = trial_;
        if (!corrects_local_steps()) return;
        own_.resize(x.size()), mean_.resize(x.size());
        T const scale = static_cast<T>(1 / (static_cast<double>(how_.steps) * how_.corrected_for));
        // Differences first: their rounding is that of the move, not that of x.
        std::span<T> const own(own_), mean(mean_), back(local_), move(start_);
        add_scaled(on, T(-1), std::span<T const>(start_), back);  // y_i - x
        add_scaled(on, T(-1), x, move);                           // x - x+
        if (takes_part_) {
            add_scaled(on, T(-1), std::span<T const>(mean), own);
            add_scaled(on, -scale, std::span<T const>(back), own);
        }
        if (share_ < 1)
            multiply(on, static_cast<T>(1 - share_), mean);
        else
            fill(on, mean, T(0));
        add_scaled(on, static_cast<T>(share_) * scale, std::span<T const>(move), mean);
    }

    /// Whether it has SCAFFOLD's correction.
    bool corrects_local_steps() const { return how_.corrected_for > 0; }
    /// c_i and c; empty before the first round, and without SCAFFOLD's correction.
    std::span<T const> correction() const { return own_; }
    std::span<T const> mean_correction() const { return mean_; }

    void state(auto& archive) {
        archive.vectors(own_, mean_);
        archive(inner_);
    }
    friend std::string to_string(local_rounds const& e) {
        std::string text = detail::concat({"local_rounds(", e.how_.steps, " of ", to_string(e.inner_)});
        if (e.how_.pull > 0) text += detail::concat({", pull=", e.how_.pull});
        if (e.how_.corrected_for > 0) text += detail::concat({", corrected_for=", e.how_.corrected_for});
        if (e.how_.participants > 0) text += detail::concat({", participants=", e.how_.participants});
        return detail::concat({text, "), ", to_string(e.gradient_)});
    }

  private:
    local_round how_;
    S inner_, trial_;  // before the round, and after its local steps
    mini_batch gradient_;
    bool takes_part_ = true;
    double share_ = 1;  // of the ranks, that takes part
    std::vector<double> lots_;
    typename B::template array<T> start_, local_, own_, mean_;
};

}  // namespace laconic
