// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/objective/dataset.hpp"

/// Data that any program makes to the last bit: numbers of a linear congruential generator, and of these six workers
/// with eight rows of four numbers and a label each.
namespace det6 {

struct generator {
    std::uint64_t s;

    /// Uniform in [-1, 1).
    double next() {
        s = s * 6364136223846793005u + 1442695040888963407u;
        return 2 * (double(s >> 11) * 0x1p-53) - 1;
    }
};

inline constexpr std::size_t workers = 6, rows = 8, d = 4;
using matrix = Eigen::MatrixXd;
using vector = Eigen::VectorXd;

struct part {
    matrix x{rows, d};
    vector y{rows};
};
inline std::array<part, workers> parts() {
    generator draw{42};
    std::array<part, workers> all;
    for (auto& p : all)
        for (Eigen::Index i = 0; i < Eigen::Index(rows); ++i) {
            for (Eigen::Index j = 0; j < Eigen::Index(d); ++j) p.x(i, j) = draw.next();
            p.y(i) = draw.next();
        }
    return all;
}

/// All 48 rows with their labels, worker after worker.
template <class T = double>
laconic::dataset<T> data() {
    generator draw{42};
    laconic::dataset<T> all{"det6", {}, {}};
    all.rows.resize(workers * rows, d);
    for (std::ptrdiff_t i = 0; i < all.rows.rows(); ++i) {
        for (std::ptrdiff_t j = 0; j < all.rows.cols(); ++j) all.rows.insert(i, j) = static_cast<T>(draw.next());
        all.labels.push_back(static_cast<T>(draw.next()));
    }
    all.rows.makeCompressed();
    return all;
}

/// |X theta - y|^2 / 2 of one worker, or of all.
struct objective {
    matrix h = matrix::Zero(d, d);
    vector c = vector::Zero(d);
    double constant = 0;

    void add(part const& p) {
        h += p.x.transpose() * p.x;
        c += p.x.transpose() * p.y;
        constant += p.y.squaredNorm() / 2;
    }
    static objective of(part const& p) {
        objective f;
        f.add(p);
        return f;
    }
    static objective of_all() {
        objective f;
        for (auto const& p : parts()) f.add(p);
        return f;
    }

    std::size_t dimension() const { return d; }
    double value(std::span<double const> x) const {
        auto const v = map(x);
        return v.dot(h * v) / 2 - c.dot(v) + constant;
    }
    void gradient(std::span<double const> x, std::span<double> g) const { map(g) = h * map(x) - c; }
    void hessian_times(std::span<double const>, std::span<double const> v, std::span<double> out) const {
        map(out) = h * map(v);
    }
    void hessian(std::span<double const>, matrix& out) const { out = h; }

  private:
    static Eigen::Map<vector const> map(std::span<double const> x) { return {x.data(), Eigen::Index(x.size())}; }
    static Eigen::Map<vector> map(std::span<double> x) { return {x.data(), Eigen::Index(x.size())}; }
};

/// d x d numbers, row after row, of the generator with this seed.
inline matrix directions(std::uint64_t seed = 7) {
    generator draw{seed};
    matrix s(d, d);
    for (Eigen::Index i = 0; i < Eigen::Index(d); ++i)
        for (Eigen::Index j = 0; j < Eigen::Index(d); ++j) s(i, j) = draw.next();
    return s;
}

}  // namespace det6
