// SPDX-License-Identifier: Apache-2.0
// EF21-Muon comes as near to the optimum as its step allows, and its estimate is a polar factor. Its known answers are
// among those of support/laws/known_runs.hpp.
#include "laconic/method/ef21_muon.hpp"

#include "laconic/comm/fibers.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/descent.hpp"
#include "laconic/method/with_step.hpp"
#include "support/everything.hpp"

namespace {

using vec = std::vector<double>;
constexpr int ranks = 4;

// sum a_rc (w_rc - t_rc)^2 / 2 of a matrix of 4 x 4, where the t of the ranks have the mean that centre() is.
struct matrix_bowl {
    int rank;

    static double a(int r, int c) { return 1 + (r + c) % 3 / 2.; }
    static double centre(int r, int c) { return ((3 * r + 5 * c) % 7 - 3) / 2. + (r + 1) * (c + 1) / 16.; }
    double t(int r, int c) const { return centre(r, c) + (rank - 1.5) * ((r + 2 * c) % 3 - 1) / 4.; }
    std::size_t dimension() const { return 16; }
    double value(std::span<double const> w) const {
        double sum = 0;
        for (int j = 0; j < 16; ++j) {
            double const off = w[std::size_t(j)] - t(j / 4, j % 4);
            sum += a(j / 4, j % 4) * off * off / 2;
        }
        return sum;
    }
    void gradient(std::span<double const> w, std::span<double> g) const {
        for (int j = 0; j < 16; ++j) g[std::size_t(j)] = a(j / 4, j % 4) * (w[std::size_t(j)] - t(j / 4, j % 4));
    }
};
double square(vec const& x) { return std::inner_product(x.begin(), x.end(), x.begin(), 0.); }
double distance(vec const& x) {
    vec off = x;
    for (int j = 0; j < 16; ++j) off[std::size_t(j)] -= matrix_bowl::centre(j / 4, j % 4);
    return std::sqrt(square(off));
}

// X after each round.
template <class M>
std::vector<vec> course(M const& method, int rounds) {
    std::vector<vec> all;
    fibers::run(ranks, [&](fibers::member& comm) {
        vec w(16);
        matrix_bowl const f{comm.rank()};
        descent run(method.template compose<double, host>({16, ranks}), f, comm, std::span<double>(w), 1);
        for (int k = 0; k < rounds; ++k) {
            run.round();
            if (comm.rank() == 0) all.push_back(w);
        }
    });
    return all;
}
ef21_muon<top_k<>> muon_of(double step, double eta, int k) {
    return {top_k{k}, eta, 4, orthogonalization::polar, {.step = step}};
}

}  // namespace

TEST_CASE("EF21-Muon comes as near to the optimum as its step is short, and each step is as long") {
    for (double const step : {.04, .004}) {
        CAPTURE(step);
        auto const xs = course(muon_of(step, .5, 6), 4000);
        CHECK(distance(xs.front()) > 3);
        CHECK(distance(xs.back()) < 6 * step);
        vec move = xs[9];
        for (std::size_t j = 0; j < 16; ++j) move[j] -= xs[8][j];
        CHECK(std::sqrt(square(move)) == doctest::Approx(2 * step));  // four singular values of 1
    }
}

TEST_CASE("without compression, momentum and answers it is gradient descent along Muon's direction") {
    ef21_muon const plain{identity{}, 1, 4, orthogonalization::newton_schulz, {.step = .02}};
    auto const one = course(plain, 20);
    muon<> const step({.rows = 4, .rate = .02, .beta = 0, .weight_decay = 0, .epsilon = 1e-30, .nesterov = false});
    auto const other = course(with_step{gd{{.step = 1}}, step}, 20);
    for (std::size_t k = 0; k < 20; ++k)
        for (std::size_t j = 0; j < 16; ++j) REQUIRE(one[k][j] == doctest::Approx(other[k][j]).epsilon(1e-9));
}

TEST_CASE("a vector that is no matrix of so many rows is refused") {
    fibers::run(ranks, [&](fibers::member& comm) {
        vec w(16);
        ef21_muon const five{top_k{1}, .5, 5, orthogonalization::polar, {.step = 1}};
        matrix_bowl const f{comm.rank()};
        auto const r = five.compose<double, host>({16, ranks});
        CHECK_THROWS_AS((descent(r, f, comm, std::span<double>(w), 1)), argument_error);
    });
}
