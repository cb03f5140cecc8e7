// SPDX-License-Identifier: Apache-2.0
// `switch_ml` loses only what its fixed-point units cannot hold, and sends as many bytes as documented.
#include "laconic/collective/dense/switch_ml.hpp"

#include "support/collective_sums.hpp"
#include "support/everything.hpp"

using namespace collective_sums;

static_assert(Collective<switch_ml>);

TEST_CASE("a rank alone keeps what it has") {
    vectors<double> const x{{1, 1e-300, -3e300}};
    CHECK(after(x, "switch_ml") == x);
}

TEST_CASE("each rank sends its numbers except for its own part, and the sums of that to the others, in blocks of 256") {
    for (int const n : {2, 3, 5}) {
        std::size_t const d = 300000;
        std::vector<std::uint64_t> sent(std::size_t{16});
        auto const all = whole_numbers<float>(d, n), sums = after(all, "switch_ml", &sent);
        for (std::size_t i = 0; i < d; i += 997) {
            float sum = 0;
            for (auto const& x : all) sum += x[i];
            CHECK(sums[0][i] == sum);
        }
        for (std::size_t r = 0; r < std::size_t(n); ++r) {
            // In front of each packet its length and a header: 36 bytes. Hello: an error, eight items, and the
            // exponents of the first 512 blocks.
            detail::partition const parts{d, std::size_t(n)};
            auto const blocks = [&](std::size_t p) { return (parts.length(p) + 255) / 256; };
            std::uint64_t bytes = 0;
            for (std::size_t p = 0; p < std::size_t(n); ++p) {
                if (p == r) continue;
                bytes +=
                    36 + 32 + 64 + 2 * std::min<std::size_t>(512, blocks(p)) + 36 * blocks(p) + 4 * parts.length(p);
                bytes += 36 + 32 + 2 * std::min<std::size_t>(512, blocks(r)) + 36 * blocks(r) + 4 * parts.length(r);
            }
            CHECK(sent[r] == bytes);
            CHECK(double(sent[r]) < 1.04 * 8 * d * (n - 1) / n);
        }
    }
}

TEST_CASE("numbers of very different size lose what is too small beside the largest of their block") {
    // For two workers, units are 2^-29 of the exponent's power: 1 is below 2.
    std::vector<float> x(512), y(512);
    x[0] = 1;
    x[1] = y[1] = 0x1p-29f;       // half a unit, twice: to even, nothing
    x[2] = y[2] = 0x1.8p-28f;     // one unit and a half, to two, twice
    x[256] = y[256] = 0x1p-149f;  // of another block the largest: as it is, though subnormal
    std::vector<float> expected(512);
    expected[0] = 1;
    expected[2] = 0x1p-26f;
    expected[256] = 0x1p-148f;
    CHECK(after(vectors<float>{x, y}, "switch_ml") == vectors<float>(2, expected));  // whose parts are the two blocks
}
