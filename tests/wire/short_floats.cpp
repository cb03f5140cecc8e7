// SPDX-License-Identifier: Apache-2.0
// Exactly the codes that are not finite are refused.
#include "laconic/wire/short_floats.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;

namespace {

// How many of all codes a reader takes, and whether it gives them back.
template <kernels::short_format F>
int accepted() {
    host on;
    int n = 0;
    short_floats<F, double, host> m{{0}};
    unsigned const width = static_cast<unsigned>(m.layout.width());
    for (std::uint64_t code = 0; code >> width == 0; ++code) {
        bit_writer sink;
        sink.put(code, width);
        bit_reader source(sink.finish());
        try {
            read(on, source, m);
            n += m.codes[0] == code;
        } catch (wire_error const&) {
        }
    }
    return n;
}

}  // namespace

// The last exponent of each sign, or one code of each, is no number.
TEST_CASE("codes that are not finite are refused, and no others") {
    CHECK(accepted<kernels::short_format::binary16>() == 65536 - 2 * 1024);
    CHECK(accepted<kernels::short_format::bfloat>() == 65536 - 2 * 128);
    CHECK(accepted<kernels::short_format::e4m3>() == 254);
    CHECK(accepted<kernels::short_format::e5m2>() == 248);
}
