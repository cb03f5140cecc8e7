// SPDX-License-Identifier: Apache-2.0
// A list takes terms up to its length and refuses more, without any of them, and is added term by term.
#include "laconic/reduction/term_list.hpp"

#include "support/everything.hpp"

TEST_CASE("a list takes terms up to its length, refuses more without any of them, and is added term by term") {
    using list = detail::term_list<float>;
    coordinate const places[] = {0, 2, 2};
    float const values[] = {1, 2, 4};
    list::view const three{places, values, 3};
    list all(5);
    CHECK(all.append(three));
    CHECK_FALSE(all.append(three));
    CHECK(all.terms().size() == 3);
    CHECK(all.append(list::view{places, values, 2}));
    CHECK_FALSE(all.append(list::view{places, values, 1}));
    host on;
    std::vector<float> x{8, 8, 8, 8};
    add_terms(on, std::span(x), 0.5f, all.terms());
    CHECK(x == std::vector<float>{9, 8, 12, 8});
    all.clear();
    CHECK(all.terms().size() == 0);
    CHECK(all.append(three));
    list none(0);
    CHECK(none.append(list::view{places, values, 0}));
    CHECK_FALSE(none.append(list::view{places, values, 1}));
}
