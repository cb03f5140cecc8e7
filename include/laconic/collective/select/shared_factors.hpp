// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "laconic/collective/collective.hpp"
#include "laconic/collective/dense/halving_doubling.hpp"
#include "laconic/message/plain.hpp"

namespace laconic {

/// A matrix of rank at most `rank` near the sum of dense vectors, with factors that all ranks share (PowerSGD, Vogels,
/// Karimireddy, Jaggi, NeurIPS 2019). Rank i's vector is a matrix X_i of `rows` rows, row after row. With a matrix Q of
/// `rank` columns that is the same on all ranks, P is sum_i X_i Q with orthonormalized columns, and the sum is
/// approximated by G = P (sum_i X_i' P)'. If the matrix is wider than tall, the same is done to X_i'. Of n ranks, rank
/// i keeps X_i - G / n: the sum of what the ranks bring = what is applied + the sum of what they keep. If `rank` is at
/// least the number of rows or columns, as of a vector, which is one row, it is the dense sum.
///
/// Q is the second factor of the last round, sum_i X_i' P, which is part of the state. In the first round, and in every
/// `refresh`-th one, Q is drawn; so is a column of it that is 0, so that no factor is NaN. With a drawn Q, G is
/// contractive for the mean with delta = rank / min(rows, columns), as low_rank is. With the last round's Q, rounds
/// about one matrix approach its best approximation, but G is not contractive: what is new may be orthogonal to Q. With
/// in_full, the rounds that draw Q sum X_i itself, and Q becomes the leading singular vectors of that sum (PowerSGD+,
/// arXiv:2509.11254), by at most 100 steps of an iteration on each rank: about the best approximation.
///
/// All ranks apply one approximation. So with identity and error feedback, (x, mean e) is error feedback of one rank
/// that holds the mean of all objectives, however much they differ.
///
/// Cost: two sums as by halving_doubling, one after the other, of rank x rows and rank x columns numbers: 4 log2 P
/// messages. With `rows` = 1, a reducer's layer that states its rows sets `rows` if fewer numbers travel then: see
/// shape().
struct shared_factors {
    std::size_t rows = 1, rank = 1;
    std::uint64_t refresh = 0;  ///< rounds, 0: never
    bool in_full = false;
    std::uint64_t seed = 0;

    static constexpr void description(auto&& describe) {
        describe("shared_factors", "a matrix of low rank near the dense sum: the same factors for all ranks",
                 "PowerSGD, Vogels, Karimireddy, Jaggi, NeurIPS 2019",
                 field("rows", &shared_factors::rows).between(1, 0x1p53).written_by_name(),
                 field("rank", &shared_factors::rank).between(1, 0x1p53).written_by_name(),
                 field("refresh", &shared_factors::refresh), field("in_full", &shared_factors::in_full),
                 field("seed", &shared_factors::seed));
    }
    void check(std::size_t d) const {
        if (rows == 0 || rank == 0) throw argument_error("shared_factors: a matrix of no rows or of rank 0");
        if (d % rows != 0)
            throw argument_error({"shared_factors: d = ", d, " numbers are no matrix of ", rows, " rows"});
    }
    /// Adapts to a layer of d numbers that is a matrix of `of_layer` rows: `rows` becomes that if it is 1, `of_layer`
    /// is at least 2, and fewer numbers travel then.
    void shape(std::size_t d, std::size_t of_layer) {
        if (rows != 1 || of_layer < 2) return;
        double const n = static_cast<double>(of_layer), m = static_cast<double>(d) / n;
        if (static_cast<double>(rank) * (n + m) < n * m) rows = of_layer;
    }
    template <Scalar T, OnHost B = host>
    class adder;
    bool operator==(shared_factors const&) const = default;
};

template <Scalar T, OnHost B>
class shared_factors::adder : detail::sum_in_session {
  public:
    adder(shared_factors const& how, std::size_t d, position_code positions)
        : sum_in_session(how, d, positions), refresh_(how.refresh), in_full_(how.in_full), from_{how.seed} {
        m_.count = d;
        m_.rows = how.rows;
        m_.rank = how.rank < std::min(m_.rows, m_.cols()) ? how.rank : 0;
        if (m_.rank != 0) left_.resize(d);
        m_.left.resize(m_.rank * m_.rows);
        m_.right.resize(m_.rank * m_.cols());
        start_.reserve(m_.shorter().size());
        unit_.resize(m_.rank * m_.rank);
        for (std::size_t c = 0; c < m_.rank; ++c) unit_[c * m_.rank + c] = 1;
    }

