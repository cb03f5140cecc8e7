// SPDX-License-Identifier: Apache-2.0
// Described messages of every pipeline are read without the compressor, by decoder.py alike, and within limits.
// An unpacked message adds itself to a vector of its dimension, and to no other.
#include "laconic/wire/described.hpp"

#include <fstream>

#include "support/decoder.hpp"
#include "support/everything.hpp"
#include "support/laws/compressor.hpp"
#include "support/laws/pipelines.hpp"
#include "support/own_messages.hpp"

using decoder::both_readers;
using decoder::by_hand;
using decoder::word;

template <class M, class T>
void describes(M const& m, std::vector<T> const& expected) {
    for (bool const with_checksum : {true, false})
        for (auto const positions : {position_code::smallest, position_code::fastest}) {
            description const how{with_checksum, positions};
            auto const bytes = write_described(m, how);
            auto const books = account_described(m, how);
            CHECK(books.bits() == 8 * bytes.size());
            CHECK(books.values() == account(m, positions).values());
            CHECK(books.positions() == account(m, positions).positions());
            CHECK(books.scalars() == account(m, positions).scalars());
            auto const read = read_described(bytes);
            REQUIRE(read.dimension == expected.size());
            CHECK((read.dense ? read.at.empty() : read.at.size() == read.values.size()));
            CHECK(std::is_sorted(read.at.begin(), read.at.end()));
            std::vector<T> added(expected.size(), T(0));
            read.add_to(std::span<T>(added));
            CHECK(added == expected);
        }
}

std::vector<std::byte> described_top_2() {
    return write_described(compress(top_k{2}, std::vector<float>{3, -4, 0, 1, 2}, key{1}));
}

void refused(std::vector<std::byte> const& bytes, char const* why, reading_limits limits = {}) {
    CAPTURE(why);
    CHECK_THROWS_WITH_AS(read_described(bytes, limits), doctest::Contains(why), wire_error);
}

TEST_CASE_TEMPLATE("every pipeline's message about every vector is read without its compressor", T, float, double) {
    laws::each_pipeline<T>([](auto const& c) {
        CAPTURE(to_string(c));
        host on;
        any_message<T, host> m;
        std::uint64_t n = 0;
        for (auto const& x : laws::vectors<T>()) {
            c(on, std::span<T const>(x), key{++n}, m);
            describes(m, laws::decoded<any_message<T, host>, T>(m));
        }
    });
}

// "lacn", version 1, no flags, dimension 5; 8 + 8 + 8 bits of shape and 3 + 5 + 64 of the bare form; a fixed count,
// units of one, two of them, the numbers in full; bitmap, then 3 and -4.
TEST_CASE("the bytes of a small message, by hand") {
    auto const m = compress(top_k{2}, std::vector<float>{3, -4, 0, 1, 2}, key{1});
    std::vector<unsigned> const header{'l', 'a', 'c', 'n', 1, 0, 5, 32 + 72, 17, 1, 2, 1};
    auto const bytes = write_described(m, {.with_checksum = false});
    REQUIRE(bytes.size() == header.size() + 9);
    for (std::size_t i = 0; i < header.size(); ++i) CHECK(std::to_integer<unsigned>(bytes[i]) == header[i]);
    CHECK(std::to_integer<unsigned>(bytes[header.size()]) == (0b00011 << 3 | 1));
    auto const with = write_described(m);
    CHECK(with.size() == bytes.size() + 4);
    CHECK(std::to_integer<unsigned>(with[5]) == 1);
}

TEST_CASE("every flipped bit and every cut is found by the checksum") {
    auto bytes = described_top_2();
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        bytes[bit / 8] ^= std::byte(1u << bit % 8);
        CHECK_THROWS_AS(read_described(bytes), wire_error);
        bytes[bit / 8] ^= std::byte(1u << bit % 8);
    }
    for (std::size_t n = 0; n < bytes.size(); ++n)
        CHECK_THROWS_AS(read_described(std::span(bytes).first(n)), wire_error);
    bytes.push_back(std::byte{0});
    CHECK_THROWS_AS(read_described(bytes), wire_error);
}

