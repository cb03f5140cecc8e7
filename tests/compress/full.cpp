// SPDX-License-Identifier: Apache-2.0
#include "laconic/compress/full.hpp"

#include <doctest/doctest.h>

#include "laws/compressor.hpp"

using namespace laconic;

static_assert(Compressor<full> && Compressor<full, float> && Unbiased<full> && Contractive<full>);

TEST_CASE("full keeps the laws") {
    laws::is_a_pure_function_with_one_spelling(full{});
    laws::is_unbiased(full{}, 2);
    laws::is_contractive(full{});
    laws::reads_back<double>(full{});
}

TEST_CASE("full is the identity, bit for bit") {
    for (auto const& x : laws::vectors<float>()) CHECK(laws::compress(full{}, x, key{1}).values == x);
    CHECK(full{}.omega(784) == 0);
    CHECK(full{}.delta(784) == 1);
}
