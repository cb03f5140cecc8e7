// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "laconic/compress/rand_k.hpp"
#include "laconic/estimate/estimator.hpp"

/// Estimates from a few rows whose noise vanishes at the optimum: L-SVRG, and SAGA with a table of slopes or of blocks.
namespace laconic {

/// Loopless SVRG (Hofmann et al. 2015; Kovalev, Horvath, Richtarik, ALT 2020): with a reference point w, which all
/// ranks set to the iterate at once with probability p in each round, a few rows' gradients at x and at w correct the
/// full gradient at w: g = grad f_B(x) - grad f_B(w) + grad f(w). Unbiased; exact in the first round, where w is the
/// starting point. p = 0 means batch / samples. Costs two batches a round, and a full gradient where w moves. Throws
/// argument_error for a batch of 0 and p outside [0, 1].
template <Scalar T = double, class B = host>
class l_svrg {
  public:
    explicit l_svrg(std::size_t batch = 1, double p = 0) : batch_(batch), p_(p) {
        if (batch == 0) throw argument_error("l_svrg: a batch of 0 rows");
        if (!(p >= 0 && p <= 1)) throw argument_error({"l_svrg: p = ", p, " is outside [0, 1]"});
    }

    std::optional<double> operator()(B& on, FiniteSum<T> auto const& f, round_context const& now, std::span<T const> x,
                                     std::span<T> g) {
        double const p = p_ > 0 ? p_ : std::min(1.0, static_cast<double>(batch_) / static_cast<double>(f.samples()));
        bool const first = reference_.empty();
        moves_ = first || now.shared.uniform(0) < p;
        if (moves_) kernels::assign(on, x, next_);
        there_.resize(x.size());
        next_full_.resize(x.size());
        if (first) {
            f.gradient(x, g);
            kernels::assign(on, std::span<T const>(g), next_full_);
            rows_.reserve(batch_);
            return std::nullopt;
        }
        if (reference_.size() != x.size() || full_.size() != x.size())
            throw shape_error("l_svrg: the reference point is of another objective");
        detail::draw_rows(now.gradient, f.samples(), batch_, rows_);
        std::span<std::uint32_t const> const rows(rows_);
        f.batch_gradient(rows, x, g);
        f.batch_gradient(rows, std::span<T const>(reference_), std::span<T>(there_));
        add_scaled(on, T(-1), std::span<T const>(there_), g);
        add_scaled(on, T(1), std::span<T const>(full_), g);
        if (moves_) {  // now, as a number that is not finite must be found before the message is sent
            f.gradient(x, std::span<T>(next_full_));
            detail::show_non_finite(on, std::span<T const>(next_full_), g);
        }
        return std::nullopt;
    }
    void update(B& on, std::span<T const>) {
        if (!moves_) return;
        kernels::assign(on, std::span<T const>(next_), reference_);
        kernels::assign(on, std::span<T const>(next_full_), full_);
    }

    /// w, and the gradient there; empty before the first round.
    std::span<T const> reference() const { return reference_; }
    std::span<T const> reference_gradient() const { return full_; }

    void state(auto& archive) { archive.vectors(reference_, full_); }
    friend std::string to_string(l_svrg const& e) {
        return detail::concat({"l_svrg(batch=", e.batch_, ", p=", e.p_, ")"});
    }

  private:
    std::size_t batch_;
    double p_;
    bool moves_ = false;
    std::vector<std::uint32_t> rows_;
    typename B::template array<T> reference_, full_, next_, next_full_, there_;
};

/// SAGA (Defazio, Bach, Lacoste-Julien, NeurIPS 2014) for generalised linear objectives: a table keeps the slopes that
/// each sample had when it was last drawn, outputs() numbers a sample instead of a gradient, and g = (the drawn rows'
/// new slopes less those in the table) + the table's mean + the penalty's gradient, which is exact. Unbiased; exact in
/// the first round, which fills the table. Costs two passes over the rows' non-zeros and some over d. Throws
/// argument_error for a batch of 0.
template <Scalar T = double, class B = host>
class saga {
  public:
    explicit saga(std::size_t batch = 1) : batch_(batch) {
        if (batch == 0) throw argument_error("saga: a batch of 0 rows");
    }

