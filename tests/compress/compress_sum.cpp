// SPDX-License-Identifier: Apache-2.0
// A compressor that makes delta together with its message makes both as compensate() and its call would; low_rank
// starts from what is given, and other compressors have no start, also where they are chosen at run time.
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

static_assert(detail::StartsWarm<low_rank<>, float, host> && detail::StartsWarm<any_compressor<float>, float, host>);
static_assert(!detail::StartsWarm<top_k<>, float, host>);

TEST_CASE("a message is made from a start where the compressor has one") {
    std::vector<double> x(24);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = key{1}.uniform(i) - 0.5;
    auto const next = [&](auto const& c, std::span<double const> start) {
        host on;
        detail::message_of<std::remove_cvref_t<decltype(c)>> m;
        detail::compress_from<double>(on, c, x, key{2}, start, m);
        auto const after = detail::start_after<double, host>(c, m);
        std::vector<double> sent(x.size());
        add_message(on, std::span(sent), 1.0, m);
        return std::pair(sent, std::vector<double>(after.begin(), after.end()));
    };
    low_rank<> const drawn{6, 2}, warm{6, 2, {}, true};
    auto const [first, start] = next(warm, {});
    CHECK(first == next(drawn, {}).first);
    CHECK(start.size() == 8);
    CHECK(next(warm, start).first != first);
    CHECK(next(warm, std::span(start).first(7)).first == first);  // of another shape
    CHECK(next(drawn, {}).second.empty());
    CHECK(next(top_k{3}, start) == next(top_k{3}, {}));
    CHECK(next(any_compressor<double>(warm), {}) == next(warm, {}));
    CHECK(next(any_compressor<double>(warm), start) == next(warm, start));
    CHECK(next(any_compressor<double>(top_k{3}), start) == next(top_k{3}, {}));
}
