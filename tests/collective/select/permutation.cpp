// SPDX-License-Identifier: Apache-2.0
// `permutation` is a bijection with an inverse, another one for each key, and deals neighbours evenly.
#include "laconic/collective/select/permutation.hpp"

#include "support/everything.hpp"

TEST_CASE("each number is met once, and found again") {
    for (std::uint64_t const n : {1, 2, 3, 4, 5, 17, 64, 65, 1000})
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            detail::permutation const p(n, key{seed});
            std::vector<int> met(n);
            for (std::uint64_t i = 0; i < n; ++i) {
                REQUIRE(p(i) < n);
                ++met[p(i)];
                CHECK(p.inverse(p(i)) == i);
            }
            CHECK(met == std::vector<int>(n, 1));
        }
    for (std::uint64_t const n : {std::uint64_t{1} << 32, (std::uint64_t{1} << 31) + 1, std::uint64_t{3000000000}}) {
        detail::permutation const p(n, key{4});
        for (std::uint64_t i = 0; i < 1000; ++i) {
            auto const at = n - 1 - i * 2099999;
            CHECK(p(at) < n);
            CHECK(p.inverse(p(at)) == at);
        }
    }
}

TEST_CASE("many at a time go where each goes by itself, and back") {
    for (std::uint64_t const n : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{33}, std::uint64_t{25000000},
                                  (std::uint64_t{1} << 31) + 1, std::uint64_t{1} << 32})
        for (std::size_t const count : {0, 1, 255, 256, 700}) {
            detail::permutation const p(n, key{n});
            std::vector<coordinate> from, to;
            for (std::size_t j = 0; j < count; ++j) {
                from.push_back(static_cast<coordinate>(key{2}.below(j, n)));
                to.push_back(static_cast<coordinate>(p(from.back())));
            }
            auto x = from;
            p(std::span(x));
            CHECK(x == to);
            p.inverse(std::span(x));
            CHECK(x == from);
        }
}

TEST_CASE("another key, another permutation") {
    detail::permutation const a(1000, key{1}), same(1000, key{1}), b(1000, key{2});
    int equal = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        CHECK(a(i) == same(i));
        equal += a(i) == b(i);
    }
    CHECK(equal < 10);  // 1 is expected
}

// The numbers of a run, of a stride or of a block, dealt to 16 hands: a hand gets 1000 of 16000, give or take 31 if
// they were drawn.
TEST_CASE("what lies together is dealt evenly") {
    for (std::uint64_t const n : {std::uint64_t{128000}, std::uint64_t{1} << 20, std::uint64_t{1000003}})
        for (std::uint64_t const stride : {1, 2, 7, 8})
            for (std::uint64_t seed = 0; seed < 8; ++seed) {
                detail::permutation const p(n, key{seed});
                std::vector<int> hands(16);
                for (std::uint64_t i = 0; i < 16000; ++i) ++hands[p(i * stride % n) * 16 / n];
                for (int const hand : hands) {
                    CHECK(hand > 800);
                    CHECK(hand < 1200);
                }
            }
}
