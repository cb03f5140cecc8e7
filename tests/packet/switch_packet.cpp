// SPDX-License-Identifier: Apache-2.0
// Packets of SwitchML are read as written, no damage passes the checksum, and layouts that differ are found.
#include "laconic/packet/switch_packet.hpp"

#include "support/everything.hpp"

// What a switch makes of the workers' blocks, one number each.
template <class T>
T sum_of(std::vector<T> const& x, std::int64_t* exact = nullptr) {
    std::int16_t e = detail::no_exponent;
    for (T const& v : x) e = std::max(e, detail::exponent_of(std::span<T const>(&v, 1)));
    detail::fixed_point const form(int(x.size()), e);
    std::uint32_t sum = 0;
    std::int64_t total = 0;
    std::array<std::byte, 4> bytes{};
    for (T const& v : x) {
        form.put(std::span<T const>(&v, 1), bytes.data());
        sum += detail::load_half(bytes.data());
        total += std::int32_t(detail::load_half(bytes.data()));
    }
    if (exact) *exact = total;
    detail::store_half(bytes.data(), sum);
    T out = 0;
    bool const finite = form.take(bytes.data(), std::span<T>(&out, 1));
    CHECK(finite == std::isfinite(out));
    return out;
}

TEST_CASE("the exponent of a block is the least whose power of two is above all magnitudes") {
    auto const e = [&](std::vector<float> const& x) { return detail::exponent_of(std::span<float const>(x)); };
    CHECK(e({0.5f}) == 0);
    CHECK(e({1.0f}) == 1);
    CHECK(e({-1.99f, 0.1f}) == 1);
    CHECK(e({0.1f, -3.0f, 2.0f}) == 2);
    CHECK(e({0.0f, -0.0f}) == detail::no_exponent);
    CHECK(e({}) == detail::no_exponent);
    CHECK(e({std::numeric_limits<float>::max()}) == 128);
    CHECK(e({-std::numeric_limits<float>::denorm_min()}) == -148);
    double const large = std::numeric_limits<double>::max(), small = std::numeric_limits<double>::denorm_min();
    CHECK(detail::exponent_of(std::span<double const>(&large, 1)) == 1024);
    CHECK(detail::exponent_of(std::span<double const>(&small, 1)) == -1073);
}

TEST_CASE("by hand: three workers have 29 bits") {
    CHECK(detail::fixed_point::bits(1) == 30);
    CHECK(detail::fixed_point::bits(2) == 29);
    CHECK(detail::fixed_point::bits(3) == 29);
    CHECK(detail::fixed_point::bits(4) == 28);
    for (int const workers : {65534, 65535}) CHECK(detail::fixed_point::bits(workers) == 15);
    // 1.5 < 2^1: units of 2^-28.
    std::array<std::byte, 8> bytes{};
    std::array<float, 2> const x{1.5f, -0x1p-28f};
    detail::fixed_point(3, 1).put(std::span<float const>(x), bytes.data());
    CHECK(std::to_integer<int>(bytes[3]) == 0x18);
    for (std::size_t i : {0, 1, 2}) CHECK(std::to_integer<int>(bytes[i]) == 0);
    for (std::size_t i : {4, 5, 6, 7}) CHECK(std::to_integer<int>(bytes[i]) == 255);
}

TEST_CASE("as many summands as there are workers never overflow, be they as large as they can") {
    for (int const workers : {1, 2, 3, 4, 5, 127, 128, 129, 1023, 4096}) {
        CAPTURE(workers);
        int const bits = detail::fixed_point::bits(workers);
        // One bit more would be too many for some: for a double below 2^e is rounded to 2^bits itself.
        CHECK((std::int64_t(workers) << bits) <= std::numeric_limits<std::int32_t>::max());
        CHECK((std::int64_t(workers) << (bits + 1)) > std::numeric_limits<std::int32_t>::max());
        for (int const e : {-1073, -148, 1, 1024})
            for (double const sign : {1.0, -1.0}) {
                double const most = e == 1024 ? std::numeric_limits<double>::max()
                                              : std::max(std::ldexp(0.5, e), std::nextafter(std::ldexp(1.0, e), 0.0));
                std::int64_t exact = 0;
                double const sum = sum_of(std::vector<double>(std::size_t(workers), sign * most), &exact);
                CHECK(exact == std::int32_t(exact));
                if (e == 1024) continue;  // rounded up, it is beyond a double
                CHECK(std::abs(sum - sign * most * workers) <=
                      std::ldexp(workers / 2.0, e - bits) + std::ldexp(1, e - 50));
            }
    }
}

