// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>

#include "laconic/compress/compressor.hpp"
#include "laconic/message/plain.hpp"

namespace laconic::detail {

/// The start of low_rank: drawn anew from the key for each message.
struct no_start {
    bool operator==(no_start const&) const = default;
};

}  // namespace laconic::detail

namespace laconic {

/// Reads the vector as a matrix X of `rows` rows, row after row, and sends a matrix of rank at most `rank`: with a
/// matrix Q of that many columns, and P the columns of X Q made orthonormal, it is P (X' P)', the projection of X on
/// the span of X Q. PowerSGD (Vogels, Karimireddy, Jaggi, NeurIPS 2019), for each worker separately: the paper averages
/// both factors over all workers. Where X is wider than tall, the same is done to X', so that Q has n = min(rows, cols)
/// rows; a rank above n means n. The message takes rank (rows + cols) numbers.
///
/// A layer of a reducer that states its rows gives them to a low_rank of one row: see shape(). A vector, of one row, is
/// sent exactly, up to rounding, with one number more.
///
/// Start = no_start: the numbers of Q are drawn, independent and symmetric. Contractive with delta = rank / n, up to
/// rounding. With Pi the projection on the span of Q, X Pi is in the span of X Q, so the error is at most |X - X Pi|^2
/// = |X|^2 - |X Pi|^2; and E Pi = (rank / n) I, since its law does not change where coordinates change places or signs,
/// and its trace is rank. (Q's columns are dependent with a probability below n 2^-24 for float, n 2^-53 for double.)
/// Every orthogonal X attains it, whatever Q is.
///
/// With warm_start, in a reducer, Q is that of the rank's last message (PowerSGD's warm start): the layer keeps it, and
/// saves it with its state. Elsewhere it is drawn. Rounds about one matrix approach its best approximation, but it is
/// not contractive: what is new may be orthogonal to Q, and then the message is zero.
///
/// Start = std::span<T const>: the span is Q itself, one column after another, such as the last message's shorter(); it
/// must outlive the call. A column that is 0 or not finite is drawn, and all columns are where the span is empty. For
/// adapt/warm_start.hpp; the same as with warm_start.
template <class Start = detail::no_start>
struct low_rank {
    std::size_t rows = 1, rank = 1;
    [[no_unique_address]] Start start{};
    bool warm_start = false;

    static constexpr bool drawn = std::same_as<Start, detail::no_start>;

    static constexpr void description(auto&& describe) requires drawn {
        describe("low_rank", "a matrix of low rank; contractive", "Vogels, Karimireddy, Jaggi, NeurIPS 2019",
                 field("rows", &low_rank::rows).between(1, 0x1p53).written_by_name(),
                 field("rank", &low_rank::rank).between(1, 0x1p53).written_by_name(),
                 field("warm_start", &low_rank::warm_start));
    }

    template <Scalar T, class B>
    using message = messages::factors<T, B>;

    void check(std::size_t d) const {
        if (rows == 0) throw argument_error("low_rank: a matrix of no rows");
        if (rank == 0) throw argument_error("low_rank: a matrix of rank 0");
        if (d % rows != 0) throw argument_error({"low_rank: d = ", d, " numbers are no matrix of ", rows, " rows"});
        if constexpr (!drawn)
            if (std::size_t const n = std::min(rows, d / rows); !start.empty() && start.size() != n * std::min(rank, n))
                throw shape_error({"low_rank: a start of ", start.size(), " numbers for ", rows, " x ", d / rows});
    }

    /// For a layer of d numbers, a matrix of so many rows unless that is below 2: they become the rows of one that has
    /// 1, if a message has fewer numbers than the matrix.
    void shape(std::size_t d, std::size_t of_layer) requires drawn {
        if (rows != 1 || of_layer < 2) return;
        double const n = static_cast<double>(of_layer), m = static_cast<double>(d) / n;
        if (std::min({static_cast<double>(rank), n, m}) * (n + m) < n * m) rows = of_layer;
    }

