// SPDX-License-Identifier: Apache-2.0
#include "laconic/message/quantized.hpp"

#include <doctest/doctest.h>

#include "laconic/backend/host.hpp"

using namespace laconic;
using message = quantized<float, host>;

static_assert(Message<message, float, host> && Message<message, double, host> && TermMessage<message>);

// Two buckets of two and one of one: steps 0.5, 10 and 0.
TEST_CASE("a number is its code times its bucket's step") {
    message const m{4, 2, {0.5f, 10, 0}, {-3, 4, 1, 0, 2}};
    CHECK(m.dimension() == 5);
    float const expected[] = {-1.5f, 2, 10, 0, 0};
    auto const t = m.terms();
    REQUIRE(t.size() == 5);
    for (std::size_t j = 0; j < 5; ++j) CHECK((t[j].at == j && t[j].value == expected[j]));

    host on;
    std::vector<double> out(5, 1.0);
    add_message(on, std::span<double>(out), -2.0, m);
    CHECK(out == std::vector<double>{4, -3, -19, 1, 1});

    message other = m;
    CHECK(other == m);
    other.codes[4] = 1;
    CHECK(other != m);  // said differently, though it means the same
}