TEST_CASE("what is wrong is refused by name") {
    auto const good = described_top_2();
    auto const changed = [&](std::size_t at, unsigned value) {
        auto bytes =
            write_described(compress(top_k{2}, std::vector<float>{3, -4, 0, 1, 2}, key{1}), {.with_checksum = false});
        bytes[at] = std::byte(value);
        return bytes;
    };
    refused({}, "32 bits too early");
    refused(changed(0, 'L'), "does not begin with");
    refused(changed(4, 2), "version 2, where only 1 is known");
    refused(changed(5, 4), "unknown flags");
    refused(changed(5, 1), "the checksum is another");
    refused(changed(7, 31), "31 bits are announced");
    refused(changed(8, 99), "an unknown kind of message: 99");
    refused(changed(9, 0), "0 where at least 1 must be");
    refused(changed(10, 6), "more coordinates than the vector has");
    refused(changed(11, 0), "an unknown kind of message: 0");
    refused(good, "dimension 5, where the limit is 4", {.dimension = 4});
    refused(good, "more memory than the limit", {.memory = 10});
    CHECK_NOTHROW(read_described(good, {.dimension = 5, .memory = 100}));
    refused(by_hand(0, std::uint64_t{1} << 40, {{1, 8}}), "where the limit is 4294967295");
    refused(by_hand(0, (std::uint64_t{1} << 40) + 1, {{1, 8}}), "where at most 1099511627776 may be");
    refused(by_hand(0, 1000000, {{1, 8}}), "too early for 1000000 numbers");
    refused(by_hand(0, 5, {{128, 8}, {0, 8}}), "128");
    refused(by_hand(0, 5, {{17, 8}, {128, 8}, {0, 8}}), "not in its shortest form");
    refused(by_hand(0, 5, {{18, 8}, {1, 8}, {4, 8}, {0, 64}}), "an unknown draw method");
    refused(by_hand(0, 5, {{18, 8}, {1, 8}, {1, 8}, {6, 8}, {0, 64}, {1, 8}}), "a support that cannot be drawn");
    refused(by_hand(0, 5, {{18, 8}, {1, 8}, {2, 8}, {std::bit_cast<std::uint64_t>(1.5), 64}, {0, 64}, {1, 8}}),
            "a probability above 1");
    refused(by_hand(0, 5, {{33, 8}, {std::bit_cast<std::uint32_t>(2.0f), 32}, {1, 8}}), "a factor above 1");
    // A support of 2^32 draws, and a matrix of a thousand times the numbers that encode it.
    refused(by_hand(0, detail::largest_dimension, {{18, 8}, {1, 8}, {2, 8}, {0, 64}, {0, 64}, {1, 8}}),
            "more memory than the limit");
    std::vector<word> square{{32, 8}, {0x80, 8}, {16, 8}, {1, 8}};
    square.insert(square.end(), 4096, {0, 32});
    auto const matrix = by_hand(0, std::uint64_t{1} << 22, square);
    CHECK(read_described(matrix).values.size() == std::size_t{1} << 22);
    refused(matrix, "more memory than the limit", {.memory = std::uint64_t{1} << 26});
    std::vector<word> deep;
    for (int n = 0; n < 40; ++n) deep.insert(deep.end(), {{16, 8}, {1, 8}});
    refused(by_hand(0, 5, deep), "more than 32 stages");
}

// Three of 2^40 numbers.
TEST_CASE("three of 2^40 numbers are read as terms") {
    std::uint64_t const d = longest_support;
    auto const bytes = by_hand(0, d,
                               {{17, 8},
                                {1, 8},
                                {3, 8},
                                {1, 8},
                                {0, 3},
                                {7, 40},
                                {d / 2, 40},
                                {d - 1, 40},
                                {std::bit_cast<std::uint32_t>(1.0f), 32},
                                {std::bit_cast<std::uint32_t>(2.0f), 32},
                                {std::bit_cast<std::uint32_t>(3.0f), 32}});
    auto const read = read_described(bytes, {.dimension = d});
    CHECK(read.at == std::vector<std::uint64_t>{7, d / 2, d - 1});
    CHECK(read.values == std::vector<double>{1, 2, 3});
    std::vector<double> small(10);
    CHECK_THROWS_AS(read.add_to(std::span<double>(small)), shape_error);
}

