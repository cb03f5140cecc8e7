// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

#include "laconic/comm/fibers.hpp"
#include "laconic/descent.hpp"
#include "support/bowls.hpp"

/// Methods on the bowls, all ranks from 1 on, and what they come to.
namespace bowls {

using vec = std::vector<double>;

struct bowl {
    int rank;

    std::size_t dimension() const { return d; }
    double value(std::span<double const> x) const {
        double sum = 0;
        for (std::size_t j = 0; j < x.size(); ++j) {
            double const off = x[j] - b(rank, j);
            sum += a(rank, j) * off * off / 2;
        }
        return sum;
    }
    void gradient(std::span<double const> x, std::span<double> g) const { bowls::gradient(rank, x, g); }
};

struct known {
    std::size_t round;
    answer x;
};
inline laconic::problem const constants{d, ranks};
template <class M>
auto composed(M const& method) {
    return method.template compose<double, laconic::host>(constants);
}
// x after so many rounds of all ranks, from 1 on.
template <class R>
std::vector<vec> course(R const& r, std::size_t rounds) {
    std::vector<vec> all;
    laconic::fibers::run(ranks, [&](laconic::fibers::member& comm) {
        vec x(d, 1);
        bowl const f{comm.rank()};
        laconic::descent run(r, f, comm, std::span<double>(x), 1);
        if (comm.rank() == 0) all = {x};
        for (std::size_t k = 0; k < rounds; ++k) {
            run.round();
            if (comm.rank() == 0) all.push_back(x);
        }
    });
    return all;
}
template <class R>
void come_to(R const& r, std::initializer_list<known> answers) {
    std::size_t last = 0;
    for (auto const& k : answers) last = std::max(last, k.round);
    auto const xs = course(r, last);
    for (auto const& k : answers) {
        CAPTURE(k.round);
        check(xs[k.round], k.x);
    }
}

}  // namespace bowls
