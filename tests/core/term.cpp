// SPDX-License-Identifier: Apache-2.0
// width_of is the least width that tells n things apart, and dimensions above 2^32 - 1 are refused.
// A portion is a count from 1 on and a fraction of d below 1, and anything else is refused.
#include "laconic/core/term.hpp"

#include "support/everything.hpp"

static_assert(std::is_trivially_copyable_v<messages::term<float>> && sizeof(messages::term<float>) == 8);
static_assert(detail::largest_dimension == 4294967295u);

TEST_CASE("width_of is the least width that tells n things apart") {
    CHECK(detail::width_of(0) == 0);
    CHECK(detail::width_of(1) == 0);
    CHECK(detail::width_of(2) == 1);
    CHECK(detail::width_of(3) == 2);
    CHECK(detail::width_of(784) == 10);
    CHECK(detail::width_of(~std::uint64_t{0}) == 64);
    for (unsigned w = 1; w < 64; ++w) {
        std::uint64_t const n = std::uint64_t{1} << w;
        CHECK(detail::width_of(n) == w);
        CHECK(detail::width_of(n + 1) == w + 1);
    }
}

TEST_CASE("2^32 - 1 dimensions are the most") {
    CHECK_NOTHROW(messages::check_dimension(0xffffffffu));
    CHECK_THROWS_WITH_AS(messages::check_dimension(std::uint64_t{1} << 32),
                         "more than 2^32 - 1 dimensions: 4294967296; split the vector, so that each part has at most "
                         "2^32 - 1 numbers",
                         argument_error);
}

static_assert(std::is_convertible_v<int, portion> && std::is_convertible_v<float, portion>);
static_assert(!std::is_convertible_v<char const*, portion>);

TEST_CASE("1 and above is a count, below it a fraction of d") {
    CHECK(portion{1}.of(784) == 1);
    CHECK(portion{1.0}.of(784) == 1);
    CHECK(portion{100}.of(784) == 100);
    CHECK(portion{100}.of(30) == 30);
    CHECK(portion{0.1}.of(784) == 78);  // 78.4
    CHECK(portion{0.01}.of(784) == 8);  // 7.84
    CHECK(portion{0.5}.of(5) == 3);     // 2.5 is halfway: away from zero
    CHECK(portion{0.999}.of(3) == 3);
    CHECK(portion{}.of(9) == 1);
}

TEST_CASE("a fraction is never nothing, unless d is") {
    CHECK(portion{1e-9}.of(10) == 1);
    CHECK(portion{1e-9}.of(0) == 0);
    CHECK(portion{3}.of(0) == 0);
    CHECK(portion{0}.of(10) == 0);
    CHECK(portion{0.1}.of(4294967295u) == 429496730);
}

TEST_CASE("check refuses what is neither") {
    double const inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    for (double const bad : {-1.0, -0.5, 1.5, 100.25, nan, inf, -inf}) {
        CAPTURE(bad);
        CHECK_THROWS_AS(portion{bad}.check(1000), argument_error);
    }
    CHECK_THROWS_WITH(portion{2.5}.check(9), "k = 2.5 is neither a count nor a fraction below 1");
    CHECK_THROWS_WITH(portion{10}.check(9),
                      "k = 10 is above the dimension d = 9; a fraction, such as 0.1, suits every length");
    for (double const good : {0.0, 0.001, 0.999, 1.0, 9.0}) CHECK_NOTHROW(portion{good}.check(9));
}

TEST_CASE("the text reads back") {
    CHECK(to_string(portion{3}) == "3");
    CHECK(to_string(portion{0.01}) == "0.01");
    CHECK(portion{3} == portion{3.0});
    CHECK(portion{3} != portion{0.3});
}
