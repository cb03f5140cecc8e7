// SPDX-License-Identifier: Apache-2.0
// Supports take a short one of five codes, near the entropy, read back, and damaged ones are refused alike.
#include "laconic/wire/support.hpp"

#include "support/bits.hpp"
#include "support/everything.hpp"

using coordinates = std::vector<std::uint64_t>;
using by_hand::bytes;
using by_hand::word;

struct encoding {
    bytes text;
    std::uint64_t bits;
    support_code code;
};

encoding write(std::uint64_t length, coordinates const& support, position_code how = position_code::smallest) {
    bit_writer sink(how);
    ledger books(how);
    write_support(sink, length, std::span<std::uint64_t const>(support));
    write_support(books, length, std::span<std::uint64_t const>(support));
    auto const b = sink.finish();
    CHECK(b.size() * 8 == books.bits());
    bit_reader source(b);
    auto const code = b.empty() ? support_code::raw : static_cast<support_code>(source.take(3));
    return {{b.begin(), b.end()}, books.unpadded(), code};
}

template <class I = std::uint64_t>
std::vector<I> read(std::uint64_t length, std::size_t count, bytes const& text) {
    std::vector<I> out(count);
    bit_reader source(text);
    read_support(source, length, std::span<I>(out));
    source.finish();
    return out;
}

// Words as hostile bytes may have them, behind a code.
bytes coded(support_code code, std::vector<word> words) {
    words.insert(words.begin(), {static_cast<std::uint64_t>(code), 3});
    return by_hand::bytes_of(words);
}
void refused(std::uint64_t length, std::size_t count, bytes const& text, char const* why) {
    CAPTURE(why);
    CHECK_THROWS_WITH_AS(read(length, count, text), doctest::Contains(why), wire_error);
}

// What a reader makes of the bytes, one coordinate after another: the definition.
std::string plainly(std::uint64_t length, coordinates& support, bytes const& text) {
    bit_reader source(text);
    std::uint64_t next = 0;
    auto const place = [&](std::uint64_t& i, std::uint64_t gap) {
        if (gap >= length - next)
            source.refuse("coordinate " + std::to_string(next + gap) + " of " + std::to_string(length));
        i = next + gap;
        next += gap + 1;
    };
    try {
        auto const code = static_cast<support_code>(source.take(3));
        if (code == support_code::rice) {
            unsigned const r = take_rice_parameter(source);
            for (auto& i : support) place(i, take_rice(source, length, r));
        } else if (code == support_code::packed) {
            unsigned width = 0;
            for (std::size_t j = 0; j < support.size(); ++j) {
                if (j % 128 == 0) width = static_cast<unsigned>(source.take(6));
                if (width > detail::width_of(length)) source.refuse("gaps of " + std::to_string(width) + " bits");
                place(support[j], source.take(width));
            }
        } else if (code == support_code::bitmap) {
            std::size_t n = 0;
            for (std::uint64_t first = 0; first < length; first += 64) {
                auto const width = static_cast<unsigned>(std::min<std::uint64_t>(64, length - first));
                auto const word = source.take(width);
                for (unsigned b = 0; b < width; ++b) {
                    if ((word >> b & 1) == 0) continue;
                    if (n == support.size())
                        source.refuse("the bitmap has more than " + std::to_string(n) + " bits set");
                    support[n++] = first + b;
                }
            }
            if (n < support.size())
                source.refuse("the bitmap has fewer than " + std::to_string(support.size()) + " bits set");
        } else if (code == support_code::runs) {
            unsigned const r = take_rice_parameter(source), s = take_rice_parameter(source);
            for (std::size_t j = 0; j < support.size();) {
                auto const gap = take_rice(source, length, r) + (j == 0 ? 0 : 1);
                auto const more = take_rice(source, support.size(), s);
                if (more >= support.size() - j)
                    source.refuse("a run beyond the " + std::to_string(support.size()) + " coordinates");
                place(support[j++], gap);
                for (std::uint64_t n = 0; n < more; ++n) place(support[j++], 0);
            }
        } else {
            return "another code";
        }
        source.finish();
    } catch (wire_error const& e) {
        return e.what();
    }
    return "";
}

