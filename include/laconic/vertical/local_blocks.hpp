// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/estimate/estimator.hpp"
#include "laconic/objective/party.hpp"
#include "laconic/optim/divergence_guard.hpp"
#include "laconic/transport/by_turns.hpp"

namespace laconic {

/// From what a party computes the slopes of its samples.
enum class slope_source {
    labels,    ///< from the sums z_i of all embeddings and the labels, which all parties have
    residual,  ///< from the residuals z_i - target_i, as the loss is affine; one party has the labels
    received   ///< the party that has the labels sends the slopes; they stay as they are during the local steps
};

/// What the parts of block descent on one rank share, and what they run with.
template <class P, Scalar T>
struct block_work {
    P const* party;
    int rank;
    turn_schedule when;
    slope_source source;
    std::uint64_t local_steps;
    double step, prox;
    std::size_t batch;  ///< 0: all samples
    key seed;
    std::uint64_t most_steps = local_steps;  ///< what local_steps was at first
    divergence_guard guard{};
    double size = 0;               ///< the largest mean square of this party's embeddings so far
    std::uint64_t sent_batch = 0;  ///< which the embeddings of this exchange are about
    std::vector<T> sums{};         ///< workspace of a server
    struct batch_rows {
        std::uint64_t number = ~std::uint64_t{0};
        std::vector<coordinate> list{};
    };
    std::array<batch_rows, 2> drawn{};  ///< the last batches

    std::size_t samples() const { return batch > 0 ? batch : party->samples(); }
    /// The length of the vectors that travel.
    std::size_t numbers() const { return samples() * party->outputs(); }
    /// The samples of a batch, drawn without repetition: the same on all ranks.
    row_choice rows(host& on, std::uint64_t number) {
        if (batch == 0) return row_choice::all(party->samples());
        auto& here = drawn[number % 2];
        if (here.number != number)
            sample(on, round_context::of(seed, number, 0, when.parties).shared, party->samples(), batch, here.list);
        here.number = number;
        return row_choice::of(here.list);
    }
    /// The mean loss of a batch from what has been received of it: less its constant for `residual`; NaN for
    /// `received`.
    double loss(host& on, std::uint64_t number, std::span<T const> z) {
        if (source == slope_source::residual) return party_curvature() * half_mean_square(on, z);
        if constexpr (LabelledParty<P, T>)
            if (source == slope_source::labels) return party->loss(rows(on, number), z);
        return std::numeric_limits<double>::quiet_NaN();
    }
    /// The mean loss of all samples, on the server.
    double loss_of_sums() const {
        if constexpr (LabelledParty<P, T>)
            return party->loss(row_choice::all(party->samples()), std::span<T const>(sums));
        return 0;
    }
    double penalty(std::span<T const> x) const {
        if constexpr (requires { party->penalty(x); }) return static_cast<double>(party->penalty(x));
        return 0;
    }
    double half_mean_square(host& on, std::span<T const> z) const {
        return sum_of_squares(on, z) / (2 * static_cast<double>(samples()));
    }
    double party_curvature() const {
        if constexpr (AffineParty<P, T>) return party->curvature();
        return 0;
    }
    void slopes(row_choice rows, std::span<T const> z, std::span<T> s) const {
        if constexpr (LabelledParty<P, T>) party->slopes(rows, z, s);
    }

    // As the objective of a loop over vectors that travel: half the mean square.
    std::size_t dimension() const { return numbers(); }
    double value(std::span<T const> z) const {
        host on;
        return half_mean_square(on, z);
    }
    void gradient(std::span<T const> z, std::span<T> g) const {
        for (std::size_t i = 0; i < z.size(); ++i) g[i] = z[i] / static_cast<T>(samples());
    }
};

/// The estimator of block descent: moves this party's block by local steps
///
///     x <- x - step (grad_k(z - z^k(x_before) + z^k(x), x) + prox (x - x_before))
///
/// in which the other parties' embeddings stay as they were, and has the embeddings of the moved block as result. The
/// block itself moves once these have reached the others. Cost of a local step: two passes over the party's data.
template <class P, Scalar T>
class local_blocks {
  public:
    local_blocks(std::shared_ptr<block_work<P, T>> work, std::span<T> x)
        : work_(std::move(work)), x_(x), moved_(x.size()), gradient_(x.size()) {
        for (auto* v : {&rest_, &z_, &slopes_}) v->resize(work_->numbers());
    }

