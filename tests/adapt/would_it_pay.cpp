// SPDX-License-Identifier: Apache-2.0
// Whether compression pays follows from a link's price and measured times, with the break-even price of a bit.
#include "laconic/adapt/would_it_pay.hpp"

#include "support/everything.hpp"

// A clock that only the compressor below turns: 2 ns a number to encode and 1 ns to decode, then twice that for every
// third message. A number takes a byte, and `more` bytes come with it.
double now = 0;
int encoded = 0, decoded = 0;
double slow_third(int count) { return count % 3 == 0 ? 2 : 1; }
double clock_of_now() { return now; }

struct byte_message {
    using value_type = float;
    std::size_t length = 0, more = 0;
    std::size_t dimension() const { return length; }
    bool operator==(byte_message const&) const = default;
    template <class B>
    friend void add_message(B&, std::span<float>, float, byte_message const& m) {
        now += 1e-9 * static_cast<double>(m.length) * slow_third(++decoded);
    }
    template <wire::BitSink W>
    friend void write(W& sink, byte_message const& m) {
        for (std::size_t i = 0; i < m.length + m.more; ++i) sink.put(i & 255, 8);
    }
    template <class B>
    friend void read(B&, laconic::wire::bit_reader& source, byte_message& m) {
        for (std::size_t i = 0; i < m.length + m.more; ++i)
            if (source.take(8) != (i & 255)) source.refuse("another byte");
    }
};

struct a_byte_each {
    std::size_t more = 0, least = 0;
    template <Scalar T, class B>
    using message = byte_message;
    void check(std::size_t d) const {
        if (d < least) throw argument_error("too few");
    }
    template <class B>
    void blank(B&, std::size_t d, key, byte_message& m) const {
        m = {d, more};
    }
    template <class B>
    void operator()(B&, std::span<float const> x, key, byte_message& m) const {
        m = {x.size(), more};
        now += 2e-9 * static_cast<double>(x.size()) * slow_third(++encoded);
    }
    bool operator==(a_byte_each const&) const = default;
    friend std::string to_string(a_byte_each const&) { return "a_byte_each"; }
};
static_assert(Compressor<a_byte_each, float>);

payoff payoff_of(message_cost const& link, std::size_t d, int workers, a_byte_each const& c = {},
                 pay_measurement how = {}) {
    how.bits_of_a_number = 32;
    now = 100;
    encoded = decoded = 0;
    return would_it_pay<float>(link, d, workers, c, how, clock_of_now);
}

// Whether it pays with another price of a bit.
bool pays_at(payoff p, message_cost link, double per_bit) {
    link.per_bit = per_bit;
    detail::price_rounds(p, link, {p.encode, p.decode / p.workers, p.bits});
    return p.pays;
}
void turns_at_the_break_even(payoff const& p, message_cost const& link) {
    REQUIRE(p.break_even);
    CHECK(pays_at(p, link, *p.break_even * (1 + 1e-9)) == p.dearer_bits_help);
    CHECK(pays_at(p, link, *p.break_even * (1 - 1e-9)) != p.dearer_bits_help);
    CHECK(pays_at(p, link, link.per_bit) == p.pays);
}

TEST_CASE("four workers, by hand") {
    auto const link = affine_cost(1e-9, 1e-6);
    auto const p = payoff_of(link, 1000, 4);
    CHECK(p.dense_bits == 32000);
    CHECK(p.bits == 8000);
    CHECK(p.dense == doctest::Approx(2 * 3 * (8000e-9 + 1e-6)).scale(0));
    CHECK(p.encode == doctest::Approx(2e-6).scale(0));
    CHECK(p.send == doctest::Approx(3 * (8000e-9 + 1e-6)).scale(0));
    CHECK(p.decode == doctest::Approx(4 * 1e-6).scale(0));
    CHECK(p.pays);
    // 6e-6 and 3e-6 for the messages as such: 6e-6 + 3e-6 - 6e-6 seconds are won back by 48000 - 24000 bits.
    CHECK(*p.break_even == doctest::Approx(3e-6 / 24000).scale(0));
    turns_at_the_break_even(p, link);
    CHECK(p.why() ==
          "yes: a dense sum of 32 bits a number takes 54 us, with a_byte_each a round takes 33 us, of which 2 us to "
          "encode, 27 us to send and 4 us to decode; it pays where a bit takes more than 125 ps (8 Gbit/s)");
}