TEST_CASE("a sum is off by at most half a unit for each worker, and can be by nearly that") {
    for (int const workers : {1, 2, 3, 8, 100}) {
        CAPTURE(workers);
        int const bits = detail::fixed_point::bits(workers);
        double const unit = std::ldexp(1.0, 3 - bits);  // numbers below 8
        double worst = 0;
        auto const draw = key{4}.child(std::uint64_t(workers));
        for (std::uint64_t t = 0; t < 50; ++t) {
            std::vector<double> x{4.0};
            for (int w = 1; w < workers; ++w) x.push_back(8 * draw.uniform(1000 * t + std::uint64_t(w)) - 4);
            long double exact = 0;
            for (double const v : x) exact += v;
            worst = std::max(worst, double(std::abs(exact - (long double)sum_of(x))));
        }
        CHECK(worst <= workers * unit / 2);
        // All just below the half: each is rounded down. The first is the one that sets the exponent.
        std::vector<double> x(std::size_t(workers), 5 * unit + 0.499 * unit);
        x[0] = 4 + 0.499 * unit;
        double const exact = x[0] + (workers - 1) * x.back();
        double const off = exact - sum_of(x);
        CHECK(off / (unit * workers) == doctest::Approx(0.499));
        CHECK(off <= std::ldexp(double(workers) * workers, 3 - 31));
    }
}

TEST_CASE("floats of all sizes, subnormal ones among them, are summed without loss where the bits suffice") {
    CHECK(sum_of<float>({0x1p-149f, 0x1p-149f, 0}) == 0x1p-148f);
    CHECK(sum_of<float>({0x1p-149f, -0x1p-149f}) == 0);
    CHECK(sum_of<float>({1e-40f, 3e-40f}) == 1e-40f + 3e-40f);
    CHECK(sum_of<float>({1e-38f, 1e-38f}) == 1e-38f + 1e-38f);
    CHECK(sum_of<float>({1e38f, 1e38f}) == 2e38f);
    CHECK(sum_of<float>({3e38f, 3e38f}) == std::numeric_limits<float>::infinity());
    CHECK(sum_of<float>({-3e38f, -3e38f, 0}) == -std::numeric_limits<float>::infinity());
    CHECK(sum_of<float>({3e38f, -3e38f, 1e38f}) == doctest::Approx(1e38f));
    CHECK(sum_of<double>({0x1p-1074, 0x1p-1074}) == 0x1p-1073);
    CHECK(sum_of<double>({1e308, 1e308}) == std::numeric_limits<double>::infinity());
    CHECK(sum_of<double>({1e308, 0x1p-1074}) == doctest::Approx(1e308));
    CHECK(sum_of<float>({0, 0, -0.0f}) == 0);
    CHECK(!std::signbit(sum_of<float>({-0.0f, -0.0f})));
    for (int i = 1; i < 2000; i += 19) CHECK(sum_of<float>({float(i), float(2000 - i), -7}) == 1993);
}

TEST_CASE("ties go to even") {
    // For one worker and an exponent of 1 a unit is 2^-29.
    CHECK(sum_of<double>({1 + 0x1p-30}) == 1);
    CHECK(sum_of<double>({1 + 0x1.8p-29}) == 1 + 0x1p-28);
    CHECK(sum_of<double>({-1 - 0x1p-30}) == -1);
}

using detail::switch_error;
using detail::switch_header;
using detail::switch_kind;

TEST_CASE("the layout of nodes, parts and blocks, and what it refuses") {
    switch_layout how{.d = 1000, .workers = 4, .block = 30, .slot_count = 8, .switches = 3};
    how.check();
    CHECK(how.nodes() == 7);
    CHECK(how.node_of_switch(2) == 6);
    CHECK(how.switch_of_node(3) == no_rank);
    CHECK(how.switch_of_node(4) == 0);
    CHECK(how.switch_of_node(7) == no_rank);
    CHECK(how.blocks(0) == 12);  // 333 numbers
    CHECK(how.longest_packet() == 32 + 120);
    how.apart = false;
    CHECK(how.nodes() == 4);
    CHECK(how.switch_of_node(0) == 0);
    CHECK(how.switch_of_node(3) == no_rank);
    how.workers = 1;
    CHECK(how.blocks(0) == 0);  // its sum is its own

    auto const refused = [](switch_layout const& l) { CHECK_THROWS_AS(l.check(), argument_error); };
    refused({.d = 1, .workers = 0});
    refused({.d = 1, .workers = 65536});
    refused({.d = std::size_t{1} << 32, .workers = 2});
    refused({.d = 1, .workers = 2, .block = 0});
    refused({.d = 1, .workers = 2, .block = 4, .slot_count = 9});
    refused({.d = 1, .workers = 2, .slot_count = 0});
    refused({.d = 1, .workers = 2, .switches = 0});
    refused({.d = 1, .workers = 2, .switches = 3, .apart = false});
    CHECK_NOTHROW(switch_layout{.d = 1, .workers = 2, .switches = 3}.check());
}