// k of d coordinates, uniform.
coordinates random_support(std::uint64_t d, std::size_t k, std::uint64_t seed) {
    if (d <= detail::largest_dimension) {
        host on;
        std::vector<coordinate> chosen;
        sample(on, key{seed}, static_cast<std::size_t>(d), k, chosen);
        return {chosen.begin(), chosen.end()};
    }
    std::set<std::uint64_t> chosen;
    for (std::uint64_t n = 0; chosen.size() < k; ++n) chosen.insert(key{seed}.below(n, d));
    return {chosen.begin(), chosen.end()};
}
// Runs of up to 200 neighbours, up to 200 apart, as long as they fit.
coordinates random_runs(std::uint64_t d, std::uint64_t seed) {
    coordinates support;
    key const draw{seed};
    std::uint64_t next = 0;
    for (std::uint64_t t = 0; t < 40; t += 2) {
        next += draw.below(t, 200);
        for (auto more = 1 + draw.below(t + 1, 200); more > 0 && next < d; --more) support.push_back(next++);
        ++next;
    }
    return support;
}
double entropy(double d, double k) {  // log2 C(d, k)
    return (std::lgamma(d + 1) - std::lgamma(k + 1) - std::lgamma(d - k + 1)) / std::log(2);
}

TEST_CASE("each code is read as encoded by hand") {
    // Coordinates 3 and 9 of 16; gaps 3 and 5; two runs of one.
    CHECK(read(16, 2, coded(support_code::raw, {{3, 4}, {9, 4}})) == coordinates{3, 9});
    CHECK(read(16, 2, coded(support_code::bitmap, {{1 << 3 | 1 << 9, 16}})) == coordinates{3, 9});
    // Rice, r = 1: 3 is one 1, a 0, then 1; 5 is two 1s, a 0, then 1.
    CHECK(read(16, 2, coded(support_code::rice, {{1, 6}, {0b01, 2}, {1, 1}, {0b011, 3}, {1, 1}})) == coordinates{3, 9});
    CHECK(read(16, 2, coded(support_code::packed, {{3, 6}, {3, 3}, {5, 3}})) == coordinates{3, 9});
    // Runs, both parameters 0: a gap of 3, one coordinate; then a gap of 5, of which one is understood, and one.
    CHECK(read(16, 2, coded(support_code::runs, {{0, 6}, {0, 6}, {0b0111, 4}, {0, 1}, {0b01111, 5}, {0, 1}})) ==
          coordinates{3, 9});
    // One run of three from 4 on.
    CHECK(read(16, 3, coded(support_code::runs, {{0, 6}, {0, 6}, {0b01111, 5}, {0b011, 3}})) == coordinates{4, 5, 6});
}

TEST_CASE("none and all cost nothing") {
    CHECK(write(5, {}).bits == 0);
    CHECK(write(0, {}).bits == 0);
    CHECK(write(1, {0}).bits == 0);
    CHECK(write(4, {0, 1, 2, 3}).bits == 0);
    CHECK(read(4, 4, {}) == coordinates{0, 1, 2, 3});
}

TEST_CASE("each code is taken where it is the shortest") {
    CHECK(write(123, {77}).bits == 3 + 7);  // top_k{1} of 123
    CHECK(write(123, {77}).code == support_code::raw);
    CHECK(write(16, {1, 5, 6, 9, 15}).bits == 3 + 16);
    CHECK(write(16, {1, 5, 6, 9, 15}).code == support_code::bitmap);
    CHECK(write(100000, random_support(100000, 1000, 1)).code == support_code::rice);
    // 64 rows of an embedding, each of 64 numbers: some bits a row, not a coordinate.
    coordinates rows;
    for (auto const row : random_support(10000, 64, 2))
        for (std::uint64_t i = 0; i < 64; ++i) rows.push_back(64 * row + i);
    auto const clustered = write(640000, rows);
    CHECK(clustered.code == support_code::runs);
    CHECK(clustered.bits < 64 * 25);
    // A dense beginning and a thin end: groups of gaps have widths of their own.
    coordinates mixed;
    for (std::uint64_t i = 0; i < 1280; ++i) mixed.push_back(2 * i);
    for (std::uint64_t i = 0; i < 256; ++i) mixed.push_back(10000 + 30000 * i + i % 7);
    CHECK(write(8000000, mixed).code == support_code::packed);
}

