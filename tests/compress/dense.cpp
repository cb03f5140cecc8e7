// SPDX-License-Identifier: Apache-2.0
// dense sends what its rest alone would send, to the byte, with the same constants.
#include "laconic/compress/dense.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

static_assert(Compressor<dense<>> && Unbiased<dense<>> && Contractive<dense<>>);

static_assert(Unbiased<dense<natural>> && !Contractive<dense<natural>>);
static_assert(Contractive<dense<top_k<>>> && !Unbiased<dense<top_k<>>>);

TEST_CASE("dense | c says what c says") {
    auto const same = [](auto const& c) {
        for (auto const& x : laws::vectors<double>())
            CHECK(laws::written(laws::compress(dense{} | c, x, key{3})) == laws::written(laws::compress(c, x, key{3})));
    };
    same(identity{});
    same(quantize{4});
    same(natural{});
    CHECK((dense{} | quantize{4}).omega(100) == quantize{4}.omega(100));
    CHECK(to_string(dense{} | dense{} | natural{}) == "dense | dense | natural");
    CHECK_THROWS_AS((dense{} | top_k{5}).check(4), argument_error);
}
