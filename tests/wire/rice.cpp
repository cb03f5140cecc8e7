// SPDX-License-Identifier: Apache-2.0
#include "laconic/wire/rice.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "laconic/core/key.hpp"

using namespace laconic;

TEST_CASE("numbers of every size read back with every parameter that is not absurd") {
    for (unsigned r = 0; r <= 40; ++r)
        for (unsigned width = 0; width <= 40 && width <= r + 9; ++width) {
            bit_writer sink;
            ledger books;
            std::vector<std::uint64_t> const numbers{(std::uint64_t{1} << width) - 1, std::uint64_t{1} << width >> 1,
                                                     0};
            std::uint64_t expected = 0;
            for (auto const n : numbers) {
                put_rice(sink, n, r);
                put_rice(books, n, r);
                expected += (n >> r) + 1 + r;
            }
            REQUIRE(books.unpadded() == expected);
            auto const said = sink.finish();
            bit_reader source(said);
            for (auto const n : numbers) REQUIRE(take_rice(source, n, r) == n);
            source.finish();
        }
}

TEST_CASE("a number above what may be is refused before it is read") {
    bit_writer sink;
    put_rice(sink, 1000, 2);
    auto const said = sink.finish();
    bit_reader source(said);
    CHECK_THROWS_WITH_AS(take_rice(source, 900, 2), doctest::Contains("more than 225 ones"), wire_error);
    bit_reader cut(said.first(10));
    CHECK_THROWS_WITH_AS(take_rice(cut, 1000, 2), doctest::Contains("ends among ones"), wire_error);
}

// The three parameters that are tried hold the best of all, for geometric numbers of any mean.
TEST_CASE("the best parameter is found for geometric numbers") {
    for (double const p : {0.9, 0.5, 0.3, 0.1, 0.01, 1e-3, 1e-4, 1e-6}) {
        std::vector<std::uint64_t> numbers;
        std::uint64_t total = 0;
        for (std::uint64_t i = 0; i < 2000; ++i) {
            numbers.push_back(static_cast<std::uint64_t>(std::log(1 - key{1}.uniform(i)) / std::log(1 - p)));
            total += numbers.back();
        }
        detail::rice_sums sums(total, numbers.size());
        for (auto const n : numbers) sums.add(n);
        std::uint64_t best = ~std::uint64_t{0};
        for (unsigned r = 0; r <= 40; ++r) {
            std::uint64_t bits = 0;
            for (auto const n : numbers) bits += (n >> r) + 1 + r;
            best = std::min(best, bits);
        }
        CAPTURE(p);
        CHECK(sums.bits() == best);
    }
}