TEST_CASE("the shorter of the fast codes is taken on request") {
    auto const support = random_support(100000, 1000, 1);
    auto const fast = write(100000, support, position_code::fastest), small = write(100000, support);
    CHECK(fast.code == support_code::packed);
    CHECK(fast.bits > small.bits);
    CHECK(fast.bits < 11 * 1000);
    CHECK(read(100000, 1000, fast.text) == support);
}

// The entropy is 14.73, 11.41, 8.08 and 4.69 bits an index.
TEST_CASE("uniform supports: within 0.15 bit an index of the entropy") {
    for (double const density : {1e-4, 1e-3, 1e-2, 1e-1}) {
        std::uint64_t const d = 10000000;
        auto const k = static_cast<std::size_t>(density * static_cast<double>(d));
        auto const m = write(d, random_support(d, k, 3));
        double const bound = entropy(static_cast<double>(d), static_cast<double>(k)) / static_cast<double>(k);
        double const each = static_cast<double>(m.bits) / static_cast<double>(k);
        CAPTURE(density);
        CAPTURE(each);
        CAPTURE(bound);
        CHECK(each < bound + 0.15);
        CHECK(each > bound - 0.15);  // else something is not encoded
    }
}

// Rice codes of geometric gaps are at most 0.12 bit above their entropy, at worst where their mean is 4256; few indices
// bear nine bits that name the code and its parameter, and log2(2 pi k) / 2: independent gaps have the count once more.
TEST_CASE("few of many cost what docs/wire-format.md states, on average") {
    for (double const density : {1e-4, 1 / 4256.0, 1e-2})
        for (std::size_t const k : {100u, 512u}) {
            auto const d = static_cast<std::uint64_t>(static_cast<double>(k) / density);
            double each = 0;
            for (std::uint64_t seed = 0; seed < 20; ++seed)
                each += static_cast<double>(write(d, random_support(d, k, seed)).bits) / static_cast<double>(20 * k);
            double const n = static_cast<double>(k), over = each - entropy(static_cast<double>(d), n) / n;
            CAPTURE(density);
            CAPTURE(k);
            CHECK(over < 0.12 + (9 + std::log2(6.2831853 * n) / 2) / n);
            CHECK(over > 0);
            if (k == 512) CHECK(over < 0.15);
        }
}

TEST_CASE("every set of every length up to 12 reads back, and is not longer than any code") {
    for (std::size_t length = 0; length <= 12; ++length)
        for (unsigned set = 0; set < 1u << length; ++set) {
            coordinates support;
            for (unsigned i = 0; i < length; ++i)
                if (set >> i & 1) support.push_back(i);
            for (auto const how : {position_code::smallest, position_code::fastest}) {
                auto const m = write(length, support, how);
                REQUIRE(read(length, support.size(), m.text) == support);
                REQUIRE(m.bits <= 3 + length);
                REQUIRE(m.bits <= 3 + support.size() * detail::width_of(length));
            }
        }
}