TEST_CASE("of a dense sum that travels while ranks compute, what it takes beyond that counts") {
    auto const link = affine_cost(1e-9, 1e-6);
    auto const p = payoff_of(link, 1000, 4, {}, {.computing = 20e-6});
    CHECK(p.dense == doctest::Approx(2 * 3 * (8000e-9 + 1e-6) - 20e-6).scale(0));
    CHECK(p.send == doctest::Approx(3 * (8000e-9 + 1e-6)).scale(0));
    CHECK(p.pays);
    CHECK(*p.break_even == doctest::Approx((3e-6 + 20e-6) / 24000).scale(0));
    turns_at_the_break_even(p, link);
    CHECK(
        p.why().find("a dense sum of 32 bits a number takes 34 us more than the 20 us of computing meanwhile, with") !=
        std::string::npos);
    auto const hidden = payoff_of(link, 1000, 4, {}, {.computing = 60e-6});
    CHECK(hidden.dense == 0);
    CHECK_FALSE(hidden.pays);
    turns_at_the_break_even(hidden, link);
    CHECK_THROWS_AS(payoff_of(link, 1000, 4, {}, {.computing = -1}), argument_error);
    CHECK_THROWS_AS(payoff_of(link, 1000, 4, {}, {.computing = NAN}), argument_error);
}

TEST_CASE("a fast link carries the vector sooner than it is compressed, a slow one does not") {
    auto const fast = payoff_of(affine_cost(1e-12, 0), 1000, 4), slow = payoff_of(affine_cost(1e-6, 0), 1000, 4);
    CHECK_FALSE(fast.pays);
    CHECK(slow.pays);
    CHECK(*fast.break_even == doctest::Approx(*slow.break_even).scale(0));
    CHECK(fast.why() ==
          "no: a dense sum of 32 bits a number takes 48 ns, with a_byte_each a round takes 6.02 us, of which 2 us to "
          "encode, 24 ns to send and 4 us to decode: too much even were sending free; it pays where a bit takes more "
          "than 250 ps (4 Gbit/s)");
}

TEST_CASE("among many workers, messages that all must receive are more than two pieces in full") {
    // Each receives 15 x 8000 bits, and in full 2 x 15 x 2000: only the fees of the messages are then saved.
    auto const link = affine_cost(1e-12, 1e-4);
    auto const p = payoff_of(link, 1000, 16);
    CHECK_FALSE(p.dearer_bits_help);
    CHECK(p.pays);
    CHECK(p.why().find("it pays where a bit takes less than") != std::string::npos);
    turns_at_the_break_even(p, link);
    auto const unpaid = payoff_of(affine_cost(1e-9, 0), 1000, 16);
    CHECK_FALSE(unpaid.pays);
    CHECK_FALSE(unpaid.break_even);
    CHECK(unpaid.why().find("; it does not, whatever a bit takes") != std::string::npos);
    auto const always = payoff_of(affine_cost(1e-9, 1), 1000, 2);
    CHECK(always.pays);
    CHECK_FALSE(always.break_even);
    CHECK(always.why().find("; it pays whatever a bit takes") != std::string::npos);
}

TEST_CASE("where packets are paid for, the price of a bit comes on top of them") {
    auto const link = energy_cost(1e-10, 5e-7, 500, 0);
    auto const p = payoff_of(link, 1000, 4);
    CHECK(p.dense == doctest::Approx(6 * (8000e-10 + 1e-6)).scale(0));
    CHECK(p.send == doctest::Approx(3 * (8000e-10 + 1e-6)).scale(0));
    turns_at_the_break_even(p, link);
}

TEST_CASE("one worker sends nothing, and one number is a vector") {
    auto const alone = payoff_of(affine_cost(1, 1), 1000, 1);
    CHECK_FALSE(alone.pays);
    CHECK(alone.dense == 0);
    CHECK(alone.send == 0);
    CHECK_FALSE(alone.break_even);
    CHECK(alone.why() == "no: one worker sends nothing");
    auto const one = payoff_of(affine_cost(1e-9, 0), 1, 2);
    CHECK(one.dense == doctest::Approx(2 * 16e-9).scale(0));
    CHECK(one.send == doctest::Approx(8e-9).scale(0));
    CHECK(one.pays);
    turns_at_the_break_even(one, affine_cost(1e-9, 0));
}

TEST_CASE("the quickest repetition counts, and how many there are follows from the seconds given") {
    payoff_of({}, 1000, 2, {}, {.seconds = 0});
    CHECK(encoded == 2);  // the first is for the memory
    CHECK(decoded == 2);
    // A round of three takes 3 us three times, and once more of them.
    payoff_of({}, 1000, 2, {}, {.seconds = 10e-6});
    CHECK(encoded == 3);
    auto const all = payoff_of({}, 1000, 2, {}, {.seconds = 1});
    CHECK(encoded == 21);
    CHECK(all.encode == doctest::Approx(2e-6).scale(0));
    CHECK(all.decode == doctest::Approx(2 * 1e-6).scale(0));
}