TEST_CASE("small changes without a checksum: refused, or some message, and never more than the limit") {
    std::size_t passed = 0;
    laws::each_pipeline<float>([&](auto const& c) {
        auto bytes = write_described(compress(c, laws::noise<float>(11, 3), key{3}), {.with_checksum = false});
        for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
            bytes[bit / 8] ^= std::byte(1u << bit % 8);
            try {
                auto const read = read_described(bytes, {.dimension = 1000, .memory = 100000});
                REQUIRE(read.dimension <= 1000);
                for (double const v : read.values) REQUIRE(std::isfinite(v));
                for (auto const at : read.at) REQUIRE(at < read.dimension);
                ++passed;
            } catch (wire_error const& e) {
                REQUIRE(e.bit <= 8 * bytes.size());
            }
            bytes[bit / 8] ^= std::byte(1u << bit % 8);
        }
    });
    CHECK(passed > 1000);
}

// A vector of d numbers that are 0 except for the terms.
std::vector<float> zeros_but(std::size_t d, std::vector<std::pair<std::size_t, float>> const& terms) {
    std::vector<float> x(d);
    for (auto const& [at, value] : terms) x[at] = value;
    return x;
}

template <class T>
std::string hex_of(char const* pipeline, std::vector<T> const& x, description how = {.with_checksum = false}) {
    return decoder::hex(write_described(compress(parse_compressor<T>(pipeline), x, key{1}), how));
}

// The files of golden.txt that this writer can make.
std::map<std::string, std::string> golden_files() {
    std::vector<float> const five{3, -4, 0, 1, 2}, ten{1, -2, 3, -4, 5, -6, 7, -8, 9, -10};
    std::vector<double> const doubles{1, -2, 0, 0.1, 1e-320};
    std::vector<std::pair<std::size_t, float>> packed, runs;
    for (std::size_t j = 0; j < 40; ++j) packed.push_back({3 * j, 1});
    for (std::size_t const j : {100, 101, 102, 103, 104, 105, 500, 501, 502, 503}) runs.push_back({j, -2});
    return {
        {"empty", hex_of<float>("identity", {})},
        {"plain", hex_of("identity", five)},
        {"plain_double", hex_of("identity", doubles, {})},
        {"quantized", hex_of("quantize(2, bucket=4, p=inf)", std::vector<double>{1, -2, 0, 2, 5})},
        {"ternary", hex_of("quantize(1, p=inf)", ten)},
        {"powers", hex_of("natural", ten)},
        {"powers_double", hex_of("natural", doubles)},
        {"signs", hex_of("scaled_sign(bucket=4)", ten)},
        {"vote", hex_of("vote", ten)},
        {"vote_of_few", hex_of("top_k(3) | vote", ten, {})},
        {"dithered", hex_of("natural_dithering(5, bucket=4)", ten)},
        {"means", hex_of("two_means(bucket=4)", ten)},
        {"binary16", hex_of("fp16", doubles)},
        {"bfloat", hex_of("bf16", five, {})},
        {"e4m3", hex_of("float8_e4m3", five)},
        {"e5m2", hex_of("float8_e5m2", five)},
        {"stepped", hex_of("uniform(3, bucket=4)", ten)},
        {"binned", hex_of("bin_means(2, bucket=6)", ten)},
        {"centroids", hex_of("centroids(3, bucket=6)", ten)},
        {"mxfp4", hex_of("block_float(mxfp4, block=4)", ten)},
        {"nvfp4", hex_of("block_float(nvfp4, block=4)", ten)},
        {"int8", hex_of("block_float(int8, block=4)", five)},
        {"low_rank", hex_of("low_rank(rows=2, rank=1)", ten)},
        {"told", hex_of("zero_blocks(4) | quantize(1, p=inf)", zeros_but(14, {{4, 1}, {6, -2}, {12, 2}, {13, -2}}))},
        {"counted", hex_of("top_k(2)", five, {})},
        {"all_of_them", hex_of("top_k(5) | natural", five)},
        {"raw", hex_of("top_k(3) | natural", zeros_but(1000, {{10, 1}, {200, 1}, {900, 1}}))},
        {"rice",
         hex_of("top_k(8) | scaled_sign",
                zeros_but(1000, {{9, 1}, {120, 1}, {300, 1}, {301, -1}, {410, 1}, {512, 1}, {700, 1}, {990, 1}}))},
        {"packed", hex_of("top_k(40) | scaled_sign", zeros_but(100000, packed))},
        {"runs", hex_of("top_k(10) | scaled_sign", zeros_but(1000, runs))},
        {"exactly_few", hex_of("rand_k(3) | natural", ten, {})},
        {"exactly_most", hex_of("rand_k(8) | scaled_sign", ten)},
        {"each", hex_of("bernoulli(0.4) | natural", ten)},
        {"all_or_none", hex_of("lazy(0.75) | natural", ten)},
        {"blocks", hex_of("rand_block(2, block=4) | natural", ten)},
        {"scaled", hex_of("scaled_down(rand_k(3) | natural)", ten)},
        {"parts", hex_of("parts(4, natural, 6, top_k(2))", ten)},
        {"parts_in_parts",
         hex_of("parts(3, scaled_sign, 0, identity, 7, parts(4, low_rank(rows=2, rank=1), 3, fp16))", ten)},
        {"levelled", hex_of("best_level(top_k, cost=affine(1, 64))", five)},
        {"levelled_signs", hex_of("best_level(top_k | scaled_sign)", ten, {})},
        {"levelled_inside", hex_of("threshold(1.5) | best_level(top_blocks(block=2), cost=affine(1, 64))", ten)},
        {"levelled_empty", hex_of<float>("best_level(top_k)", {})},
        {"user_kind",
         decoder::hex(write_described(compress(own::round_to{0.5, 4}, five, key{1}), {.with_checksum = false}))},
        {"nested", hex_of("threshold(1.5) | rand_k(0.5) | top_k(2) | fp16", ten)},
    };
}

