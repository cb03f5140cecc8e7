// SPDX-License-Identifier: Apache-2.0
// identity sends the vector bit for bit, with omega 0 and delta 1.
#include "laconic/compress/identity.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

static_assert(Compressor<identity> && Compressor<identity, float> && Unbiased<identity> && Contractive<identity>);

TEST_CASE("identity sends the vector itself, bit for bit") {
    for (auto const& x : laws::vectors<float>()) CHECK(laws::compress(identity{}, x, key{1}).values == x);
    CHECK(identity{}.omega(784) == 0);
    CHECK(identity{}.delta(784) == 1);
}
