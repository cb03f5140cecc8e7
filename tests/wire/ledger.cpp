// SPDX-License-Identifier: Apache-2.0
// A ledger adds up widths by what they are spent on, and counts the padding to whole bytes as header.
#include "laconic/wire/ledger.hpp"

#include "support/everything.hpp"

TEST_CASE("widths are added up for what they are spent on, and whole bytes are the header's") {
    ledger book(position_code::fastest);
    CHECK(book.bits() == 0);
    book.put(5, 3);  // values, unless another part is charged
    book.charge(message_part::positions);
    book.put(0, 10);
    book.add(20);
    book.charge(message_part::scalars);
    book.put(0, 64);
    book.charge(message_part::header);
    book.put(1, 2);
    CHECK(book.values() == 3);
    CHECK(book.positions() == 30);
    CHECK(book.scalars() == 64);
    CHECK(book.unpadded() == 99);
    CHECK(book.bits() == 104);
    CHECK(book.header() == 2 + 5);
    book.put(0, 5);
    CHECK(book.bits() == 104);
    CHECK(book.header() == 7);
    CHECK(book.positions_as() == position_code::fastest);
    CHECK(ledger().positions_as() == position_code::smallest);
}
