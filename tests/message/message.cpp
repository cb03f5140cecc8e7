// SPDX-License-Identifier: Apache-2.0
// One decoder adds what lists terms, a message's own what does not; fits() refuses arrays of other lengths; and each
// kind of message goes to another backend and comes back equal, whatever the receiver held before.
// Also tests binned.hpp, turned.hpp.
#include "laconic/message/message.hpp"

#include "support/apart.hpp"
#include "support/everything.hpp"
#include "support/laws/messages.hpp"

using laconic_test::apart;

// A message that a user might write: one number, everywhere. It lists no terms but knows how to be added.
struct constant {
    std::size_t d = 0;
    double value = 0;
    std::size_t dimension() const { return d; }
    bool operator==(constant const&) const = default;
    friend void add_message(host&, std::span<double> out, double w, constant const& m) {
        for (double& v : out) v += w * m.value;
    }
};

// And one that does list its terms: one coordinate, twice.
struct twice {
    struct terms_type {
        double value;
        static constexpr bool in_order = false;
        constexpr std::size_t size() const { return 2; }
        constexpr messages::term<double> operator[](std::size_t) const { return {1, value}; }
    };
    double value = 0;
    std::size_t dimension() const { return 3; }
    terms_type terms() const { return {value}; }
    bool operator==(twice const&) const = default;
};

// The terms of a message as a backend sees them that does not walk by buckets.
template <class Inner>
struct as_listed {
    Inner inner;
    static constexpr bool in_order = true;
    constexpr std::size_t size() const { return inner.size(); }
    constexpr auto operator[](std::size_t j) const { return inner[j]; }
};

struct knows_no_dimension {
    bool operator==(knows_no_dimension const&) const = default;
    [[maybe_unused]] friend void add_message(host&, std::span<double>, double, knows_no_dimension const&) {}
};

struct owns_memory {
    std::vector<double> v;
    [[maybe_unused]] static constexpr bool in_order = true;
    std::size_t size() const { return v.size(); }
    messages::term<double> operator[](std::size_t j) const { return {0, v[j]}; }
};

// What w m adds to some numbers; the terms of a message that lists them come in order.
template <class T, class M>
void adds(M const& m, T w, std::vector<T> to, std::vector<T> const& expected) {
    static_assert(Message<M, T, host>);
    CHECK(m.dimension() == expected.size());
    if constexpr (TermMessage<M>) {
        static_assert(M::terms_type::in_order);
        REQUIRE(m.terms().size() == expected.size());
        for (std::size_t j = 0; j < expected.size(); ++j)
            CHECK((m.terms()[j].at == j && to[j] + w * m.terms()[j].value == expected[j]));
    }
    host on;
    add_message(on, std::span<T>(to), w, m);
    CHECK(to == expected);
}
template <class T>
signs<T, host> signs_of(std::size_t count, std::size_t bucket, std::vector<T> const& scales,
                        std::vector<std::uint64_t> const& words) {
    signs<T, host> m;
    m.count = count;
    m.bucket = bucket;
    m.scales.assign(scales.begin(), scales.end());
    m.words.assign(words.begin(), words.end());
    return m;
}
std::vector<float> with_last(std::vector<float> x, float last) {
    x.back() = last;
    return x;
}

static_assert(Message<constant, double, host> && !TermMessage<constant>);
static_assert(!Message<constant, float, host>);
static_assert(Message<twice, double, host> && Message<twice, float, host> && TermMessage<twice>);
static_assert(!Message<knows_no_dimension, double, host> && !Message<int, double, host>);
static_assert(Terms<twice::terms_type> && !Terms<owns_memory> && !Terms<int>);

TEST_CASE("what messages add, by hand: buckets, signs, and what is past the first word of signs") {
    adds<double>(scaled<full_vector<double, host>, double>{0.5, {{2, -4}}}, 3, {1, 1}, {4, -5});
    adds<double>(signs_of<double>(5, 2, {1, 0.5, 4}, {0b01010}), 2, std::vector<double>(5, 10), {12, 8, 11, 9, 18});
    adds<float>(signs_of<float>(65, 65, {3}, {0, 1}), 1, std::vector<float>(65), with_last(std::vector(65, 3.0f), -3));
    std::vector<float> two_negative(66, 1.5f);  // without scales every magnitude is 1
    two_negative[1] = two_negative[65] = 0.5f;
    adds<float>(signs_of<float>(66, 0, {}, {0b10, 0b10}), 0.5f, std::vector<float>(66, 1), two_negative);
    adds<double>(means<double, host>{5, 2, {1, 0.5, 4}, {3, 2, 8}, {0b01010}}, 2, std::vector<double>(5, 10),
                 {16, 8, 14, 9, 26});
    adds<float>(means<float, host>{65, 65, {3}, {5}, {0, 1}}, 1, std::vector<float>(65),
                with_last(std::vector(65, 5.0f), -3));
    // Three levels: a quarter, a half and the whole of the bucket's norm.
    adds<float>(dithered<float, host>{3, 2, {8, 0.5f, 0}, {-3, 1, 0, 2, 3}}, -2, std::vector<float>(5, 1),
                {17, -3, 1, 0.5f, 1});
    adds<float>(stepped<float, host>{2, 2, {-1, 4, 0.5f}, {0.5f, 2, 0}, {0, 3, 1, 2, 3}}, 2, std::vector<float>(5, 10),
                {8, 11, 22, 26, 11});
    adds<float>(binned<float, host>{1, 2, {-1, 4, 0.5f, 2, 0, 8}, {0, 1, 1, 0, 1}}, 2, std::vector<float>(5, 10),
                {8, 18, 14, 11, 26});
    CHECK(scaled<full_vector<double, host>, double>{0.5, {{2, -4}}} !=
          scaled<full_vector<double, host>, double>{0.25, {{2, -4}}});
}

