// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "laconic/core/term.hpp"
#include "laconic/objective/dataset.hpp"
#include "laconic/objective/spectrum.hpp"

namespace laconic {

namespace detail {

// The weight of a penalty.
inline double checked_lambda(double lambda) {
    if (!(lambda >= 0 && std::isfinite(lambda)))
        throw argument_error({"lambda = ", lambda, " is not a finite number of at least 0"});
    return lambda;
}

}  // namespace detail

/// One row a of a matrix: its stored numbers, and their columns.
template <Scalar T>
struct row_view {
    T const* value;
    coordinate const* column;
    std::int64_t count;

    /// a . x, in double, x(i) being its number in column i. Four partial sums, whose order is part of the result.
    double dot(std::invocable<std::size_t> auto&& x) const {
        auto const product = [&](std::int64_t p) { return double(value[p]) * double(x(std::size_t(column[p]))); };
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        std::int64_t p = 0;
        for (; p + 4 <= count; p += 4) {
            s0 += product(p);
            s1 += product(p + 1);
            s2 += product(p + 2);
            s3 += product(p + 3);
        }
        for (; p < count; ++p) s0 += product(p);
        return (s0 + s1) + (s2 + s3);
    }
    template <class U>
    double dot(std::span<U> x) const {
        return dot([x](std::size_t i) { return x[i]; });
    }
    /// |a|^2.
    double square() const {
        double sum = 0;
        for (std::int64_t p = 0; p < count; ++p) sum += double(value[p]) * double(value[p]);
        return sum;
    }
    /// g += factor a.
    template <class U>
    void add_to(std::span<U> g, double factor) const {
        auto const w = static_cast<U>(factor);
        for (std::int64_t p = 0; p < count; ++p) g[std::size_t(column[p])] += w * U(value[p]);
    }
};

/// The rows of a sum: the first `count`, or those that are listed.
struct row_choice {
    std::size_t count;
    std::uint32_t const* list = nullptr;

    static row_choice all(std::size_t n) { return {n}; }
    static row_choice of(std::span<std::uint32_t const> rows) { return {rows.size(), rows.data()}; }
    std::size_t size() const { return count; }
    std::size_t operator[](std::size_t k) const { return list ? list[k] : k; }
};

/// The data of an objective, N rows a_j (the matrix A) with labels, which its copies share and never change. "A pass"
/// is one over the numbers that are stored.
template <Scalar T>
class shared_rows {
  public:
    /// Throws argument_error where there are no rows or no features, shape_error where there are more or fewer labels
    /// than rows.
    explicit shared_rows(dataset<T> data) {
        if (data.samples() == 0 || data.features() == 0)
            throw argument_error(
                {data.name, ": ", data.samples(), " rows of ", data.features(), " features make no objective"});
        if (data.labels.size() != data.samples())
            throw shape_error({data.name, ": ", data.samples(), " rows, but ", data.labels.size(), " labels"});
        data.rows.makeCompressed();
        auto const* const columns = data.rows.innerIndexPtr();
        columns_ = std::make_shared<std::vector<coordinate> const>(columns, columns + data.rows.nonZeros());
        auto const mine = std::make_shared<dataset<T>>();
        std::swap(mine->name, data.name);
        mine->rows.swap(data.rows);  // a move would copy: Eigen 3.4 has none for sparse matrices
        std::swap(mine->labels, data.labels);
        data_ = mine;
    }

    /// N, the number of rows.
    std::size_t size() const { return data_->samples(); }
    std::size_t features() const { return data_->features(); }
    dataset<T> const& data() const { return *data_; }

    row_view<T> operator[](std::size_t j) const {
        LACONIC_EXPECTS(j < size());
        auto const* const begin = data_->rows.outerIndexPtr() + j;
        return {data_->rows.valuePtr() + begin[0], columns_->data() + begin[0], begin[1] - begin[0]};
    }
    /// The columns of all stored numbers, row after row.
    coordinate const* columns() const { return columns_->data(); }
    double label(std::size_t j) const { return double(data_->labels[j]); }

    /// max_j |a_j|^2, in one pass.
    double largest_square() const {
        double largest = 0;
        for (std::size_t j = 0; j < size(); ++j) largest = std::max(largest, (*this)[j].square());
        return largest;
    }

    /// The largest eigenvalue of A'A / N, to about 1e-14 of itself. The first call, for this or a copy, takes some tens
    /// of passes; later ones O(1). Throws error where the data are not finite.
    double largest_eigenvalue() const {
        std::call_once(known_->largest_once, [this] {
            auto const apply = [this](std::span<double const> v, std::span<double> out) {
                std::fill(out.begin(), out.end(), 0.0);
                for (std::size_t j = 0; j < size(); ++j) {
                    auto const row = (*this)[j];
                    row.add_to(out, row.dot(v) / double(size()));
                }
            };
            known_->largest = laconic::largest_eigenvalue(features(), apply);
        });
        return known_->largest;
    }

    /// A lower bound on the smallest eigenvalue of A'A / N, off by about 1e-15 of the largest: the eigenvalue itself up
    /// to 1024 features, 0 above. The first call, for this or a copy, takes an eigen-decomposition; later ones O(1).
    double smallest_eigenvalue() const {
        if (features() > 1024 || size() < features()) return 0;
        std::call_once(known_->smallest_once, [this] {
            Eigen::MatrixXd gram;
            weighted_gram(
                data_->rows, [this](std::size_t) { return 1 / double(size()); }, gram);
            known_->smallest = std::max(0.0, laconic::smallest_eigenvalue(gram));
        });
        return known_->smallest;
    }

  private:
    struct constants {
        std::once_flag largest_once, smallest_once;
        double largest = 0, smallest = 0;
    };

    std::shared_ptr<dataset<T> const> data_;
    // The columns again in half the bytes, as passes over the data are bound by the memory.
    std::shared_ptr<std::vector<coordinate> const> columns_;
    std::shared_ptr<constants> known_ = std::make_shared<constants>();
};

}  // namespace laconic