    /// x <- the sum's approximation. After an error leftover() is unspecified. The next sum starts with this one's
    /// second factor after commit().
    void operator()(B& on, PointToPoint auto& comm, std::span<T> x, sum_round round = {}) {
        session_.start(on, comm, round, x, d_);
        if (m_.rank == 0) {
            detail::sum_by_halves(on, comm, session_, x, d_);
            return session_.finish();
        }
        bool const draws = start_.empty() || (refresh_ != 0 && rounds_ % refresh_ == 0), whole = draws && in_full_;
        std::span<T> const p(m_.longer()), q(m_.shorter());
        T const to_add = detail::scale_to_add<T>(std::max(m_.rows, m_.cols()), comm.size());
        if (!session_.failed()) {
            copy(on, std::span<T const>(x), std::span<T>(left_));
            multiply(on, to_add, x);
        }
        if (whole) detail::sum_by_halves(on, comm, session_, x, d_);
        if (!session_.failed()) {
            begin(on, from_.child(round.number), draws);
            if (whole) to_singular_vectors(on, x);
            multiply_by_q(on, x);
        }
        if (!whole) detail::sum_by_halves(on, comm, session_, p, p.size());
        if (!session_.failed()) multiply_by_p(on, x);
        if (!whole) detail::sum_by_halves(on, comm, session_, q, q.size());
        if (!session_.failed()) {
            fill(on, x, T(0));
            add_message(on, x, 1 / to_add, m_);
            add_scaled(on, T(-1) / static_cast<T>(comm.size()), std::span<T const>(x), std::span<T>(left_));
            session_.check_sum(on, x, 0);
        }
        session_.finish();
    }

    /// X_i - G / n; empty where that is the sum in full.
    std::span<T const> leftover() const { return left_; }

    /// Sets Q, one column after another.
    void start_from(std::span<T const> q) { start_.assign(q.begin(), q.end()); }
    void commit() {
        ++rounds_;
        if (m_.rank == 0) return;
        start_from(m_.shorter());
    }
    void state(auto& archive) { archive(rounds_), archive.of_any_length(start_); }

  private:
    // Q, orthonormal except for columns that are drawn, as all are if `draws`.
    void begin(B& on, key from, bool draws) {
        auto& q = m_.shorter();
        std::size_t const n = q.size() / m_.rank;
        draws = draws || start_.size() != q.size() || first_non_finite(on, std::span<T const>(start_)) < q.size();
        if (!draws) {
            copy(on, std::span<T const>(start_), std::span<T>(q));
            make_orthonormal(on, q);
        }
        for (std::size_t c = 0; c < m_.rank; ++c)
            if (auto const column = std::span<T>(q).subspan(c * n, n);
                draws || !(largest_magnitude(on, std::span<T const>(column)) > 0))
                draw_symmetric(on, from, c * n, column);
    }
    // Q, drawn, <- about the leading singular vectors of the sum: the span's error falls in each step by the square of
    // the ratio of the singular values beside it.
    void to_singular_vectors(B& on, std::span<T const> x) {
        constexpr T least_change = 8 * std::numeric_limits<T>::epsilon();
        for (int step = 0; step < 100; ++step) {
            kernels::assign(on, std::span<T const>(m_.shorter()), last_);
            multiply_by_q(on, x);
            multiply_by_p(on, x);
            make_orthonormal(on, m_.shorter());
            add_scaled(on, T(-1), std::span<T const>(m_.shorter()), std::span<T>(last_));
            if (largest_magnitude(on, std::span<T const>(last_)) < least_change) return;
        }
    }
    // P <- X Q, and Q <- X' P with P made orthonormal first; of a matrix that is wider than tall, X' in X's place.
    void multiply_by_q(B& on, std::span<T const> x) {
        auto const is = m_.tall() ? kernels::matrix_is::as_it_stands : kernels::matrix_is::transposed;
        multiply_matrix(on, x, is, std::span<T const>(m_.shorter()), m_.rank, std::span<T>(m_.longer()));
    }
    void multiply_by_p(B& on, std::span<T const> x) {
        auto const is = m_.tall() ? kernels::matrix_is::transposed : kernels::matrix_is::as_it_stands;
        make_orthonormal(on, m_.longer());
        multiply_matrix(on, x, is, std::span<T const>(m_.longer()), m_.rank, std::span<T>(m_.shorter()));
    }
    // y's columns made orthonormal; those that depend on others become 0.
    void make_orthonormal(B& on, std::span<T> y) {
        kernels::assign(on, std::span<T const>(y), spare_);
        multiply_to_orthonormal(on, std::span<T const>(spare_), kernels::matrix_is::transposed,
                                std::span<T const>(unit_), m_.rank, y);
    }

    std::uint64_t refresh_, rounds_ = 0;
    bool in_full_;
    key from_;
    messages::factors<T, B> m_;
    typename B::template array<T> left_, start_, spare_, last_, unit_;
};

}  // namespace laconic