    std::optional<double> operator()(B& on, GeneralisedLinear<T> auto const& f, round_context const& now,
                                     std::span<T const> x, std::span<T> g) {
        std::size_t const m = f.samples(), k = f.outputs();
        if (table_.empty()) {
            rows_.clear();
            rows_.reserve(batch_);
            change_.resize(k);
            fresh_.reserve(std::max(m, batch_) * k);
            fresh_.resize(m * k);
            taken_.assign(m, false);  // a restored state may lack it
            next_mean_.assign(x.size(), T(0));
            for (std::size_t j = 0; j < m; ++j) {
                auto const s = std::span(fresh_).subspan(j * k, k);
                f.slopes(j, x, s);
                f.add_row(j, std::span<double const>(s), 1 / static_cast<double>(m), std::span<T>(next_mean_));
            }
            f.gradient(x, g);
            detail::show_non_finite(on, std::span<T const>(next_mean_), g);
            return std::nullopt;
        }
        if (table_.size() != m * k || mean_.size() != x.size())
            throw shape_error("saga: the table is of another objective");
        taken_.resize(m);
        for (auto const j : rows_) taken_[j] = false;
        detail::draw_rows(now.gradient, m, batch_, rows_);
        fresh_.resize(batch_ * k);
        change_.resize(k);
        copy(on, std::span<T const>(mean_), g);
        kernels::assign(on, std::span<T const>(mean_), next_mean_);
        f.add_penalty_gradient(x, g);
        for (std::size_t t = 0; t < batch_; ++t) {
            auto const s = std::span(fresh_).subspan(t * k, k);
            f.slopes(rows_[t], x, s);
            for (std::size_t c = 0; c < k; ++c) change_[c] = s[c] - table_[rows_[t] * k + c];
            f.add_row(rows_[t], std::span<double const>(change_), 1 / static_cast<double>(batch_), g);
            if (taken_[rows_[t]]) continue;  // a row that is drawn twice changes the table once
            taken_[rows_[t]] = true;
            f.add_row(rows_[t], std::span<double const>(change_), 1 / static_cast<double>(m), std::span<T>(next_mean_));
        }
        detail::show_non_finite(on, std::span<T const>(next_mean_), g);
        return std::nullopt;
    }
    void update(B& on, std::span<T const>) {
        if (rows_.empty()) {  // the first round
            table_ = fresh_;
            kernels::assign(on, std::span<T const>(next_mean_), mean_);
            return;
        }
        mean_.swap(next_mean_);
        auto const k = change_.size();
        for (std::size_t t = 0; t < rows_.size(); ++t)
            std::copy_n(fresh_.begin() + static_cast<std::ptrdiff_t>(t * k), k,
                        table_.begin() + static_cast<std::ptrdiff_t>(rows_[t] * k));
    }

    /// The slopes of sample j from j * outputs() on; empty before the first round.
    std::span<double const> table() const { return table_; }
    /// The mean gradient that the table represents, without the penalty.
    std::span<T const> mean() const { return mean_; }

    void state(auto& archive) {
        archive.of_any_length(table_);
        archive.vectors(mean_);
    }
    friend std::string to_string(saga const& e) { return detail::concat({"saga(batch=", e.batch_, ")"}); }

  private:
    std::size_t batch_;
    std::vector<std::uint32_t> rows_;
    std::vector<bool> taken_;  // the rows of this round
    std::vector<double> table_, fresh_, change_;
    typename B::template array<T> mean_, next_mean_;
};

/// SAGA with a table of whole gradients, whose rows are renewed only on the blocks that this rank sends in the round:
/// the estimator of ISAGA (Mishchenko, Hanzely, Richtarik, arXiv:1901.09437, algorithm 5). One row j is drawn a round,
/// and g = grad f_j(x) - table_j + mean of the table. The blocks are those that `blocks`, the recursion's compressor,
/// draws from the rank's key. Takes any FiniteSum; the table has samples x dimension numbers. The first round fills the
/// table, and its gradient is exact. Throws shape_error where the table is of another objective.
template <Scalar T = double, class B = host>
class block_saga {
  public:
    explicit block_saga(rand_block<> blocks = {}) : blocks_(blocks) {}

