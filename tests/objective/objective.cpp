// SPDX-License-Identifier: Apache-2.0
// evaluate computes value and gradient in one pass where it can, for any contiguous range.
#include "laconic/objective/objective.hpp"

#include "support/everything.hpp"

// The least that a user has to write: f(x) = |x|^2 / 2.
struct half_square {
    mutable int values = 0, gradients = 0;

    std::size_t dimension() const { return 3; }
    double value(std::span<double const> x) const {
        ++values;
        double sum = 0;
        for (double xi : x) sum += xi * xi;
        return sum / 2;
    }
    void gradient(std::span<double const> x, std::span<double> g) const {
        ++gradients;
        for (std::size_t i = 0; i < x.size(); ++i) g[i] = x[i];
    }
};

struct fused_half_square : half_square {
    mutable int both = 0;

    double value_and_gradient(std::span<double const> x, std::span<double> g) const {
        ++both;
        for (std::size_t i = 0; i < x.size(); ++i) g[i] = x[i];
        return (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) / 2;
    }
    double smoothness() const { return 1; }
    double strong_convexity() const { return 1; }
};

struct value_is_text {
    std::size_t dimension() const { return 1; }
    std::string value(std::span<double const>) const { return "low"; }
    void gradient(std::span<double const>, std::span<double>) const {}
};

struct members_not_const {
    std::size_t dimension() const { return 1; }
    double value(std::span<double const>) { return 0; }
    void gradient(std::span<double const>, std::span<double>) {}
};

static_assert(laconic::Objective<half_square> && !laconic::FusedObjective<half_square> &&
              !laconic::SmoothObjective<half_square>);
static_assert(laconic::FusedObjective<fused_half_square> && laconic::SmoothObjective<fused_half_square>);
static_assert(!laconic::Objective<half_square, float>, "its spans are of double");
static_assert(!laconic::Objective<half_square, int> && !laconic::Objective<int>);
static_assert(!laconic::Objective<value_is_text>, "a value is a number");
static_assert(!laconic::Objective<members_not_const>, "members are const");

TEST_CASE("evaluate calls for both where they come together, and for each otherwise") {
    std::vector<double> const x{1, 2, 3};
    std::vector<double> g(3);

    half_square const plain;
    CHECK(laconic::evaluate(plain, x, g) == 7);
    CHECK(g == x);
    CHECK(plain.values == 1);
    CHECK(plain.gradients == 1);

    g.assign(3, 0);
    fused_half_square const fused;
    CHECK(laconic::evaluate(fused, x, g) == 7);
    CHECK(g == x);
    CHECK(fused.both == 1);
    CHECK(fused.values + fused.gradients == 0);
}

TEST_CASE("evaluate takes whatever is contiguous") {
    fused_half_square const f;
    Eigen::Vector3d const x(1, 0, 2);
    std::array<double, 3> g{};
    CHECK(laconic::evaluate(f, x, g) == 2.5);
    CHECK(g == std::array{1.0, 0.0, 2.0});

    std::vector<double> other(3);
    std::span<double> const at(g);
    CHECK(laconic::evaluate(f, at, std::span<double>(other)) == 2.5);
    CHECK(other[2] == 2);
}
