// SPDX-License-Identifier: Apache-2.0
// Step takes a user's own functions of iterate and direction for their type of number, and so does proximal.
#include "laconic/optim/step.hpp"

#include "support/everything.hpp"

using namespace laconic;

namespace {

// Steps of the user's: a function object, and a lambda.
struct sign_step {
    template <class B, Scalar T>
    void operator()(B&, std::span<T> x, std::span<T> d) const {
        for (std::size_t j = 0; j < x.size(); ++j) x[j] -= d[j] > 0 ? T(1) : T(-1);
    }
};
struct only_float {
    void operator()(host&, std::span<float>, std::span<float>) const {}
};
constexpr auto by_lambda = [](host&, std::span<double> x, std::span<double> d) { x[0] -= d[0]; };

static_assert(Step<sign_step> && Step<sign_step, float> && Step<std::remove_const_t<decltype(by_lambda)>>);
static_assert(Step<only_float, float> && !Step<only_float, double> && !Step<int>);
static_assert(Step<proximal<momentum<>, l1>>);

}  // namespace

TEST_CASE("a step of the user's moves the iterate, and a proximal operator follows it") {
    host on;
    proximal<sign_step, l1> step{{}, {2}, .5};
    double x[] = {5, 5}, d[] = {2, -3};
    step(on, std::span<double>(x), std::span<double>(d));  // (4, 6), then 1 off
    CHECK(x[0] == 3);
    CHECK(x[1] == 5);
}
