// SPDX-License-Identifier: Apache-2.0
// The library's objectives have products with their Hessians, those of generalised linear models the Hessian too, and
// both are one.
#include "laconic/objective/hessian.hpp"

#include "support/drawn.hpp"
#include "support/everything.hpp"

static_assert(HessianObjective<logistic_regression<>> && HessianObjective<logistic_regression<float>, float>);
static_assert(HessianObjective<ridge<>> && HessianObjective<nonconvex_logistic<>>);
static_assert(HessianProductObjective<logistic_regression<>> && HessianProductObjective<ridge<float>, float>);
static_assert(HessianProductObjective<nonconvex_logistic<>> && HessianProductObjective<softmax<>>);
static_assert(HessianProductObjective<perceptron<>> && HessianProductObjective<perceptron<float>, float>);
static_assert(!HessianObjective<perceptron<>> && !HessianObjective<ridge<>, float>);

template <class F>
void product_is_the_hessian_s(F const& f) {
    auto const d = f.dimension();
    auto const x = drawn::point(d, 1), v = drawn::point(d, 2);
    Eigen::MatrixXd h;
    f.hessian(x, h);
    std::vector<double> product(d);
    f.hessian_times(x, v, product);
    Eigen::VectorXd const expected = h * Eigen::Map<Eigen::VectorXd const>(v.data(), Eigen::Index(d));
    for (std::size_t i = 0; i < d; ++i) CHECK(product[i] == doctest::Approx(expected(Eigen::Index(i))).epsilon(1e-12));
    CHECK((h - h.transpose()).cwiseAbs().maxCoeff() < 1e-15 * h.norm());
    drawn::products_are_true(f, x, v);
}

TEST_CASE("hessian: the product is the matrix's, and the gradient's differences'") {
    auto const data = drawn::data(40, 7);
    product_is_the_hessian_s(logistic_regression<>(data, .01));
    product_is_the_hessian_s(ridge<>(data, .01));
    product_is_the_hessian_s(nonconvex_logistic<>(data, .1));
    softmax<> const f(drawn::data(40, 7, .5, 3), .01);
    drawn::products_are_true(f, drawn::point(f.dimension(), 1), drawn::point(f.dimension(), 2));
}
