// SPDX-License-Identifier: Apache-2.0
// scaled_down makes an unbiased compressor contractive with delta 1 / (1 + omega), which rand_k attains.
#include "laconic/compress/scaled_down.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using vec = std::vector<double>;

static_assert(Compressor<scaled_down<natural>> && Contractive<scaled_down<natural>> && !Unbiased<scaled_down<natural>>);

TEST_CASE("its delta is 1 / (1 + omega)") {
    CHECK(scaled_down{rand_k{1}}.delta(4) == 0.25);
    CHECK(scaled_down{natural{}}.delta(10) == doctest::Approx(8.0 / 9));
}

// E|C / (1 + w) - x|^2 = (1 - 1 / (1 + w)) |x|^2 where E|C - x|^2 = w |x|^2 exactly, as for rand_k.
TEST_CASE("delta is attained by rand_k, and a factor undoes its scale") {
    vec const x{1, -2, 3, 4};
    std::set<vec> sent;  // each of the four messages is as probable
    for (std::uint64_t t = 0; t < 400; ++t) {
        auto const m = laws::compress(scaled_down{rand_k{1}}, x, key{t});
        auto const y = laws::decoded<decltype(m), double>(m);
        for (std::size_t i = 0; i < 4; ++i) CHECK((y[i] == 0 || y[i] == x[i]));
        sent.insert(y);
    }
    REQUIRE(sent.size() == 4);
    double error = 0;
    for (auto const& y : sent)
        for (std::size_t i = 0; i < 4; ++i) error += (y[i] - x[i]) * (y[i] - x[i]) / 4;
    CHECK(error == doctest::Approx((1 - scaled_down{rand_k{1}}.delta(4)) * laws::energy(x)));
}

// top_k{16} | quantize{1} has omega = 3 inside, and no delta; scaled down it has one.
TEST_CASE("what was refused for its omega is contractive") {
    CHECK_THROWS_AS((top_k{16} | quantize{1}).delta(64), theory_error);
    CHECK((top_k{16} | scaled_down{quantize{1}}).delta(64) == doctest::Approx(0.25 * 0.25));
}

TEST_CASE("one without omega is refused by name") {
    using any = any_compressor<>;
    CHECK(any(scaled_down<any>{any(natural{})}).contractive());
    CHECK_FALSE(any(scaled_down<any>{any(natural{})}).unbiased());
    CHECK_FALSE(any(scaled_down<any>{any(top_k{2})}).contractive());
    CHECK_THROWS_WITH_AS(scaled_down<any>{any(top_k{2})}.check(4), doctest::Contains("top_k(2) is biased"),
                         theory_error);
}

TEST_CASE("hostile bytes") { CHECK(laws::survives_small_changes(scaled_down{quantize{4}}, vec{1, 2, 3}, key{1}) > 10); }
