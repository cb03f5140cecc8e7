// SPDX-License-Identifier: Apache-2.0
// encode() gives the bytes that a reducer would send, decode() and add_decoded() read them, and nothing else.
#include "laconic/encode.hpp"

#include "laconic/compressor_laws.hpp"
#include "support/bits.hpp"
#include "support/everything.hpp"

template <class E>
std::vector<E> some_numbers(std::size_t d) {
    std::vector<E> x;
    for (std::size_t i = 0; i < d; ++i)
        x.push_back(static_cast<E>(static_cast<float>(static_cast<int>(i * 37 % 19) - 9) / 4));
    return x;
}

// What the message itself adds up to.
template <class C, class T>
std::vector<T> of_message(C const& c, std::vector<T> const& x, key from) {
    std::vector<T> sum(x.size());
    host on;
    add_message(on, std::span<T>(sum), T(1), compress(c, x, from));
    return sum;
}

template <class E, class C>
void comes_back(C const& c) {
    CAPTURE(to_string(c));
    using T = detail::compressed_as<E>;
    for (std::size_t const d : {1, 2, 7, 64, 301}) {
        auto const x = some_numbers<E>(d);
        std::vector<T> const numbers(x.begin(), x.end());
        key const from = key{5}.child(d);
        auto const bytes = encode(c, x, from);
        CHECK(bytes == compressor_laws::written(compress(c, numbers, from)));
        auto const message = of_message(c, numbers, from);
        std::vector<E> y(d, static_cast<E>(3.0f)), z = y;
        decode(c, bytes, y, from);
        CHECK(y == std::vector<E>(message.begin(), message.end()));
        add_decoded(c, bytes, -0.5, z, from);
        for (std::size_t i = 0; i < d; ++i) CHECK(z[i] == static_cast<E>(T(3) - T(0.5) * message[i]));
    }
}

TEST_CASE_TEMPLATE("what is encoded comes back as its message is, of every type of numbers", E, float, double,
                   Eigen::half, Eigen::bfloat16) {
    comes_back<E>(identity{});
    comes_back<E>(top_k{0.2});
    comes_back<E>(top_k{0.2} | quantize{4});
    comes_back<E>(rand_k{0.3} | natural{});
    comes_back<E>(natural{});
    comes_back<E>(quantize{1});
    comes_back<E>(quantize{7, 16});
    comes_back<E>(damped_quantize{1000, 30});
    comes_back<E>(natural_dithering{1});
    comes_back<E>(natural_dithering{8, 50});
    comes_back<E>(uniform{3, 7});
    comes_back<E>(uniform<rounding::nearest>{8});
    comes_back<E>(scaled_sign{10});
    comes_back<E>(two_means{});
    comes_back<E>(vote{});
    comes_back<E>(bf16{});
    comes_back<E>(fp16::random{});
    comes_back<E>(float8_e4m3{});
    comes_back<E>(block_float{block_format::nvfp4});
    using T = detail::compressed_as<E>;
    comes_back<E>(any_compressor<T>(top_k{0.5} | natural{}));
}

TEST_CASE("vectors of no numbers, Eigen's, and a part of a vector, whose own bytes may be read into it") {
    std::vector<float> none;
    decode(identity{}, encode(identity{}, none), none);
    Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(5, 1, 5), y(5);
    decode(top_k{2}, encode(top_k{2}, x), y);
    CHECK(y == Eigen::VectorXd{{0, 0, 0, 4, 5}});
    auto bytes = encode(identity{}, std::vector<float>{1, 2, 3});
    std::span<float> const over(reinterpret_cast<float*>(bytes.data()), 3);
    add_decoded(identity{}, bytes, 1, over);
    CHECK(std::vector<float>(over.begin(), over.end()) == std::vector<float>{2, 4, 6});
}

// Bytes that are cut, longer, or noise, of whichever compressor.
void refuses_what_it_has_not_made(auto const& c, std::size_t d) {
    auto const x = some_numbers<float>(d);
    auto const bytes = encode(c, x);
    std::vector<float> const before(d, 7.0f);
    auto y = before;
    auto const refused = [&](std::span<std::byte const> bad) {
        std::uint64_t bit = std::numeric_limits<std::uint64_t>::max();
        try {
            decode(c, bad, y);
            FAIL_CHECK("bytes were read that are no message");
        } catch (wire_error const& e) {
            bit = e.bit;
        }
        CHECK_THROWS_AS(add_decoded(c, bad, 1, y), wire_error);
        CHECK(bit <= 8 * bad.size());
        CHECK(y == before);
    };
    for (std::size_t n = 0; n < bytes.size(); n += 1 + bytes.size() / 64) refused(std::span(bytes).first(n));
    refused(std::span(bytes).first(bytes.size() - 1));
    auto longer = bytes;
    longer.push_back(std::byte{0});
    refused(longer);
    refused(std::vector<std::byte>(bytes.size(), std::byte{0xff}));
    if (d > 5000) {  // a code that is read when others have been
        auto damaged = bytes;
        damaged.back() = std::byte{0xff};
        refused(damaged);
    }
}

