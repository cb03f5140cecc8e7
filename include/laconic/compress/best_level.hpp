// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "laconic/compress/levels.hpp"
#include "laconic/core/cost.hpp"
#include "laconic/message/message.hpp"
#include "laconic/message/wrappers.hpp"

namespace laconic {

namespace detail {

// ", cost=..." of a cost that is not the usual one.
template <class Cost>
std::string cost_text(Cost const& cost) {
    return cost == Cost{} ? "" : concat({", cost=", to_string(cost)});
}

}  // namespace detail

/// The bits of messages, for best_level: this counts them as papers do. Any other type is a comparable value with
///   sizes(formula, message)  the bits of a message: of formula(), by levels<C>::bits, or of message(), the message
///                            itself, which costs a compression;
///   sizes.are_dear()         whether it calls message(), so that best_level evaluates few levels;
///   to_string(sizes)         its name.
struct formula_sizes {
    double operator()(auto formula, auto) const { return formula(); }
    static constexpr bool are_dear() { return false; }

    bool operator==(formula_sizes const&) const = default;
    friend std::string to_string(formula_sizes) { return "formula"; }
};

/// C at the level that makes the most progress for the cost of its message (CAT; Khirirat, Magnusson, Aytekin,
/// Johansson, arXiv:2003.06377), chosen anew for each vector: the lowest that has the largest
///     (1 - E|C(x) - x|^2 / |x|^2) / cost(bits) .
/// A gradient step of size 1 / L lowers f by at least the share kept of |x|^2 / (2 L): it is the best level for one
/// round, not for a whole run. The level is part of the message. Contractive with the delta of the lowest level, which
/// equal magnitudes attain; the level that C itself has is ignored.
///
/// Where sizes are dear, few levels are evaluated: those that may be worth 1 / 128 more than the best so far, judged by
/// the sizes of lower ones, and the highest. The search assumes that a higher level never takes fewer bits, although of
/// signs with their positions those above two thirds of all may.
///
/// A vector of more than sort_up_to numbers is read twice in place of a sort, where C has a curve. If a higher level
/// never costs less, the level chosen is worth more than 0.99 of the best, 0.97 where sizes are dear: the histogram has
/// squares to within q = 1 + 2^-8, and so what a level keeps, whatever the probabilities, and q^2 where two are
/// compared; the search gives away 1 + 2^-9, or 2^-6. It omits numbers below 2^-48 of the largest, which change a sum
/// of magnitudes by at most 2^-16.
template <class C, CommunicationCost Cost = message_cost, class Sizes = formula_sizes>
struct best_level {
    C compressor{};
    Cost cost{};
    Sizes sizes{};
    std::size_t sort_up_to = sorted_by_default;

    static constexpr std::size_t sorted_by_default = 65536;

    template <class T, class B>
    struct memory_on;
    template <class T, class B = host>
    using memory_for = memory_on<T, B>;  // clang 14 forgets the default argument of a class that is declared first
    template <Scalar T, class B>
    using message = messages::levelled<memory_for<T, B>, detail::message_of<C, T, B>>;

    template <class T, class B>
    struct memory_on {
        template <class Other>
        using for_backend = memory_on<T, Other>;
        struct none {};
        typename B::template array<T> room;
        std::vector<double> kept;
        detail::histogram magnitudes;
        std::conditional_t<OnHost<B>, none, message<T, host>> counted{};  ///< a copy whose bits are counted
    };

    /// C at this level, for vectors of d numbers.
    auto at(std::size_t level, std::size_t d) const { return levels<C>::at(compressor, level, d); }
    void check(std::size_t d) const {
        at(std::min(d, std::size_t{1}), d).check(d);  // first: only then is there a count
        at(levels<C>::count(compressor, d), d).check(d);
    }
    template <class B>
    void blank(B& on, std::size_t d, key from, auto& m) const {
        messages::check_dimension(d);
        m.levels = levels<C>::count(compressor, d);
        m.from = from;
        if (m.length != d) {  // makes room for any level
            auto const highest = at(m.levels, d);
            highest.blank(on, d, from, m.inside);
            if constexpr (requires { m.inside.make_room(on, d, highest); }) m.inside.make_room(on, d, highest);
        }
        m.length = d;
        m.level = 0;
    }
    template <class B, Scalar T, class M>
    void operator()(B& on, std::span<T const> x, key from, M& m) const {
        blank(on, x.size(), from, m);
        auto const compress_at = [&](std::size_t level) -> M& {
            m.level = level;
            at(level, x.size())(on, x, from, m.inside);
            return m;
        };
        compress_at(choose(on, x, m.work, [&](std::size_t level) {
            return cost(sizes([&] { return levels<C>::template bits<T>(compressor, level, x.size()); },
                              [&]() -> auto const& { return counted(on, compress_at(level)); }));
        }));
    }

    /// The level for x: 1 where all its numbers are 0, 0 where it has none.
    template <class B, Scalar T>
    std::size_t level_for(B& on, std::span<T const> x,
                          memory_for<T, B>& work) const requires std::same_as<Sizes, formula_sizes> {
        return choose(on, x, work, [&](std::size_t level) {
            return cost(levels<C>::template bits<T>(compressor, level, x.size()));
        });
    }

    /// The least ratio of the worth of the chosen level to that of the best one, for vectors of d numbers.
    double worth(std::size_t d) const requires std::same_as<Sizes, formula_sizes> {
        return detail::has_curve<C> && d > sort_up_to ? 0.99 : 1;
    }