TEST_CASE("a header is read as it was written, and no byte of a packet can be changed") {
    std::vector<std::byte> packet(40, std::byte{7});
    switch_header const h{switch_kind::sums, 0x123456789abcdef0u, 99, 0xfffffffeu, -149};
    h.seal(packet, true);
    auto const back = switch_header::open(packet, true);
    REQUIRE(back);
    CHECK(back->what == h.what);
    CHECK(back->digest == h.digest);
    CHECK(back->round == 99);
    CHECK(back->block == 0xfffffffeu);
    CHECK(back->exponent == -149);
    for (std::size_t i = 0; i < packet.size(); ++i)
        for (int bit = 0; bit < 8; ++bit) {
            auto damaged = packet;
            damaged[i] ^= std::byte(1 << bit);
            CHECK(!switch_header::open(damaged, true));
        }
    for (std::size_t n = 0; n < packet.size(); ++n) CHECK(!switch_header::open(std::span(packet).first(n), true));
    // Both ends know whether there is a checksum.
    CHECK(!switch_header::open(packet, false));
    h.seal(packet, false);
    CHECK(switch_header::open(packet, false));
    CHECK(!switch_header::open(packet, true));
    for (int kind : {0, 9, 255}) {
        packet[30] = std::byte(kind);
        CHECK(!switch_header::open(packet, false));
    }
}

TEST_CASE("the least error counts, in whatever order they come") {
    std::vector<std::byte> bytes(switch_error::bytes);
    switch_error const none, late{switch_error::input, 2, 5}, early{switch_error::input, 1, 900},
        other{switch_error::disagreement, 0, 3, 8, 16};
    std::vector<switch_error> const all{none, late, early, other};
    for (std::size_t first = 0; first < all.size(); ++first) {
        switch_error c;
        for (std::size_t i = 0; i < all.size(); ++i) c.add(all[(first + i) % all.size()]);
        CHECK((c <=> early) == 0);
    }
    for (auto const& c : all) {
        c.put(bytes.data());
        auto const back = switch_error::take(bytes.data());
        REQUIRE(back);
        CHECK((*back <=> c) == 0);
    }
    CHECK_NOTHROW(none.raise(4));
    CHECK_THROWS_WITH_AS(early.raise(4), "rank 1, round 4: the gradient is not finite at coordinate 900",
                         non_finite_error);
    CHECK_THROWS_WITH_AS(other.raise(4),
                         "ranks disagree: rank 0 has \"the block: 8\", its switch has \"the block: 16\"",
                         agreement_error);
    bytes[0] = std::byte{3};
    CHECK(!switch_error::take(bytes.data()));
    switch_error{switch_error::disagreement, 0, detail::switch_items.size()}.put(bytes.data());
    CHECK(!switch_error::take(bytes.data()));
}

TEST_CASE("whatever differs makes another digest, but not the round") {
    std::set<std::uint64_t> digests;
    switch_layout const how{.d = 100, .workers = 4, .block = 8, .slot_count = 4, .switches = 2};
    auto const add = [&](auto values) { return digests.insert(detail::digest_of(values)).second; };
    CHECK(add(detail::values_of<float>(how, 1)));
    CHECK(!add(detail::values_of<float>(how, 2)));
    CHECK(add(detail::values_of<double>(how, 1)));
    for (int i = 0; i < 6; ++i) {
        auto other = how;
        if (i == 0) ++other.d;
        if (i == 1) ++other.workers;
        if (i == 2) ++other.block;
        if (i == 3) ++other.slot_count;
        if (i == 4) ++other.switches;
        if (i == 5) other.apart = false;
        CHECK(add(detail::values_of<float>(other, 1)));
    }
    for (int e : {-32768, -149, 0, 128, 32767}) {
        std::byte bytes[2];
        detail::store_little(bytes, std::int16_t(e));
        CHECK(detail::load_little<std::int16_t>(bytes) == e);
    }
}
