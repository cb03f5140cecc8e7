// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <tuple>

#include "laconic/collective/cost_formulas.hpp"
#include "laconic/core/text.hpp"

namespace laconic::detail {

/// The sums that an automatic one chooses from: they give the same, to rounding.
inline constexpr std::tuple exact_sums{gathered_sum{},
                                       recursive_doubling{},
                                       split_all_gather{split_all_gather::second_stage::sparse},
                                       split_all_gather{split_all_gather::second_stage::dense},
                                       omni_reduce{},
                                       ring{},
                                       halving_doubling{}};
inline constexpr std::size_t sum_count = std::tuple_size_v<decltype(exact_sums)>;

/// Which exact sum is quickest, by cost_formulas, and why.
struct collective_choice {
    struct option {
        std::string name;  ///< the text of the collective
        double seconds;
    };
    cost_formulas::load what;
    std::array<option, sum_count> options;
    std::size_t best = 0;  ///< the number of the quickest option, of equal ones the first

    /// Throws argument_error as cost_formulas.
    collective_choice(network const& net, cost_formulas::load const& load,
                      cost_formulas::reading_cost const& reading = {})
        : what(load) {
        cost_formulas const seconds(net, load, reading);
        std::apply([&](auto const&... sum) { options = {option{to_string(sum), seconds(sum)}...}; }, exact_sums);
        auto const quicker = [](option const& a, option const& b) { return a.seconds < b.seconds; };
        best = static_cast<std::size_t>(std::min_element(options.begin(), options.end(), quicker) - options.begin());
    }
    /// The quickest one's.
    std::string const& name() const { return options[best].name; }

    /// "ring: 8 ranks, 400 of 1000 numbers each, 0.5 s; next gathered_sum 0.7 s, ..", by how long they take.
    friend std::string to_string(collective_choice const& c) {
        auto sorted = c.options;
        std::stable_sort(sorted.begin(), sorted.end(),
                         [](option const& a, option const& b) { return a.seconds < b.seconds; });
        std::string text = concat({c.name(), ": ", c.what.ranks, " ranks, ", std::llround(c.what.k), " of ",
                                   std::llround(c.what.d), " numbers each, ", rounded(sorted[0].seconds), " s; next "});
        for (std::size_t i = 1; i < sorted.size(); ++i)
            text += concat({(i == 1 ? "" : ", "), sorted[i].name, " ", rounded(sorted[i].seconds), " s"});
        return text;
    }

  private:
    // To three digits, for the eye.
    static std::string rounded(double x) {
        char text[32];
        std::snprintf(text, sizeof text, "%.3g", x);
        return text;
    }
};

}  // namespace laconic::detail
