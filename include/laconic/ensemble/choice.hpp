// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "laconic/objective/mixture.hpp"

namespace laconic {

/// Which ensembles a round makes of the one before and of the new candidates: that one with each of them, that one with
/// all of them, or each of them alone.
enum class ensemble_strategy : std::uint8_t { grow, all, solo };
constexpr std::array<std::string_view, 3> words_of(ensemble_strategy) { return {"grow", "all", "solo"}; }

/// The weights of n members: those that minimise F, or 1/n each.
enum class mixture_weights : std::uint8_t { learned, uniform };
constexpr std::array<std::string_view, 2> words_of(mixture_weights) { return {"learned", "uniform"}; }

/// What the weight of a member of complexity r costs: Gamma = lambda r + beta. Where lambda is 0, r does not matter,
/// whatever it is.
struct complexity_penalty {
    double lambda = 0, beta = 0;
    double of(double r) const { return (lambda == 0 ? 0 : lambda * r) + beta; }
};

/// A network of an ensemble: the number of its hidden layers, its weight, its parameters
/// (objective/neural_network.hpp), and its outputs on the data. Its complexity is the square root of that number.
template <Scalar T>
struct ensemble_member {
    std::size_t depth;
    double weight;
    std::vector<T> parameters, outputs;
    double complexity() const { return std::sqrt(double(depth)); }
};

/// An ensemble that a round has chosen: 0 is that of the round before, and the new ones count from 1.
struct ensemble_choice {
    std::size_t ensemble = 0;
    std::vector<double> weights{};
};

/// The ensembles that a round makes of the members of the one before and of `candidates` new ones.
struct ensemble_rule {
    ensemble_strategy strategy = ensemble_strategy::grow;
    mixture_weights weights = mixture_weights::learned;
    complexity_penalty penalty{};
    bool force_grow = false;  ///< Whether the ensemble before is no choice.
    std::size_t candidates = 2;

    /// How many new ones there are.
    std::size_t ensembles() const { return strategy == ensemble_strategy::all ? 1 : candidates; }
    /// Whether this one has the members of the one before.
    bool keeps(std::size_t ensemble) const { return ensemble == 0 || strategy != ensemble_strategy::solo; }
    /// The candidates that are in this one.
    std::vector<std::size_t> added(std::size_t ensemble) const {
        std::vector<std::size_t> in;
        for (std::size_t s = 0; s < candidates && ensemble > 0; ++s)
            if (strategy == ensemble_strategy::all || s == ensemble - 1) in.push_back(s);
        return in;
    }

    /// F of an ensemble, without its weights.
    template <Scalar T, OutputLoss Loss>
    mixture<Loss, T> mixture_of(Loss const& loss, std::span<ensemble_member<T> const> members) const {
        mixture<Loss, T> mix(loss);
        for (auto const& m : members) mix.add(m.outputs, penalty.of(m.complexity()));
        return mix;
    }

    /// The ensemble with the least F, the first of equals: so the one before where F does not fall. `value` is F of
    /// that one. An F that is not finite is no choice, and an ensemble with a candidate that has no outputs is none.
    /// Nothing where there is no choice.
    template <Scalar T, OutputLoss Loss>
    std::optional<ensemble_choice> choose(Loss const& loss, std::span<ensemble_member<T> const> before, double value,
                                          std::span<ensemble_member<T> const> fresh) const {
        std::optional<ensemble_choice> best;
        double least = std::numeric_limits<double>::infinity();
        std::vector<double> old;
        for (auto const& m : before) old.push_back(m.weight);
        if (!before.empty() && !force_grow) least = value, best = {0, old};
        for (std::size_t e = 1; e <= ensembles(); ++e) {
            auto mix = mixture_of<T>(loss, keeps(e) ? before : before.first(0));
            auto const in = added(e);
            if (std::any_of(in.begin(), in.end(), [&](auto s) { return fresh[s].outputs.empty(); })) continue;
            for (auto const s : in) mix.add(fresh[s].outputs, penalty.of(fresh[s].complexity()));
            bool const learned = weights == mixture_weights::learned;
            bool const anew = !learned || !keeps(e) || before.empty();
            auto w = anew ? std::vector<double>(mix.dimension(), 1 / double(mix.dimension())) : old;
            w.resize(mix.dimension());  // a new member starts from 0, so that F does not rise
            double const f = learned ? mix.fit(w) : mix.penalised(w);
            if (f < least) least = f, best = {e, std::move(w)};
        }
        return best;
    }
};

}  // namespace laconic