    std::optional<double> operator()(host& on, auto const&, round_context const& now, std::span<T const> z,
                                     std::span<T> g) {
        auto& w = *work_;
        w.sent_batch = w.when.batch(now.round);
        copy(on, std::span<T const>(x_), std::span<T>(moved_));
        if (w.when.moves(now.round, w.rank)) move(on, w.rows(on, w.when.batch(now.round - 1)), z);
        if (!w.when.sends(now.round, w.rank)) {
            fill(on, g, T(0));
            return std::nullopt;
        }
        auto const rows = w.rows(on, w.sent_batch);
        w.party->embedding(rows, std::span<T const>(moved_), g);
        w.size = std::max(w.size, 2 * w.half_mean_square(on, g));
        if constexpr (AffineParty<P, T>)
            if (w.source == slope_source::residual && w.party->has_labels()) {
                w.party->subtract_targets(rows, g);
                w.size = std::max(w.size, 2 * w.half_mean_square(on, g));
            }
        detail::show_non_finite(on, std::span<T const>(moved_), g);
        return std::nullopt;
    }
    void update(host& on, std::span<T const>) {
        if (work_->when.moves(exchange_++, work_->rank)) copy(on, std::span<T const>(moved_), x_);
    }
    void state(auto& archive) {
        archive(exchange_);
        archive.between(std::uint64_t{1}, work_->most_steps, work_->local_steps);
        archive(work_->guard, work_->size);
        archive.span_there(x_);
    }
    friend std::string to_string(local_blocks const& b) {
        auto const& w = *b.work_;
        return detail::concat({"local_blocks(steps=", w.local_steps, ", step=", w.step, ", prox=", w.prox,
                               ", batch=", w.batch, ", slopes=", static_cast<int>(w.source), ", ", w.when.parties,
                               " parties", (w.when.in_turns ? " in turns)" : ")")});
    }

  private:
    void move(host& on, row_choice rows, std::span<T const> z) {
        auto& w = *work_;
        std::span<T> const x(moved_), at(z_), s(slopes_), g(gradient_), rest(rest_);
        bool const fixed = w.source == slope_source::received;
        copy(on, z, fixed ? s : at);
        if (w.local_steps > 1 && !fixed) {
            w.party->embedding(rows, std::span<T const>(x_), rest);
            multiply(on, T(-1), rest);
            add_scaled(on, T(1), z, rest);
        }
        for (std::uint64_t q = 0; q < w.local_steps; ++q) {
            if (q > 0 && !fixed) {
                w.party->embedding(rows, std::span<T const>(x), at);
                add_scaled(on, T(1), std::span<T const>(rest), at);
            }
            if (w.source == slope_source::labels) w.slopes(rows, std::span<T const>(at), s);
            if (w.source == slope_source::residual) {
                copy(on, std::span<T const>(at), s);
                multiply(on, static_cast<T>(w.party_curvature()), s);
            }
            w.party->block_gradient(rows, std::span<T const>(s), std::span<T const>(x), g);
            if (q > 0 && w.prox > 0) {
                add_scaled(on, static_cast<T>(w.prox), std::span<T const>(x), g);
                add_scaled(on, static_cast<T>(-w.prox), std::span<T const>(x_), g);
            }
            add_scaled(on, static_cast<T>(-w.step), std::span<T const>(g), x);
        }
    }

    std::shared_ptr<block_work<P, T>> work_;
    std::span<T> x_;
    std::vector<T> moved_, gradient_, rest_, z_, slopes_;
    std::uint64_t exchange_ = 0;
};

/// The server's compressor where rank 0 alone has the labels: its answer to the mean of the embeddings is their slopes.
template <class P, Scalar Number>
struct slopes_of_mean {
    std::shared_ptr<block_work<P, Number>> work{};

    template <Scalar T, class B>
    using message = messages::full_vector<T, B>;

    void check(std::size_t) const {}
    void blank(host& on, std::size_t d, key from, messages::full_vector<Number, host>& m) const {
        identity{}.blank(on, d, from, m);
    }
    void operator()(host& on, std::span<Number const> mean, key, messages::full_vector<Number, host>& m) const {
        auto& w = *work;
        kernels::assign(on, mean, w.sums);
        multiply(on, static_cast<Number>(w.when.parties), std::span<Number>(w.sums));
        m.values.resize(mean.size());
        w.slopes(w.rows(on, w.sent_batch), std::span<Number const>(w.sums), std::span<Number>(m.values));
    }
    bool operator==(slopes_of_mean const& other) const { return work == other.work; }
    friend std::string to_string(slopes_of_mean const&) { return "slopes of the sum"; }
};

/// The step of block descent: what the others' embeddings are known to be is replaced.
struct replace_by {
    double factor = 1;

    template <class B, Scalar T>
    void operator()(B& on, std::span<T> x, std::span<T> mean) const {
        copy(on, std::span<T const>(mean), x);
        multiply(on, static_cast<T>(factor), x);
    }
    friend std::string to_string(replace_by s) { return detail::concat({"replace_by(", s.factor, ")"}); }
};

}  // namespace laconic
