// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "laconic/core/error.hpp"
#include "laconic/core/view.hpp"

namespace laconic {

/// Rows of numbers with a label each, all of them finite: row j of `rows` belongs to labels[j].
template <Scalar T = double>
struct dataset {
    using matrix = Eigen::SparseMatrix<T, Eigen::RowMajor, std::int64_t>;

    std::string name;
    matrix rows;
    std::vector<T> labels;

    /// The number of rows.
    std::size_t samples() const { return static_cast<std::size_t>(rows.rows()); }
    /// The number of columns, zeros included.
    std::size_t features() const { return static_cast<std::size_t>(rows.cols()); }

    /// The rows [begin, end) under a name of their own. Throws argument_error unless begin <= end <= samples().
    dataset slice(std::size_t begin, std::size_t end, std::string its_name) const {
        if (begin > end || end > samples() || labels.size() != samples())
            throw argument_error(
                {name, ": no rows ", begin, " to ", end, " of ", samples(), " with ", labels.size(), " labels"});
        auto const from = static_cast<std::ptrdiff_t>(begin), to = static_cast<std::ptrdiff_t>(end);
        dataset result{std::move(its_name), matrix(rows.middleRows(from, to - from)),
                       std::vector<T>(labels.begin() + from, labels.begin() + to)};
        result.rows.makeCompressed();
        return result;
    }

    /// The i-th (from 0) of n contiguous parts, which have all rows: the first samples() % n parts have one row more
    /// than the others. The mean over parts that differ needs weights (by_samples, collective/agreed_problem.hpp).
    /// Throws argument_error unless 1 <= n <= samples() and i < n.
    dataset part(std::size_t i, std::size_t n) const {
        if (n < 1 || n > samples())
            throw argument_error({name, ": cannot cut ", samples(), " rows into ", n, " parts"});
        if (i >= n) throw argument_error({name, ": no part ", i, " of ", n, " parts that count from 0"});
        auto const m = samples() / n, longer = samples() % n;
        auto const from = i * m + std::min(i, longer);
        return slice(from, from + m + (i < longer ? 1 : 0), detail::concat({name, "[", i, "/", n, "]"}));
    }

    /// The first m rows, under the same name. Throws argument_error where there are fewer.
    dataset first(std::size_t m) const { return slice(0, m, name); }
};

/// The distinct labels, increasing.
template <Scalar T>
std::vector<T> classes(dataset<T> const& data) {
    auto found = data.labels;
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

/// Turns the smaller of two labels into -1 and the larger into +1, as logistic_loss needs. Throws argument_error, and
/// leaves the data as they were, unless there are exactly two distinct labels.
template <Scalar T>
void binary_labels(dataset<T>& data) {
    auto const found = classes(data);
    if (found.size() != 2) {
        std::string list;
        for (std::size_t c = 0; c < std::min<std::size_t>(found.size(), 5); ++c)
            list += (c ? ", " : ": ") + detail::shortest(double(found[c]));
        throw argument_error({data.name, ": two classes are needed, the labels name ", found.size(), list,
                              (found.size() > 5 ? ", ..." : "")});
    }
    for (auto& label : data.labels) label = label == found[0] ? T(-1) : T(1);
}

/// Divides each feature by its largest magnitude, as LIBSVM's svm-scale can: all numbers are then in [-1, 1]. A feature
/// that is zero everywhere stays zero.
template <Scalar T>
void scale_features(dataset<T>& data) {
    using inner = typename dataset<T>::matrix::InnerIterator;
    std::vector<T> largest(data.features(), T(0));
    auto const for_each_number = [&](auto what) {
        for (std::ptrdiff_t j = 0; j < data.rows.rows(); ++j)
            for (inner at(data.rows, j); at; ++at) what(at.valueRef(), largest[static_cast<std::size_t>(at.col())]);
    };
    for_each_number([](T v, T& most) { most = std::max(most, std::abs(v)); });
    for_each_number([](T& v, T most) { v = most > 0 ? v / most : v; });
}

namespace detail {

// The matrix of n rows and so many columns in which each(j, put) calls put(column, value) for the numbers of row j,
// columns increasing; it has room for `numbers` from the start.
template <Scalar T, class Each>
typename dataset<T>::matrix rows_of(std::size_t n, std::size_t columns, std::ptrdiff_t numbers, Each each) {
    typename dataset<T>::matrix rows(static_cast<std::ptrdiff_t>(n), static_cast<std::ptrdiff_t>(columns));
    rows.reserve(numbers);
    for (std::ptrdiff_t j = 0; j < rows.rows(); ++j) {
        rows.startVec(j);
        each(static_cast<std::size_t>(j), [&](std::ptrdiff_t column, T value) { rows.insertBack(j, column) = value; });
    }
    rows.finalize();
    return rows;
}

}  // namespace detail

/// The rows whose label is a or b, in their order. Throws argument_error where either class is empty, or a is b.
template <Scalar T>
dataset<T> only_classes(dataset<T> const& data, T a, T b) {
    if (a == b) throw argument_error({data.name, ": the two classes are equal: ", double(a)});
    for (auto const label : {a, b})
        if (std::find(data.labels.begin(), data.labels.end(), label) == data.labels.end())
            throw argument_error({data.name, ": no row has the label ", double(label)});
    std::vector<std::ptrdiff_t> kept;
    std::ptrdiff_t numbers = 0;
    for (std::ptrdiff_t j = 0; j < data.rows.rows(); ++j) {
        auto const label = data.labels[static_cast<std::size_t>(j)];
        if (label != a && label != b) continue;
        kept.push_back(j);
        numbers += data.rows.row(j).nonZeros();
    }
    auto const each = [&](std::size_t j, auto put) {
        for (typename dataset<T>::matrix::InnerIterator at(data.rows, kept[j]); at; ++at) put(at.col(), at.value());
    };
    dataset<T> result{data.name, detail::rows_of<T>(kept.size(), data.features(), numbers, each), {}};
    for (auto const j : kept) result.labels.push_back(data.labels[static_cast<std::size_t>(j)]);
    return result;
}

/// The columns [begin, end) of every row, with the labels, under a name of their own: what one party holds where
/// features are divided between parties. Throws argument_error unless begin < end <= features().
template <Scalar T>
dataset<T> columns(dataset<T> const& data, std::size_t begin, std::size_t end, std::string its_name) {
    if (begin >= end || end > data.features())
        throw argument_error({data.name, ": no columns ", begin, " to ", end, " of ", data.features()});
    auto const first = static_cast<std::ptrdiff_t>(begin), last = static_cast<std::ptrdiff_t>(end);
    auto const each = [&](std::size_t j, auto put) {
        for (typename dataset<T>::matrix::InnerIterator at(data.rows, static_cast<std::ptrdiff_t>(j)); at; ++at)
            if (at.col() >= first && at.col() < last) put(at.col() - first, at.value());
    };
    return {std::move(its_name), detail::rows_of<T>(data.samples(), end - begin, 0, each), data.labels};
}

}  // namespace laconic
