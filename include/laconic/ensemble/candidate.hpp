// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/compress/compressor.hpp"
#include "laconic/ensemble/choice.hpp"
#include "laconic/estimate/estimator.hpp"
#include "laconic/objective/neural_network.hpp"
#include "laconic/optim/step.hpp"
#include "laconic/wire/message.hpp"

namespace laconic {

/// Networks of any depth, with `width` units in each hidden layer, over the same data.
template <OutputLoss Loss, Scalar T>
class network_family {
  public:
    network_family(dataset<T> data, Loss loss, std::size_t width)
        : rows_(std::move(data)), loss_(std::move(loss)), width_(width) {}

    Loss const& loss() const { return loss_; }
    dataset<T> const& data() const { return rows_.data(); }
    /// How many numbers the outputs for all rows are.
    std::size_t outputs() const { return rows_.size() * loss_.outputs(); }
    neural_network<Loss, T> of(std::size_t depth) const {
        return neural_network<Loss, T>(rows_, std::vector<std::size_t>(depth, width_), loss_);
    }
    /// The outputs for all rows, row after row.
    std::vector<T> predict(std::size_t depth, std::span<T const> x) const {
        std::vector<T> z(outputs());
        of(depth).predict(x, z);
        return z;
    }
    /// Adds `weight` times the outputs for other data, row after row, to z.
    void add_prediction(std::size_t depth, std::span<T const> x, dataset<T> const& other, double weight,
                        std::vector<double>& z) const {
        neural_network<no_loss, T> const net(other, std::vector<std::size_t>(depth, width_),
                                             no_loss{loss_.outputs(), other.samples()});
        std::vector<T> its(z.size());
        net.predict(x, its);
        for (std::size_t i = 0; i < z.size(); ++i) z[i] += weight * double(its[i]);
    }

  private:
    shared_rows<T> rows_;
    Loss loss_;
    std::size_t width_;
};

/// How the work of a round is placed, as placement.py of TensorFlow's adanet does. With `replication` every rank does
/// all of it. With `round_robin` rank 0 builds the ensembles and the others train the candidates, one each, in turn
/// where they are too few; with `round_robin_drop` what no rank has is left out.
enum class placement_strategy : std::uint8_t { replication, round_robin, round_robin_drop };
constexpr std::array<std::string_view, 3> words_of(placement_strategy) {
    return {"replication", "round_robin", "round_robin_drop"};
}

/// The rank that trains candidate s of k >= 1, among `ranks` >= 1, and of several the first: the others would come to
/// the same numbers. Or no_rank.
constexpr int trainer_of(placement_strategy strategy, int ranks, int k, int s) {
    if (strategy == placement_strategy::replication || k == 1 || ranks == 1) return 0;
    if (strategy == placement_strategy::round_robin) return 1 + s % std::min(k, ranks - 1);
    return 1 + s < ranks ? 1 + s : no_rank;
}

/// Moves x by `steps` steps on one rank, the i-th along the mean gradient of `batch` rows that are drawn from all by
/// child i of the key: a function of x and the key. Allocates before the first step.
template <Scalar T, FiniteSum<T> F, Step<T, host> S>
void train(F const& f, S step, std::span<T> x, key from, std::size_t steps, std::size_t batch) {
    host on;
    std::vector<T> g(x.size());
    std::vector<std::uint32_t> rows;
    for (std::size_t i = 0; i < steps; ++i) {
        detail::draw_rows(from.child(i), f.samples(), batch, rows);
        f.batch_gradient(std::span<std::uint32_t const>(rows), std::span<T const>(x), std::span<T>(g));
        step(on, x, std::span<T>(g));
    }
}

/// What a rank that has trained a candidate sends of it: its outputs on the data, or its parameters.
enum class candidate_message : std::uint8_t { outputs, parameters };
constexpr std::array<std::string_view, 2> words_of(candidate_message) { return {"outputs", "parameters"}; }

/// A network that an ensemble may take in, on a rank that has trained it or has read what another rank sent of it. The
/// outputs of `net` are there where all numbers are finite: as the compressor lets them pass, on all ranks alike.
template <Scalar T, Compressor<T, host> Z>
class candidate {
  public:
    ensemble_member<T> net{};
    std::size_t bad = 0;  ///< The first parameter, or behind them the first output, that is not finite.

    /// Takes the parameters of a network of the family that has been trained.
    void take(auto const& family, Z const& compressor, key from, std::vector<T> x) {
        net.parameters = std::move(x);
        auto const exact = family.predict(net.depth, net.parameters);
        bad = first_non_finite(on_, std::span<T const>(net.parameters));
        if (bad == net.parameters.size()) bad += first_non_finite(on_, std::span<T const>(exact));
        if (bad < net.parameters.size() + exact.size()) return;
        compressor(on_, std::span<T const>(exact), from, message_);
        decode(exact.size());
    }

    /// A byte that is 1 and what is sent; or one that is 0, and `bad` in 8 bytes.
    void write(wire::bit_writer& sink, candidate_message what) const {
        bool const is_finite = !net.outputs.empty();
        sink.put(is_finite ? 1 : 0, 8);
        using messages::write;
        if (!is_finite)
            sink.put(bad, 64);
        else if (what == candidate_message::outputs)
            write(sink, message_);
        else
            put_numbers(sink, net.parameters);
    }
    /// Reads what write() wrote of a candidate whose depth is set; throws wire_error.
    void read(wire::bit_reader& source, candidate_message what, auto const& family, Z const& compressor, key from) {
        auto const is_finite = source.take(8);
        if (is_finite > 1) source.refuse("a candidate that is neither finite nor not");
        if (is_finite == 0) {
            bad = detail::as_size(source.take(64));
        } else if (what == candidate_message::outputs) {
            compressor.blank(on_, family.outputs(), from, message_);
            using wire::read;
            read(on_, source, message_, compressor);
            decode(family.outputs());
            bad = family.of(net.depth).dimension() + family.outputs();
        } else {
            read_parameters(source, family);
            take(family, compressor, from, std::move(net.parameters));
        }
    }
    void read_parameters(wire::bit_reader& source, auto const& family) {
        net.parameters.resize(family.of(net.depth).dimension());
        take_numbers(source, net.parameters);
    }

  private:
    void decode(std::size_t n) {
        net.outputs.assign(n, T(0));
        add_message(on_, std::span<T>(net.outputs), T(1), message_);
    }

    [[no_unique_address]] host on_;
    detail::message_of<Z, T, host> message_{};
};

}  // namespace laconic
