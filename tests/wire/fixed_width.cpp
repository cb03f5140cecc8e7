// SPDX-License-Identifier: Apache-2.0
// Codes of fixed width are the bits of one by one, and the first wrong or missing one is refused at its place.
#include "laconic/wire/fixed_width.hpp"

#include "support/bits.hpp"
#include "support/everything.hpp"

template <class Code>
void all_are_read_back(unsigned width, int offset) {
    kernels::code_words const words{width, offset};
    host on;
    for (std::size_t const n : {0u, 1u, 7u, 8u, 63u, 64u, 65u, 200u, 511u, 512u, 520u, 1027u, 4096u, 4103u})
        for (unsigned const before : {0u, 1u, 7u, 8u, 61u}) {
            std::vector<Code> codes(n), read(n);
            for (std::size_t j = 0; j < n; ++j)
                codes[j] = static_cast<Code>(static_cast<int>(key{width}.below(j, std::uint64_t{1} << width)) - offset);
            bit_writer together, one_by_one;
            ledger books;
            for (auto* const w : {&together, &one_by_one}) w->put(before > 0, before);
            put_codes(together, codes, words);
            put_codes(books, codes, words);
            for (auto const c : codes)
                one_by_one.put(static_cast<std::make_unsigned_t<Code>>(static_cast<int>(c) + offset), width);
            for (auto* const w : {&together, &one_by_one}) w->put(5, 3);
            auto const encoded = by_hand::bytes_of(together);
            REQUIRE(encoded == by_hand::bytes_of(one_by_one));
            CHECK(books.unpadded() == n * width);
            bit_reader source(encoded);
            source.take(before);
            take_codes(on, source, std::span(read), words, "");
            CHECK(read == codes);
            CHECK(source.take(3) == 5);
        }
}

TEST_CASE("codes of every width, count and place are the bits of one by one, and are read back") {
    for (unsigned width = 1; width <= 16; ++width) {
        all_are_read_back<std::uint16_t>(width, 0);
        all_are_read_back<std::int16_t>(width, 1 << (width - 1));
        if (width > 8) continue;
        all_are_read_back<std::uint8_t>(width, 0);
        all_are_read_back<std::int8_t>(width, 1 << (width - 1));
    }
}

TEST_CASE("the first wrong code is refused where it stands, and a message that is too short where it ends") {
    host on;
    for (unsigned const width : {3u, 8u, 9u})
        for (std::size_t const at : {0u, 1u, 63u, 64u, 511u, 512u, 600u, 1029u, 4095u, 4096u, 4104u}) {
            std::vector<std::uint16_t> codes(4105, 2), read(4105);
            codes[at] = 7;
            bit_writer sink;
            sink.put(1, 1);
            put_codes(sink, codes, {width});
            auto const encoded = by_hand::bytes_of(sink);
            bit_reader source(encoded);
            source.take(1);
            auto const place = "at bit " + std::to_string(1 + width * (at + 1)) + " of a message: too large";
            CHECK_THROWS_WITH_AS(take_codes(on, source, std::span(read), {width, 0, 7, 6}, "too large"), place.c_str(),
                                 wire_error);
            // As one by one: the error is that of the code that is cut, among those put together too.
            for (std::size_t const left : {std::size_t{1}, encoded.size() / 2, encoded.size() - 2}) {
                auto const most = std::span(encoded).first(left);
                bit_reader cut(most), alone(most);
                cut.take(1);
                alone.take(1);
                std::string why;
                try {
                    for (;;) alone.take(width);
                } catch (wire_error const& e) {
                    why = e.what();
                }
                CHECK_THROWS_WITH_AS(take_codes(on, cut, std::span(read), {width}, ""), why.c_str(), wire_error);
            }
        }
}

// A host that counts the codes that it packs.
struct counting : host {
    std::size_t packed = 0;

    friend bool pack_codes(counting& on, auto codes, kernels::code_words words, std::span<std::byte> to) {
        on.packed += codes.size();
        return pack_codes(static_cast<host&>(on), codes, words, to);
    }
};

TEST_CASE(
    "write_on() packs a message's codes by its backend's kernel, to the same bytes; later messages are not packed by "
    "it") {
    std::vector<float> x(1000);
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = static_cast<float>(j % 17) - 8;
    auto const bytes_are_those_of_write = [&](auto const& c) {
        host alone;
        laconic::detail::message_of<std::remove_cvref_t<decltype(c)>, float, host> m;
        c(alone, std::span<float const>(x), key{1}, m);
        counting on;
        bit_writer by_backend, by_host;
        write_on(on, by_backend, m);
        write(by_host, m);
        CHECK(by_hand::bytes_of(by_backend) == by_hand::bytes_of(by_host));
        CHECK(on.packed == x.size());
        by_backend.clear();
        write(by_backend, m);
        CHECK(by_hand::bytes_of(by_backend) == by_hand::bytes_of(by_host));
        CHECK(on.packed == x.size());
    };
    bytes_are_those_of_write(quantize{.levels = 7, .bucket = 100});  // codes of 8 bits
    bytes_are_those_of_write(natural{});                             // of 16
}