    bool contractive() const requires Contractive<C> { return is_contractive(compressor); }
    double delta(std::size_t d) const requires Contractive<C> { return d == 0 ? 1 : at(1, d).delta(d); }

    friend bool operator==(best_level const& a, best_level const& b) {
        return a.at(1, 1) == b.at(1, 1) && a.cost == b.cost && a.sizes == b.sizes && a.sort_up_to == b.sort_up_to;
    }
    friend std::string to_string(best_level const& c) {
        return detail::concat(
            {"best_level(", levels<C>::family(c.compressor), detail::cost_text(c.cost),
             (to_string(c.sizes) == to_string(formula_sizes{}) ? "" : detail::concat({", sizes=", to_string(c.sizes)})),
             (c.sort_up_to == sorted_by_default ? ")" : detail::concat({", sort_up_to=", c.sort_up_to, ")"}))});
    }

  private:
    // The message in memory where its bits can be counted.
    template <class B, class M>
    static auto const& counted(B& on, M& m) {
        if constexpr (OnHost<B>) {
            return m;
        } else {
            host there;
            copy_message(on, m, there, m.work.counted);
            return m.work.counted;
        }
    }
    template <class B, Scalar T, class Price>
    std::size_t choose(B& on, std::span<T const> x, memory_for<T, B>& work, Price price) const {
        auto const count = levels<C>::count(compressor, x.size());
        if (count < 2) return count;
        T const largest = largest_magnitude(on, x);
        if (!std::isfinite(largest)) throw argument_error("best_level: a number is not finite");
        if (detail::has_curve<C> && x.size() > sort_up_to) {
            work.magnitudes.make_room();  // here already, as a vector of zeros may come first
            if (!(largest > 0)) return 1;
            work.magnitudes.fill(on, x, largest);
            work.kept.clear();  // it may hold a shorter vector's
        } else {
            work.kept.resize(count);
            work.room.resize(x.size());
            if (!(largest > 0)) return 1;
            levels<C>::kept(on, compressor, x, work.room, std::span<double>(work.kept));
        }
        return best_in(compressor, {x.size(), work.kept, &work.magnitudes}, price);
    }

    static constexpr double dear_slack = 0x1p-7;

    // What choose() has computed of a vector: its length, and what each level keeps of it or, where that is empty, its
    // histogram.
    struct vector_known {
        std::size_t d;
        std::span<double const> kept;
        detail::histogram* magnitudes;

        vector_known levels_from(std::size_t first, std::size_t n) const {
            return {d, kept.empty() ? kept : kept.subspan(first, n), magnitudes};
        }
    };
    // The best level of each part of one_of separately, as the price of a higher level rises within one part only.
    template <class Part, class Price>
    std::size_t best_in(Part const& c, vector_known const& x, Price price) const {
        if constexpr (detail::has_two_families<Part>) {
            auto const n = levels<decltype(c.first)>::count(c.first, x.d);
            auto const later = [&](std::size_t level) { return price(n + level); };
            auto const known = x.levels_from(0, n),
                       rest = x.levels_from(n, levels<decltype(c.second)>::count(c.second, x.d));
            auto const a = best_in(c.first, known, price), b = best_in(c.second, rest, later);
            return kept_in(c.second, rest, b) / later(b) > kept_in(c.first, known, a) / price(a) ? n + b : a;
        } else {
            if constexpr (detail::has_curve<Part>)
                if (x.kept.empty())
                    return detail::best_on(levels<Part>::curve(c, *x.magnitudes), levels<Part>::count(c, x.d), price,
                                           sizes.are_dear() ? dear_slack : 0x1p-10);
            return best_of(x.kept, price, sizes.are_dear());
        }
    }
    // What a level keeps, in units that do not depend on the level or on the part.
    template <class Part>
    static double kept_in(Part const& c, vector_known const& x, std::size_t level) {
        if (!x.kept.empty()) return x.kept[level - 1];
        if constexpr (detail::has_two_families<Part>) {
            auto const n = levels<decltype(c.first)>::count(c.first, x.d);
            return level <= n ? kept_in(c.first, x, level) : kept_in(c.second, x, level - n);
        } else if constexpr (detail::has_curve<Part>) {
            return levels<Part>::curve(c, *x.magnitudes).energy(level);
        }
        return 0;  // never reached: without a curve the vector was sorted
    }

    // The lowest level of the most worth; where sizes are dear, one that is nearly as good, after a few evaluations.
    static std::size_t best_of(std::span<double const> kept, auto price, bool dear) {
        std::size_t best = 1;
        double most = 0;
        auto const look = [&](std::size_t level) {
            double const p = price(level), worth = kept[level - 1] / p;
            if (worth > most) most = worth, best = level;
            return p;
        };
        for (double const slack : {0x1p-3, dear_slack}) {  // the first pass leaves little to the second
            double below = 0;                              // the price of the last level evaluated
            for (std::size_t level = 1; level <= kept.size(); ++level)
                if (kept[level - 1] > (dear ? 1 + slack : 1) * most * below) below = look(level);
        }
        look(kept.size());
        return best;
    }
};
template <class C>
best_level(C) -> best_level<C>;
template <class C, class Cost>
best_level(C, Cost) -> best_level<C, Cost>;
template <class C, class Cost, class Sizes>
best_level(C, Cost, Sizes) -> best_level<C, Cost, Sizes>;
template <class C, class Cost, class Sizes, class N>
best_level(C, Cost, Sizes, N) -> best_level<C, Cost, Sizes>;

}  // namespace laconic
