// SPDX-License-Identifier: Apache-2.0
// The reference's kernels for buckets give codes, steps and means that a reader can check by hand.
#include "laconic/backend/reference/buckets.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::kernels;

namespace {

template <class E>
std::span<E> out(std::vector<E>& v) {
    return v;
}

}  // namespace

TEST_CASE("values on the grid stay, each bucket on its own") {
    reference on;
    std::vector<double> const x{3, -4, 0, 0, 2};  // in twos, of which the last is one: norms 5, 0, 2
    std::span<double const> const v(x);
    std::vector<double> scales(3), more(3);
    std::vector<std::int16_t> codes(5);
    CHECK(round_buckets_to_levels(on, v, 2, p_norm::two, 5, key{1}, out(scales), out(codes)));
    CHECK(scales == std::vector<double>{1, 0, 2.0 / 5});
    CHECK(codes == std::vector<std::int16_t>{3, -4, 0, 0, 5});
    auto const before = scales;
    damp_steps(on, v, 2, out(scales));  // nothing was rounded
    CHECK(scales == before);
    CHECK(round_buckets_to_halvings(on, v, 2, p_norm::largest, 3, key{1}, out(scales), out(codes)));
    CHECK(scales == std::vector<double>{4, 0, 2});
    CHECK(codes[1] == -3);
    CHECK(codes[2] == 0);
    CHECK(codes[4] == 3);
    std::vector<std::uint8_t> bytes(5);
    for (auto const how : {rounding::random, rounding::nearest}) {
        bytes.assign(5, 99);
        more.assign(3, 99);
        CHECK(round_buckets_to_range(on, v, 2, how, 7, key{1}, out(scales), out(more), out(bytes)));
        CHECK(scales == std::vector<double>{-4, 0, 2});
        CHECK(more == std::vector<double>{1, 0, 0});
        CHECK(bytes == std::vector<std::uint8_t>{7, 0, 0, 0, 0});
    }
}

TEST_CASE("a step is damped by the variance of what was rounded") {
    reference on;
    std::vector<double> const x{0.5, 1};  // |x|^2 = 5/4, and 1/4 is the variance of the first at step 1
    std::vector<double> step{1};
    damp_steps(on, std::span<double const>(x), 2, out(step));
    CHECK(step[0] == doctest::Approx(1.25 / 1.5));
}

TEST_CASE("means of magnitudes, and of either sign") {
    reference on;
    std::vector<float> const x{3, -4, -0.0f, -1, -2};
    std::span<float const> const v(x);
    std::vector<float> below(3), above(3);
    std::vector<std::uint64_t> words(1);
    CHECK(pack_signs_and_means(on, v, 2, out(above), out(words)));
    CHECK(above == std::vector<float>{3.5f, 0.5f, 2});
    CHECK(words[0] == 0b11010);
    words[0] = 99;
    CHECK(pack_signs_and_two_means(on, v, 2, out(below), out(above), out(words)));
    CHECK(below == std::vector<float>{4, 1, 2});
    CHECK(above == std::vector<float>{3, 0, 0});
    CHECK(words[0] == 0b11010);
}
