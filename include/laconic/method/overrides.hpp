// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>

#include "laconic/compress/compressor.hpp"
#include "laconic/core/description.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/objective/problem.hpp"

namespace laconic {

/// The size of a step: a number, or a number over the smoothness L of the problem, so that one text fits all data.
struct step_size {
    double value = 0;
    bool over_smoothness = false;

    constexpr step_size() = default;
    constexpr step_size(double v, bool over_L = false) : value(v), over_smoothness(over_L) {}  // NOLINT: .step = 0.1

    bool operator==(step_size const&) const = default;
    friend std::string to_string(step_size s) { return detail::shortest(s.value) + (s.over_smoothness ? "/L" : ""); }
};

/// The parameters of a method that its theorem gives and that you may give instead.
struct overrides {
    std::optional<step_size> step{};
    std::optional<double> memory{};  ///< the rate of difference compression, alpha or beta in the papers
    std::size_t batch = 0;           ///< the number of rows of each gradient; 0: all

    /// The same with a batch, of one row where none is given.
    overrides with_rows() const {
        auto r = *this;
        r.batch = std::max<std::size_t>(batch, 1);
        return r;
    }
    bool operator==(overrides const&) const = default;
};

namespace detail {

inline double known(double constant, char const* name, char const* method) {
    if (constant > 0 && std::isfinite(constant)) return constant;
    throw theory_error(
        concat({std::string(method), ": its theorem needs ", name,
                ", which is not known; give the objective smoothness() and strong_convexity(), or descend() a "
                "problem with its constants, or the method a step of your own: {.step = ...}"}));
}

// A type without check() is no compressor, which another error reports; a share that replaces a compressor has none.
template <class C>
concept HasCheck = requires(C const& compressor, std::size_t d) {
    compressor.check(d);
};

// Throws argument_error where the compressor's own parameters are outside their ranges, where a theorem's result would
// mean nothing. Where the dimension is not known, the loop checks them.
template <class C>
void check_compressor(C const& compressor, problem const& p, std::string const& method) {
    if constexpr (HasCheck<C>) {
        if (p.dimension == 0) return;
        try {
            compressor.check(p.dimension);
        } catch (argument_error const& e) {
            throw argument_error(concat({method, ": ", e.what()}));
        }
    }
}

// The omega or delta of a compressor; throws theory_error with the advice where there is none.
template <class C>
double omega_of(C const& compressor, problem const& p, std::string const& method, std::string const& advice) {
    check_compressor(compressor, p, method);
    try {
        if constexpr (Unbiased<C>) return compressor.omega(p.dimension);
        throw theory_error(concat({to_string(compressor), " is biased: it has no omega"}));
    } catch (theory_error const& e) {
        throw theory_error(concat({method, ": ", e.what(), "; ", advice}));
    }
}
template <class C>
double delta_of(C const& compressor, problem const& p, std::string const& method, std::string const& advice) {
    check_compressor(compressor, p, method);
    try {
        if constexpr (Contractive<C>) {
            double const delta = compressor.delta(p.dimension);
            if (delta > 0) return delta;
        }
        throw theory_error(concat({to_string(compressor), " is not known to be contractive: it has no delta above 0"}));
    } catch (theory_error const& e) {
        throw theory_error(concat({method, ": ", e.what(), "; ", advice}));
    }
}

// The user's step, or the theorem's, which is computed only where it is needed.
template <class Theorem>
double step_or(overrides const& given, problem const& p, char const* method, Theorem theorem) {
    double step = 0;
    if (!given.step)
        step = theorem();
    else
        step = given.step->over_smoothness ? given.step->value / known(p.smoothness, "the smoothness L", method)
                                           : given.step->value;
    if (!(step > 0 && std::isfinite(step)))
        throw argument_error(concat({std::string(method), ": the step ", step, " is not above 0"}));
    return step;
}

// The step of a method for which no theorem gives one.
inline double own_step(overrides const& given, problem const& p, char const* method, char const* why) {
    return step_or(given, p, method, [&]() -> double {
        throw theory_error(concat({std::string(method), ": ", why, "; give the step yourself"}));
    });
}

// Throws theory_error for a batch, where a theorem is about the gradients of all rows.
inline void refuse_batch(overrides const& given, char const* method) {
    if (given.batch > 0)
        throw theory_error(
            concat({std::string(method), ": its theorem is about the gradients of all rows; with batch = ", given.batch,
                    " give the step yourself"}));
}

// max L_ij over the number of rows that are drawn in a round of n workers; 0 where all rows are taken.
inline double noise_of_batch(overrides const& given, problem const& p, char const* method) {
    if (given.batch == 0) return 0;
    return known(p.largest_sample_smoothness, "max L_ij, the largest smoothness of a sample", method) /
           (static_cast<double>(p.workers) * static_cast<double>(given.batch));
}

// Throws argument_error for a memory rate, where the user cannot choose it.
inline void refuse_memory(overrides const& given, char const* method) {
    if (given.memory)
        throw argument_error(
            concat({std::string(method), ": its memory rate is fixed; memory = ", *given.memory, " cannot be given"}));
}

// The user's memory rate within (0, largest], or the default. Throws argument_error for another.
inline double memory_or(overrides const& given, double by_default, double largest, char const* method) {
    double const rate = given.memory.value_or(by_default);
    if (!(rate > 0 && rate <= largest * (1 + 1e-12)))
        throw argument_error(
            concat({std::string(method), ": the memory rate ", rate, " is outside (0, ", largest, "]"}));
    return rate;
}

// The parts of `given` as fields of a method's description.
inline constexpr auto step_field = field(
                                       "step", [](auto& m) -> auto& { return m.given.step; })
                                       .by_name();
inline constexpr auto memory_field = field(
                                         "memory", [](auto& m) -> auto& { return m.given.memory; })
                                         .by_name();
inline constexpr auto batch_field = field(
                                        "batch", [](auto& m) -> auto& { return m.given.batch; })
                                        .between(0, 1e9)
                                        .by_name();
// Of a method that draws at least one row.
inline constexpr std::size_t one_row = 1;
inline constexpr auto rows_field = field("batch",
                                         [](auto& m) -> decltype(auto) {
                                             if constexpr (std::is_const_v<std::remove_reference_t<decltype(m)>>)
                                                 return std::max(m.given.batch, one_row);
                                             else
                                                 return (m.given.batch);
                                         })
                                       .between(1, 1e9)
                                       .by_name();

}  // namespace detail
}  // namespace laconic
