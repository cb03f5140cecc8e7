// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "laconic/ensemble/growing_ensemble.hpp"

namespace laconic {

/// AdaNet (Cortes, Gonzalvo, Kuznetsov, Mohri, Yang, ICML 2017) in the form of TensorFlow's framework: an ensemble of
/// networks that grows from round to round for as long as its F = loss + sum_j (lambda r_j + beta) |w_j| on the data
/// falls, where w_j is the weight of a member with r_j^2 hidden layers. A round trains two candidates on the loss
/// alone, one as deep as the newest member, one a layer deeper, and chooses the ensemble with the least F.
struct adanet {
    std::size_t width = 64;                 ///< Units of a hidden layer.
    std::size_t steps = 20000, batch = 32;  ///< Of the training of a candidate, by RMSProp.
    double rate = 1e-3;
    double lambda = 0, beta = 0;
    ensemble_strategy strategy = ensemble_strategy::grow;
    mixture_weights weights = mixture_weights::learned;
    bool force_grow = false;  ///< Whether the ensemble of the round before is no choice.
    bool retry = false;       ///< Whether the rounds go on, with new draws, after one that has chosen it.
    placement_strategy placed = placement_strategy::round_robin;
    candidate_message send = candidate_message::outputs;

    bool operator==(adanet const&) const = default;
    static constexpr void description(auto&& describe) {
        constexpr double most = std::numeric_limits<double>::max();
        describe("adanet", "an ensemble of networks that grows", "Cortes et al., ICML 2017",
                 field("width", &adanet::width).between(1, 1e9), field("steps", &adanet::steps),
                 field("batch", &adanet::batch).between(1, 1e9), field("rate", &adanet::rate).between(0, most),
                 field("lambda", &adanet::lambda).between(0, most), field("beta", &adanet::beta).between(0, most),
                 field("strategy", &adanet::strategy), field("weights", &adanet::weights),
                 field("force_grow", &adanet::force_grow), field("retry", &adanet::retry),
                 field("placed", &adanet::placed), field("send", &adanet::send));
    }

    ensemble_rule rule() const { return {strategy, weights, {lambda, beta}, force_grow}; }

    /// The loop, over data that all ranks have. `compressor` makes the messages of the candidates' outputs.
    template <Scalar T, OutputLoss Loss, Communicator C, Compressor<T, host> Z = identity>
    growing_ensemble<adanet, Loss, T, C, Z> start(dataset<T> data, Loss loss, C& comm, std::uint64_t seed,
                                                  Z compressor = {}) const {
        return {*this, std::move(data), std::move(loss), comm, seed, std::move(compressor)};
    }
};

}  // namespace laconic
