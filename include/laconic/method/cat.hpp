// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "laconic/compress/best_level.hpp"
#include "laconic/method/dcgd.hpp"

namespace laconic {

/// Communication-aware adaptive tuning (CAT; Khirirat, Magnusson, Aytekin, Johansson, arXiv:2003.06377): gradient
/// descent whose gradients are compressed at the level that makes the most progress for the cost of the message, chosen
/// anew in each round. It is dcgd{best_level{C, cost}}: with S = top_k, S + Q = top_k | sign, and step = 1 / L on one
/// worker. best_level itself goes into any other method for contractive compressors, such as ef21.
template <class C, CommunicationCost Cost = message_cost>
struct cat {
    C compressor;
    Cost cost{};
    rates given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        static_assert(Levelled<C, T, B>,
                      "cat{C}: no level can be chosen for C; compress/levels.hpp says what it takes");
        return detail::compose_dcgd<T, B>(best_level<C, Cost>{compressor, cost}, given, p, "cat");
    }

    friend bool operator==(cat const& a, cat const& b) {
        return best_level<C, Cost>{a.compressor, a.cost} == best_level<C, Cost>{b.compressor, b.cost} &&
               a.given == b.given;
    }
    friend std::string to_string(cat const& m) {
        return detail::called(
            "cat", levels<C>::family(m.compressor) + (m.cost == Cost{} ? "" : ", cost=" + to_string(m.cost)), m.given);
    }
};
template <class C, class Cost = message_cost>
cat(C, Cost = {}, rates = {}) -> cat<C, Cost>;

static_assert(Method<cat<top_k<>>>);

}  // namespace laconic
