// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/comm/metered.hpp"
#include "laconic/core/key.hpp"
#include "laconic/objective/objective.hpp"

// Small workers, another one for each rank, and what a rank has after some rounds of a method among them.
namespace networks {

/// |x - b|^2 / 2, with all that a local solver may ask for.
struct bowl {
    std::vector<double> b;

    static constexpr bool constant_hessian = true;
    std::size_t dimension() const { return b.size(); }
    double value(std::span<double const> x) const {
        double sum = 0;
        for (std::size_t j = 0; j < b.size(); ++j) sum += (x[j] - b[j]) * (x[j] - b[j]) / 2;
        return sum;
    }
    void gradient(std::span<double const> x, std::span<double> g) const {
        for (std::size_t j = 0; j < b.size(); ++j) g[j] = x[j] - b[j];
    }
    void hessian(std::span<double const>, Eigen::MatrixXd& h) const {
        h.setIdentity(static_cast<Eigen::Index>(b.size()), static_cast<Eigen::Index>(b.size()));
    }
};
inline bowl bowl_of(int rank, std::size_t d = 5) {
    bowl f{std::vector<double>(d)};
    for (std::size_t j = 0; j < d; ++j) f.b[j] = laconic::key{4}.child(static_cast<std::uint64_t>(rank)).uniform(j);
    return f;
}

/// x after 12 rounds, and the bytes that this rank has sent.
std::vector<double> end_among_neighbours(auto& comm, auto const& method) {
    laconic::metered wire(comm);
    auto const f = bowl_of(comm.rank());
    std::vector<double> x(5);
    auto run = method.template start<double>(laconic::problem{}, f, wire, std::span<double>(x), 3);
    for (int k = 0; k < 12; ++k) run.round();
    x.push_back(static_cast<double>(wire.bytes_sent()));
    return x;
}

}  // namespace networks
