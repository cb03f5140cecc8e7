// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "laconic/comm/fibers.hpp"
#include "laconic/objective/dataset.hpp"
#include "laconic/objective/linear_party.hpp"
#include "laconic/objective/regression.hpp"
#include "laconic/optim/divergence_guard.hpp"
#include "laconic/vertical/fed_bcd.hpp"
#include "support/det6.hpp"
#include "support/solvers.hpp"

/// Compiled once, as loops over rows take long where they are not optimised.
extern template class laconic::linear_party<laconic::logistic_loss>;

/// Parties whose answers are known, and how many rounds a method takes on them.
namespace parties {

using vec = std::vector<double>;

/// Party k has the number x_k of x'Hx / 2 - b'x: its embedding is column k of H times it, and the last party has b.
struct coordinate_party {
    Eigen::MatrixXd h;
    Eigen::VectorXd b;
    int k;

    std::size_t dimension() const { return 1; }
    std::size_t samples() const { return static_cast<std::size_t>(b.size()); }
    std::size_t outputs() const { return 1; }
    bool has_labels() const { return k == b.size() - 1; }
    void embedding(laconic::row_choice rows, std::span<double const> x, std::span<double> z) const {
        double const* const column = h.data() + k * h.rows();
        for (std::size_t i = 0; i < z.size(); ++i) z[i] = column[rows[i]] * x[0];
    }
    void block_gradient(laconic::row_choice, std::span<double const> s, std::span<double const>,
                        std::span<double> g) const {
        g[0] = s[static_cast<std::size_t>(k)];
    }
    double curvature() const { return 1; }
    void subtract_targets(laconic::row_choice rows, std::span<double> z) const {
        for (std::size_t i = 0; i < z.size(); ++i) z[i] -= b.data()[rows[i]];
    }
};

/// H with ones on its diagonal and 0.9 elsewhere, b = (1, 2, ..), one coordinate for each party.
inline std::vector<coordinate_party> correlated(int n) {
    Eigen::MatrixXd h = Eigen::MatrixXd::Constant(n, n, .9);
    h.diagonal().setOnes();
    Eigen::VectorXd const b = Eigen::VectorXd::LinSpaced(n, 1, n);
    std::vector<coordinate_party> all;
    for (int k = 0; k < n; ++k) all.push_back({h, b, k});
    return all;
}
inline vec optimum_of(std::vector<coordinate_party> const& all) {
    auto const x = solvers::solution(all[0].h, all[0].b);
    return {x.begin(), x.end()};
}

/// Parties that have the columns from one of these bounds to the next; all labels, or the party `active` has them.
template <class Each, class T>
std::vector<laconic::linear_party<Each, T>> split(laconic::dataset<T> const& data, std::vector<std::size_t> bounds,
                                                  double lambda, int active = -1) {
    std::vector<laconic::linear_party<Each, T>> all;
    for (std::size_t k = 0; k + 1 < bounds.size(); ++k) {
        auto mine = laconic::columns(data, bounds[k], bounds[k + 1], "party " + std::to_string(k));
        if (active >= 0 && active != int(k)) mine.labels.clear();
        all.emplace_back(std::move(mine), lambda);
    }
    return all;
}

/// How a run ended, and all blocks, one after another.
struct ending {
    std::uint64_t rounds = 0;
    bool reached = false, diverged = false;
    vec x{};
};

template <class T>
std::vector<T> joined(std::vector<std::vector<T>> const& blocks) {
    std::vector<T> all;
    for (auto const& b : blocks) all.insert(all.end(), b.begin(), b.end());
    return all;
}

/// Rounds of a method from zero until done(x of all), at most `most`.
template <class M, class P, class Done>
ending run_until(M const& method, std::vector<P> const& parties, Done done, std::uint64_t most = 3000,
                 std::uint64_t seed = 0) {
    ending end;
    std::vector<vec> blocks(parties.size());
    laconic::fibers::run(static_cast<int>(parties.size()), [&](laconic::fibers::member& comm) {
        auto const r = static_cast<std::size_t>(comm.rank());
        vec x(parties[r].dimension());
        auto run = method.start(laconic::problem{}, parties[r], comm, std::span(x), seed);
        for (bool goes_on = true; goes_on;) {
            try {
                run.round();
            } catch (laconic::divergence_error const&) {
                end.diverged = true;
            } catch (laconic::non_finite_error const&) {
                end.diverged = true;
            }
            blocks[r] = x;
            comm.all_gather({});
            if (r == 0) {
                end.rounds = run.rounds(), end.x = joined(blocks);
                end.reached = done(end.x);
            }
            comm.all_gather({});
            goes_on = !end.reached && !end.diverged && end.rounds < most;
        }
    });
    return end;
}

/// For run_until(): all numbers of x are as near as that.
inline auto within(vec best, double distance = 1e-8) {
    return [best, distance](vec const& x) {
        for (std::size_t j = 0; j < x.size(); ++j)
            if (!(std::abs(x[j] - best[j]) < distance)) return false;
        return true;
    };
}

}  // namespace parties
