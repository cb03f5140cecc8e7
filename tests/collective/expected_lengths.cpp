// SPDX-License-Identifier: Apache-2.0
// Expected unions and lengths of encoded lists are those of lists that are drawn and written.
#include "laconic/collective/expected_lengths.hpp"

#include "support/everything.hpp"

using namespace laconic;

namespace {

// k of d coordinates, drawn evenly.
sparse_sum<float> drawn(std::size_t d, std::size_t k, std::uint64_t seed) {
    std::vector<bool> here(d);
    key const from{seed};
    for (std::uint64_t i = 0, n = 0; n < k; ++i)
        if (auto const at = from.below(i, d); !here[at]) {
            here[at] = true;
            ++n;
        }
    sparse_sum<float> v(d);
    for (std::size_t i = 0; i < d; ++i)
        if (here[i]) v.append(i, 1);
    return v;
}
double written(sparse_sum<float> const& v, position_code how) {
    wire::ledger sink(how);
    write(sink, v);
    return double(sink.unpadded());
}

}  // namespace

TEST_CASE("the union of lists by hand") {
    CHECK(detail::expected_union(10, 10, 1) == 10);
    CHECK(detail::expected_union(10, 10, 7) == 10);
    CHECK(detail::expected_union(10, 0, 7) == 0);
    CHECK(detail::expected_union(0, 0, 7) == 0);
    CHECK(detail::expected_union(4, 2, 2) == doctest::Approx(3));
    CHECK(detail::expected_union(1e5, 1000, 64) ==
          doctest::Approx(47440.4).epsilon(1e-5));  // of the literature's simulation
    CHECK(detail::expected_union(1e10, 1, 3) == doctest::Approx(3).epsilon(1e-9));
}

TEST_CASE("what is kept of a part, against all outcomes") {
    // Each of 12 coordinates has a term with probability 1 / 2, of which at most 6 are kept.
    double mean = 0;
    for (int n = 0; n <= 12; ++n)
        mean +=
            std::min(n, 6) * std::exp(std::lgamma(13) - std::lgamma(n + 1) - std::lgamma(13 - n) - 12 * std::log(2));
    CHECK(detail::expected_kept(1e9, 5e8, 12, 6) == doctest::Approx(mean).epsilon(5e-3));
    CHECK(detail::expected_kept(100, 20, 50, 50) == doctest::Approx(10));
    CHECK(detail::expected_kept(100, 100, 50, 20) == 20);
    CHECK(detail::expected_kept(100, 100, 50, 50) == 50);
    CHECK(detail::expected_kept(100, 0, 50, 50) == 0);
}

TEST_CASE("lists are as long as is expected of them, at every density" * doctest::test_suite("slow")) {
    for (auto const how : {position_code::smallest, position_code::fastest})
        for (std::size_t const d : {1000, 40000})
            for (double const density : {0.001, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99, 1.0}) {
                auto const k = std::max<std::size_t>(5, std::size_t(density * double(d)));
                double mean = 0;
                for (std::uint64_t seed = 0; seed < 8; ++seed) mean += written(drawn(d, k, seed), how) / 8;
                CAPTURE(d);
                CAPTURE(k);
                CHECK(detail::expected_list_bits(double(d), double(k), 32, how) ==
                      doctest::Approx(mean).epsilon(k < 100 ? 0.02 : 0.01));
                double const values = 32 * double(k);
                if (k == d) CHECK(detail::expected_list_bits(double(d), double(k), 32, how) == mean);
                CHECK(detail::expected_list_bits(double(d), double(k), 0, how) ==
                      doctest::Approx(mean - values).epsilon(k < 100 || d - k < 100 ? 0.08 : 0.04));
            }
    CHECK(detail::expected_list_bits(1000, 0) == 10);
    CHECK(detail::expected_list_bits(0, 0) == 0);
}