    /// Where d numbers are no matrix of so many rows it makes a message which every reader refuses.
    void blank(auto&, std::size_t d, key, auto& m) const {
        messages::check_dimension(d);
        m.count = d;
        m.rows = rows;
        m.rank = m.rows * m.cols() == d ? std::min({rank, m.rows, m.cols()}) : 0;
        m.left.resize(m.rank * m.rows);
        m.right.resize(m.rank * m.cols());
    }

    /// Throws argument_error where x is no matrix of so many rows, a number of x is not finite, or the factors are so
    /// large that their product may not be finite; shape_error where the start has another size.
    template <Scalar T>
    void operator()(auto& on, std::span<T const> x, key from, auto& m) const {
        if constexpr (drawn)
            make(on, x, from, std::span<T const>(), m);
        else
            make(on, x, from, start, m);
    }
    /// From this start, if it has the right length; start_after(m) is the one for the message after m.
    template <Scalar T>
    void operator()(auto& on, std::span<T const> x, key from, std::span<T const> given, auto& m) const requires drawn {
        make(on, x, from, given, m);
    }
    template <class M>
    auto start_after(M const& m) const requires drawn {
        return warm_start ? m.shorter() : std::span<typename M::value_type const>();
    }

    bool contractive() const requires drawn { return !warm_start; }
    double delta(std::size_t d) const requires drawn {
        check(d);
        double const n = static_cast<double>(std::min(rows, d / rows));
        return d == 0 ? 1 : std::min(static_cast<double>(rank), n) / n;
    }

    friend bool operator==(low_rank const& a, low_rank const& b) {
        bool const alike = a.rows == b.rows && a.rank == b.rank && a.warm_start == b.warm_start;
        if constexpr (drawn)
            return alike;
        else
            return alike && a.start.data() == b.start.data() && a.start.size() == b.start.size();
    }
    friend std::string to_string(low_rank const& c) requires(!drawn) {
        return detail::concat({"low_rank(rows=", c.rows, ", rank=", c.rank, ", warm)"});
    }

  private:
    template <Scalar T>
    void make(auto& on, std::span<T const> x, key from, std::span<T const> given, auto& m) const {
        messages::check_dimension(x.size());
        check(x.size());
        detail::require_finite(on, "low_rank", x);
        blank(on, x.size(), from, m);
        if (m.rank == 0) return;
        // Q is stored where X' P will be.
        begin(on, from, kernels::unit_scale(largest_magnitude(on, x)), m.rank, given, m.shorter());
        std::span<T> const q(m.shorter()), p(m.longer());
        auto const x_q = m.tall() ? kernels::matrix_is::as_it_stands : kernels::matrix_is::transposed;
        auto const x_p = m.tall() ? kernels::matrix_is::transposed : kernels::matrix_is::as_it_stands;
        multiply_to_orthonormal(on, x, x_q, std::span<T const>(q), m.rank, p);
        multiply_matrix(on, x, x_p, std::span<T const>(p), m.rank, q);
        if (!messages::product_is_finite(largest_magnitude(on, std::span<T const>(m.left)),
                                         largest_magnitude(on, std::span<T const>(m.right)), m.rank))
            throw argument_error("low_rank: the product of the factors may not be finite");
    }

    // Puts Q into q, with numbers of at most about `scale`, which keeps X Q in range.
    template <Scalar T>
    void begin(auto& on, key from, T scale, std::size_t columns, std::span<T const> given, auto& q) const {
        std::size_t const n = q.size() / columns;
        bool const is_given = given.size() == q.size();
        if (is_given) kernels::assign(on, given, q);
        for (std::size_t c = 0; c < columns; ++c) {
            auto const column = std::span<T>(q).subspan(c * n, n);
            T const largest = is_given ? largest_magnitude(on, std::span<T const>(column)) : T(0);
            if (largest > 0)
                multiply(on, kernels::unit_scale(largest), column);
            else
                draw_symmetric(on, from, c * n, column);
        }
        multiply(on, scale, std::span<T>(q));
    }
};
template <class N, class M>
low_rank(N, M) -> low_rank<>;

}  // namespace laconic
