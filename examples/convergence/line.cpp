// SPDX-License-Identifier: Apache-2.0
// What a run is beside its bound: whether that holds, and the table.
#include "line.hpp"

#include <algorithm>
#include <cmath>

namespace convergence {

measured averaged(std::size_t runs, std::function<vec(std::uint64_t)> const& run) {
    vec const first = run(1);  // the sums are of what differs from it, lest they cancel
    measured m{vec(first.size()), vec(first.size())};
    for (std::size_t r = 1; r < runs; ++r) {
        vec const now = run(r + 1);
        for (std::size_t k = 0; k < first.size(); ++k) {
            m.mean[k] += now[k] - first[k];
            m.error[k] += (now[k] - first[k]) * (now[k] - first[k]);
        }
    }
    auto const count = static_cast<double>(runs);
    for (std::size_t k = 0; k < first.size(); ++k) {
        m.mean[k] /= count;
        m.error[k] = runs == 1 ? 0 : std::sqrt(std::max(0.0, m.error[k] / count - m.mean[k] * m.mean[k]) / (count - 1));
        m.mean[k] += first[k];
    }
    return m;
}

vec geometric(double first, double rate, double added, std::size_t rounds) {
    vec bound{first};
    for (std::size_t k = 0; k < rounds; ++k) bound.push_back((1 - rate) * bound.back() + added);
    return bound;
}

vec spoiled(vec const& bound, double spoil) {
    vec result{bound.at(0)};
    for (std::size_t k = 1; k < bound.size(); ++k)
        result.push_back(result.back() * std::max(0.0, 1 - spoil * (1 - bound[k] / bound[k - 1])));
    return result;
}

verdict judge(line const& l) {
    verdict v;
    double const root = std::sqrt(l.bound[0]);
    auto const slack = [&](double value) { return std::pow(std::sqrt(value) * (1 + 1e-9) + 1e-13 * root, 2); };
    std::size_t last = 0;  // above what is rounded
    for (std::size_t k = 0; k < l.bound.size(); ++k) {
        double const mean = l.run.mean[k], margin = 5 * l.run.error[k];
        bool const fine = mean - margin <= slack(l.bound[k]) && (!l.is_exact || l.bound[k] <= slack(mean + margin));
        if (!fine && v.holds) {
            v.holds = false;
            v.broken_at = k;
        }
        if (!(mean > 1e-24 * l.run.mean[0] && l.bound[k] > 0)) continue;
        if (k > 0) v.worst = std::max(v.worst, mean / l.bound[k]);  // at the start most are equal
        last = k;
    }
    v.tightness = std::log(l.run.mean[last] / l.run.mean[0]) / std::log(l.bound[last] / l.bound[0]);
    return v;
}

}  // namespace convergence
