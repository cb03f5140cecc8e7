// SPDX-License-Identifier: Apache-2.0
// Shapes are read stage by stage with the range of each parameter, 32 stages at most.
#include "laconic/wire/shape.hpp"

#include "named.hpp"
#include "support/bits.hpp"
#include "support/everything.hpp"

using by_hand::word;

template <class T>
std::vector<stage> shape_of(std::vector<word> const& words) {
    auto const bytes = by_hand::bytes_of(words);
    bit_reader source(bytes);
    auto const stages = read_shape<T>(source, library_kinds{}, [](std::size_t) {});
    CHECK(source.left() == 0);
    return stages;
}

bool wraps_another(std::uint64_t number) {
    bool wraps = false;
    CHECK(library_kinds::visit(static_cast<message_kind>(number),
                               [&](auto described) { wraps = decltype(described)::next == follow::one_shape; }));
    return wraps;
}

TEST_CASE("stages are read until one wraps no other, each with its own parameters") {
    std::uint64_t const quarter = std::bit_cast<std::uint64_t>(0.25);
    auto const stages = shape_of<double>({{33, 8}, {quarter, 64},                     // scaled by 1/4
                                          {16, 8}, {3, 8},                            // listed, units of 3
                                          {17, 8}, {1, 8},        {0x81, 8}, {2, 8},  // fixed_count, 257 of them
                                          {18, 8}, {1, 8},        {1, 8},    {5, 8}, {77, 64}, {18, 8}, {4, 8},
                                          {2, 8},  {quarter, 64}, {78, 64},  {2, 8}, {7, 8},   {64, 8}});
    REQUIRE(stages.size() == 6);
    CHECK(stages[0].what == scaled_kind::number);
    CHECK(stages[0].factor == 0.25);
    CHECK(stages[1].what == sparse_kind<support_is::listed>::number);
    CHECK(stages[1].first == 3);
    CHECK(stages[2].what == sparse_kind<support_is::fixed_count>::number);
    CHECK(stages[2].second == 257);
    CHECK(stages[3].drawn == draw{draw_method::exactly, 5, 0, key{77}});
    CHECK(stages[4].first == 4);
    CHECK(stages[4].drawn == draw{draw_method::each, 0, 0.25, key{78}});
    CHECK(stages[5].what == quantized_kind::number);
    CHECK(stages[5].first == 7);
    CHECK(stages[5].second == 64);
}

TEST_CASE("a factor is as wide as the numbers of its message") {
    CHECK(shape_of<float>({{33, 8}, {std::bit_cast<std::uint32_t>(0.5f), 32}, {1, 8}})[0].factor == 0.5);
    CHECK_THROWS_AS(shape_of<double>({{33, 8}, {std::bit_cast<std::uint32_t>(0.5f), 32}, {1, 8}}), wire_error);
}

TEST_CASE("each parameter has its range") {
    auto const range = [](std::vector<word> const& before, std::uint64_t least, std::uint64_t most) {
        auto const reads = [&](std::uint64_t n) {
            auto words = before;
            for (; n >= 128; n >>= 7) words.push_back({(n & 127) | 128, 8});
            words.push_back({n, 8});
            if (before[0].value == 2 || before[0].value == 5 || before[0].value == 11) words.push_back({1, 8});
            if (wraps_another(before[0].value)) words.push_back({1, 8});
            try {
                return shape_of<float>(words).size() > 0;
            } catch (wire_error const&) {
                return false;
            }
        };
        CAPTURE(before[0].value);
        CHECK(reads(least));
        CHECK(reads(most));
        if (least > 0) CHECK_FALSE(reads(least - 1));
        CHECK_FALSE(reads(most + 1));
    };
    std::uint64_t const longest = std::uint64_t{1} << 40;
    range({{2, 8}}, 1, 32767);
    range({{5, 8}}, 1, 1000);
    range({{11, 8}}, 1, 8);
    range({{4, 8}}, 0, longest);
    range({{6, 8}}, 1, longest);
    range({{16, 8}}, 1, longest);
    range({{17, 8}, {1, 8}}, 0, longest);
    range({{32, 8}, {1, 8}}, 0, longest);
    range({{35, 8}}, 0, longest);
}

TEST_CASE("32 stages, and no more") {
    std::vector<word> words;
    for (int n = 0; n < 31; ++n) words.insert(words.end(), {{16, 8}, {1, 8}});
    words.push_back({1, 8});
    CHECK(shape_of<float>(words).size() == deepest_stage);
    words.insert(words.begin(), {{16, 8}, {1, 8}});
    CHECK_THROWS_WITH_AS(shape_of<float>(words), doctest::Contains("more than 32 stages"), wire_error);
}

// In blocks of codes, whatever the buckets are beside these, and wherever the message begins.
TEST_CASE_TEMPLATE("a message that is read and added is one that is added after it is read", T, float, double) {
    constexpr std::size_t d = 10001;
    std::vector<T> x(d);
    for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<T>(std::tan(3 * (key{1}.uniform(i) - 0.5)));
    host on;
    for (auto const* const text :
         {"fp16", "float8_e4m3", "natural", "quantize(levels=1)", "quantize(levels=7, bucket=512)",
          "quantize(levels=2, bucket=999)", "quantize(levels=300, bucket=7)", "quantize(levels=127)",
          "uniform(bits=4, bucket=5000)", "uniform(bits=3, bucket=1)", "natural_dithering(levels=9, bucket=600)",
          "scaled_sign", "top_k(0.1)"}) {
        CAPTURE(text);
        auto const c = parse_compressor<T, host>(text);
        any_message<T, host> m;
        c(on, std::span<T const>(x), key{2}, m);
        std::vector<T> wanted(d, T(0.3)), sum(d, T(0.3));
        add_message(on, std::span(wanted), T(0.7), m);
        for (unsigned const before : {0u, 3u}) {
            bit_writer sink;
            sink.put(0, before);
            write(sink, m);
            auto const encoded = by_hand::bytes_of(sink);
            any_message<T, host> theirs;
            auto const add = [&](std::span<std::byte const> bytes) {
                bit_reader source(bytes);
                source.take(before);
                sum.assign(d, T(0.3));
                c.blank(on, d, key{2}, theirs);
                read_and_add(on, source, theirs, c, T(0.7), std::span(sum));
                source.finish();
            };
            add(encoded);
            CHECK(sum == wanted);
            CHECK_THROWS_AS(add(std::span(encoded).first(encoded.size() / 2)), wire_error);
        }
    }
}