TEST_CASE("one decoder for what lists its terms, the message's own for what does not") {
    host on;
    std::vector<double> out{1, 1, 1};
    add_message(on, std::span<double>(out), 0.5, constant{3, 4});
    CHECK(out == std::vector<double>{3, 3, 3});
    add_message(on, std::span<double>(out), 2.0, twice{5});
    CHECK(out == std::vector<double>{3, 23, 3});
}

// Buckets that end within words of signs, at their ends, and never; -0, subnormal and large scales.
TEST_CASE_TEMPLATE("bucket by bucket a message adds the terms of the whole", T, float, double) {
    host on;
    key const from{4};
    for (std::size_t const d : {0, 1, 5, 63, 64, 65, 128, 200, 700})
        for (std::size_t const bucket : {1, 5, 16, 64, 65, 100, 128, 1000}) {
            std::size_t const buckets = (d + bucket - 1) / bucket;
            std::vector<T> scales(buckets), more(buckets);
            for (std::size_t b = 0; b < buckets; ++b) {
                scales[b] = b % 5 == 0   ? std::numeric_limits<T>::min() / 3
                            : b % 5 == 1 ? std::numeric_limits<T>::max() / 1024
                                         : static_cast<T>(from.uniform(b));
                more[b] = b % 3 == 0 ? T(0) : static_cast<T>(from.uniform(b + 1000));
            }
            std::vector<std::int16_t> codes(d);
            std::vector<std::int8_t> few(d);
            std::vector<std::uint8_t> bytes(d);
            for (std::size_t j = 0; j < d; ++j) {
                codes[j] = static_cast<std::int16_t>(static_cast<int>(from.child(1).below(j, 15)) - 7);
                few[j] = static_cast<std::int8_t>(codes[j]);
                bytes[j] = static_cast<std::uint8_t>(from.child(2).below(j, 256));
            }
            std::vector<std::uint64_t> words((d + 63) / 64);
            for (std::size_t w = 0; w < words.size(); ++w) words[w] = from.child(3).long_word(w);
            auto const agree = [&](auto const& m) {
                std::vector<T> out(d, T(0.25)), expected(out);
                add_message(on, std::span(out), T(-0.75), m);
                add_terms(on, std::span(expected), T(-0.75), as_listed<decltype(m.terms())>{m.terms()});
                CHECK(out == expected);
            };
            agree(quantized<T, host>{7, bucket, scales, few});
            agree(quantized<T, host>{128, bucket, scales, {}, codes});
            agree(dithered<T, host>{7, bucket, scales, codes});
            agree(stepped<T, host>{8, bucket, more, scales, bytes});
            auto table = scales;
            table.insert(table.end(), more.begin(), more.end());
            auto bits = bytes;
            for (auto& code : bits) code %= 2;
            agree(binned<T, host>{1, bucket, table, bits});
            agree(signs<T, host>{d, bucket, scales, words});
            agree(signs<T, host>{d, 0, {}, words});
            agree(means<T, host>{d, bucket, scales, more, words});
        }
}

template <class C>
auto message_sent(C const& compressor, std::size_t d) {
    std::vector<float> x(d);
    for (std::size_t i = 0; i < d; ++i) x[i] = float(int(i % 5) - 2);
    host on;
    detail::message_of<C, float, host> m;
    compressor(on, std::span<float const>(x), key{3}, m);
    return m;
}
// What is sent of d numbers fits these, and no others.
template <class C>
void check_fits(C const& compressor, std::size_t d) {
    auto const m = message_sent(compressor, d);
    CAPTURE(to_string(compressor));
    CAPTURE(d);
    CHECK(detail::fits(m, d));
    CHECK_FALSE(detail::fits(m, d + 1));
    if (d > 0) CHECK_FALSE(detail::fits(m, d - 1));
}
// It does not after a change.
template <class C, class Change>
void check_spoilt(C const& compressor, Change change) {
    auto m = message_sent(compressor, 100);
    REQUIRE(detail::fits(m, 100));
    change(m);
    CAPTURE(to_string(compressor));
    CHECK_FALSE(detail::fits(m, 100));
}

