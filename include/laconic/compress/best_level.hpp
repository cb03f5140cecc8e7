// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "laconic/compress/compressor.hpp"
#include "laconic/compress/levels.hpp"
#include "laconic/core/cost.hpp"
#include "laconic/message/levelled.hpp"

namespace laconic {

/// C at the level that makes the most progress for the cost of its message (CAT; Khirirat, Magnusson, Aytekin,
/// Johansson, arXiv:2003.06377), chosen anew for each vector: the lowest that has the largest
///     (1 - E|C(x) - x|^2 / |x|^2) / cost(bits) .
/// With a step of 1 / L a gradient step brings f down by the share kept of |x|^2 / (2 L), at least. The level is said,
/// as each rank has its own. Contractive with the delta of the lowest level, which equal magnitudes reach; of C only
/// what is no level matters.
template <class C, CommunicationCost Cost = message_cost>
struct best_level {
    C compressor{};
    Cost cost{};

    template <class T>
    struct memory_for {
        std::vector<T> room;
        std::vector<double> kept;
    };
    /// What a message carries for its reader.
    template <Scalar T, class B>
    struct inner {
        using workspace = memory_for<T>;
        C compressor{};
        template <class M>
        void blank_at(B& on, std::size_t level, std::size_t d, key from, M& m) const {
            levels<C>::at(compressor, level).blank(on, d, from, m);
        }
    };
    template <Scalar T, class B>
    using message = levelled<inner<T, B>, message_of<C, T, B>>;

    void check(std::size_t d) const {
        levels<C>::at(compressor, std::min(d, std::size_t{1})).check(d);  // first: only then is there a count
        levels<C>::at(compressor, levels<C>::count(compressor, d)).check(d);
    }
    template <class B, class M>
    void blank(B& on, std::size_t d, key from, M& m) const {
        m.levels = levels<C>::count(compressor, d);
        m.compressor = {compressor};
        m.from = from;
        if (m.length != d) {  // room for any level
            levels<C>::at(compressor, m.levels).blank(on, d, from, m.inside);
            if constexpr (requires { m.inside.make_room(on, d); }) m.inside.make_room(on, d);
        }
        m.length = d;
        m.level = 0;
    }
    template <class B, Scalar T, class M>
    void operator()(B& on, std::span<T const> x, key from, M& m) const {
        blank(on, x.size(), from, m);
        m.level = level_for(on, x, m.work);
        levels<C>::at(compressor, m.level)(on, x, from, m.inside);
    }

    /// The level for x: 1 where all its numbers are 0, 0 where it has none.
    template <class B, Scalar T>
    std::size_t level_for(B& on, std::span<T const> x, memory_for<T>& work) const {
        auto const count = levels<C>::count(compressor, x.size());
        if (count < 2) return count;
        T const largest = largest_magnitude(on, x);
        if (!std::isfinite(largest)) throw argument_error("best_level: a number is not finite");
        work.kept.resize(count);
        work.room.reserve(x.size());  // now: zeros may come first
        if (!(largest > 0)) return 1;
        levels<C>::kept(on, compressor, x, work.room, std::span<double>(work.kept));
        std::size_t best = 1;
        double most = -1;
        for (std::size_t level = 1; level <= count; ++level) {
            double const progress =
                work.kept[level - 1] / cost(levels<C>::template bits<T>(compressor, level, x.size()));
            if (progress > most) {
                most = progress;
                best = level;
            }
        }
        return best;
    }

    double delta(std::size_t d) const requires Contractive<C> {
        return d == 0 ? 1 : levels<C>::at(compressor, 1).delta(d);
    }

    friend bool operator==(best_level const& a, best_level const& b) {
        return levels<C>::at(a.compressor, 1) == levels<C>::at(b.compressor, 1) && a.cost == b.cost;
    }
    friend std::string to_string(best_level const& c) {
        return "best_level(" + levels<C>::family(c.compressor) +
               (c.cost == Cost{} ? ")" : ", cost=" + to_string(c.cost) + ")");
    }
};
template <class C>
best_level(C) -> best_level<C>;
template <class C, class Cost>
best_level(C, Cost) -> best_level<C, Cost>;

static_assert(Compressor<best_level<top_k<>>> && Compressor<best_level<top_k<>>, float>);
static_assert(Contractive<best_level<top_k<>>>);

}  // namespace laconic