TEST_CASE("random supports of all densities and shapes read back, as 32-bit and as 64-bit numbers") {
    for (std::uint64_t t = 0; t < 300; ++t) {
        key const k = key{11}.child(t);
        std::uint64_t const d = 1 + k.below(0, std::uint64_t{1} << (4 + t % 10));
        coordinates support;
        auto const stay = k.below(1, 1000), start = k.below(2, 1000);
        bool on = false;
        for (std::uint64_t i = 0; i < d; ++i) {
            on = k.below(3 + i, 1000) < (on ? stay : start);
            if (on) support.push_back(i);
        }
        for (auto const how : {position_code::smallest, position_code::fastest}) {
            auto const m = write(d, support, how);
            REQUIRE(read(d, support.size(), m.text) == support);
            auto const narrow = read<coordinate>(d, support.size(), m.text);
            REQUIRE(std::equal(narrow.begin(), narrow.end(), support.begin(), support.end()));
        }
    }
}

TEST_CASE("bitmaps around 64 and 128 places are read back") {
    for (std::size_t length : {63u, 64u, 65u, 127u, 128u, 129u, 200u}) {
        coordinates support;
        for (std::size_t i = 0; i < length; ++i)
            if (key{4}.below(i, 2) == 0) support.push_back(i);
        auto const m = write(length, support);
        CHECK(m.code == support_code::bitmap);
        CHECK(m.bits == 3 + length);
        CHECK(read(length, support.size(), m.text) == support);
    }
}

TEST_CASE("coordinates up to 2^40 are read back") {
    for (auto const how : {position_code::smallest, position_code::fastest}) {
        coordinates support{0, 1, (1ull << 32) - 1, 1ull << 32, (1ull << 39) + 5, longest_support - 1};
        CHECK(read(longest_support, support.size(), write(longest_support, support, how).text) == support);
        support = random_support(longest_support, 5000, 6);
        auto const m = write(longest_support, support, how);
        CHECK(read(longest_support, support.size(), m.text) == support);
        CHECK(m.bits < 5000 * 33.);  // of 40 as they are; the entropy is 29.1
    }
    refused(longest_support, 1, coded(support_code::rice, {{40, 6}, {0b011, 3}, {0, 40}}), "ones in a row");
    refused(longest_support, 1, coded(support_code::rice, {{40, 6}, {0b01, 2}, {0, 40}}), "of 1099511627776");
}

TEST_CASE("supports that repeat, descend or leave the vector are refused") {
    refused(100, 2, coded(support_code::raw, {{5, 7}, {5, 7}}), "coordinate 5 does not ascend");
    refused(100, 2, coded(support_code::raw, {{5, 7}, {4, 7}}), "coordinate 4 does not ascend");
    refused(100, 1, coded(support_code::raw, {{100, 7}}), "coordinate 100 of 100");
    refused(100, 2, coded(support_code::raw, {{99, 7}, {127, 7}}), "coordinate 127 of 100");
    refused(100, 3, coded(support_code::raw, {{5, 7}, {6, 7}}), "does not ascend");
    refused(100, 4, coded(support_code::raw, {{5, 7}, {6, 7}, {7, 7}}), "7 bits too early");
    refused(100, 1, coded(support_code::raw, {{5, 7}, {6, 7}}), "left");
    refused(100, 1, coded(support_code::packed, {{7, 6}, {100, 7}}), "coordinate 100 of 100");
    refused(100, 2, coded(support_code::packed, {{7, 6}, {99, 7}, {0, 7}}), "coordinate 100 of 100");
    refused(100, 2, coded(support_code::packed, {{8, 6}, {9, 8}, {0, 8}}), "gaps of 8 bits");
    refused(100, 1, coded(support_code::rice, {{7, 6}, {0, 1}, {100, 7}}), "coordinate 100 of 100");
    refused(100, 1, coded(support_code::rice, {{41, 6}}), "Rice parameter of 41");
    refused(100, 1, coded(support_code::rice, {{0, 6}, {~0ull, 64}, {~0ull, 64}}), "more than 100 ones in a row");
    refused(100, 2, coded(support_code::runs, {{0, 6}, {0, 6}, {0, 1}, {0b011, 3}}), "beyond the 2 coordinates");
    refused(3, 2, coded(support_code::runs, {{0, 6}, {0, 6}, {0b011, 3}, {0b01, 2}}), "coordinate 3 of 3");
    for (std::uint64_t code : {5u, 6u, 7u})
        refused(100, 1, coded(static_cast<support_code>(code), {{0, 64}}), "an unknown position code");
}

