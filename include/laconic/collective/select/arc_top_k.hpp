// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/collective/collective.hpp"
#include "laconic/collective/dense/halving_doubling.hpp"

namespace laconic {

/// The sum of dense vectors, of which only k rows are applied: about those of largest norm (ARC-Top-K,
/// arXiv:2510.26709). Rank i's vector is a matrix X_i of `rows` rows, row after row. All ranks sum a sketch X_i V,
/// where V has `sketch` columns and is the same on all ranks, drawn anew in each round. The k rows of the summed sketch
/// that have the largest norms (of equal norms, the first) are the support on all ranks; the ranks sum these rows of
/// X_i as a dense vector, without positions. The rest of X_i stays with rank i: the sum of what the ranks bring = what
/// is applied + the sum of what stays, exactly in the rows that are not applied. If all rows are taken, as of a vector,
/// which is one row, it is the dense sum.
///
/// All ranks apply one support. So with identity and error feedback, (x, mean e) is error feedback of one rank that
/// holds the mean of all objectives, however much they differ, without the floor that there is if each rank selects its
/// own support.
///
/// The numbers of V are independent and uniform in (-1, 1): the squared norm of a row of the sketch is in expectation
/// sketch / 3 times that of the row, with a relative variance below 2 / sketch. No constant is known for which the
/// selection is contractive.
///
/// Cost: two sums as by halving_doubling, one after the other, of sketch x rows and k x columns numbers: 4 log2 P
/// messages. With `rows` = 1, a reducer's layer that states its rows sets `rows` if fewer numbers travel then: see
/// shape().
struct arc_top_k {
    std::size_t rows = 1;
    portion k = 0.08;        ///< of the rows
    std::size_t sketch = 4;  ///< columns
    std::uint64_t seed = 0;

    static constexpr void description(auto&& describe) {
        describe("arc_top_k", "k rows of the dense sum, of about the largest norms: the same for all ranks",
                 "arXiv:2510.26709", field("rows", &arc_top_k::rows).between(1, 0x1p53).written_by_name(),
                 field("k", &arc_top_k::k).written_by_name(), field("sketch", &arc_top_k::sketch).between(1, 1e9),
                 field("seed", &arc_top_k::seed));
    }
    void check(std::size_t d) const {
        if (rows == 0 || sketch == 0) throw argument_error("arc_top_k: a matrix or a sketch without numbers");
        if (d % rows != 0) throw argument_error({"arc_top_k: d = ", d, " numbers are no matrix of ", rows, " rows"});
        k.check(rows);
    }
    /// Adapts to a layer of d numbers that is a matrix of `of_layer` rows: `rows` becomes that if it is 1, `of_layer`
    /// is at least 2, and fewer numbers travel then.
    void shape(std::size_t d, std::size_t of_layer) {
        if (rows != 1 || of_layer < 2) return;
        double const n = static_cast<double>(of_layer), m = static_cast<double>(d) / n;
        if (static_cast<double>(sketch) * n + static_cast<double>(k.of(of_layer)) * m < n * m) rows = of_layer;
    }
    template <Scalar T, OnHost B = host>
    class adder;
    bool operator==(arc_top_k const&) const = default;
};

template <Scalar T, OnHost B>
class arc_top_k::adder : detail::sum_in_session {
  public:
    adder(arc_top_k const& how, std::size_t d, position_code positions)
        : sum_in_session(how, d, positions),
          rows_(how.rows),
          cols_(d / how.rows),
          k_(how.k.of(how.rows)),
          from_{how.seed} {
        if (takes_all()) return;
        left_.resize(d);
        v_.resize(how.sketch * cols_);
        sketch_.resize(how.sketch * rows_);
        chosen_.resize(k_ * cols_);
        some_.resize(how.sketch);
        norms_.resize(rows_);
        order_.resize(rows_);
    }

    /// x <- the rows that are applied, and 0 elsewhere. After an error leftover() is unspecified.
    void operator()(B& on, PointToPoint auto& comm, std::span<T> x, sum_round round = {}) {
        draw_symmetric(on, from_.child(round.number), 0, std::span<T>(v_));
        sum_with(on, comm, x, v_, round);
    }
    /// The same with V, one column after another, the same on all ranks; its numbers are from -1 to 1.
    void sum_with(B& on, PointToPoint auto& comm, std::span<T> x, std::span<T const> v, sum_round const& round) {
        LACONIC_EXPECTS(v.size() == v_.size());
        session_.start(on, comm, round, x, d_);
        if (takes_all()) {
            detail::sum_by_halves(on, comm, session_, x, d_);
            return session_.finish();
        }
        std::span<T> const short_form(sketch_), chosen(chosen_), left(left_);
        T const to_add = detail::scale_to_add<T>(cols_, comm.size());
        if (!session_.failed()) {
            copy(on, std::span<T const>(x), left);
            multiply(on, to_add, x);
            multiply_matrix(on, std::span<T const>(x), kernels::matrix_is::as_it_stands, v, some_.size(), short_form);
        }
        detail::sum_by_halves(on, comm, session_, short_form, short_form.size());
        if (!session_.failed()) {
            select(on);
            each_chosen(x, [&](std::span<T> row, std::span<T> to) { copy(on, std::span<T const>(row), to); });
        }
        detail::sum_by_halves(on, comm, session_, chosen, chosen.size());
        if (!session_.failed()) {
            multiply(on, 1 / to_add, chosen);
            fill(on, x, T(0));
            each_chosen(x, [&](std::span<T> row, std::span<T> of) { copy(on, std::span<T const>(of), row); });
            each_chosen(left, [&](std::span<T> row, std::span<T>) { fill(on, row, T(0)); });
            session_.check_sum(on, x, 0);
        }
        session_.finish();
    }

    /// What this rank brought in the rows that were not applied; empty where all are taken.
    std::span<T const> leftover() const { return left_; }

  private:
    bool takes_all() const { return k_ == rows_; }
    // The first k_ of order_ <- the rows of largest norm in the sketch, in their order.
    void select(B& on) {
        T const unit = kernels::unit_scale(largest_magnitude(on, std::span<T const>(sketch_)));
        for (std::size_t r = 0; r < rows_; ++r) {
            for (std::size_t c = 0; c < some_.size(); ++c) some_[c] = unit * sketch_[c * rows_ + r];
            norms_[r] = sum_of_squares(on, std::span<T const>(some_));
            order_[r] = r;
        }
        auto const end = order_.begin() + static_cast<std::ptrdiff_t>(k_);
        std::nth_element(order_.begin(), end, order_.end(), [this](std::size_t a, std::size_t b) {
            return norms_[a] != norms_[b] ? norms_[a] > norms_[b] : a < b;
        });
        std::sort(order_.begin(), end);
    }
    // f(a row of x, its place in chosen_) for those.
    void each_chosen(std::span<T> x, auto f) {
        for (std::size_t j = 0; j < k_; ++j)
            f(x.subspan(order_[j] * cols_, cols_), std::span<T>(chosen_).subspan(j * cols_, cols_));
    }

    std::size_t rows_, cols_, k_;
    key from_;
    typename B::template array<T> left_, v_, sketch_, chosen_, some_;
    std::vector<double> norms_;
    std::vector<std::size_t> order_;
};

}  // namespace laconic
