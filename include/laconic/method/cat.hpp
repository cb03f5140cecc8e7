// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <string>

#include "laconic/compress/best_level.hpp"
#include "laconic/compress/guaranteed_share.hpp"
#include "laconic/method/dcgd.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/method/ef_sgd.hpp"

namespace laconic {

namespace detail {

inline double needed_for_rate(double constant, char const* name, theory const& of) {
    return of.known(constant, name, "its rate, for which k is chosen,", "give it in the problem, or give k yourself");
}

// The step and memory rate of m: those of its theorem, or those that it was given, where the theorem covers them.
struct covered_numbers {
    double step = 0, memory = 0;  // 0: not covered
};
covered_numbers numbers_of(auto m, problem const& p) {
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

double vr_diana_rate(auto const& m, problem const& p) {
    theory const of(m, p);
    double const mu = needed_for_rate(p.strong_convexity, "mu, the strong convexity of f", of);
    double const samples = needed_for_rate(static_cast<double>(p.samples), "m, the number of samples", of);
    if (m.given.batch > 1)
        throw of.lacks({"its rate, for which k is chosen, is that of batches of one row; give k yourself"});
    auto const [step, memory] = numbers_of(m, p);
    return std::min({step * mu, memory / 2, 3 / (8 * samples)});
}

}  // namespace detail

/// The guarantee of a method's theorem: the least share by which its V falls in expectation in a round; 0 where the
/// theorem does not cover the step or the memory rate that m was given. Throws theory_error where the theorem needs a
/// constant that is not known, or guarantees no fall down to 0.
template <class R>
double guaranteed_rate(diana<rand_k<R>> const& m, problem const& p) {
    detail::theory const of(m, p);
    double const mu =
        detail::needed_for_rate(p.least_strong_convexity, "min mu_i, the strong convexity of every f_i", of);
    if (m.given.batch > 0)
        throw of.lacks(
            {"with batches V comes down to a floor, which k moves too, so that no k is best for a rate; "
             "give k yourself, or use vr_diana"});
    return detail::numbers_of(m, p).step * mu;
}
template <class R>
double guaranteed_rate(vr_diana<rand_k<R>> const& m, problem const& p) {
    return detail::vr_diana_rate(m, p);
}
template <class R>
double guaranteed_rate(vr_diana_saga<rand_k<R>> const& m, problem const& p) {
    return detail::vr_diana_rate(m, p);
}

namespace detail {

/// A method whose theorem guarantees a rate for each k of a rand_k.
template <class M>
concept GuaranteedByRandK = requires(M m, problem const& p) {
    { guaranteed_rate(m, p) } -> std::same_as<double>;
    levels<decltype(m.compressor)>::template bits<double>(m.compressor, p.dimension, p.dimension);
};

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
        double const fall = -std::log1p(-guaranteed_rate(m, p));
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

// "name(inside, step=0.1, memory=0.5, batch=32)", with those numbers that are given.
inline std::string called(std::string const& name, std::string const& inside, overrides const& r) {
    return concat({name, "(", inside, (r.step ? concat({", step=", to_string(*r.step)}) : ""),
                   (r.memory ? concat({", memory=", *r.memory}) : ""), (r.batch ? concat({", batch=", r.batch}) : ""),
                   ")"});
}
// The text of cat{m, cost}.
template <class M, class Cost>
std::string cat_text(M const& m, Cost const& cost) {
    auto const family = levels<decltype(m.compressor)>::family(m.compressor);
    return concat({"cat(", called(std::string(name_of_type<M>()), family, m.given), cost_text(cost), ")"});
}

}  // namespace detail

/// Communication-aware adaptive tuning (CAT; Khirirat, Magnusson, Aytekin, Johansson, arXiv:2003.06377): gradient
/// descent whose gradients are compressed at the level that makes the most progress for the cost of the message, chosen
/// anew in each round. It is dcgd{best_level{C, cost}}: with S = top_k, S + Q = top_k | scaled_sign, and step = 1 / L
/// on one worker. The choice is the best of each round's guarantee for its cost; a fixed level may cost less over a
/// whole run, as a step may do more than is guaranteed (docs/results/bits.md: top_k by bits took up to
/// 1.5 times the best k). best_level itself fits into any other method for contractive compressors, such as ef21. The
/// level that C itself has is ignored.
template <class C, CommunicationCost Cost = message_cost, class Sizes = formula_sizes>
struct cat {
    C compressor;
    Cost cost{};
    overrides given{};
    Sizes sizes{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        static_assert(Levelled<C, T, B>,
                      "cat{C}: no level can be chosen for C; compress/levels.hpp says what it takes");
        detail::theory const of("cat", given, p);
        of.refuse_memory();
        return detail::compose_dcgd<T, B>(best_level<C, Cost, Sizes>{compressor, cost, sizes}, of);
    }

