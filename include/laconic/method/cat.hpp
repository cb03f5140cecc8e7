// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "laconic/compress/best_level.hpp"
#include "laconic/compress/guaranteed_share.hpp"
#include "laconic/core/text.hpp"
#include "laconic/method/dcgd.hpp"
#include "laconic/method/ef_sgd.hpp"
#include "laconic/method/guarantee.hpp"

namespace laconic {

namespace detail {

// "name(inside, step=0.1, memory=0.5, batch=32)", with those numbers that are given.
inline std::string called(std::string const& name, std::string const& inside, overrides const& r) {
    return concat({name, "(", inside, (r.step ? concat({", step=", to_string(*r.step)}) : ""),
                   (r.memory ? concat({", memory=", *r.memory}) : ""), (r.batch ? concat({", batch=", r.batch}) : ""),
                   ")"});
}

}  // namespace detail

/// Communication-aware adaptive tuning (CAT; Khirirat, Magnusson, Aytekin, Johansson, arXiv:2003.06377): gradient
/// descent whose gradients are compressed at the level that makes the most progress for the cost of the message, chosen
/// anew in each round. It is dcgd{best_level{C, cost}}: with S = top_k, S + Q = top_k | scaled_sign, and step = 1 / L
/// on one worker. The choice is the best of each round's guarantee for its cost; a fixed level may cost less over a
/// whole run, as a step may do more than is guaranteed (top_k by bits: up to 1.5 times the best k, docs/results.md).
/// best_level itself fits into any other method for contractive compressors, such as ef21. The level that C itself has
/// is ignored.
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

    friend bool operator==(cat const& a, cat const& b) {
        return best_level<C, Cost, Sizes>{a.compressor, a.cost, a.sizes} ==
                   best_level<C, Cost, Sizes>{b.compressor, b.cost, b.sizes} &&
               a.given == b.given;
    }
    friend std::string to_string(cat const& m) {
        return detail::called(
            "cat",
            levels<C>::family(m.compressor) + (m.cost == Cost{} ? "" : detail::concat({", cost=", to_string(m.cost)})) +
                (to_string(m.sizes) == to_string(formula_sizes{}) ? ""
                                                                  : detail::concat({", sizes=", to_string(m.sizes)})),
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
        return at(level<T>(p)).template compose<T, B>(p);
    }
    /// The k for messages of numbers of T. Throws what best_rand_k throws.
    template <Scalar T = double>
    std::size_t level(problem const& p) const {
        return detail::best_rand_k<T>(method, cost, p);
    }

    friend bool operator==(cat const& a, cat const& b) { return a.at(1) == b.at(1) && a.cost == b.cost; }
    friend std::string to_string(cat const& m) {
        return detail::concat(
            {"cat(",
             detail::called(std::string(detail::name_of_type<M>()),
                            levels<decltype(M::compressor)>::family(m.method.compressor), m.method.given),
             (m.cost == Cost{} ? ")" : detail::concat({", cost=", to_string(m.cost), ")"}))});
    }

  private:
    M at(std::size_t k) const {
        M m = method;
        m.compressor = levels<decltype(m.compressor)>::at(m.compressor, k, k);
        return m;
    }
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

    friend bool operator==(cat const& a, cat const& b) {
        return best_level<C, Cost>{a.method.compressor, a.cost} == best_level<C, Cost>{b.method.compressor, b.cost} &&
               a.method.given == b.method.given;
    }
    friend std::string to_string(cat const& m) {
        return detail::concat({"cat(", detail::called("ef_sgd", levels<C>::family(m.method.compressor), m.method.given),
                               (m.cost == Cost{} ? ")" : detail::concat({", cost=", to_string(m.cost), ")"}))});
    }
};

}  // namespace laconic