TEST_CASE("files of version 1 mean what they meant, and are written as they were") {
    auto const today = golden_files();
    auto const files = decoder::golden();
    std::size_t found = 0, refused = 0;
    for (auto const& l : files) {
        CAPTURE(l.name);
        auto const bytes = decoder::from_hex(l.data);
        CHECK(bytes.size() < 200);
        CHECK(decoder::meaning(bytes, {.dimension = longest_support}) == l.meant);
        refused += l.meant == "refused";
        auto const made = today.find(l.name);
        if (made == today.end()) continue;
        CHECK(made->second == l.data);
        ++found;
    }
    CHECK(found == today.size());
    if (found != today.size())
        for (auto const& [name, data] : today)
            MESSAGE(decoder::text_of({name, data, decoder::meaning(decoder::from_hex(data), {})}));
    auto const ran = decoder::run("--check \"" + (decoder::folder() / "golden.txt").string() + "\"");
    if (!ran) return;
    INFO(ran->out);
    CHECK(ran->status == 0);
    CHECK(ran->out ==
          std::to_string(files.size() - refused) + " read, " + std::to_string(refused) + " refused, 0 wrong\n");
}

// Random bits, and choices that they make.
struct dice {
    key from;
    std::uint64_t n = 0;
    std::uint64_t below(std::uint64_t bound) { return from.below(n++, bound); }
};

std::string without_spaces(std::string text) {
    std::erase(text, ' ');
    return text;
}

