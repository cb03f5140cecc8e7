// SPDX-License-Identifier: Apache-2.0
//
// The kernels that define all others, by hand.
// Also tests arithmetic.hpp, select.hpp
#include "laconic/backend/reference/round.hpp"

#include "support/everything.hpp"

using namespace laconic::kernels;

using places = std::vector<coordinate>;
using numbers = std::vector<float>;

template <class E>
std::span<E> out(std::vector<E>& v) {
    return v;
}

// The key whose stream begins with a chance below or above the middle.
key low_or_high(bool high) {
    key k{0};
    while ((k.chance(0) >> 31 != 0) != high) k = {k.bits + 1};
    return k;
}

// Half a step below -1, half of the way from 1 to 2, and from 2 to 4: the first chance says which.
TEST_CASE_TEMPLATE("up where the fraction and the chance make a whole", T, float, double) {
    reference on;
    for (bool const high : {false, true}) {
        key const k = low_or_high(high);
        int const up = high ? 1 : 0;
        std::vector<T> const x{T(-1.5)}, y{3};
        std::vector<std::int16_t> levels(1);
        round_to_levels(on, std::span<T const>(x), T(1), 4, k, 0, std::span(levels));
        CHECK(levels[0] == -2 + up);
        round_to_halvings(on, std::span<T const>(x), T(4), 3, k, 0, std::span(levels));  // 0, 1, 2 and 4
        CHECK(levels[0] == -1 - up);
        round_to_halvings(on, std::span<T const>(y), T(4), 3, k, 0, std::span(levels));
        CHECK(levels[0] == 2 + up);
        std::vector<std::uint16_t> powers(1);
        round_to_powers(on, std::span<T const>(y), k, 0, std::span(powers));
        CHECK(powers[0] == (sizeof(T) == 4 ? 128 : 1024) + up);
        std::vector<std::uint8_t> codes(1);
        round_to_range(on, std::span<T const>(y), T(-4), T(2), 7, k, 0, std::span(codes));
        CHECK(codes[0] == 3 + up);
    }
}

TEST_CASE_TEMPLATE("what is rounded to the nearest, and signs", T, float, double) {
    reference on;
    std::vector<T> const x{T(-0.75), T(-0.25), T(0.2), 1, T(-0.0)};
    std::vector<std::uint8_t> codes(5);
    round_to_nearest_in_range(on, std::span<T const>(x), T(-0.75), T(0.5), 3, std::span(codes));
    CHECK(codes == std::vector<std::uint8_t>{0, 1, 2, 3, 2});
    std::vector<std::uint16_t> shorts(5);
    round_to_short(on, std::span<T const>(x), layout_of(short_format::binary16), std::span(shorts));
    CHECK(shorts == std::vector<std::uint16_t>{0xba00, 0xb400, 0x3266, 0x3c00, 0x8000});
    std::vector<std::uint64_t> words(1, ~std::uint64_t{0});
    pack_signs(on, std::span<T const>(x), std::span(words));
    CHECK(words[0] == 0b00011);
}

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

TEST_CASE("lists are added, parted, and sorted") {
    reference on;
    places const a_at{1, 4, 9}, b_at{0, 4};
    numbers const a_values{1, 2, 3}, b_values{5, -2};
    listed_terms<float> const a{a_at, a_values}, b{b_at, b_values};
    places at, left_at;
    numbers values, left;
    add_lists(on, a, b, at, values);
    CHECK(at == places{0, 1, 4, 9});
    CHECK(values == numbers{5, 1, 0, 3});
    std::array<listed_terms<float>, 3> const three{a, b, a};
    sum_lists(on, std::span<listed_terms<float> const>(three), at, values, left_at, left);
    CHECK(at == places{0, 1, 4, 9});
    CHECK(values == numbers{5, 2, 2, 6});
    places const chosen{0, 2};
    part_list(on, a, std::span<coordinate const>(chosen), at, values, left_at, left);
    CHECK(at == places{1, 9});
    CHECK(values == numbers{1, 3});
    CHECK(left_at == places{4});
    CHECK(left == numbers{2});
    places const last_two{1, 2};
    take_list(on, a, std::span<coordinate const>(last_two), at, values);
    CHECK(at == places{4, 9});
    CHECK(values == numbers{2, 3});
    list_without(on, a, std::span<coordinate const>(b_at), at, values);
    CHECK(at == places{1, 9});
    CHECK(values == numbers{1, 3});
    places const mixed{7, 2, 7};
    at.resize(3);
    values.resize(3);
    sort_list(on, std::span<coordinate const>(mixed), std::span<float const>(a_values), 8, std::span(at),
              std::span(values));
    CHECK(at == places{2, 7, 7});
    CHECK(values == numbers{2, 1, 3});
}

TEST_CASE("magnitudes lose two, or are at most two") {
    reference on;
    std::vector<float> x{3, -3, 2, -2, 1, -0.0f};
    soft_threshold(on, 2.0f, std::span<float>(x));
    CHECK(x == std::vector<float>{1, -1, 0, 0, 0, 0});
}
