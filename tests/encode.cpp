// SPDX-License-Identifier: Apache-2.0
// encode() gives the bytes that a reducer would send, decode() and add_decoded() read them, and nothing else.
#include "laconic/encode.hpp"

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
        CHECK(bytes.size() * 8 == bits(compress(c, numbers, from)));
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

TEST_CASE("bytes that encode() has not made are refused with their bit, and change nothing") {
    auto const x = some_numbers<float>(100);
    auto const c = top_k{0.1} | quantize{4};
    auto const bytes = encode(c, x);
    std::vector<float> const before(100, 7.0f);
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
    for (std::size_t n = 0; n < bytes.size(); ++n) refused(std::span(bytes).first(n));
    auto longer = bytes;
    longer.push_back(std::byte{0});
    refused(longer);
    std::vector<std::byte> const noise(bytes.size(), std::byte{0xff});
    refused(noise);

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

TEST_CASE("vectors that a compressor cannot encode are refused") {
    CHECK_THROWS_AS(encode(top_k{1}, std::vector<float>{1, std::numeric_limits<float>::quiet_NaN()}), argument_error);
    CHECK_THROWS_AS(encode(top_k{-1}, std::vector<float>{1, 2}), argument_error);
    std::vector<float> x(2);
    CHECK_THROWS_AS(decode(top_k{-1}, {}, x), argument_error);
}
