// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>

#include "laconic/backend/host.hpp"
#include "laconic/compress/levels.hpp"
#include "laconic/core/cost.hpp"
#include "laconic/core/text.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/method/vr_diana.hpp"

namespace laconic {

/// The guarantee of a method's theorem, as a static member:
///   rate(m, p)     the least share by which its V falls in expectation in a round; 0 where the theorem does not cover
///                  the step or the memory rate that m was given. Throws theory_error where the theorem needs a
///                  constant that is not known, or guarantees no fall down to 0.
template <class M>
struct guarantee;

namespace detail {

/// A method whose theorem guarantees a rate for each k of a rand_k.
template <class M>
concept GuaranteedByRandK = requires(M m, problem const& p) {
    { guarantee<M>::rate(m, p) } -> std::same_as<double>;
    levels<decltype(m.compressor)>::template bits<double>(m.compressor, p.dimension, p.dimension);
};

inline double needed_for_rate(double constant, char const* name, theory const& of) {
    if (constant > 0 && std::isfinite(constant)) return constant;
    throw of.lacks({"its rate, for which k is chosen, needs ", name,
                    ", which is not known; give it in the problem, or give k yourself"});
}

// The step and memory rate of m: those of its theorem, or those that it was given, where the theorem covers them.
struct covered_numbers {
    double step = 0, memory = 0;  // 0: not covered
};
template <class M>
covered_numbers numbers_of(M m, problem const& p) {
    if (m.given.memory) {
        double const largest = 1 / (1 + m.compressor.omega(p.dimension));
        if (!(*m.given.memory > 0 && *m.given.memory <= largest * (1 + 1e-12))) return {};
    }
    auto const own = m.given.step;
    m.given.step.reset();
    auto const r = m.template compose<double, host>(p);
    double const longest = r.step.rate;
    m.given.step = own;
    double const step = theory(m, p).step([&] { return longest; });
    if (step > longest * (1 + 1e-12)) return {};
    return {step, r.feedback.rate()};
}

template <class M>
double vr_diana_rate(M const& m, problem const& p) {
    theory const of(m, p);
    double const mu = needed_for_rate(p.strong_convexity, "mu, the strong convexity of f", of);
    double const samples = needed_for_rate(static_cast<double>(p.samples), "m, the number of samples", of);
    if (m.given.batch > 1)
        throw of.lacks({"its rate, for which k is chosen, is that of batches of one row; give k yourself"});
    auto const [step, memory] = numbers_of(m, p);
    return std::min({step * mu, memory / 2, 3 / (8 * samples)});
}

}  // namespace detail

template <class R>
struct guarantee<diana<rand_k<R>>> {
    static double rate(diana<rand_k<R>> const& m, problem const& p) {
        detail::theory const of(m, p);
        double const mu =
            detail::needed_for_rate(p.least_strong_convexity, "min mu_i, the strong convexity of every f_i", of);
        if (m.given.batch > 0)
            throw of.lacks(
                {"with batches V comes down to a floor, which k moves too, so that no k is best for a rate; "
                 "give k yourself, or use vr_diana"});
        return detail::numbers_of(m, p).step * mu;
    }
};
template <class R>
struct guarantee<vr_diana<rand_k<R>>> {
    static double rate(vr_diana<rand_k<R>> const& m, problem const& p) { return detail::vr_diana_rate(m, p); }
};
template <class R>
struct guarantee<vr_diana_saga<rand_k<R>>> {
    static double rate(vr_diana_saga<rand_k<R>> const& m, problem const& p) { return detail::vr_diana_rate(m, p); }
};

namespace detail {

/// The k in 1 .. d with which a method lowers its V by any factor at the least cost that its theorem guarantees: a
/// round multiplies V by 1 - rate(k) for cost(bits(k)), and k is the lowest that has the largest
///     -log(1 - rate(k)) / cost(bits(k)) .
/// It tries all d, as costs may have steps. bits are those of numbers of T. Throws theory_error where a constant is not
/// known or the theorem covers no k, argument_error for a memory rate that is too large for all of them.
template <Scalar T, GuaranteedByRandK M, CommunicationCost Cost>
std::size_t best_rand_k(M m, Cost const& cost, problem const& p) {
    using family = levels<decltype(m.compressor)>;
    std::size_t const d = p.dimension;
    theory const of(m, p);
    if (d == 0) throw of.lacks({"k is chosen for a dimension, which is not known; give it in the problem"});
    std::size_t best = 0;
    double most = 0, price = 1;
    for (std::size_t k = 1; k <= d; ++k) {
        m.compressor = family::at(m.compressor, k, d);
        double const fall = -std::log1p(-guarantee<M>::rate(m, p));
        double const costs = cost(family::template bits<T>(m.compressor, k, d));
        // Compared by products, as a cost may be 0; then the rate alone decides.
        double const ours = fall * price, others = most * costs;
        if (ours > others || (ours == others && fall > most && costs <= price)) {
            best = k;
            most = fall;
            price = costs;
        }
    }
    if (best == 0) {
        static_cast<void>(m.template compose<T, host>(p));  // refuses a memory rate that suits no k
        if (!m.given.step) throw of.lacks({"no k makes progress at a price that is finite"});
        throw of.lacks({"with step = ", to_string(*m.given.step),
                        " its theorem covers no k, and so gives none to choose; give k yourself, or a shorter step"});
    }
    return best;
}

}  // namespace detail

}  // namespace laconic