    std::optional<double> operator()(B& on, FiniteSum<T> auto const& f, round_context const& now, std::span<T const> x,
                                     std::span<T> g) {
        detail::draw_rows(now.gradient, f.samples(), 1, row_);
        blocks_.draw(on, x.size(), now.own, drawn_);
        fresh_.resize(x.size());
        if (table_.empty()) {
            fill_table(on, f, x);
            f.gradient(x, g);
            detail::show_non_finite(on, std::span<T const>(next_table_), g);
            detail::show_non_finite(on, std::span<T const>(next_mean_), g);
            return std::nullopt;
        }
        if (table_.size() != f.samples() * x.size() || mean_.size() != x.size())
            throw shape_error("block_saga: the table is of another objective");
        f.batch_gradient(std::span<std::uint32_t const>(row_), x, g);
        kernels::assign(on, std::span<T const>(g), fresh_);
        add_scaled(on, T(-1), std::span<T const>(kept(row_[0])), g);
        add_scaled(on, T(1), std::span<T const>(mean_), g);
        return std::nullopt;
    }
    void update(B& on, std::span<T const> x) {
        if (table_.empty()) {
            table_.swap(next_table_);
            mean_.swap(next_mean_);
            return;
        }
        T const share = T(1) / static_cast<T>(table_.size() / x.size());
        // mean <- mean + share (fresh - old), old <- fresh, on the blocks: the drawn message holds fresh - old.
        auto const old = kept(row_[0]);
        std::span<coordinate const> const at(drawn_.support);
        auto& change = drawn_.payload.values;
        gather(on, std::span<T const>(old), at, blocks_.block, T(1), replaced_);
        gather(on, std::span<T const>(fresh_), at, blocks_.block, T(1), change);
        scatter(on, std::span<T const>(change), at, blocks_.block, old);
        add_scaled(on, T(-1), std::span<T const>(replaced_), std::span<T>(change));
        add_message(on, std::span<T>(mean_), share, drawn_);
    }

    /// The gradient of sample j from j * dimension on, and the mean of them; empty before the first round.
    std::span<T const> table() const { return table_; }
    std::span<T const> mean() const { return mean_; }

    void state(auto& archive) {
        archive.of_any_length(table_);
        archive.vectors(mean_);
    }
    friend std::string to_string(block_saga const& e) {
        return detail::concat({"block_saga of ", to_string(e.blocks_)});
    }

  private:
    // Computes all rows at x, which are remembered once the first round is complete.
    void fill_table(B& on, auto const& f, std::span<T const> x) {
        auto const m = f.samples(), d = x.size();
        next_table_.resize(m * d);
        next_mean_.assign(d, T(0));
        auto const most = std::min(d, drawn_.support.size() * blocks_.block);  // room for later rounds
        replaced_.resize(most);
        drawn_.payload.values.resize(most);
        for (std::size_t j = 0; j < m; ++j) {
            row_[0] = static_cast<std::uint32_t>(j);
            auto const row = std::span<T>(next_table_).subspan(j * d, d);
            f.batch_gradient(std::span<std::uint32_t const>(row_), x, row);
            add_scaled(on, T(1) / static_cast<T>(m), std::span<T const>(row), std::span<T>(next_mean_));
        }
    }
    std::span<T> kept(std::size_t j) { return std::span<T>(table_).subspan(j * mean_.size(), mean_.size()); }

    rand_block<> blocks_;
    detail::message_of<rand_block<>, T, B> drawn_;
    std::vector<std::uint32_t> row_;
    typename B::template array<T> fresh_, replaced_, table_, mean_, next_table_, next_mean_;
};

}  // namespace laconic
