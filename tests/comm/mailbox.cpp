// SPDX-License-Identifier: Apache-2.0
// A mailbox keeps each sender's messages in order, keeps the last that was read, and reuses its memory.
#include "laconic/comm/mailbox.hpp"

#include "support/everything.hpp"
#include "support/schedules.hpp"

using schedules::test_message;

void post(detail::mailbox& box, int from, int n) {
    auto const message = test_message(from, 0, n);
    box.next(from, message.bytes.size()).assign(message.as_payload());
    box.post(from);
}

TEST_CASE("each sender's queue is first in first out, and knows nothing of the others'") {
    detail::mailbox box;
    CHECK_FALSE(box.has(3));
    for (int n = 0; n < 5; ++n) post(box, 3, n);
    for (int n = 0; n < 2; ++n) post(box, 7, n);
    for (int n = 0; n < 5; ++n) {
        REQUIRE(box.has(3));
        CHECK_FALSE(test_message(3, 0, n).wrong(box.take(3)));
        if (n < 2) CHECK_FALSE(test_message(7, 0, n).wrong(box.take(7)));
    }
    CHECK_FALSE(box.has(3));
    CHECK_FALSE(box.has(7));
    CHECK_FALSE(box.has(0));
}

TEST_CASE("what is being written is not there, and what is being read is not there any more, but stays") {
    detail::mailbox box;
    auto& slot = box.next(1, 40);
    CHECK_FALSE(box.has(1));
    slot.assign(test_message(1, 0, 0).as_payload());
    CHECK_FALSE(box.has(1));
    box.post(1);
    CHECK(box.has(1));
    auto const received = box.take(1);
    CHECK_FALSE(box.has(1));
    for (int n = 1; n < 50; ++n) post(box, 1, n);  // the queue moves
    CHECK(box.waiting(1) == 49);
    for (int n = 0; n < 50; ++n) post(box, 2, n);
    CHECK_FALSE(test_message(1, 0, 0).wrong(received));
    box.release();
    box.release();  // nothing more to release
    CHECK_FALSE(test_message(1, 0, 1).wrong(box.take(1)));
}

TEST_CASE("a queue that grows keeps its order, wherever in it the oldest lies") {
    detail::mailbox box;
    for (int posted = 0, taken = 0, round = 0; round < 12; ++round) {
        for (int k = 0; k < round % 5 + 2; ++k) post(box, 1, posted++);
        for (int k = 0; k < round % 4 + 1; ++k) CHECK_FALSE(test_message(1, 0, taken++).wrong(box.take(1)));
        CHECK(box.waiting(1) == static_cast<std::size_t>(posted - taken));
    }
}

TEST_CASE("memory goes around: the third message lies where the first lay") {
    detail::mailbox box;
    std::vector<std::byte const*> places;
    std::vector<std::byte> const bytes(100);
    for (std::size_t n = 0; n < 6; ++n) {
        auto const length = n == 0 ? 100 : 10 * n;
        box.next(4, length).assign({std::span(bytes).first(length)});
        box.post(4);
        auto const received = box.take(4);
        CHECK(received.bytes.size() == length);
        places.push_back(received.bytes.data());
    }
    for (std::size_t n = 2; n < 6; ++n) CHECK(places[n] == places[n - 2]);
}

TEST_CASE("a message takes the least room that has what it needs, else the largest, of equal ones the last") {
    std::vector<std::size_t> const bytes{50, 0, 10, 50, 0};
    std::vector<std::size_t> free{0, 1, 2, 3, 4};
    auto const take = [&](std::size_t need) {
        return detail::take_room(free, need, [&](std::size_t f) { return bytes[f]; });
    };
    CHECK(take(5) == 2);
    CHECK(take(0) == 4);
    CHECK(take(51) == 3);
    CHECK(free == std::vector<std::size_t>{0, 1});
    CHECK(take(50) == 0);
    CHECK(take(50) == 1);
    CHECK(free.empty());
}
