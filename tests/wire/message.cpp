// SPDX-License-Identifier: Apache-2.0
// Every kind of message has the bits counted by hand, and hostile bytes are refused or some message.
#include "laconic/wire/message.hpp"

#include "support/bits.hpp"
#include "support/everything.hpp"
#include "support/laws/compressor.hpp"
#include "support/laws/pipelines.hpp"

using by_hand::number;

template <class T = float, class C>
std::vector<T> received(C const& c, std::size_t d, std::vector<by_hand::word> const& encoded) {
    host on;
    detail::message_of<C, T> m;
    c.blank(on, d, key{1}, m);
    return laws::decoded<decltype(m), T>(by_hand::read_into(m, encoded, c));
}

template <class M>
std::uint64_t spent(M const& m) {
    return account(m).unpadded();
}

TEST_CASE("what each kind of message spends on values and scalars, and in all, here and in its paper") {
    struct spending {
        std::uint64_t values, scalars, bits;
        double paper;
    };
    auto const costs = [](auto const& m, spending const& expected) {
        auto const books = account(m);
        CAPTURE(expected.bits);
        CHECK(books.values() == expected.values);
        CHECK(books.scalars() == expected.scalars);
        CHECK(books.positions() == 0);
        CHECK(books.unpadded() == books.values() + books.scalars());
        CHECK(books.bits() == books.unpadded() + books.header());  // the padding
        CHECK(bits(m) == expected.bits);
        CHECK(bits_as_paper(m) == doctest::Approx(expected.paper).epsilon(1e-12));
    };
    using kernels::short_format;
    costs(full_vector<float, host>{{1, -2, 3}}, {96, 0, 96, 96});
    costs(full_vector<double, host>{{1, 2}}, {128, 0, 128, 128});
    costs(quantized<float, host>{3, 2, {0.5f, 1}, {3, -3, 0}}, {9, 64, 80, 64 + 3 * std::log2(7.0)});
    costs(powers<float, host>{{127, 128, 0}}, {27, 0, 32, 27});
    costs(powers<double, host>{{1023}}, {12, 0, 16, 12});
    signs<float, host> with_scales, without;
    with_scales.count = without.count = 70;
    with_scales.words = without.words = {~std::uint64_t{0}, 63};
    with_scales.bucket = 40;
    with_scales.scales = {1, 2};
    without.bucket = 0;
    costs(with_scales, {70, 64, 136, 134});
    costs(without, {70, 0, 72, 70});
    costs(means<float, host>{70, 40, {1, 2}, {3, 4}, {~std::uint64_t{0}, 63}}, {70, 128, 200, 198});
    costs(dithered<float, host>{3, 2, {0.5f, 1}, {3, -3, 0}}, {9, 64, 80, 64 + 3 * 3});
    costs(dithered<double, host>{1, 10, {2}, std::vector<std::int16_t>(10, 1)}, {16, 64, 80, 64 + 10 * 2});
    costs(stepped<float, host>{3, 2, {-1, 2}, {0.5f, 1}, {7, 0, 5}}, {9, 128, 144, 137});
    costs(binned<float, host>{2, 2, {-1, 2, 0, 3, 4, 5, 6, 7}, {3, 0, 2}}, {6, 256, 264, 262});
    costs(block_floats<float, host>{block_format::mxfp4, 2, 1, {1, 2}, {7, 0, 5}}, {12, 16, 32, 28});
    costs(block_floats<float, host>{block_format::nvfp4, 2, 1, {1, 2}, {7, 0, 5}}, {12, 48, 64, 60});
    costs(block_floats<double, host>{block_format::int8, 3, 1, {1}, {7, 0, 5}}, {24, 64, 88, 88});
    costs(short_floats<short_format::binary16, float, host>{{1, 2, 3}}, {48, 0, 48, 48});
    costs(short_floats<short_format::bfloat, float, host>{{1, 2, 3}}, {48, 0, 48, 48});
    costs(short_floats<short_format::e4m3, float, host>{{1, 2, 3}}, {24, 0, 24, 24});
    costs(short_floats<short_format::e5m2, float, host>{{1, 2, 3}}, {24, 0, 24, 24});
    costs(factors<float, host>{6, 2, 1, {1, -2}, {3, 4, 5}}, {160, 0, 160, 160});
    costs(factors<double, host>{0, 3, 0, {}, {}}, {0, 0, 0, 0});
    costs(compress(scaled_down{rand_k{2}}, std::vector<double>{1, 2, 3, 4}, key{1}), {128, 0, 128, 128});  // no factor
}

