// SPDX-License-Identifier: Apache-2.0
// A short float is the number of its code, and NaN for codes that no reader takes.
#include "laconic/message/short_floats.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::messages;

using sixteen_bits = short_floats<kernels::short_format::binary16, float, host>;
using eights = short_floats<kernels::short_format::e4m3, double, host>;
static_assert(Message<sixteen_bits, float, host> && Message<eights, double, host> && TermMessage<sixteen_bits>);
static_assert(sixteen_bits::terms_type::in_order);

// 0x3c00 is 1 as a half and 0x38 as an e4m3 number; 0x4248 is 3.140625.
TEST_CASE("numbers are what their codes mean") {
    sixteen_bits const m{{0x3c00, 0xc000, 0x4248, 0x8000}};
    CHECK(m.dimension() == 4);
    host on;
    std::vector<float> out(4, 10);
    add_message(on, std::span<float>(out), 2.0f, m);
    CHECK(out == std::vector<float>{12, 6, 16.28125f, 10});
    CHECK(m.terms()[2].at == 2);

    eights const n{{0x38, 0xb8 + 8, 0x7e, 0x01}};
    std::vector<double> const expected{1, -2, 448, 0x1p-9};
    for (std::size_t j = 0; j < 4; ++j) CHECK(n.terms()[j].value == expected[j]);
}

TEST_CASE("a code that no reader takes is NaN, not some number") {
    eights const n{{0x7f, 0xff}};
    CHECK(std::isnan(n.terms()[0].value));
    CHECK(std::isnan(n.terms()[1].value));
    sixteen_bits const m{{0x7c00}};
    CHECK(std::isnan(m.terms()[0].value));
}
