// SPDX-License-Identifier: Apache-2.0
#include "laconic/exchange/partition.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace laconic;

TEST_CASE("parts cover all coordinates, one after another, as equal as can be") {
    for (std::size_t const d : {0, 1, 6, 7, 100})
        for (std::size_t const n : {1, 2, 3, 7, 33}) {
            detail::partition const parts{d, n};
            CHECK(parts.first(0) == 0);
            CHECK(parts.first(n) == d);
            std::size_t most = 0, least = d;
            for (std::size_t p = 0; p < n; ++p) {
                CHECK(parts.first(p) + parts.length(p) == parts.first(p + 1));
                most = std::max(most, parts.length(p));
                least = std::min(least, parts.length(p));
            }
            CHECK(most - least <= 1);
        }
    CHECK(detail::partition{4294967295u, 4294967295u}.first(4294967294u) == 4294967294u);  // no product overflows
}

TEST_CASE("parts of a vector") {
    std::vector<float> x{0, 1, 2, 3, 4, 5, 6};
    detail::partition const parts{7, 3};
    CHECK(parts.of(std::span(x), 1).front() == 2);
    CHECK(parts.of(std::span(x), 1).size() == 2);
    CHECK(parts.of(std::span(x), 1, 2).size() == 5);
    CHECK(parts.of(std::span(x), 3, 0).empty());
}

TEST_CASE("numbers are added or taken as they are read") {
    std::vector<double> x{1, 2}, y{3, -4};
    bit_writer sink;
    put_numbers(sink, y);
    auto const bytes = sink.finish();
    bit_reader once(bytes), twice(bytes);
    detail::add_numbers(once, std::span(x));
    CHECK(x == std::vector<double>{4, -2});
    take_numbers(twice, std::span(x));
    CHECK(x == y);
    CHECK_THROWS_AS(take_numbers(twice, std::span(x)), wire_error);
}

TEST_CASE("pieces cover a part, one after another, and a part of nothing is one") {
    constexpr std::size_t most = detail::in_pieces<float>::longest;
    CHECK(most * 4 < 65536);
    CHECK(detail::in_pieces<double>::longest * 8 < 65536);
    for (std::size_t const length : {std::size_t{0}, std::size_t{1}, most, most + 1, 3 * most}) {
        detail::in_pieces<float> const all{7, length};
        CHECK(all.count() == std::max<std::size_t>(1, (length + most - 1) / most));
        std::size_t next = 7, pieces = 0;
        all.each([&](std::size_t first, std::size_t n) {
            CHECK(first == next);
            CHECK(n <= most);
            all.visit(pieces, [&](std::size_t at, std::size_t numbers) {
                CHECK(at == first);
                CHECK(numbers == n);
            });
            next += n;
            ++pieces;
        });
        CHECK(next == 7 + length);
        CHECK(pieces == all.count());
    }
}

TEST_CASE("who takes turns is at most eight pieces ahead, as long as there is something to hear") {
    constexpr std::size_t most = detail::in_pieces<float>::longest;
    for (std::size_t const said : {0, 1, 3, 20})
        for (std::size_t const heard : {0, 1, 8, 9, 30}) {
            std::size_t says = 0, hears = 0;
            int ahead = 0, largest = 0;
            detail::by_turns(
                detail::in_pieces<float>{5, said * most}, detail::in_pieces<float>{0, heard * most},
                [&](std::size_t first, std::size_t) {
                    CHECK(first == 5 + most * says++);
                    largest = std::max(largest, ++ahead);
                },
                [&](std::size_t first, std::size_t) {
                    CHECK(first == most * hears++);
                    --ahead;
                });
            CHECK(says == std::max<std::size_t>(said, 1));
            CHECK(hears == std::max<std::size_t>(heard, 1));
            CHECK(largest == (heard + 8 < said ? int(said - hears) : std::min(8, int(says))));
        }
}
