// SPDX-License-Identifier: Apache-2.0
// A method's reduction in a loop of the user's gives the iterates of the method.
#include "laconic/method/reduction_of.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

constexpr std::size_t d = 24;

struct bowl {
    int rank;
    std::size_t dimension() const { return d; }
    double value(std::span<double const>) const { return 0; }
    void gradient(std::span<double const> x, std::span<double> g) const {
        for (std::size_t i = 0; i < d; ++i) g[i] = (1 + double(i % 3)) * (x[i] - double(rank) - double(i) / 7);
    }
    double smoothness() const { return 3; }
    double strong_convexity() const { return 1; }
};
problem const of_bowls{.dimension = d,
                       .workers = 3,
                       .smoothness = 3,
                       .strong_convexity = 1,
                       .largest_smoothness = 3,
                       .mean_square_smoothness = 3,
                       .least_strong_convexity = 1,
                       .own_smoothness = 3};

// x after 40 rounds of the method, and of a loop of the user's around its reduction; the method multiplies its gradient
// by `scale`.
void same(auto const& method, double step, double scale = 1) {
    CAPTURE(to_string(method));
    fibers::run(3, [&](fibers::member& comm) {
        bowl const f{comm.rank()};
        std::vector<double> x(d), y(d), g(d);
        descend(method, f, x, comm, {.rounds = 40, .seed = 9});
        laconic::reducer reduce(reduction_of(method, of_bowls), comm, y, {.seed = 9});
        for (int k = 0; k < 40; ++k) {
            f.gradient(y, g);
            for (auto& v : g) v *= scale;
            reduce(g);
            for (std::size_t i = 0; i < d; ++i) y[i] -= step / scale * g[i];
        }
        if (scale == 1)
            CHECK(x == y);
        else
            for (std::size_t i = 0; i < d; ++i) CHECK(x[i] == doctest::Approx(y[i]).epsilon(1e-10));
    });
}

TEST_CASE("a method's reduction in a loop of the user's does what the method does") {
    overrides const given{.step = step_size{0.125}};
    same(diana{rand_k{5} | natural{}, given}, 0.125);
    same(diana{rand_k{5}, {.step = step_size{0.125}, .memory = 0.05}}, 0.125);
    same(ef21{top_k{5}, given}, 0.125);
    same(qsgd{4, given}, 0.125);
    same(top_k_sgd{portion{5}, given}, 0.125, 0.125);
    same(one_bit_sgd{8, given}, 0.125, 0.125);
    same(gtop_k_sgd{portion{5}, false, given}, 0.125, 0.125);
}

TEST_CASE("its name is the method's, and majority vote is signsgd's") {
    CHECK(to_string(reduction_of(ef21{top_k{5}}, of_bowls)) == to_string(ef21{top_k{5}}));
    static_assert(std::is_same_v<decltype(reduction_of(signsgd{}, problem{})), majority_vote<>>);
    CHECK_THROWS_AS(reduction_of(adiana{rand_k{5}}, of_bowls), argument_error);
    CHECK_THROWS_AS(reduction_of(locodl{rand_k{5}}, of_bowls), argument_error);
}
