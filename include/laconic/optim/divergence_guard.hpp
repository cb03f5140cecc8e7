// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"

namespace laconic {

/// What a method should decrease has grown in several rounds in a row, up to `value` in `round`: the step, or the
/// number of local steps, is too large.
struct divergence_error : error {
    std::uint64_t round;
    double value;

    divergence_error(std::uint64_t round_, double value_, std::string_view advice)
        : error(detail::concat({"round ", round_, ": the value has grown to ", value_,
                                " in several rounds in a row: the run diverges; ", advice})),
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

/// Watches a value that should decrease: it has diverged where the value grew three times in a row, or is NaN.
class divergence_guard {
  public:
    static constexpr std::uint64_t limit = 3;

    /// The value after a round; whether it has diverged. Then counting starts anew.
    bool sees(double value) {
        grown_ = seen_ && !(value <= last_) ? grown_ + 1 : 0;
        bool const diverged = grown_ >= limit || value != value;
        if (diverged) grown_ = 0;
        last_ = value;
        seen_ = true;
        return diverged;
    }
    template <class Archive>
    void state(Archive& archive) {
        archive(last_, grown_, seen_);
    }

  private:
    double last_ = 0;
    std::uint64_t grown_ = 0;
    bool seen_ = false;
};

}  // namespace laconic