TEST_CASE("each kind of message has the bits counted by hand") {
    std::vector<float> const x{3, -4, 0, 1, 2};
    CHECK(spent(compress(identity{}, x, key{1})) == 5 * 32);
    CHECK(spent(compress(natural{}, x, key{1})) == 5 * 9);
    CHECK(spent(compress(quantize{1}, x, key{1})) == 32 + 8);  // five of three levels: 243 words
    CHECK(spent(compress(quantize{7}, x, key{1})) == 32 + 5 * 4);
    CHECK(spent(compress(quantize{8}, x, key{1})) == 32 + 5 * 5);
    CHECK(spent(compress(quantize{8, 2}, x, key{1})) == 3 * 32 + 5 * 5);
    CHECK(spent(compress(rand_k{2}, x, key{1})) == 2 * 32);         // the support is free
    CHECK(spent(compress(top_k{1}, x, key{1})) == 3 + 3 + 32);      // the code, and a coordinate of five: three bits
    CHECK(spent(compress(top_k{2}, x, key{1})) == 3 + 5 + 2 * 32);  // a bitmap
    CHECK(spent(compress(top_k{5}, x, key{1})) == 5 * 32);          // all of them
    CHECK(spent(compress(threshold{2.5}, x, key{1})) == 3 + 3 + 5 + 2 * 32);  // the count, 0 to 5: three bits
    CHECK(spent(compress(threshold{9.0}, x, key{1})) == 3);
    CHECK(spent(compress(top_k{2} | quantize{1}, x, key{1})) == 3 + 5 + 32 + 4);
    CHECK(spent(compress(top_k{3} | rand_k{1} | natural{}, x, key{1})) == 3 + 5 + 9);
    std::vector<double> const y{3, -4, 0, 1, 2};
    CHECK(spent(compress(identity{}, y, key{1})) == 5 * 64);
    CHECK(spent(compress(natural{}, y, key{1})) == 5 * 12);
    CHECK(spent(compress(quantize{1}, y, key{1})) == 64 + 8);
    CHECK(spent(compress(fp16{}, y, key{1})) == 5 * 16);
    CHECK(spent(compress(float8_e4m3{}, y, key{1})) == 5 * 8);
    CHECK(spent(compress(natural_dithering{3}, y, key{1})) == 64 + 5 * 3);
    CHECK(spent(compress(uniform{3, 2}, y, key{1})) == 6 * 64 + 5 * 3);
    CHECK(spent(compress(two_means{2}, y, key{1})) == 6 * 64 + 5);
    CHECK(spent(compress(bin_means{2, 3}, y, key{1})) == 2 * 4 * 64 + 5 * 2);
    CHECK(spent(compress(centroids{2, 3}, y, key{1})) == 2 * 64 + 5 * 2);
}

TEST_CASE("messages encoded by hand are read") {
    CHECK(received(identity{}, 2, {number(1.5f), number(-2.0f)}) == std::vector<float>{1.5f, -2});
    CHECK(received<double>(identity{}, 1, {number(1e300)}) == std::vector<double>{1e300});
    // Levels -2 .. 2 are the words 0 .. 4.
    CHECK(received(quantize{2}, 3, {number(0.5f), {0, 3}, {4, 3}, {2, 3}}) == std::vector<float>{-1, 1, 0});
    CHECK(received(natural{}, 2, {{127, 9}, {256 + 129, 9}}) == std::vector<float>{1, -4});
    // Of 16 coordinates, two, at 3 and 9, as they are (code 0).
    CHECK(received(top_k{2}, 16, {{0, 3}, {3, 4}, {9, 4}, number(7.0f), number(8.0f)})[9] == 8);
    // Of three coordinates, one to come: the last.
    CHECK(received(threshold{1}, 3, {{1, 2}, {0, 3}, {2, 2}, number(7.0f)}) == std::vector<float>{0, 0, 7});
    CHECK(received(threshold{1}, 3, {{0, 2}}) == std::vector<float>{0, 0, 0});
}

