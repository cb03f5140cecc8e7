// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "laconic/compress/identity_or.hpp"
#include "laconic/core/round_context.hpp"

namespace laconic {

/// Sets how much a compressor sends, each round. Satisfied iff
///   level.tune(on, compressor, now, x, delta)  sets the compressor's parameters for this round from the iterate and
///                                              from the vector that is compressed next; it may be called again for the
///                                              same round, and then does the same;
///   level.update(on, x, m)                     updates its state from the iterate and this rank's message, once all
///                                              messages of the round have been received, before the step is taken.
/// With to_string(level) its parameters are among those that the ranks compare before they start; with state(archive)
/// (wire/state.hpp) its state is saved.
template <class L, class C, class T = double, class B = host>
concept Level = std::movable<L> && requires(L& level, B& on, C& compressor, round_context const& now,
                                            std::span<T const> x, detail::message_of<C, T, B> const& m) {
    level.tune(on, compressor, now, x, x);
    level.update(on, x, m);
};

/// Leaves the compressor as it was given.
struct fixed_level {
    void tune(auto&, auto&, round_context const&, auto, auto) const {}
    void update(auto&, auto, auto const&) const {}
    friend std::string to_string(fixed_level) { return "fixed"; }
};

/// Sets an identity_or to send everything in full in the first round, or the first few, and then, on all ranks at once,
/// with probability p in each (the shared coin of MARINA; Gorbunov et al., ICML 2021).
struct synchronise {
    double p = 1;
    std::uint64_t first = 1;  ///< how many rounds are in full, at least 1

    template <class C>
    void tune(auto&, identity_or<C>& compressor, round_context const& now, auto, auto) const {
        compressor.in_full = now.round < first || detail::sends_in_full(now, p);
    }
    void update(auto&, auto, auto const&) const {}
    friend std::string to_string(synchronise l) {
        std::string const more = l.first > 1 ? detail::concat({", first=", l.first}) : "";
        return detail::concat({"synchronise(", l.p, more, ")"});
    }
};

/// Lets a compressor with a portion k send more at first: in the four quarters of the first `rounds` rounds 25 %, 6.25
/// %, 1.5625 % and 0.4 % of the coordinates, but never fewer than k; from then on k (the warm-up of Deep Gradient
/// Compression, Lin et al., ICLR 2018, section 3.3). The round's number alone decides, so it has no state.
struct warm_up {
    portion k = 0.001;
    std::uint64_t rounds = 0;

    static constexpr std::array<double, 4> densities{0.25, 0.0625, 0.015625, 0.004};

    /// The number of coordinates sent out of d in that round.
    portion at(std::uint64_t round, std::size_t d) const {
        if (round >= rounds) return k;
        auto const quarter = static_cast<std::size_t>(4 * static_cast<double>(round) / static_cast<double>(rounds));
        return std::max(k.of(d), portion(densities[std::min<std::size_t>(quarter, 3)]).of(d));
    }

    template <class B, class C, Scalar T>
    requires std::same_as<decltype(C::k), portion>
    void tune(B&, C& compressor, round_context const& now, std::span<T const>, std::span<T const> delta) const {
        compressor.k = at(now.round, delta.size());
    }
    void update(auto&, auto, auto const&) const {}
    friend std::string to_string(warm_up const& l) {
        return detail::concat({"warm_up(", to_string(l.k), ", rounds=", l.rounds, ")"});
    }
};

namespace detail {

/// bounds_i = a |x_i - y_i|, for the numbers of a vector V from i on.
template <Scalar T>
struct scaled_distances {
    using number = T;
    T a;
    std::span<T const> x, y;
    std::span<T> bounds;

    template <class V>
    constexpr void at(std::size_t i) const {
        (V::all(a) * magnitude(V::load(x.data() + i) - V::load(y.data() + i))).store(bounds.data() + i);
    }
    constexpr void operator()(std::size_t i) const { at<simd::single<T>>(i); }
};

}  // namespace detail

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
            LACONIC_EXPECTS(last_.size() == x.size());
            at_each_index(on, x.size(), detail::scaled_distances<T>{scale_, x, last_, bounds_});
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

    void tune(B& on, auto& compressor, round_context const&, std::span<T const> x, std::span<T const> delta) {
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
