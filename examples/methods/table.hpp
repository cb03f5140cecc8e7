// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/drawn.hpp"
#include "common/files.hpp"
#include "laconic/objective/libsvm.hpp"

/// The table that adanet learns.
namespace table {

inline double drawn_row(std::size_t j, std::vector<double>& x) {
    laconic::key const row{j};
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 4 * row.uniform(i) - 2;
    return std::sin(2 * x[0]) + x[1] * x[2] + row.uniform(4) - 0.5;
}

template <class Column>
void standardise(Column&& x) {
    x.array() -= x.mean();
    if (double const spread = std::sqrt(x.squaredNorm() / double(x.size())); spread > 0) x /= spread;
}

/// The rows in an order that is drawn, with columns and labels of mean 0 and variance 1 over all rows, and behind them
/// a column of ones.
inline laconic::dataset<> prepared(laconic::dataset<> const& data) {
    Eigen::MatrixXd const from(data.rows);
    Eigen::MatrixXd x(from.rows(), from.cols() + 1);
    laconic::dataset<> result{data.name, {}, data.labels};
    std::vector<Eigen::Index> order(data.samples());
    std::iota(order.begin(), order.end(), Eigen::Index{0});
    for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[laconic::key{42}.below(i, i + 1)]);
    for (std::size_t i = 0; i < order.size(); ++i) {
        x.row(Eigen::Index(i)) << from.row(order[i]), 1;
        result.labels[i] = data.labels[std::size_t(order[i])];
    }
    for (Eigen::Index c = 0; c < from.cols(); ++c) standardise(x.col(c));
    standardise(Eigen::Map<Eigen::VectorXd>(result.labels.data(), x.rows()));
    result.rows = x.sparseView();
    return result;
}

/// That of a LIBSVM file, prepared, or for no name one that is drawn.
inline laconic::dataset<> named(std::string const& name) {
    if (name.empty())
        return prepared(drawn::data("a table that is drawn, sin(2 a) + b c and noise", 2000, 4, drawn_row));
    return prepared(laconic::read_libsvm<double>(std::string_view(files::read_unpacked(name)), name));
}

}  // namespace table
