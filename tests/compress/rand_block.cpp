// SPDX-License-Identifier: Apache-2.0
// rand_block keeps every set of blocks equally often, at no cost for positions, with its exact variance.
#include "laconic/compress/rand_block.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using vec = std::vector<double>;

static_assert(Compressor<rand_block<>> && Compressor<rand_block<>, float>);
static_assert(Unbiased<rand_block<>> && !Contractive<rand_block<>>);

// Seven numbers in blocks of three: the last block is a single number. Each pair of blocks turns up; over all pairs the
// mean is x and the mean error (3 / 2 - 1) |x|^2, whatever the blocks' lengths.
TEST_CASE("mean and variance over every set, exactly; the positions cost nothing") {
    vec const x{3, -1, 0.5, 2, -7, 0.25, 4};
    std::map<std::vector<coordinate>, int> count;
    vec mean(7);
    double error = 0;
    for (std::uint64_t t = 0; t < 3000; ++t) {
        auto const m = laws::compress(rand_block{2, 3}, x, key{5}.child(t));
        CHECK(bits(m) == 64 * m.payload.values.size());
        if (count[m.support]++ > 0) continue;
        auto const sent = laws::decoded<decltype(m), double>(m);
        for (std::size_t i = 0; i < 7; ++i) {
            mean[i] += sent[i] / 3;
            error += (sent[i] - x[i]) * (sent[i] - x[i]) / 3;
        }
    }
    REQUIRE(count.size() == 3);
    for (auto const& [support, n] : count) CHECK(std::abs(n - 1000) < 5 * std::sqrt(3000 * 2. / 9));
    for (std::size_t i = 0; i < 7; ++i) CHECK(mean[i] == doctest::Approx(x[i]));
    CHECK(error == doctest::Approx(laws::energy(x) / 2));
    CHECK(rand_block{2, 3}.omega(7) == doctest::Approx(0.5));
    CHECK((rand_block{1, 2} | natural{}).omega(8) == doctest::Approx(3.5));
}

TEST_CASE("a block of everything says everything; nothing is refused") {
    vec const x{1, 2, 3};
    CHECK(laws::received(rand_block{1, 100}, x, key{1}) == x);
    CHECK(laws::compress(rand_block{0.5, 2}, vec{}, key{1}).dimension() == 0);
    CHECK_THROWS_AS((rand_block{0, 2}.check(4)), argument_error);
    CHECK_THROWS_WITH_AS((rand_block{3, 2}.check(4)),
                         "k = 3 is above the 2 blocks of 2 numbers into which d = 4 numbers are cut", argument_error);
    CHECK_THROWS_WITH_AS((rand_block{2.5, 2}.check(4)), "k = 2.5 is neither a count nor a fraction below 1",
                         argument_error);
    CHECK_THROWS_AS((rand_block{1, 0}.check(4)), argument_error);
}

TEST_CASE("scaled down, it is the block as it is: what IBCD says") {
    vec const x{1, 2, 3, 4};
    auto const m = laws::compress(scaled_down{rand_block{1, 2}}, x, key{3});
    auto const sent = laws::decoded<decltype(m), double>(m);
    CHECK((sent == vec{1, 2, 0, 0} || sent == vec{0, 0, 3, 4}));
}
