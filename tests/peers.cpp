// SPDX-License-Identifier: Apache-2.0
// Defects that were found in other libraries of this field do not occur here.
#include <cstdlib>

#include "support/everything.hpp"
#include "support/laws/messages.hpp"
#include "support/laws/pipelines.hpp"

using namespace laconic;

// POLO's dynamic sparsifier trusts a sum of rounded numbers to reach a norm, and reads past its end: nine times 0.13f,
// and vectors of n^2 equal magnitudes.
TEST_CASE_TEMPLATE("equal magnitudes overrun nothing", T, float, double) {
    for (auto const& text : laws::pipelines()) {
        CAPTURE(text);
        auto const c = parse_compressor<T>(text);
        for (std::size_t n = 3; n <= 12; ++n) {
            std::vector<T> x(n * n, T(0.13f));
            auto const m = compress(c, x, key{n});
            CHECK(m.dimension() == n * n);
            CHECK(8 * laws::written(m).size() == bits(m));
        }
    }
    for (std::size_t n = 2; n <= 40; ++n) {
        std::vector<T> const x(n * n, T(0.13f));
        CHECK(compress(about_top_k{n}, x, key{1}).support.size() == n);  // ties: exactly k, the lower ones
        CHECK(compress(top_k{n}, x, key{1}).support.back() == n - 1);
    }
}

// POLO's and u-FedNL's receivers write wherever a sent index points.
TEST_CASE("an index past the end is refused") {
    host on;
    for (coordinate const bad : {1000u, 1023u}) {
        wire::bit_writer sink;
        charge(sink, wire::message_part::header);
        sink.put(0, 3);  // raw
        sink.put(bad, 10);
        sink.put(0x3f800000, 32);
        detail::message_of<top_k<>, float> theirs;
        top_k{1}.blank(on, 1000, key{1}, theirs);
        wire::bit_reader source(sink.finish());
        CHECK_THROWS_WITH_AS(read(on, source, theirs), doctest::Contains("of 1000"), wire_error);
    }
}

// BytePS shifts an int by 63 where it reads words of 64 bits, and counts the blocks of a long message in float.
TEST_CASE("words of 64 bits read back; sizes beyond 2^24 bits are exact") {
    std::vector<double> const x{-1.0, 0x1.fffffffffffffp1023, -0x0.0000000000001p-1022};
    auto const m = compress(identity{}, x, key{1});
    CHECK(laws::decoded<messages::full_vector<double, host>, double>(m) == x);
    wire::bit_writer sink;
    wire::ledger books;
    for (int i = 0; i < (1 << 24) / 64; ++i) sink.put(~std::uint64_t{0}, 64), books.put(0, 64);
    sink.put(1, 1), books.put(1, 1);
    CHECK(books.unpadded() == (1u << 24) + 1);
    CHECK(sink.finish().size() == (1u << 21) + 1);
    CHECK(books.bits() == 8 * ((1u << 21) + 1));
}

// FL_PyTorch's natural dithering returns its input; u-FedNL's rounds with the constant 0.75 for its random number.
TEST_CASE("natural dithering rounds to few levels, at random, and its bits are few") {
    auto const x = laws::noise<float>(512, 3);
    natural_dithering const c{4};
    std::set<float> magnitudes;
    bool differs = false;
    auto const first = laws::decoded<detail::message_of<natural_dithering, float>, float>(compress(c, x, key{0}));
    for (std::uint64_t k = 0; k < 20; ++k) {
        auto const m = compress(c, x, key{k});
        for (float const v : laws::decoded<decltype(m), float>(m)) magnitudes.insert(std::abs(v));
        differs = differs || laws::decoded<decltype(m), float>(m) != first;
        CHECK(bits(m) < 5 * 512);
    }
    CHECK(magnitudes.size() <= 5);  // 0 and four levels
    CHECK(differs);
}

// The gTop-k code that was released fails where the number of workers is no power of two.
TEST_CASE("any number of workers") {
    for (int const n : {1, 2, 3, 5, 6, 7, 9}) {
        std::vector<double> sums(static_cast<std::size_t>(n));
        threads::run(n, [&](auto& comm) {
            std::vector<double> x(50, 0.0), mean(50);
            x[static_cast<std::size_t>(comm.rank())] = n;
            host on;
            gathered<detail::message_of<top_k<>>, double> collective({}, 50, position_code::smallest);
            auto const mine = compress(top_k{1}, x, key{1});
            collective.send(on, comm, {}, mine, {});
            collective.receive(
                on, comm, {}, mine, {},
                [&](auto&, int, detail::message_of<top_k<>>& m) { top_k{1}.blank(on, 50, key{1}, m); }, nullptr,
                std::span<double>(mean));
            for (double const v : mean) sums[static_cast<std::size_t>(comm.rank())] += v;
        });
        for (double const s : sums) CHECK(s == doctest::Approx(n));
    }
}

// GRACE's rand-k seeds the global generator in every call; BytePS draws with repetitions.
TEST_CASE("nobody else's random numbers are touched, and no coordinate is drawn twice") {
    std::srand(1);
    int const expected = std::rand();
    std::srand(1);
    for (auto const& text : laws::pipelines())
        compress(parse_compressor<float>(text), laws::noise<float>(30, 1), key{1});
    CHECK(std::rand() == expected);
    for (std::uint64_t t = 0; t < 200; ++t) {
        auto const m = compress(rand_k{40}, laws::noise<float>(60, t), key{t});
        CHECK(std::set<coordinate>(m.support.begin(), m.support.end()).size() == 40);
    }
}

// BytePS's top-k ends the process where k is above half the length.
TEST_CASE("every k up to d") {
    auto const x = laws::noise<double>(33, 1);
    for (std::size_t k = 0; k <= 33; ++k) CHECK(compress(top_k{k}, x, key{1}).support.size() == k);
    CHECK_THROWS_AS(compress(top_k{34}, x, key{1}), argument_error);
}