// Readers look at many coordinates at once. Whatever the bytes are, they find the same, or the same wrong at the same
// bit. Each code gets each damage.
TEST_CASE("long supports, whole and damaged, are read as one coordinate after another") {
    enum damage { none, flipped, cut, just_too_short, far_too_short, miscounted, damages };
    std::array<std::array<std::size_t, damages>, 5> tried{}, refused_alike{};
    for (std::uint64_t t = 0; t < 1000; ++t) {
        key const draw = key{21}.child(t);
        std::uint64_t const d = std::uint64_t{1} << (9 + draw.below(0, 24));
        auto support = draw.below(1, 4) == 0
                           ? random_runs(d, t)
                           : random_support(d, 1 + draw.below(2, std::min<std::uint64_t>(d / 2, 700)), t);
        if (support.empty()) continue;
        auto const how = draw.below(3, 2) == 0 ? position_code::smallest : position_code::fastest;
        auto const written = write(d, support, how);
        auto text = written.text;
        auto length = d, count = std::uint64_t{support.size()};
        auto const harm = static_cast<damage>(t % damages);
        auto const hit = draw.below(4, text.size());
        if (harm == flipped) text[hit] ^= static_cast<std::byte>(1 + draw.below(5, 255));
        if (harm == cut) text.resize(hit);
        if (harm == just_too_short) length = support.back() + draw.below(5, 2);
        if (harm == far_too_short) length = count + 1 + draw.below(5, support.back());
        if (harm == miscounted) count += draw.below(5, 2) == 0 ? 1 : -1;
        if (count == 0 || count >= length) continue;
        coordinates expected(count), found(count);
        auto const wrong = plainly(length, expected, text);
        if (wrong == "another code") continue;
        auto const code = static_cast<std::size_t>(written.code);
        ++tried[code][harm];
        CAPTURE(t);
        try {
            found = read(length, count, text);
            REQUIRE(wrong == "");
            REQUIRE(found == expected);
        } catch (wire_error const& e) {
            REQUIRE(wrong == e.what());
            ++refused_alike[code][harm];
        }
    }
    for (auto const code : {support_code::bitmap, support_code::rice, support_code::packed, support_code::runs})
        for (std::size_t harm = 0; harm < damages; ++harm) {
            CAPTURE(static_cast<int>(code));
            CAPTURE(harm);
            CHECK(tried[static_cast<std::size_t>(code)][harm] > (code == support_code::bitmap ? 1 : 8));
            if (harm == none) CHECK(refused_alike[static_cast<std::size_t>(code)][harm] == 0);
            if (harm == far_too_short) CHECK(refused_alike[static_cast<std::size_t>(code)][harm] > 1);
        }
}

TEST_CASE("bitmaps with more or fewer bits than counted are refused, in the first word and in the last") {
    refused(4, 3, coded(support_code::bitmap, {{0b1111, 4}}), "more than 3 bits set");
    refused(4, 3, coded(support_code::bitmap, {{0b0011, 4}}), "fewer than 3 bits set");
    CHECK(read(4, 3, coded(support_code::bitmap, {{0b1011, 4}})) == coordinates{0, 1, 3});
    auto const wide = [](std::uint64_t low, std::uint64_t high) {
        return coded(support_code::bitmap, {{low, 35}, {high, 35}});
    };
    refused(70, 20, wide((1ull << 30) - 1, 0), "more than 20");
    refused(70, 20, wide((1ull << 20) - 1, 1ull << 34), "more than 20");
    refused(70, 20, wide((1ull << 19) - 1, 0), "fewer than 20");
    CHECK(read(70, 20, wide((1ull << 19) - 1, 1ull << 34)).back() == 69);
}
