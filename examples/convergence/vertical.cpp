// SPDX-License-Identifier: Apache-2.0
// Parties that hold other features: FedBCD on a quadratic, beside its theorem.
#include <cmath>
#include <cstdint>

#include "laconic/objective/shared_rows.hpp"
#include "laconic/vertical/fed_bcd.hpp"
#include "line.hpp"
#include "loops.hpp"

namespace convergence {

using namespace laconic;

namespace {

constexpr std::size_t parties = 3, width = 2;
constexpr double alike = .4, step = .3;

// The block x_k of f = x'Hx / 2 - b'x, where H has ones on its diagonal and `alike` where two numbers have the same
// place in their blocks. The embedding is H_k x_k, so that the residual is the gradient; the last party has b.
struct block {
    std::size_t k;

    std::size_t dimension() const { return width; }
    std::size_t samples() const { return parties * width; }
    std::size_t outputs() const { return 1; }
    bool has_labels() const { return k + 1 == parties; }
    void embedding(row_choice rows, std::span<double const> x, std::span<double> z) const {
        for (std::size_t i = 0; i < z.size(); ++i) z[i] = (rows[i] / width == k ? 1 : alike) * x[rows[i] % width];
    }
    void block_gradient(row_choice, std::span<double const> s, std::span<double const>, std::span<double> g) const {
        for (std::size_t j = 0; j < width; ++j) g[j] = s[k * width + j];
    }
    double curvature() const { return 1; }
    void subtract_targets(row_choice rows, std::span<double> z) const {
        for (std::size_t i = 0; i < z.size(); ++i) z[i] -= target(rows[i]);
    }
    static double target(std::size_t row) { return 1 + static_cast<double>(row); }
};

// In the blocks' place j: the mean over the parties of x* is that of b / (1 + 2 alike), and what x* differs from it
// that of b / (1 - alike).
double optimum(std::size_t k, std::size_t j) {
    double mean = 0;
    for (std::size_t m = 0; m < parties; ++m) mean += block::target(m * width + j) / parties;
    return mean / (1 + 2 * alike) + (block::target(k * width + j) - mean) / (1 - alike);
}

template <class Method>
line of(Method const& method, std::string const& name, char const* theorem, std::size_t rounds, vec const& exact) {
    std::vector<block> all;
    for (std::size_t k = 0; k < parties; ++k) all.push_back({k});
    measured run{{}, vec(rounds + 1)};
    for (auto const& at : run_loops(method, all, std::vector<vec>(parties, vec(width)), rounds, 1)) {
        run.mean.push_back(0);
        for (std::size_t k = 0; k < parties; ++k)
            for (std::size_t j = 0; j < width; ++j) run.mean.back() += std::pow(at.x[k][j] - optimum(k, j), 2);
    }
    return {name, theorem, "3 parties of 2 numbers", run, exact, true};
}

// At once: x <- x - theta (Hx - b), whose two eigenvalues are known. |x - x*|^2 then.
vec at_once(double theta, std::size_t rounds) {
    double mean = 0, apart = 0;
    for (std::size_t j = 0; j < width; ++j) {
        double centre = 0, all = 0;
        for (std::size_t k = 0; k < parties; ++k) centre += optimum(k, j) / parties, all += std::pow(optimum(k, j), 2);
        mean += parties * centre * centre, apart += all - parties * centre * centre;
    }
    vec bound;
    for (std::size_t k = 0; k <= rounds; ++k)
        bound.push_back(mean * std::pow(1 - theta * (1 + 2 * alike), 2. * static_cast<double>(k)) +
                        apart * std::pow(1 - theta * (1 - alike), 2. * static_cast<double>(k)));
    return bound;
}

// In turns: successive over-relaxation with the factor theta, party after party.
vec in_turns(double theta, std::size_t rounds) {
    vec bound(rounds + 1);
    for (std::size_t j = 0; j < width; ++j) {
        vec off(parties);
        for (std::size_t k = 0; k < parties; ++k) off[k] = -optimum(k, j);
        for (std::size_t r = 0; r <= rounds; ++r) {
            bound[r] += squared(off);
            for (std::size_t k = 0; k < parties; ++k) {
                double slope = off[k];
                for (std::size_t m = 0; m < parties; ++m) slope += m == k ? 0 : alike * off[m];
                off[k] -= theta * slope;
            }
        }
    }
    return bound;
}

}  // namespace

std::vector<line> vertical_lines(options const&) {
    // A party knows its block of the gradient when it moves: Q steps, in a block of curvature 1 + prox, move x_k by
    // -theta times that.
    auto const theta = [](double steps, double prox) {
        return (1 - std::pow(1 - step * (1 + prox), steps)) / (1 + prox);
    };
    return {of(fed_bcd<>{.local_steps = 4, .step = step}, "fed_bcd_p(local_steps=4)", "the map of a round", 30,
               at_once(theta(4, 0), 30)),
            of(fed_bcd<>{.local_steps = 8, .step = step, .prox = .5}, "fed_bcd_p(local_steps=8, prox=0.5)",
               "the map of a round", 30, at_once(theta(8, .5), 30)),
            of(fed_bcd<party_order::sequential>{.local_steps = 4, .step = step}, "fed_bcd_s(local_steps=4)",
               "block SOR", 20, in_turns(theta(4, 0), 20))};
}

}  // namespace convergence
