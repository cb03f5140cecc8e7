// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/adapt/level.hpp"
#include "laconic/compress/of_participants.hpp"

namespace laconic {

/// Lets `some` ranks take part in each round, drawn anew, every set of so many equally likely; all if there are no
/// more. `rescaled`, their messages are multiplied by ranks / some, so that the mean over all ranks is unbiased where C
/// is. Another level tunes the compressor inside.
template <class L = fixed_level>
class participation {
  public:
    participation(std::size_t some, bool rescaled, L of = {}) : some_(some), rescaled_(rescaled), of_(std::move(of)) {
        if (some < 1) throw argument_error("participation: at least one rank takes part");
    }

    template <class B, class C, Scalar T>
    void tune(B& on, of_participants<C>& c, round_context const& now, std::span<T const> x, std::span<T const> delta) {
        double const ranks = now.ranks, some = static_cast<double>(some_);
        c.bound = detail::largest_lot(now, some_, lots_);
        c.factor = rescaled_ && some < ranks ? ranks / some : 1;
        of_.tune(on, c.second.inside, now, x, delta);
    }
    void update(auto& on, auto x, auto const& m) { of_.update(on, x, m.second.inside); }

    void state(auto& archive) { archive(of_); }
    friend std::string to_string(participation const& l) {
        return detail::concat(
            {"participation(", l.some_, (l.rescaled_ ? ", rescaled) of " : ") of "), to_string(l.of_)});
    }

  private:
    std::size_t some_;
    bool rescaled_;
    L of_;
    std::vector<double> lots_;
};

}  // namespace laconic
