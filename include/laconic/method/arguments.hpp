// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include "laconic/any/grammar.hpp"
#include "laconic/core/portion.hpp"
#include "laconic/core/text.hpp"
#include "laconic/method/rates.hpp"

/// Arguments that the texts of several methods have in common.
namespace laconic::detail {

// Reads a whole number from 1 to `most`, given by name.
inline std::size_t whole_argument(grammar::arguments& a, char const* name, std::size_t by_default, double most,
                                  char const* of_what) {
    auto const* const i = a.find(name, false);
    if (!i) return by_default;
    double value = 0;
    if (!grammar::read_number(i->word, value) || !(value >= 1 && value <= most) || value != std::floor(value))
        a.refuse(i->position, concat({std::string(name), " is a whole number of ", of_what, ", from 1 to ", most}));
    return static_cast<std::size_t>(value);
}

// Reads step=0.1 or step=0.5/L, and memory=... and batch=... where the method has them.
struct known_rates {
    bool memory = false, batch = false;
};
inline rates rates_arguments(grammar::arguments& a, known_rates known = {}) {
    rates r;
    if (auto const* const i = a.find("step", false)) {
        std::string_view word = i->word;
        step_size s;
        s.over_smoothness = word.ends_with("/L");
        if (s.over_smoothness) word.remove_suffix(2);
        if (!grammar::read_number(word, s.value) || !(s.value > 0))
            a.refuse(i->position, "step is a number above 0, such as 0.1, or 0.5/L for half of 1 over the smoothness");
        r.step = s;
    }
    if (known.memory)
        if (auto const* const i = a.find("memory", false)) {
            double value = 0;
            if (!grammar::read_number(i->word, value)) a.refuse(i->position, "memory is a number");
            r.memory = value;
        }
    if (known.batch) r.batch = whole_argument(a, "batch", 0, 1e9, "rows");
    return r;
}

// Reads tau=... and block=..., the arguments of the independent-blocks family.
template <class M>
M blocks_arguments(grammar::arguments& a) {
    M m;
    m.tau = portion{a.number("tau", 0.0, false)};
    m.block = whole_argument(a, "block", m.block, 1e12, "coordinates");
    return m;
}

template <class M>
M sec_arguments(grammar::arguments& a, M m, known_rates known) {
    m.xi = a.number("xi", m.xi, false);
    double const beta = a.number("beta", 0.01, false);
    m.given = rates_arguments(a, known);
    m.given.memory = beta;
    return m;
}

template <class M>
M lag_arguments(grammar::arguments& a) {
    M m;
    m.xi = a.number("xi", m.xi, false);
    m.D = whole_argument(a, "D", m.D, 1e6, "moves");
    m.given = rates_arguments(a);
    return m;
}

}  // namespace laconic::detail
