// SPDX-License-Identifier: Apache-2.0
// Losses of outputs are their formulas, with the slopes and bends of differences.
#include "laconic/objective/output_loss.hpp"

#include "support/drawn.hpp"
#include "support/everything.hpp"

using namespace laconic;

static_assert(OutputLoss<squared_output<>> && OutputLoss<squared_output<float>> && OutputLoss<class_output<>> &&
              OutputLoss<no_loss>);

namespace tests_of_output_loss {

template <class L>
std::vector<double> slopes(L const& l, std::vector<double> z, std::size_t j) {
    l.loss(std::span<double>(z), j);
    return z;
}
template <class L>
double value(L const& l, std::vector<double> z, std::size_t j) {
    return l.loss(std::span<double>(z), j);
}

template <class L>
void derivatives_are_true(L const& l, std::vector<double> const& z, std::size_t j) {
    auto const s = slopes(l, z, j);
    for (std::size_t c = 0; c < z.size(); ++c) {
        auto up = z, down = z;
        up[c] += 1e-5, down[c] -= 1e-5;
        CHECK(s[c] == doctest::Approx((value(l, up, j) - value(l, down, j)) / 2e-5).epsilon(1e-8));
        std::vector<double> v(z.size());
        v[c] = 2;
        l.multiply_by_bend(std::span<double const>(s), j, std::span(v));
        auto const above = slopes(l, up, j), below = slopes(l, down, j);
        for (std::size_t b = 0; b < z.size(); ++b)
            CHECK(v[b] == doctest::Approx((above[b] - below[b]) / 1e-5).epsilon(1e-8));
    }
}

}  // namespace tests_of_output_loss

TEST_CASE("squared_output: by hand, and by differences") {
    auto data = drawn::data(4, 2);
    data.labels = {0, 3, -1, 2};
    squared_output<> const l(data);
    CHECK(l.rows() == 4);
    CHECK(l.outputs() == 1);
    CHECK(tests_of_output_loss::value(l, {1}, 1) == 4);
    CHECK(tests_of_output_loss::slopes(l, {1}, 1) == std::vector<double>{-4});
    tests_of_output_loss::derivatives_are_true(l, {0.3}, 2);
    data.labels[1] = std::nan("");
    CHECK_THROWS_WITH_AS(squared_output<>{data}, "drawn: the label of row 1 is not finite", argument_error);
}

TEST_CASE("class_output: by hand, and by differences") {
    auto const data = drawn::data(9, 2, 1, 3);
    class_output<> const l(data);
    CHECK(l.classes() == std::vector<double>{0, 1, 2});
    CHECK(l.right(2) == 2);
    CHECK(tests_of_output_loss::value(l, {0, 0, 0}, 0) == doctest::Approx(std::log(3.)));
    tests_of_output_loss::derivatives_are_true(l, {0.3, -0.5, 1.1}, 0);
    tests_of_output_loss::derivatives_are_true(l, {0.3, -0.5, 1.1}, 2);
    CHECK_THROWS_AS(class_output<>(data, {0, 1}), argument_error);
}

TEST_CASE("no_loss: nothing, of any outputs") {
    no_loss const l{3, 7};
    CHECK(l.outputs() == 3);
    CHECK(l.rows() == 7);
    CHECK(tests_of_output_loss::value(l, {1, 2, 3}, 0) == 0);
    CHECK(tests_of_output_loss::slopes(l, {1, 2, 3}, 0) == std::vector<double>(3));
    std::vector<double> v{1, 2, 3};
    l.multiply_by_bend(std::span<double const>(v), 0, std::span(v));
    CHECK(v == std::vector<double>(3));
}
