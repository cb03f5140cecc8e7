// SPDX-License-Identifier: Apache-2.0
// Each proximal operator is the one by hand and minimises its definition, and a proximal step applies it last.
#include "laconic/optim/prox.hpp"

#include "support/everything.hpp"

using namespace laconic;

static_assert(Prox<no_prox> && Prox<l1> && Prox<l2> && Prox<elastic_net> && Prox<l1, float>);

namespace {

struct only_moves {
    template <class B, Scalar T>
    void operator()(B&, double, std::span<T>) const {}
    bool operator==(only_moves const&) const = default;
};
static_assert(!Prox<only_moves> && Prox<no_prox, float> && Prox<l2, float>);

// What a proximal operator is: no u is better than prox(x) for R(u) + |u - x|^2 / (2 rate).
template <class P>
void is_least(P const& prox, double rate) {
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

}  // namespace

TEST_CASE("by hand") {
    host on;
    std::vector<double> x{3, -3, .5, -.5, 1, -1, 0};
    l1{2}(on, .5, std::span(x));
    CHECK(x == std::vector<double>{2, -2, 0, 0, 0, 0, 0});
    CHECK(l1{2}.value(std::span<double const>(x)) == 8);
    x = {3, -6};
    l2{4}(on, .5, std::span(x));
    CHECK(x[0] == doctest::Approx(1));
    CHECK(x[1] == doctest::Approx(-2));
    x = {3, -4};
    CHECK(l2{4}.value(std::span<double const>(x)) == 50);
    x = {5, -4, 1.5};
    elastic_net{2, 4}(on, .5, std::span(x));
    CHECK(x[0] == doctest::Approx(4 / 3.));
    CHECK(x[1] == doctest::Approx(-1));
    CHECK(x[2] == doctest::Approx(.5 / 3));
    x = {.5, -1, 4};
    elastic_net{2, 4}(on, .5, std::span(x));
    CHECK(x == std::vector<double>{0, 0, 1});
    x = {3, -4};
    CHECK(elastic_net{2, 4}.value(std::span<double const>(x)) == 64);
    no_prox{}(on, .5, std::span(x));
    CHECK(x == std::vector<double>{3, -4});
    CHECK(no_prox{}.value(std::span<double const>(x)) == 0);
    std::vector<float> y{2, -2};
    l1{1}(on, .5, std::span(y));
    CHECK(y == std::vector<float>{1.5f, -1.5f});
}

TEST_CASE("the result is the least of what it should minimise") {
    is_least(l1{.7}, .5);
    is_least(l1{3}, 2);
    is_least(l2{.7}, .5);
    is_least(l2{3}, 2);
    is_least(elastic_net{.7, .4}, .5);
    is_least(elastic_net{.2, 3}, 2);
    is_least(no_prox{}, 1);
}

TEST_CASE("a proximal step: first the step, then the operator at its rate") {
    host on;
    proximal<gradient_step, l1> step{{.5}, {2}, .5};
    std::vector<double> x{5, 1}, d{2, 1};
    step(on, std::span(x), std::span(d));  // (4, 0.5), then 1 off
    CHECK(x == std::vector<double>{3, 0});
}

TEST_CASE("the elastic net is one of its parts where the other weighs nothing") {
    host on;
    for (double weight : {.3, 2.}) {
        std::vector<double> a{2.5, -.1, -3}, b = a, c = a, d = a;
        elastic_net{weight, 0}(on, .7, std::span(a));
        l1{weight}(on, .7, std::span(b));
        CHECK(a == b);
        elastic_net{0, weight}(on, .7, std::span(c));
        l2{weight}(on, .7, std::span(d));
        CHECK(c == d);
    }
    CHECK(to_string(elastic_net{.5, 2}) == "elastic_net(0.5, 2)");
    CHECK(elastic_net{.5, 2} != elastic_net{2, .5});
}
