// SPDX-License-Identifier: Apache-2.0
// Dithered messages cost their norms and codes, and bad norms and levels are refused.
#include "laconic/wire/dithered.hpp"

#include "laconic/backend/host.hpp"
#include "laconic/wire/message.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;

TEST_CASE("norms are scalars, codes are values") {
    dithered<float, host> const m{3, 2, {0.5f, 1}, {3, -3, 0}};
    CHECK(account(m).scalars() == 64);
    CHECK(account(m).values() == 9);
    CHECK(bits(m) == 80);
    CHECK(bits_as_paper(m) == doctest::Approx(64 + 3 * (1 + std::log2(4.0))));
    dithered<double, host> const ternary{1, 10, {2}, std::vector<std::int16_t>(10, 1)};
    CHECK(account(ternary).unpadded() == 64 + 16);
}

TEST_CASE("norms that are negative or not finite and levels outside the grid are refused") {
    auto const value_read = [](float norm, std::uint64_t word) {
        bit_writer sink;
        put_number(sink, norm);
        sink.put(word, 3);
        bit_reader source(sink.finish());
        host on;
        dithered<float, host> m{3, 1, {0}, {0}};
        read(on, source, m);
        source.finish();
        return m.terms()[0].value;
    };
    CHECK(value_read(8, 0) == -8);
    CHECK(value_read(8, 3) == 0);
    CHECK(value_read(8, 4) == 2);
    CHECK(value_read(std::numeric_limits<float>::max(), 6) == std::numeric_limits<float>::max());
    CHECK_THROWS_WITH_AS(value_read(8, 7), doctest::Contains("outside the grid"), wire_error);
    CHECK_THROWS_WITH_AS(value_read(-8, 3), doctest::Contains("negative norm"), wire_error);
    CHECK_THROWS_WITH_AS(value_read(-0.0f, 3), doctest::Contains("negative norm"), wire_error);
    CHECK_THROWS_AS(value_read(std::numeric_limits<float>::infinity(), 3), wire_error);
    CHECK_THROWS_AS(value_read(std::numeric_limits<float>::quiet_NaN(), 3), wire_error);
}
