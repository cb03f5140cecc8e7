// SPDX-License-Identifier: Apache-2.0
// EF21-Muon comes to known answers, as near to the optimum as its step allows, and its estimate is a polar factor.
#include "laconic/method/ef21_muon.hpp"

#include "laconic/backend/reference.hpp"
#include "laconic/comm/fibers.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/descent.hpp"
#include "laconic/method/bidirectional.hpp"
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

// X after each round; with answers W has gone less far, by the step times the server's residual.
template <class B = host, class M>
std::vector<vec> course(M const& method, double answers, int rounds) {
    std::vector<vec> all;
    fibers::run(ranks, [&](fibers::member& comm) {
        vec w(16);
        matrix_bowl const f{comm.rank()};
        descent run(method.template compose<double, B>({16, ranks}), f, comm, std::span<double>(w), 1, B{});
        for (int k = 0; k < rounds; ++k) {
            run.round();
            if (comm.rank() > 0) continue;
            all.push_back(w);
            if constexpr (requires { run.transport().feedback(); })
                for (std::size_t j = 0; j < 16; ++j)
                    all.back()[j] -= answers * run.transport().feedback().residual()[j];
        }
    });
    return all;
}
ef21_muon<top_k<>> muon_of(double step, double eta, int k) {
    return {top_k{k}, eta, 4, orthogonalization::polar, {.step = step}};
}

}  // namespace

TEST_CASE_TEMPLATE("EF21-Muon with answers comes to known answers", B, host, reference) {
    auto const xs = course<B>(bidirectional{muon_of(.05, .5, 6), top_k{8}, 0, true}, .05, 10);
    auto const is = [&](std::size_t round, double first, double last, double energy) {
        CHECK(xs[round - 1].front() == doctest::Approx(first).epsilon(1e-11));
        CHECK(xs[round - 1].back() == doctest::Approx(last).epsilon(1e-11));
        CHECK(square(xs[round - 1]) == doctest::Approx(energy).epsilon(1e-11));
    };
    is(1, -.0196205059503, -.0119929669529, .01);
    is(10, -.223292832811, -.0515239153502, .839527949093);
}

TEST_CASE("EF21-Muon comes as near to the optimum as its step is short, and each step is as long") {
    for (double const step : {.04, .004}) {
        CAPTURE(step);
        auto const xs = course(muon_of(step, .5, 6), step, 4000);
        CHECK(distance(xs.front()) > 3);
        CHECK(distance(xs.back()) < 6 * step);
        vec move = xs[9];
        for (std::size_t j = 0; j < 16; ++j) move[j] -= xs[8][j];
        CHECK(std::sqrt(square(move)) == doctest::Approx(2 * step));  // four singular values of 1
    }
}

TEST_CASE("without compression, momentum and answers it is gradient descent along Muon's direction") {
    ef21_muon const plain{identity{}, 1, 4, orthogonalization::newton_schulz, {.step = .02}};
    auto const one = course(plain, 0, 20);
    muon<> const step({.rows = 4, .rate = .02, .beta = 0, .weight_decay = 0, .epsilon = 1e-30, .nesterov = false});
    auto const other = course(with_step{gd{{.step = 1}}, step}, 0, 20);
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
