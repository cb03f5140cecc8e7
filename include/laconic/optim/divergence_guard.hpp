// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "laconic/core/error.hpp"

namespace laconic {

/// What a method should decrease has grown over several rounds, up to `value` in `round`: the step, or the number of
/// local steps, is too large.
struct divergence_error : error {
    std::uint64_t round;
    double value;

    divergence_error(std::uint64_t round_, double value_, std::string_view advice)
        : error({"round ", round_, ": the value has grown to ", value_, " over several rounds: the run diverges; ",
                 advice}),
          round(round_),
          value(value_) {}
};

/// What a method does where it diverges.
enum class on_growth {
    raise,        ///< divergence_error
    halve_steps,  ///< it halves its number of local steps; divergence_error where that is 1
    ignore
};
constexpr std::array<std::string_view, 3> words_of(on_growth) { return {"raise", "halve_steps", "ignore"}; }

/// Watches a function that should decrease and of which each rank knows a part. suspects() watches a number that all
/// ranks know, such as the loss without a penalty. Where it has not fallen in three rounds in a row, all ranks add up
/// what evidence() has, and diverged() compares the function with its value before these rounds.
class divergence_guard {
  public:
    static constexpr std::uint64_t limit = 3;

    /// A rank's part of the function before the rounds in which the number did not fall, its part now, and the size of
    /// the numbers whose rounding the function has.
    struct parts {
        double before = 0, now = 0, size = 0;
        void add(parts const& other) { before += other.before, now += other.now, size += other.size; }
    };

    /// After a round: the number that all ranks know, and this rank's part. Whether the function is to be compared,
    /// which all ranks decide alike.
    bool suspects(double known, double part) {
        bool const fell = !started_ || known < last_;
        not_fallen_ = fell ? 0 : not_fallen_ + 1;
        if (fell) before_ = part;
        last_ = known, now_ = part, started_ = true;
        return (not_fallen_ > 0 && not_fallen_ % limit == 0) || known != known;
    }
    parts evidence(double size) const { return {before_, now_, size}; }
    /// Whether the function, of which `all` is the sum of all ranks' evidence, has grown by more than the root of T's
    /// rounding unit, beside its value and `size`, or is not a number. Then counting starts anew. What diverges grows
    /// beyond that soon, and rounding never does.
    template <class T>
    bool diverged(parts const& all) {
        double const rounding = std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon()));
        if (all.now <= all.before + rounding * (std::abs(all.before) + all.size)) return false;
        not_fallen_ = 0;
        before_ = now_;
        return true;
    }
    void state(auto& archive) { archive(last_, before_, now_, not_fallen_, started_); }

  private:
    double last_ = 0, before_ = 0, now_ = 0;
    std::uint64_t not_fallen_ = 0;
    bool started_ = false;
};

}  // namespace laconic
