// SPDX-License-Identifier: Apache-2.0
// Each proximal operator is the one by hand and minimises its definition, and a proximal step applies it last.
#include "laconic/optim/prox.hpp"

#include "support/everything.hpp"

static_assert(Prox<elastic_net> && Prox<elastic_net, float>);

struct only_moves {
    template <class B, Scalar T>
    void operator()(B&, double, std::span<T>) const {}
    bool operator==(only_moves const&) const = default;
};
static_assert(!Prox<only_moves>);

// What a proximal operator is: no u is better than prox(x) for R(u) + |u - x|^2 / (2 rate).
void is_least(elastic_net const& prox, double rate) {
    host on;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        auto const random = [&](std::uint64_t n) { return 6 * key{seed}.uniform(n) - 3; };
        std::vector<double> const x{random(0), random(1), random(2)};
        auto const cost = [&](std::vector<double> const& u) {
            double sum = prox.value(std::span<double const>(u));
            for (std::size_t j = 0; j < 3; ++j) sum += (u[j] - x[j]) * (u[j] - x[j]) / (2 * rate);
            return sum;
        };
        auto u = x;
        prox(on, rate, std::span(u));
        double const least = cost(u);
        for (std::uint64_t n = 0; n < 200; ++n) {
            auto other = u;
            double const far = std::pow(10, -4. * key{99}.uniform(n));
            for (std::size_t j = 0; j < 3; ++j) other[j] += far * (key{seed + 100}.uniform(3 * n + j) - .5);
            CHECK(cost(other) >= least - 1e-12);
        }
        CHECK(cost(x) >= least - 1e-12);
        CHECK(cost({0, 0, 0}) >= least - 1e-12);
    }
}

TEST_CASE("by hand") {
    struct by_hand {
        elastic_net prox;
        std::vector<double> x, answer;
        double value = 0;  // R there
    };
    host on;
    for (auto const& [prox, start, answer, value] :
         std::initializer_list<by_hand>{{{2, 0}, {3, -3, .5, -.5, 1, -1, 0}, {2, -2, 0, 0, 0, 0, 0}, 8},
                                        {{0, 4}, {9, -12}, {3, -4}, 50},
                                        {{2, 4}, {10, -13}, {3, -4}, 64},
                                        {{2, 4}, {.5, -1, 4}, {0, 0, 1}, 4},
                                        {{0, 0}, {3, -4}, {3, -4}, 0}}) {
        auto x = start;
        prox(on, .5, std::span(x));
        REQUIRE(x.size() == answer.size());
        for (std::size_t j = 0; j < x.size(); ++j) CHECK(x[j] == doctest::Approx(answer[j]));
        CHECK(prox.value(std::span<double const>(answer)) == value);
    }
    std::vector<float> y{2, -2};
    elastic_net{1, 0}(on, .5, std::span(y));
    CHECK(y == std::vector<float>{1.5f, -1.5f});
    CHECK(to_string(elastic_net{.5, 2}) == "elastic_net(0.5, 2)");
    CHECK(elastic_net{.5, 2} != elastic_net{2, .5});
}

TEST_CASE("the result is the least of what it should minimise") {
    is_least({.7, 0}, .5);
    is_least({3, 0}, 2);
    is_least({0, .7}, .5);
    is_least({0, 3}, 2);
    is_least({.7, .4}, .5);
    is_least({.2, 3}, 2);
    is_least({0, 0}, 1);
}

TEST_CASE("a proximal step: first the step, then the operator at its rate") {
    host on;
    proximal<gradient_step, elastic_net> step{{.5}, {2, 0}, .5};
    std::vector<double> x{5, 1}, d{2, 1};
    step(on, std::span(x), std::span(d));  // (4, 0.5), then 1 off
    CHECK(x == std::vector<double>{3, 0});
}
