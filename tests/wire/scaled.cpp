// SPDX-License-Identifier: Apache-2.0
// The factor of a scaled message is not sent.
#include "laconic/wire/scaled.hpp"

#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/scaled_down.hpp"
#include "laconic/wire/message.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;

TEST_CASE("the factor is not sent") {
    std::vector<double> const x{1, 2, 3, 4};
    auto const m = compress(scaled_down{rand_k{2}}, x, key{1});
    CHECK(bits(m) == 128);
    CHECK(bits_as_paper(m) == 128);
}