TEST_CASE("the examples of docs/wire-format.md are files of golden.txt") {
    std::ifstream page(decoder::folder() / "../../docs/wire-format.md");
    REQUIRE(page);
    std::set<std::string> files, examples;
    for (auto const& l : decoder::golden()) files.insert(l.data);
    std::string text, bytes;
    while (std::getline(page, text) && text != "## 11. Examples") {
    }
    // Lines of the form "    6c 61   comment"; an empty line or other text ends an example.
    while (std::getline(page, text)) {
        if (text.starts_with("    6c 61 63 6e")) bytes.clear();
        for (std::size_t at = 4; text.starts_with("    ") && at + 1 < text.size() && text[at] != ' '; at += 3) {
            bytes += text.substr(at, 2);
            if (at + 2 < text.size() && text[at + 2] != ' ') FAIL_CHECK("not bytes: " << text);
        }
        if (!text.starts_with("    ") && !bytes.empty()) examples.insert(std::exchange(bytes, ""));
    }
    if (!bytes.empty()) examples.insert(bytes);
    CHECK(examples.size() == 4);
    for (auto const& e : examples) CHECK_MESSAGE(files.contains(e), e);
}

TEST_CASE_TEMPLATE("decoder.py reads every pipeline's message about every vector alike", T, float, double) {
    both_readers readers;
    laws::each_pipeline<T>([&](auto const& c) {
        host on;
        any_message<T, host> m;
        std::uint64_t n = 0;
        for (auto const& x : laws::vectors<T>()) {
            c(on, std::span<T const>(x), key{++n}, m);
            for (description const how : {description{true, position_code::smallest}, {false, position_code::fastest}})
                readers.read(without_spaces(to_string(c)), write_described(m, how));
        }
    });
    CHECK(readers.refused() == 0);
    readers.agree();
}

TEST_CASE_TEMPLATE("decoder.py refuses what the library refuses: flipped bits and cuts", T, float, double) {
    both_readers readers;
    dice random{key{sizeof(T)}};
    laws::each_pipeline<T>([&](auto const& c) {
        auto const name = without_spaces(to_string(c));
        for (std::size_t const d : {11u, 40u}) {
            auto const good = write_described(compress(c, laws::noise<T>(d, 3), key{3}), {.with_checksum = false});
            for (int n = 0; n < 20; ++n) {
                auto bytes = good;
                // Not the magic, which is always refused; mostly what comes after the header.
                std::size_t const first = n % 8 == 0 ? 4 : 8;
                for (int flips = 1 + n % 2; flips > 0; --flips)
                    bytes[first + random.below(bytes.size() - first)] ^= std::byte(1u << random.below(8));
                readers.read(name, bytes);
            }
            readers.read(name, std::span(good).first(random.below(good.size())));
        }
    });
    for (std::uint64_t const d : {1000u, 1001u})
        readers.read("limit", by_hand(0, d, {{17, 8}, {1, 8}, {0, 8}, {1, 8}}));
    CHECK(readers.refused() > 1000);
    CHECK(readers.accepted() > 1000);
    readers.agree();
}

// The steps of docs/wire-format.md, section 8: as many as are allowed are taken, and one more is refused.
TEST_CASE("reading takes the steps that the page counts, and no more than the limit") {
    auto const takes = [](std::vector<std::byte> const& bytes, std::uint64_t steps) {
        CAPTURE(steps);
        CHECK_NOTHROW(read_described(bytes, {.work = steps}));
        if (steps > 0) refused(bytes, "more work than the limit", {.work = steps - 1});
    };
    auto const numbers = [](std::size_t n, std::vector<word> words) {
        words.insert(words.end(), n, {std::bit_cast<std::uint32_t>(1.0f), 32});
        return words;
    };
    takes(by_hand(0, 0, {{1, 8}}), 0);
    takes(by_hand(0, 5, numbers(5, {{1, 8}})), 5);
    takes(by_hand(0, 9, {{4, 8}, {0, 8}, {0, 9}}), 9);
    // 6 rows, rank 2, 4 columns: 24 numbers of two products.
    takes(by_hand(0, 24, numbers(20, {{32, 8}, {6, 8}, {2, 8}})), 48);
    // Scaled twice; levelled is free.
    takes(by_hand(0, 5, numbers(5, {{33, 8}, {0, 32}, {35, 8}, {0, 8}, {33, 8}, {0, 32}, {1, 8}})), 15);
    // Two of five places by a bitmap: two places, two numbers, two terms. All of five places, which costs no bits.
    takes(by_hand(0, 5, numbers(2, {{17, 8}, {1, 8}, {2, 8}, {1, 8}, {1, 3}, {0b00101, 5}})), 6);
    takes(by_hand(0, 5, numbers(5, {{17, 8}, {1, 8}, {5, 8}, {1, 8}})), 15);
    takes(by_hand(0, 10, numbers(4, {{17, 8}, {2, 8}, {2, 8}, {1, 8}, {1, 3}, {0b00101, 5}})), 10);
    // Three of ten places are drawn; none of them, as p = 0.
    takes(by_hand(0, 10, numbers(3, {{18, 8}, {1, 8}, {1, 8}, {3, 8}, {7, 64}, {1, 8}})), 16);
    takes(by_hand(0, 10, {{18, 8}, {1, 8}, {2, 8}, {0, 64}, {7, 64}, {1, 8}}), 10);
    // Parts of 2 and 3, the second in parts of one.
    takes(by_hand(0, 5, numbers(5, {{34, 8}, {2, 8}, {2, 8}, {1, 8}, {3, 8}, {34, 8}, {1, 8}, {3, 8}, {1, 8}})), 13);
    // 4096 rows and columns of rank 65: more than 2^30 products in 2 MB.
    std::vector<word> tall{{32, 8}, {0x80, 8}, {32, 8}, {65, 8}};
    tall.insert(tall.end(), 2 * 65 * 4096, {0, 32});
    refused(by_hand(0, std::uint64_t{1} << 24, tall), "more work than the limit");
}