TEST_CASE("whatever a compressor sends fits") {
    for (std::size_t const d : {0u, 1u, 63u, 64u, 65u, 100u}) {
        check_fits(identity{}, d);
        check_fits(natural{}, d);
        check_fits(fp16{}, d);
        check_fits(quantize{3}, d);
        check_fits(quantize{3, 7}, d);
        check_fits(quantize{128, 7}, d);
        check_fits(natural_dithering{3, 7}, d);
        check_fits(uniform{3, 7}, d);
        check_fits(scaled_sign{7}, d);
        check_fits(vote{}, d);
        check_fits(two_means{7}, d);
        check_fits(bin_means{3, 7}, d);
        check_fits(low_rank<>{1, 1}, d);
        check_fits(threshold{1.5}, d);
        check_fits(threshold{9}, d);
        check_fits(rand_k{portion(0.5)} | natural{}, d);
        check_fits(top_k{portion(0.5)} | quantize{3, 7}, d);
        check_fits(top_k{portion(0.5)} | (top_k{portion(0.5)} | scaled_sign{}), d);
        check_fits(zero_blocks{7}, d);
        check_fits(top_blocks<>{portion(0.5), 7}, d);
        check_fits(top_blocks<>{portion(1.0), 7} | natural{}, d);
        check_fits(scaled_down{quantize{3}}, d);
        check_fits(centroids{3, 7}, d);
        check_fits(dct<>{5} | quantize{3}, d);
        check_fits(hadamard<>{4} | quantize{3}, d);
        check_fits(identity_or<top_k<>>{top_k{portion(0.5)}}, d);
        if (d > 0) check_fits(best_level{top_k{1}}, d);
    }
    parts<quantize> const two{{{40, quantize{3}}, {60, quantize{1, 7}}}};
    check_fits(two, 100);
}

TEST_CASE("what has lost or won a number, or whose values were changed, does not") {
    auto const grow = [](auto& a) { a.resize(a.size() + 1); };
    check_spoilt(identity{}, [&](auto& m) { grow(m.values); });
    check_spoilt(quantize{3, 7}, [&](auto& m) { grow(m.steps); });
    check_spoilt(quantize{3, 7}, [](auto& m) { m.bucket = 0; });
    check_spoilt(quantize{3, 7}, [&](auto& m) { grow(m.codes); });
    check_spoilt(quantize{3, 7}, [&](auto& m) { grow(m.wide_codes); });
    check_spoilt(quantize{127, 7}, [](auto& m) { m.levels = 128; });
    check_spoilt(quantize{128, 7}, [](auto& m) { m.levels = 127; });
    check_spoilt(quantize{128, 7}, [&](auto& m) { grow(m.wide_codes); });
    check_spoilt(natural_dithering{3, 7}, [](auto& m) { m.norms.resize(14); });
    check_spoilt(uniform{3, 7}, [&](auto& m) { grow(m.least); });
    check_spoilt(uniform{3, 7}, [](auto& m) { m.bucket = 8; });
    check_spoilt(scaled_sign{7}, [](auto& m) { m.words.resize(1); });
    check_spoilt(scaled_sign{7}, [](auto& m) { m.bucket = 0; });
    check_spoilt(vote{}, [](auto& m) { m.bucket = 1; });
    check_spoilt(two_means{7}, [](auto& m) { m.above.resize(14); });
    check_spoilt(two_means{7}, [](auto& m) { m.count = 101; });
    check_spoilt(bin_means{3, 7}, [](auto& m) { m.width = 2; });
    check_spoilt(bin_means{3, 7}, [&](auto& m) { grow(m.table); });
    check_spoilt(bin_means{3, 7}, [&](auto& m) { grow(m.codes); });
    check_spoilt(centroids{3, 7}, [&](auto& m) { grow(m.scales); });
    check_spoilt(centroids{3, 7}, [](auto& m) { m.width = 3; });
    check_spoilt(low_rank<>{10, 2}, [](auto& m) { m.rank = 11; });
    check_spoilt(low_rank<>{10, 2}, [](auto& m) { m.rows = 0; });
    check_spoilt(low_rank<>{10, 2}, [](auto& m) { m.rows = 20; });
    check_spoilt(low_rank<>{10, 2}, [](auto& m) { m.right.resize(19); });
    check_spoilt(threshold{1.5}, [&](auto& m) { grow(m.payload.values); });
    check_spoilt(threshold{1.5}, [&](auto& m) { grow(m.support); });
    check_spoilt(threshold{0.5}, [](auto& m) {
        m.support.resize(101);
        m.payload.values.resize(101);
    });
    check_spoilt(zero_blocks{7}, [](auto& m) { m.unit.length = 0; });
    check_spoilt(zero_blocks{7}, [](auto& m) { m.unit.length = ~std::size_t{0}; });
    check_spoilt(zero_blocks{7}, [](auto& m) { m.payload.values.resize(99); });
    check_spoilt(dct<>{5} | quantize{3}, [](auto& m) { m.transform.rows = 3; });
    check_spoilt(dct<>{5} | quantize{3}, [](auto& m) { m.transform.side = 0; });
    check_spoilt(dct<>{5} | quantize{3}, [&](auto& m) { grow(m.inside.codes); });
    check_spoilt(hadamard<>{4} | quantize{3}, [](auto& m) { ++m.transform.count; });
    check_spoilt(hadamard<>{4} | quantize{3}, [](auto& m) { m.transform.longest = 3; });
    check_spoilt(scaled_down{quantize{3}}, [&](auto& m) { grow(m.inside.codes); });
    check_spoilt(best_level{top_k{1}}, [](auto& m) { m.length = 99; });
    check_spoilt(identity_or<top_k<>>{top_k{5}}, [](auto& m) { m.is_first = true, m.first.values.resize(0); });
    check_spoilt(parts<quantize>{{{40, quantize{3}}, {60, quantize{3}}}}, [](auto& m) { m.each.pop_back(); });
    check_spoilt(parts<quantize>{{{40, quantize{3}}, {60, quantize{3}}}}, [&](auto& m) { grow(m.each[1].codes); });
    check_spoilt(parts<quantize>{{{40, quantize{3}}, {60, quantize{3}}}}, [](auto& m) { m.each[0].bucket = 1; });
}

