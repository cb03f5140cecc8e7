// SPDX-License-Identifier: Apache-2.0
// Parts go in pieces below 64 KiB, at most eight ahead of what is received, and are added or taken as read.
#include "laconic/collective/layout/pieces.hpp"

#include "support/everything.hpp"

TEST_CASE("numbers are added or taken as they are read") {
    std::vector<double> x{1, 2}, y{3, -4};
    wire::bit_writer sink;
    put_numbers(sink, y);
    auto const bytes = sink.finish();
    wire::bit_reader once(bytes), twice(bytes);
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

TEST_CASE("who takes turns is at most eight pieces ahead, as long as there is something to receive") {
    constexpr std::size_t most = detail::in_pieces<float>::longest;
    for (std::size_t const sent : {0, 1, 3, 20})
        for (std::size_t const received : {0, 1, 8, 9, 30}) {
            std::size_t sends = 0, receives = 0;
            int ahead = 0, largest = 0;
            detail::by_turns(
                detail::in_pieces<float>{5, sent * most}, detail::in_pieces<float>{0, received * most},
                [&](std::size_t first, std::size_t) {
                    CHECK(first == 5 + most * sends++);
                    largest = std::max(largest, ++ahead);
                },
                [&](std::size_t first, std::size_t) {
                    CHECK(first == most * receives++);
                    --ahead;
                });
            CHECK(sends == std::max<std::size_t>(sent, 1));
            CHECK(receives == std::max<std::size_t>(received, 1));
            CHECK(largest == (received + 8 < sent ? int(sent - receives) : std::min(8, int(sends))));
        }
}
