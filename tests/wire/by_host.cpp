// SPDX-License-Identifier: Apache-2.0
// A message in memory that the host cannot reach is written and read as the same bytes, by way of a copy.
#include "laconic/wire/by_host.hpp"

#include "support/apart.hpp"
#include "support/everything.hpp"

using laconic_test::apart;

constexpr std::size_t d = 40;

// The bytes of a backend's message about some numbers, and what a reader there adds up of it.
template <class B, class C>
struct round_trip {
    std::vector<std::byte> bytes;
    std::vector<double> sum = std::vector<double>(d);

    explicit round_trip(C const& compressor) {
        B on;
        std::vector<double> here(d);
        for (std::size_t i = 0; i < d; ++i) here[i] = key{4}.uniform(i) - 0.5;
        typename B::template array<double> x(d), out(d);
        copy_from_host(on, std::span<double const>(here), std::span<double>(x));

        using message = detail::message_of<C, double, B>;
        message sent, received;
        compressor(on, std::span<double const>(x), key{1}, sent);
        by_host<message, B> encoding;
        for (int twice = 0; twice < 2; ++twice) {
            bit_writer sink;
            encoding.write_message(sink, on, sent);
            bytes = {sink.finish().begin(), sink.finish().end()};
        }
        bit_reader source(bytes);
        auto const blank = [&](auto& there, int, auto& m) { return compressor.blank(there, d, key{1}, m), compressor; };
        encoding.read_message(source, blank, 0, on, received);
        CHECK(received == sent);
        add_message(on, std::span<double>(out), 1.0, received);
        copy_to_host(on, std::span<double const>(out), std::span<double>(sum));

        bit_reader cut(std::span<std::byte const>(bytes).first(bytes.size() - 3));
        CHECK_THROWS_AS(encoding.read_message(cut, blank, 0, on, received), wire_error);
    }
};

TEST_CASE("a message that the host cannot reach is written and read by way of a copy") {
    auto const same = [](auto compressor) {
        round_trip<host, decltype(compressor)> const here(compressor);
        round_trip<apart, decltype(compressor)> const there(compressor);
        CHECK(here.bytes == there.bytes);
        CHECK(here.sum == there.sum);
    };
    same(top_k{7} | quantize{3});
    same(rand_k{9});  // both ends draw its coordinates
}
