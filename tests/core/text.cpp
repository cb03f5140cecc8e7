// SPDX-License-Identifier: Apache-2.0
// Numbers are written in as few digits as read back to the same double.
#include "laconic/core/text.hpp"

#include <cstdlib>

#include "support/everything.hpp"

using laconic::detail::escaped;
using laconic::detail::shortest;

TEST_CASE("numbers are short where they can be") {
    CHECK(shortest(0.1) == "0.1");
    CHECK(shortest(100) == "100");
    CHECK(shortest(1e-12) == "1e-12");
    CHECK(shortest(-0.25) == "-0.25");
}

TEST_CASE("numbers are the same when read back") {
    using limits = std::numeric_limits<double>;
    for (double const x : {1.0 / 3, 0.1 + 0.2, limits::max(), limits::min(), limits::denorm_min(), -limits::max(), 1e5,
                           123456789.0, -0.0, -2.2250738585072014e-308})
        CHECK(std::strtod(shortest(x).c_str(), nullptr) == x);
}

TEST_CASE("joined texts differ where the lists of texts do") {
    CHECK(escaped("conv.weight", ",;") == "conv.weight");
    CHECK(escaped("a, b", ",") == "a\\, b");
    auto const joined = [](std::string const& a, std::string const& b) {
        return escaped(a, ",") + ", " + escaped(b, ",");
    };
    CHECK(joined("a, b", "c") != joined("a", "b, c"));
    CHECK(joined("a\\", "b, c") != joined("a\\, b", "c"));
}

TEST_CASE("the lines that another text lacks") {
    using laconic::detail::lines_without;
    CHECK(lines_without("a\nb\nc\n", "c\na\n", "here: ") == "here: b\n");
    CHECK(lines_without("a\nb", "ab\n", "") == "a\nb\n");
    CHECK(lines_without("a\n", "a\nb\n", "") == "");
    CHECK(lines_without("", "a\n", "") == "");
}
