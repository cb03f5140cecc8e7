// SPDX-License-Identifier: Apache-2.0
// A compressor that makes delta together with its message makes both as compensate() and its call would.
#include "laconic/compress/compress_sum.hpp"

#include "laconic/any/compressor.hpp"
#include "support/everything.hpp"

static_assert(detail::CompressesSum<top_k<>, float, host> && !detail::CompressesSum<quantize, float, host>);
struct other_top_k : top_k<> {};  // whose call may be another
static_assert(!detail::CompressesSum<other_top_k, float, host>);
static_assert(detail::CompressesSumFrom<any_compressor<float, host>, float, host>);

template <class C>
void check_sum(C const& c, std::size_t d) {
    CAPTURE(to_string(c));
    host on;
    std::vector<float> g(d), h(d), e(d), expected(d), out(d);
    for (std::size_t i = 0; i < d; ++i)
        g[i] = static_cast<float>(key{3}.uniform(i)), h[i] = g[(i + 7) % d] / 2, e[i] = g[(i + 9) % d] / 3;
    key const from{11};
    detail::message_of<C, float, host> m, alone;
    kernels::compensation<float> sum{0.5f, g, h, 0.25f, e, out};
    CHECK(detail::compress_sum<float>(on, c, sum, from, {}, m));
    REQUIRE(compensate(on, sum.a, sum.g, sum.h, sum.b, sum.e, std::span(expected)));
    c(on, std::span<float const>(expected), from, alone);
    CHECK(out == expected);
    CHECK(m == alone);
    g[d / 2] = std::numeric_limits<float>::infinity();
    CHECK(!detail::compress_sum<float>(on, c, sum, from, {}, m));
}

TEST_CASE("the sum and the message about it") {
    for (std::size_t const d : {40u, 50000u}) {
        check_sum(top_k{3}, d);
        check_sum(top_k{0.1} | quantize{.levels = 7, .bucket = 128}, d);
        check_sum(top_k{0.5} | top_k{0.1}, d);
        check_sum(quantize{4}, d);
        check_sum(any_compressor<float, host>(top_k{0.05}), d);
        check_sum(any_compressor<float, host>(any_compressor<float, host>(natural{})), d);
    }
}