TEST_CASE_TEMPLATE("decoder.py counts the same steps", T, float, double) {
    both_readers readers({.dimension = 1000, .work = 50});
    auto const read = [&](auto const& c, std::size_t d) {
        readers.read(without_spaces(to_string(c)), write_described(compress(c, laws::noise<T>(d, 3), key{3})));
    };
    laws::each_pipeline<T>([&](auto const& c) {
        for (std::size_t const d : {10, 16, 22, 25, 26, 50, 51}) read(c, d);
    });
    for (std::size_t d = 2; d < 60; d += 2)
        for (auto const* text : {"low_rank(rows=2, rank=2)", "scaled_down(natural)", "top_k(5) | rand_k(3)"})
            if (d >= 5) read(parse_compressor<T>(text), d);
    for (auto const& text : laws::in_parts())
        for (std::string const around : {"", "1, identity, 41, scaled_sign, "})
            read(parse_compressor<T>("parts(" + around + std::to_string(laws::length_in_parts) + ", " + text + ")"),
                 laws::length_in_parts + (around.empty() ? 0 : 42));
    CHECK(readers.refused() > 50);
    CHECK(readers.accepted() > 50);
    readers.agree();
}

// Few bytes that announce 2^32 numbers and more: it refuses them, in little memory.
TEST_CASE("decoder.py lists no numbers that the bytes do not hold, and no more than its limit") {
    std::vector<std::vector<std::byte>> const files{
        decoder::from_hex("6c61636e01008080808010b1012305210000003b210000093f210000e13e0400525a6b01"),
        by_hand(0, longest_support, {{4, 8}, {0, 8}, {0, 8}}),
        by_hand(0, longest_support, {{7, 8}, {0, 64}}),
        by_hand(0, longest_support, {{2, 8}, {1, 8}, {1, 8}, {0, 64}}),
        by_hand(0, std::uint64_t{1} << 26, {{18, 8}, {1, 8}, {3, 8}, {0, 64}, {7, 64}, {1, 8}}),
        by_hand(0, longest_support, {{16, 8}, {1, 8}, {1, 8}, {1, 41}, {1, 3}, {0, 20}}),
    };
    std::string list;
    for (auto const& bytes : files) list += "few " + decoder::hex(bytes) + " refused\n";
    own_file const file(list);
    auto const ran = decoder::run("--check \"" + file.path() + "\"", "ulimit -v 1000000 && ");
    if (!ran) return;
    CHECK(ran->out == "0 read, " + std::to_string(files.size()) + " refused, 0 wrong\n");
}