    friend bool operator==(cat const& a, cat const& b) { return to_string(a) == to_string(b); }
    friend std::string to_string(cat const& m) {
        auto const counted = to_string(m.sizes), usual = to_string(formula_sizes{});
        return detail::called("cat",
                              levels<C>::family(m.compressor) + detail::cost_text(m.cost) +
                                  (counted == usual ? "" : ", sizes=" + counted),
                              m.given);
    }
};
template <class C, class Cost = message_cost, class Sizes = formula_sizes>
cat(C, Cost = {}, overrides = {}, Sizes = {}) -> cat<C, Cost, Sizes>;

/// The same for the unbiased rand_k, whose error is the same for every vector: diana, vr_diana or vr_diana_saga, with k
/// chosen once, before the first round, as the one for which the method's theorem guarantees the least cost on this
/// problem (best_rand_k). The step and memory rate are those of the theorem at that k; where some are given, only those
/// k compete that the theorem covers with them. Example: cat{diana{rand_k{} | natural{}}, packet_cost(512, 64, 60)}.
template <detail::GuaranteedByRandK M, CommunicationCost Cost>
struct cat<M, Cost> {
    M method;
    Cost cost{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        M m = method;
        m.compressor = levels<decltype(M::compressor)>::at(m.compressor, level<T>(p), p.dimension);
        return m.template compose<T, B>(p);
    }
    /// The k for messages of numbers of T. Throws what best_rand_k throws.
    template <Scalar T = double>
    std::size_t level(problem const& p) const {
        return detail::best_rand_k<T>(method, cost, p);
    }

    friend bool operator==(cat const& a, cat const& b) { return to_string(a) == to_string(b); }
    friend std::string to_string(cat const& m) { return detail::cat_text(m.method, m.cost); }
};

namespace detail {

// A delta for ef_sgd's theorem, in place of a compressor.
struct keeps_at_least {
    double share = 1;
    double delta(std::size_t) const { return share; }
    friend std::string to_string(keeps_at_least c) { return concat({"a share of ", c.share}); }
};

}  // namespace detail

/// The same with error feedback, on any number of workers: ef_sgd{best_level{C, cost}}, whose levels are chosen for
/// delta, the gradient times the step plus the residual. The step is that of ef_sgd's theorem, unless given, with
/// guaranteed_share as delta: at least that of C's lowest level, and far longer where the message itself is what costs.
/// No theorem covers steps of 1 / L, which usually work; give them yourself. Example: cat{ef_sgd{top_k{1}},
/// packet_cost(512, 64, 60)}.
template <class C, CommunicationCost Cost>
struct cat<ef_sgd<C>, Cost> {
    ef_sgd<C> method;
    Cost cost{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        static_assert(Levelled<C, T, B>,
                      "cat{ef_sgd{C}}: no level can be chosen for C; compress/levels.hpp says what it takes");
        best_level<C, Cost> const best{method.compressor, cost};
        auto given = method.given;
        if (!given.step) {
            double const worth = best.worth(p.dimension);
            detail::keeps_at_least const kept{detail::guaranteed_share<T>(method.compressor, cost, p.dimension, worth)};
            given.step = detail::compose_ef<T, B>(kept, {"cat(ef_sgd)", given, p}).scale;
        }
        return ef_sgd{best, given}.template compose<T, B>(p);
    }

    friend bool operator==(cat const& a, cat const& b) { return to_string(a) == to_string(b); }
    friend std::string to_string(cat const& m) { return detail::cat_text(m.method, m.cost); }
};

}  // namespace laconic