TEST_CASE("longer vectors are measured in part: times in proportion, bits along a line") {
    auto const p = payoff_of(affine_cost(1e-9, 0), 100000, 2, {50}, {.longest = 1000});
    CHECK(p.measured == 1000);
    CHECK(p.encode == doctest::Approx(2e-4).scale(0));
    CHECK(p.decode == doctest::Approx(2 * 1e-4).scale(0));
    CHECK(p.bits == doctest::Approx(8 * (100000 + 50)));
    CHECK(p.why().ends_with("(measured on 1000 of 100000 numbers)"));
    CHECK(payoff_of({}, 1000, 2, {}, {.longest = 1000}).why().find("measured") == std::string::npos);
    CHECK_THROWS_WITH_AS(
        payoff_of({}, 100000, 2, {0, 600}, {.longest = 1000}),
        "a_byte_each suits vectors of 100000 numbers and not the 1000 and 500 that are measured: too few",
        argument_error);
}

TEST_CASE("real compressors: what they write is what is sent, and counts do not grow with the vector") {
    auto const link = affine_cost(1, 0);
    pay_measurement const quick{.seconds = 0, .longest = 2048};
    auto const full = would_it_pay<float>(link, 2048, 2, dense{}, quick);
    CHECK(full.bits == 32 * 2048);
    CHECK(full.compressor == "dense");
    CHECK(would_it_pay<double>(link, 2048, 2, dense{}, quick).bits == 64 * 2048);
    auto const by_default = would_it_pay(link, 2000, 8, top_k{.01}, quick);
    auto const x = detail::drawn_gradient<float>(quick.from.child(0), 2000);
    CHECK(by_default.bits == double(bits(compress(top_k{.01}, x, key{}))));
    CHECK(by_default.pays);  // at a second for a bit
    CHECK(by_default.encode > 0);
    CHECK(by_default.decode > 0);
    CHECK(would_it_pay(link, 2000, 8).compressor == "top_k(0.01)");
    CHECK(by_default.dense_bits == 16 * 2000);
    CHECK(by_default.dense == doctest::Approx(2 * 7 * 16 * 2000 / 8));

    auto const some = would_it_pay(link, 1 << 20, 2, top_k{100}, quick);
    CHECK(some.bits > 100 * 32);
    CHECK(some.bits < 512 * would_it_pay(link, 2048, 2, top_k{100}, quick).bits / 10);  // only positions take more
    auto const share = would_it_pay(link, 1 << 20, 2, natural{}, quick);
    CHECK(share.bits == 512 * would_it_pay(link, 2048, 2, natural{}, quick).bits);
}

TEST_CASE("a gradient that is drawn has magnitudes that fall off, of both signs") {
    auto const x = detail::drawn_gradient<double>(key{1}, 20000);
    double sum = 0, squares = 0, magnitudes = 0, largest = 0;
    for (double const v : x) {
        sum += v / 20000;
        squares += v * v / 20000;
        magnitudes += std::abs(v) / 20000;
        largest = std::max(largest, std::abs(v));
    }
    CHECK(std::abs(sum) < .05);  // five times sqrt(2 / 20000)
    CHECK(magnitudes == doctest::Approx(1).epsilon(.05));
    CHECK(squares == doctest::Approx(2).epsilon(.1));
    CHECK(std::isfinite(largest));
    CHECK(largest > 5);
}

TEST_CASE("numbers with units") {
    CHECK(detail::with_unit(0.0321, "s") == "32.1 ms");
    CHECK(detail::with_unit(1, "s") == "1 s");
    CHECK(detail::with_unit(7200, "s", 1) == "7.2e+03 s");
    CHECK(detail::with_unit(4e9, "bit/s") == "4 Gbit/s");
    CHECK(detail::with_unit(999e-6, "s") == "999 us");
    CHECK(detail::with_unit(0, "s") == "0 s");
    CHECK(detail::with_unit(2.5e-12, "s") == "2.5 ps");
}

TEST_CASE("questions that have no answer are refused") {
    message_cost const link = affine_cost(1e-9, 0);
    CHECK_THROWS_AS(payoff_of(link, 0, 4), argument_error);
    CHECK_THROWS_AS(payoff_of(link, 10, 0), argument_error);
    CHECK_THROWS_AS(payoff_of(link, 10, -1), argument_error);
    CHECK_THROWS_AS(payoff_of(link, 10, 4, {}, {.seconds = -1}), argument_error);
    CHECK_THROWS_AS(payoff_of(link, 10, 4, {}, {.seconds = std::nan("")}), argument_error);
    CHECK_THROWS_AS(payoff_of(link, 10, 4, {}, {.longest = 1}), argument_error);
    for (double const bits : {0.0, -1.0, std::nan(""), HUGE_VAL})
        CHECK_THROWS_AS(would_it_pay(link, 10, 4, top_k{1}, {.bits_of_a_number = bits}), argument_error);
    CHECK_THROWS_WITH_AS(would_it_pay(link, 10, 4, top_k{11}),
                         doctest::Contains("top_k(11): k = 11 is above the dimension d = 10"), argument_error);
    CHECK_THROWS_AS(would_it_pay(link, 4096, 4, top_k{1500}, {.longest = 2048}), argument_error);
}