TEST_CASE_TEMPLATE("messages in parts are read without the compressor, and by decoder.py", T, float, double) {
    both_readers readers;
    dice random{key{9 + sizeof(T)}};
    for (auto const& text : laws::in_parts()) {
        CAPTURE(text);
        auto const c = parse_compressor<T>(text);
        for (std::uint64_t n = 0; n < 10; ++n) {
            auto const m = compress(c, laws::noise<T>(laws::length_in_parts, n, static_cast<int>(n % 3)), key{n});
            describes(m, laws::decoded<any_message<T, host>, T>(m));
            auto bytes = write_described(m, {.with_checksum = false});
            readers.read("parts", bytes);
            for (int flips = 0; flips < 40; ++flips) {
                auto const bit = 64 + random.below(8 * bytes.size() - 64);
                bytes[bit / 8] ^= std::byte(1u << bit % 8);
                readers.read("parts", bytes);
                bytes[bit / 8] ^= std::byte(1u << bit % 8);
            }
        }
    }
    CHECK(readers.refused() > 100);
    CHECK(readers.accepted() > 100);
    readers.agree();
}

// The other way round: bytes that were never a message, with as many bits announced as reading them takes.
TEST_CASE_TEMPLATE("decoder.py makes of shapes and bits from nowhere what the library makes of them", T, float,
                   double) {
    both_readers readers;
    dice random{key{40 + sizeof(T)}};
    std::vector<message_kind> const leaves{plain_kind::number,
                                           quantized_kind::number,
                                           powers_kind::number,
                                           signs_kind::number,
                                           dithered_kind::number,
                                           means_kind::number,
                                           short_kind<kernels::short_format::binary16>::number,
                                           short_kind<kernels::short_format::bfloat>::number,
                                           short_kind<kernels::short_format::e4m3>::number,
                                           short_kind<kernels::short_format::e5m2>::number,
                                           stepped_kind::number,
                                           binned_kind::number,
                                           blocks_kind::number,
                                           low_rank_kind::number},
        wrappers{sparse_kind<support_is::listed>::number, sparse_kind<support_is::fixed_count>::number,
                 sparse_kind<support_is::from_seed>::number, scaled_kind::number, levelled_kind::number};
    auto const number = [](T v) {
        using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
        return word{std::bit_cast<bits>(v), 8 * sizeof(T)};
    };
    for (int round = 0; round < 4000; ++round) {
        std::uint64_t const d = random.below(30);
        std::vector<word> words;
        auto const small = [&](std::uint64_t bound) { words.push_back({random.below(bound), 8}); };
        for (auto depth = random.below(4); depth > 0; --depth) {
            auto const k = wrappers[random.below(wrappers.size())];
            words.push_back({static_cast<std::uint64_t>(k), 8});
            if (k == scaled_kind::number) {
                words.push_back(number(static_cast<T>(random.below(8)) / 7));
                continue;
            }
            if (k == levelled_kind::number) {
                small(7);
                continue;
            }
            words.push_back({1 + random.below(random.below(3) == 0 ? 5 : 1), 8});
            if (k == sparse_kind<support_is::fixed_count>::number) small(d + 1);
            if (k == sparse_kind<support_is::from_seed>::number) {
                auto const how = 1 + random.below(3);
                words.push_back({how, 8});
                if (how == 1)
                    small(d + 1);
                else
                    words.push_back({std::bit_cast<std::uint64_t>(static_cast<double>(random.below(9)) / 8), 64});
                words.push_back({random.below(~std::uint64_t{0}), 64});
            }
        }
        auto const leaf = [&] {
            auto const k = leaves[random.below(leaves.size())];
            words.push_back({static_cast<std::uint64_t>(k), 8});
            if (k == quantized_kind::number || k == dithered_kind::number) words.push_back({1 + random.below(7), 8});
            if (k == stepped_kind::number) words.push_back({1 + random.below(8), 8});
            if (k == binned_kind::number) words.push_back({1 + random.below(3) + 8 * random.below(2), 8});
            if (k == blocks_kind::number) words.push_back({random.below(10), 8});
            if (k == quantized_kind::number || k == dithered_kind::number || k == stepped_kind::number ||
                k == binned_kind::number || k == blocks_kind::number || k == signs_kind::number ||
                k == means_kind::number)
                words.push_back({1 + random.below(20), 8});
            if (k == low_rank_kind::number)
                words.insert(words.end(), {{1 + random.below(5), 8}, {1 + random.below(3), 8}});
        };
        if (random.below(4) > 0) {
            leaf();
        } else {
            auto const count = random.below(4);
            words.insert(words.end(), {{34, 8}, {count, 8}});
            std::uint64_t left = d;
            for (auto i = count; i > 0; --i) {
                auto const length = i == 1 && random.below(8) > 0 ? left : random.below(left + 1);
                words.push_back({length, 8});
                left -= length;
                leaf();
            }
        }
        // The bare form. Half of its words are numbers of a moderate size, so that many messages pass.
        for (int n = 0; n < 60; ++n)
            if (random.below(2) == 0)
                words.push_back(number(static_cast<T>(random.below(1000)) / 64));
            else
                words.push_back({random.below(1 << 16), 16});

        auto const all = by_hand(0, 0, words);
        bit_reader source(std::span<std::byte const>(all).subspan(9));  // behind the header: the length takes two bytes
        std::uint64_t bits = source.left();
        try {
            detail::unpacker<T>(source, readers.limits()).all(d);
            bits = source.at();
        } catch (wire_error const&) {
        }
        std::vector<word> cut_words;
        for (auto const& w : words) {
            auto const width = static_cast<unsigned>(std::min<std::uint64_t>(w.width, bits));
            cut_words.push_back({width == 64 ? w.value : w.value & ((std::uint64_t{1} << width) - 1), width});
            bits -= width;
        }
        readers.read("nowhere", by_hand(sizeof(T) == 8 ? 2 : 0, d, cut_words));
    }
    CHECK(readers.refused() > 500);
    CHECK(readers.accepted() > 1000);
    readers.agree();
}

