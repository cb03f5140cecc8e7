// SPDX-License-Identifier: Apache-2.0
// Classes count from 0 in increasing order of the labels, and what names no classes is refused.
#include "laconic/objective/class_index.hpp"

#include "support/everything.hpp"

using namespace laconic;

namespace {

dataset<> labelled(std::vector<double> labels) { return {"toy", {}, std::move(labels)}; }

}  // namespace

TEST_CASE("class_index: places count from 0 in increasing order of the labels") {
    auto const data = labelled({7, -3, 0, 7});
    CHECK(class_index(data, classes(data)) == std::vector<std::uint32_t>{2, 0, 1, 2});
    CHECK(class_index(data, {-3, 0, 4, 7, 9}) == std::vector<std::uint32_t>{3, 0, 1, 3});
    CHECK(class_index(labelled({}), {1, 2}).empty());
    CHECK(class_index(dataset<float>{"single", {}, {2, 1}}, {1, 2}) == std::vector<std::uint32_t>{1, 0});
}

TEST_CASE("class_index: what names no classes is refused") {
    auto const data = labelled({1, 2});
    CHECK_THROWS_WITH_AS(class_index(data, {1}), "toy: two classes are needed, not 1", argument_error);
    CHECK_THROWS_AS(class_index(data, {}), argument_error);
    CHECK_THROWS_WITH_AS(class_index(data, {1, 2.5}), "toy: the class 2.5 is no whole number", argument_error);
    CHECK_THROWS_AS(class_index(data, {1, std::nan("")}), argument_error);
    CHECK_THROWS_AS(class_index(data, {1, std::numeric_limits<double>::infinity()}), argument_error);
    CHECK_THROWS_WITH_AS(class_index(data, {2, 1}), "toy: the classes do not increase at 1", argument_error);
    CHECK_THROWS_AS(class_index(data, {1, 2, 2}), argument_error);
    CHECK_THROWS_WITH_AS(class_index(data, {1, 3}), "toy: the label 2 is none of the 2 classes", argument_error);
    CHECK_THROWS_AS(class_index(data, {0, 1}), argument_error);
}
