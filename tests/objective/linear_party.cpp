// SPDX-License-Identifier: Apache-2.0
// The parties of a linear model add up to it: values, gradients, labels that one of them subtracts.
#include "laconic/objective/linear_party.hpp"

#include "support/drawn.hpp"
#include "support/everything.hpp"

using vec = std::vector<double>;
template <class Each>
using party = linear_party<Each, double>;
static_assert(Party<party<squared_loss>> && LabelledParty<party<squared_loss>> && AffineParty<party<squared_loss>>);
static_assert(Party<linear_party<logistic_loss, float>, float> && !Party<party<logistic_loss>, float>);

template <class Each>
void adds_up(row_choice rows, std::vector<std::uint32_t> const& list) {
    auto const data = drawn::data(7, 5);
    linear_model<Each, double> const whole(data, .25);
    party<Each> const first(columns(data, 0, 2, "first"), .25), second(columns(data, 2, 5, "second"), .25);
    vec const x{.3, -1, 2, .5, -.25}, x1{.3, -1}, x2{2, .5, -.25};
    std::size_t const n = rows.size();
    vec z(n), z2(n), s(n), g(5), g1(2), g2(3);
    first.embedding(rows, x1, z);
    second.embedding(rows, x2, z2);
    for (std::size_t i = 0; i < n; ++i) z[i] += z2[i];
    first.slopes(rows, z, s);
    first.block_gradient(rows, s, x1, g1);
    second.block_gradient(rows, s, x2, g2);
    whole.batch_gradient(list, x, g);
    for (std::size_t j = 0; j < 5; ++j) CHECK(g[j] == doctest::Approx(j < 2 ? g1[j] : g2[j - 2]).epsilon(1e-13));
    if (n == 7)
        CHECK(first.loss(rows, z) + first.penalty(x1) + second.penalty(x2) ==
              doctest::Approx(whole.value(x)).epsilon(1e-14));
    if (first.curvature() == 0) return;
    vec r = z;
    second.subtract_targets(rows, r);
    double square = 0;
    for (std::size_t i = 0; i < n; ++i) {
        CHECK(first.curvature() * r[i] == doctest::Approx(s[i]).epsilon(1e-13));
        square += r[i] * r[i] / double(n);
    }
    double const least = std::is_same_v<Each, squared_loss> ? 0 : std::log(2) - .5;
    CHECK(first.loss(rows, z) == doctest::Approx(least + first.curvature() / 2 * square).epsilon(1e-13));
}

TEST_CASE("two parties have the gradient, the loss and the penalty of the model that they share") {
    std::vector<std::uint32_t> const all{0, 1, 2, 3, 4, 5, 6}, some{5, 0, 3};
    for (auto const& list : {all, some}) {
        adds_up<squared_loss>(row_choice::of(list), list);
        adds_up<logistic_loss>(row_choice::of(list), list);
        adds_up<taylor_logistic_loss>(row_choice::of(list), list);
    }
    adds_up<squared_loss>(row_choice::all(7), all);
    CHECK(party<squared_loss>(drawn::data(7, 5), 0).curvature() == 1);
    CHECK(party<taylor_logistic_loss>(drawn::data(7, 5), 0).curvature() == .25);
    CHECK(party<logistic_loss>(drawn::data(7, 5), 0).curvature() == 0);
}

TEST_CASE("constants of a block, a party without labels, and what is refused") {
    auto data = drawn::data(7, 5);
    auto const block = columns(data, 1, 3, "block");
    party<logistic_loss> const p(block, .5);
    logistic_regression<> const alone(block, .5);
    CHECK(p.smoothness() == alone.smoothness());
    CHECK(p.strong_convexity() == .5);
    CHECK(p.has_labels());
    CHECK(p.outputs() == 1);
    data.labels[0] = 3;
    CHECK_THROWS_AS(party<logistic_loss>(data, 0), argument_error);
    data.labels.clear();
    CHECK(!party<logistic_loss>(data, 0).has_labels());
    CHECK(party<logistic_loss>(data, 0).samples() == 7);
    CHECK_THROWS_AS(party<logistic_loss>(data, -1), argument_error);
    data.labels = {1};
    CHECK_THROWS_AS(party<logistic_loss>(data, 0), shape_error);
}
