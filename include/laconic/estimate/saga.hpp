// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "laconic/backend/array.hpp"
#include "laconic/core/text.hpp"
#include "laconic/estimate/mini_batch.hpp"

namespace laconic {

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

    template <class F>
    requires GeneralisedLinear<F, T> std::optional<double>
    operator()(B& on, F const& f, round_context const& now, std::span<T const> x, std::span<T> g) {
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

    template <class Archive>
    void state(Archive& archive) {
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

}  // namespace laconic