TEST_CASE("what no compressor writes is refused") {
    float const inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    auto const refused = [](auto const& c, std::size_t d, std::vector<by_hand::word> const& encoded, char const* why) {
        CAPTURE(to_string(c));
        CHECK_THROWS_WITH_AS(received(c, d, encoded), doctest::Contains(why), wire_error);
    };
    refused(identity{}, 2, {number(1.0f), number(inf)}, "not finite");
    refused(identity{}, 2, {number(nan), number(1.0f)}, "not finite");
    refused(quantize{2}, 1, {number(-0.5f), {2, 3}}, "negative step");
    refused(quantize{2}, 1, {number(-0.0f), {2, 3}}, "negative step");
    refused(quantize{2}, 1, {number(inf), {2, 3}}, "not finite");
    refused(quantize{2}, 1, {number(nan), {2, 3}}, "not finite");
    for (std::uint64_t w : {5u, 6u, 7u}) refused(quantize{2}, 1, {number(0.5f), {w, 3}}, "outside the grid");
    refused(quantize{32767}, 1, {number(0.5f), {65535, 16}}, "outside the grid");
    refused(natural{}, 1, {{255, 9}}, "not finite");
    refused(natural{}, 1, {{511, 9}}, "not finite");
    refused(threshold{1}, 2, {{3, 2}, number(1.0f)}, "more coordinates than the vector has");
    refused(top_k{2}, 16, {{0, 3}, {9, 4}, {3, 4}, number(7.0f), number(8.0f)}, "does not ascend");
    refused(top_k{2}, 16, {{0, 3}, {3, 4}, {3, 4}, number(7.0f), number(8.0f)}, "does not ascend");
    refused(top_k{2}, 17, {{0, 3}, {3, 5}, {17, 5}, number(7.0f), number(8.0f)}, "coordinate 17 of 17");
    refused(top_k{2} | quantize{1}, 3, {{1, 3}, {0b111, 3}, number(1.0f), {0, 4}}, "more than 2 bits set");
    refused(top_k{2} | quantize{1}, 3, {{1, 3}, {0b001, 3}, number(1.0f), {0, 4}}, "fewer than 2 bits set");
    refused(identity{}, 1, {number(1.0f), {0, 1}}, "left over");
    refused(natural{}, 1, {{127, 9}, {1, 7}}, "padding");
    refused(identity{}, 1, {}, "32 bits too early");
}

TEST_CASE_TEMPLATE("a finite step whose grid is not finite is refused", T, float, double) {
    T const max = std::numeric_limits<T>::max();
    CHECK_THROWS_AS(received<T>(quantize{2}, 1, {number(max), {4, 3}}), wire_error);
    CHECK(received<T>(quantize{2}, 1, {number(max / 2), {4, 3}}) == std::vector<T>{max});
}

TEST_CASE("an error's place is in the bytes of the wrong number") {
    try {
        received(identity{}, 3, {number(1.0f), number(std::numeric_limits<float>::infinity()), number(1.0f)});
        FAIL("not refused");
    } catch (wire_error const& e) {
        CHECK(e.bit >= 32);  // within or right after the second number
        CHECK(e.bit <= 64);
    }
}

TEST_CASE_TEMPLATE("every small change of every message is refused or a message", T, float, double) {
    std::size_t passed = 0;
    laws::each_pipeline<T>([&](auto const& c) {
        for (std::size_t d : {1u, 5u, 11u}) passed += laws::survives_small_changes(c, laws::noise<T>(d, d), key{d});
        passed += laws::survives_small_changes(c, std::vector<T>(6, 0), key{3});
    });
    CHECK(passed > 1000);  // else nothing was tried
}

TEST_CASE("random bytes: refused or a message, 100000 times") {
    std::uint64_t n = 0;
    std::size_t accepted_in_all = 0, most = 0;
    most = laws::pipelines().size();
    laws::each_pipeline<float>([&](auto const& c) {
        CAPTURE(to_string(c));
        for (std::uint64_t t = 0; t < 100000 / most + 1; ++t) {
            key const k = key{2024}.child(n++);
            std::size_t const d = k.below(0, 40);
            // As long as a true message would be, mostly: else only the length is tested.
            host on;
            detail::message_of<std::remove_cvref_t<decltype(c)>, float> m;
            c(on, std::span<float const>(laws::noise<float>(d, n)), k, m);
            laws::bytes encoded = laws::written(m);
            if (k.below(1, 8) == 0) encoded.resize(k.below(2, 200));
            bool const few = k.below(3, 2) == 0;
            for (std::size_t i = 0; i < (few ? 3 : encoded.size()) && !encoded.empty(); ++i)
                encoded[few ? k.below(10 + i, encoded.size()) : i] = std::byte(k.word(1000 + i) & 0xff);
            bool accepted = false;
            std::string const trouble = laws::violation<float>(c, d, k, encoded, accepted);
            if (trouble != "") FAIL_CHECK("d = " << d << ", iteration " << n << ": " << trouble);
            accepted_in_all += accepted;
        }
    });
    CHECK(n >= 100000);
    CHECK(accepted_in_all > 1000);
    CHECK(accepted_in_all < n - 1000);
}
