// SPDX-License-Identifier: Apache-2.0
#include "laconic/compress/pipe.hpp"

#include <doctest/doctest.h>

#include <string>

#include "laws/compressor.hpp"
#include "laws/pipelines.hpp"

using namespace laconic;

static_assert(std::same_as<decltype(top_k{3} | quantize{8}), top_k<quantize>>);
static_assert(std::same_as<decltype(top_k{3} | rand_k{2} | natural{}), top_k<rand_k<natural>>>);
static_assert(std::same_as<decltype(top_k{3} | (rand_k{2} | natural{})), top_k<rand_k<natural>>>);
static_assert(std::same_as<decltype(top_k{3} | full{}), top_k<>>);
static_assert(std::same_as<decltype(threshold{1} | dense{} | top_k{1}), threshold<dense<top_k<>>>>);
static_assert(Sparsifier<top_k<>> && Sparsifier<dense<natural>> && !Sparsifier<quantize> && !Sparsifier<full>);

TEST_CASE("a pipe is the same value however it is bracketed") {
    CHECK((top_k{3} | rand_k{2} | natural{}) == (top_k{3} | (rand_k{2} | natural{})));
    CHECK((top_k{3} | quantize{8}) == top_k<quantize>{3, quantize{8}});
    CHECK((top_k{3} | quantize{8}) != (top_k{3} | quantize{9}));
    CHECK((top_k{3} | quantize{8}) != (top_k{4} | quantize{8}));
    constexpr auto c = top_k{3} | natural{};
    static_assert(c.k.value == 3);
}

TEST_CASE("and is written as it is in C++") {
    CHECK(to_string(top_k{3} | quantize{8}) == "top_k(3) | quantize(8)");
    CHECK(to_string(top_k{100} | rand_k{0.5} | natural{}) == "top_k(100) | rand_k(0.5) | natural");
    CHECK(to_string(top_k{3} | full{}) == "top_k(3)");
}

// Of (1, 8, -4, 2), top_k{2} leaves (8, -4) to the grid of two levels up to the largest, 8: both are on it.
TEST_CASE("by hand") {
    std::vector<double> const x{1, 8, -4, 2};
    auto const m = compress(top_k{2} | quantize{2, 0, norm::largest}, x, key{1});
    CHECK(laws::decoded<decltype(m), double>(m) == std::vector<double>{0, 8, -4, 0});
    // Then the top one of these two, at coordinate 1 of the vector, 0 of the two.
    auto const n = compress(top_k{2} | top_k{1} | natural{}, x, key{1});
    CHECK(n.payload.support == std::vector<coordinate>{0});
    CHECK(laws::decoded<decltype(n), double>(n) == std::vector<double>{0, 8, 0, 0});
}

TEST_CASE("every sparsifier with every quantizer keeps the laws") {
    laws::each_pipeline([](auto const& c) { laws::is_a_pure_function_with_one_spelling(c); });
}

// The promise that a message is the same bytes from scalar code, SSE2, AVX2 and AVX-512, and from any compiler: the
// digests of all pipelines' messages about all vectors stand here. A change of these numbers is a change of the format.
TEST_CASE("the same bytes on every machine") {
    auto const digest_of = []<class T>(T, auto const& c, laws::digest& all) {
        auto const vectors = laws::vectors<T>();
        for (std::size_t i = 0; i < vectors.size(); ++i) {
            host on;
            message_of<std::remove_cvref_t<decltype(c)>, T> m;
            c(on, std::span<T const>(vectors[i]), key{50 + i}, m);
            all.add(laws::written(m));
        }
    };
    laws::digest doubles, floats;
    laws::each_pipeline([&](auto const& c) {
        digest_of(0.0, c, doubles);
        digest_of(0.0f, c, floats);
    });
    CHECK(doubles.value == 0xaa65dd84db64efa1u);
    CHECK(floats.value == 0x9542a7ce86d72daeu);
    auto const alone = [&](auto const& c) {
        laws::digest d;
        digest_of(0.0, c, d);
        return d.value;
    };
    CHECK(alone(full{}) == 0x08fc0cdc8ce15c4bu);
    CHECK(alone(natural{}) == 0x4e99eef0b300dd1fu);
    CHECK(alone(quantize{4}) == 0xcf21c20526be45a0u);
    CHECK(alone(quantize{3, 5, norm::one}) == 0x24ff6d2bac1a2e76u);
    CHECK(alone(quantize{8, 4, norm::largest}) == 0x1ef88c150bcce2b4u);
    CHECK(alone(top_k{3}) == 0x9cd5e265f92d5effu);
    CHECK(alone(rand_k{3}) == 0x1d3eff503cadc6bcu);
    CHECK(alone(threshold{0.5}) == 0x718662f2e7901ec9u);
}
