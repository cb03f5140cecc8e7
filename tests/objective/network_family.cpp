// SPDX-License-Identifier: Apache-2.0
// The networks of a family share their data and predict as networks do, for these data and others.
#include "laconic/objective/network_family.hpp"

#include "support/drawn.hpp"
#include "support/everything.hpp"

TEST_CASE("network_family: networks of any depth over one set of data") {
    auto const data = drawn::data(30, 4, 0.8, 3), other = drawn::data(7, 4, 0.8, 3, 5);
    network_family<class_output<>, double> const family(data, class_output<>(data), 5);
    CHECK(family.outputs() == 90);
    for (std::size_t const depth : {0, 1, 3}) {
        std::vector<std::size_t> const hidden(depth, 5);
        neural_network<class_output<>> const here(data, hidden, class_output<>(data)),
            there(other, hidden, class_output<>(other, {0, 1, 2}));
        CHECK(family.of(depth).depth() == depth);
        CHECK(&family.of(depth).data() == &family.data());
        auto const x = drawn::point(here.dimension(), depth);
        std::vector<double> z(90), of_other(21), sum(21, 1.);
        here.predict(x, z);
        CHECK(family.predict(depth, x) == z);
        there.predict(x, of_other);
        family.add_prediction(depth, x, other, 2, sum);
        for (std::size_t i = 0; i < 21; ++i) CHECK(sum[i] == 1 + 2 * of_other[i]);
    }
}