TEST_CASE("decoder.py prints a file, or why it cannot") {
    auto const text = [](std::vector<std::byte> const& b) {
        return std::string(reinterpret_cast<char const*>(b.data()), b.size());
    };
    auto bytes = described_top_2();
    auto const ran = [](std::string const& content) {
        own_file const file(content);
        return decoder::run("\"" + file.path() + "\"");
    };
    auto const good = ran(text(bytes));
    if (!good) return;
    CHECK(good->out == "5 0:0x1.8000000000000p+1 1:-0x1.0000000000000p+2\n");
    CHECK(good->status == 0);
    bytes[14] ^= std::byte{1};
    auto const damaged = ran(text(bytes));
    CHECK(damaged->out.find("checksum") != std::string::npos);
    CHECK(damaged->status == 1);

    // A list with a mistake, so that lists without one prove something.
    own_file const list("good " + decoder::hex(described_top_2()) + " 5 0:0x3p+0 1:-0x1p+2\n" + "wrong " +
                        decoder::hex(described_top_2()) + " 5 0:0x3p+0 1:-0x1p+3\n" + "accepted " +
                        decoder::hex(described_top_2()) + " refused\n" + "cut 6c61 refused\n");
    auto const wrong = decoder::run("--check \"" + list.path() + "\"");
    CHECK(wrong->out.find("wrong: ") != std::string::npos);
    CHECK(wrong->out.find("accepted: ") != std::string::npos);
    CHECK(wrong->out.ends_with("3 read, 1 refused, 2 wrong\n"));
    CHECK(wrong->status == 1);
}

TEST_CASE("what is unpacked adds itself to a vector of its dimension") {
    unpacked const dense{3, true, {}, {1, 2, 3}}, sparse{4, false, {1, 3}, {5, -6}};
    std::vector<float> x(3, 1.0f), y(4, 0.0f);
    dense.add_to(std::span<float>(x), 2.0f);
    CHECK(x == std::vector<float>{3, 5, 7});
    sparse.add_to(std::span<float>(y));
    CHECK(y == std::vector<float>{0, 5, 0, -6});
    CHECK_THROWS_AS(sparse.add_to(std::span<float>(x)), shape_error);
}