// The message that c makes about x goes to B and from there to a message that held another.
template <class B, class C>
void goes_and_returns(C const& c) {
    CAPTURE(to_string(c));
    using message = detail::message_of<C, float>;
    static_assert(std::is_same_v<moved_to<B, message>, detail::message_of<C, float, B>>);
    static_assert(std::is_same_v<moved_to<host, detail::message_of<C, float, B>>, message>);
    host here;
    B there;
    for (std::size_t const d : {12u, 36u, 6u}) {  // also where there is less and more room
        auto const x = laws::noise<float>(d, d, 2), other = laws::noise<float>(d + 6, d);
        message m, back;
        c(here, std::span<float const>(x), key{1}, m);
        if (d != 12) c(here, std::span<float const>(other), key{2}, back);
        detail::message_of<C, float, B> moved;
        copy_message(here, m, there, moved);
        copy_message(there, moved, here, back);
        CHECK(back == m);
        CHECK(back.dimension() == d);
        CHECK(laws::written(back) == laws::written(m));
        CHECK(laws::decoded<message, float>(back) == laws::decoded<message, float>(m));
    }
}

TEST_CASE_TEMPLATE("each kind of message goes to another backend and comes back as it was", B, host, reference, apart) {
    goes_and_returns<B>(identity{});
    goes_and_returns<B>(quantize{3, 5});
    goes_and_returns<B>(natural_dithering{3, 5});
    goes_and_returns<B>(natural{});
    goes_and_returns<B>(fp16{});
    goes_and_returns<B>(scaled_sign{5});
    goes_and_returns<B>(two_means{5});
    goes_and_returns<B>(uniform<>{3, 5});
    goes_and_returns<B>(bin_means{3, 5});
    goes_and_returns<B>(dct<>{3} | top_k{2});
    goes_and_returns<B>(centroids{3, 5});
    goes_and_returns<B>(hadamard<>{4} | top_k{2});
    goes_and_returns<B>(low_rank<>{2, 1});
    goes_and_returns<B>(top_k{3});
    goes_and_returns<B>(rand_block{2, 5} | natural{});
    goes_and_returns<B>(scaled_down{quantize{1}});
    goes_and_returns<B>(best_level{top_k{1}});
    goes_and_returns<B>(identity_or{scaled_sign{}, true});
    goes_and_returns<B>(identity_or{scaled_sign{}, false});
}

TEST_CASE("parts go as well, however many there were") {
    host here;
    apart there;
    using pieces = parts<top_k<>>;
    auto const x = laws::noise<float>(6, 1);
    detail::message_of<pieces, float> m, back;
    pieces{{4, {2}}, {2, {1}}}(here, std::span<float const>(x), key{1}, m);
    pieces{{6, {2}}}(here, std::span<float const>(x), key{1}, back);
    detail::message_of<pieces, float, apart> moved;
    copy_message(here, m, there, moved);
    copy_message(there, moved, here, back);
    CHECK(back == m);
    CHECK(back.each.size() == 2);
}