struct halved : identity {
    void operator()(auto& on, auto x, key from, auto& m) const {
        identity::operator()(on, x, from, m);
        for (auto& v : m.values) v /= 2;
    }
};

TEST_CASE("a compressor that is derived from identity sends what its own call makes") {
    std::vector<float> x{2, 4};
    decode(identity{}, encode(halved{}, x), x);
    CHECK(x == std::vector<float>{1, 2});
}

TEST_CASE("bytes that encode() has not made are refused with their bit, and change nothing") {
    refuses_what_it_has_not_made(top_k{0.1} | quantize{4}, 100);
    refuses_what_it_has_not_made(quantize{.levels = 5, .bucket = 100}, 9999);
    refuses_what_it_has_not_made(quantize{.levels = 1, .bucket = 100}, 9999);
    refuses_what_it_has_not_made(fp16{}, 9999);
    any_compressor<float> const chosen = natural{};
    refuses_what_it_has_not_made(chosen, 9999);

    auto not_finite = encode(identity{}, std::vector<float>{1, 2});
    not_finite[2] = std::byte{0x80};
    not_finite[3] = std::byte{0x7f};  // an infinity
    std::vector<float> two{5, 6};
    try {
        decode(identity{}, not_finite, two);
        FAIL_CHECK("an infinity was read");
    } catch (wire_error const& e) {
        CHECK(e.bit <= 32);
    }
    CHECK(two == std::vector<float>{5, 6});
}

// What a compressor refuses, and the codes of what is not finite, are told from what fits no message.
TEST_CASE("the first number that is not finite is named, whatever the compressor") {
    auto const refused = [](auto const& c, std::size_t at, float bad, std::string const& why) {
        CAPTURE(to_string(c));
        std::vector<float> x(5000, 1.5f);
        x[at] = x[4999] = bad;
        CHECK_THROWS_WITH_AS(encode(c, x), why.c_str(), argument_error);
    };
    float const bad[] = {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                         std::numeric_limits<float>::quiet_NaN()};
    for (float const v : bad)
        for (std::size_t const at : {0u, 63u, 4100u, 4998u}) {
            auto const why = "coordinate " + std::to_string(at) + " is not finite";
            refused(natural{}, at, v, why);
            refused(quantize{1}, at, v, why);
            refused(quantize{7, 512, p_norm::largest}, at, v, why);
            refused(natural_dithering{8, 512}, at, v, why);
            refused(uniform{4, 512}, at, v, why);
            refused(fp16{}, at, v, why);
            refused(bf16::random{}, at, v, why);
            refused(float8_e5m2{}, at, v, why);
            refused(scaled_sign{64}, at, v, why);
            refused(two_means{64}, at, v, why);
            refused(vote{}, at, v, why);
            refused(top_k{1}, at, v, why);
            refused(any_compressor<float>(natural{}), at, v, why);
        }
    refused(quantize{1}, 7, 3e38f, "quantize: the norm of a bucket is not finite");
}

TEST_CASE("codes that are packed as they are made are those of a message, of long vectors, too") {
    std::vector<float> x;
    for (std::size_t i = 0; i < 20011; ++i) x.push_back(static_cast<float>(key{3}.uniform(i)) - 0.4f);
    auto const same = [&]<class C>(C const& c) {
        CAPTURE(to_string(c));
        auto const wanted = compressor_laws::written(compress(c, x, key{9}));
        CHECK(encode(c, x, key{9}) == wanted);
        host on;
        detail::message_of<C, float> m;
        bit_writer sink;
        for (unsigned const before : {8u, 3u}) {  // a message that begins within a byte
            sink.clear();
            sink.put(5, before);
            wire::compress_and_write(on, sink, c, std::span<float const>(x), key{9}, m);
            bit_writer other;
            other.put(5, before);
            other.put_bytes(wanted);
            auto const all = by_hand::bytes_of(sink), expected = by_hand::bytes_of(other);
            CHECK(std::equal(all.begin(), all.end(), expected.begin()));
        }
    };
    same(natural{});
    same(quantize{1, 70});
    same(quantize{7});
    same(quantize{1000, 512});
    same(natural_dithering{8, 1000});
    same(uniform{4, 512});
    same(uniform<rounding::nearest>{4});
    same(bf16{});
    same(float8_e4m3{});
    same(block_float{block_format::mxfp6_e3m2});
    same(scaled_sign{64});
    same(two_means{70});
    same(vote{});
}

TEST_CASE("vectors that a compressor cannot encode are refused") {
    CHECK_THROWS_AS(encode(top_k{1}, std::vector<float>{1, std::numeric_limits<float>::quiet_NaN()}), argument_error);
    CHECK_THROWS_AS(encode(top_k{-1}, std::vector<float>{1, 2}), argument_error);
    std::vector<float> x(2);
    CHECK_THROWS_AS(decode(top_k{-1}, {}, x), argument_error);
}
