// SPDX-License-Identifier: Apache-2.0
// One decoder adds what lists terms, a message's own what does not, and buckets add what the whole lists.
#include "laconic/message/message.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/core/key.hpp"
#include "laconic/message/dithered.hpp"
#include "laconic/message/full_vector.hpp"
#include "laconic/message/means.hpp"
#include "laconic/message/quantized.hpp"
#include "laconic/message/signs.hpp"
#include "laconic/message/stepped.hpp"

using namespace laconic;

namespace {

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
        constexpr term<double> operator[](std::size_t) const { return {1, value}; }
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
    term<double> operator[](std::size_t j) const { return {0, v[j]}; }
};

}  // namespace

static_assert(Message<constant, double, host> && !TermMessage<constant>);
static_assert(!Message<constant, float, host>);
static_assert(Message<twice, double, host> && Message<twice, float, host> && TermMessage<twice>);
static_assert(!Message<knows_no_dimension, double, host> && !Message<int, double, host>);
static_assert(Terms<twice::terms_type> && !Terms<owns_memory> && !Terms<int>);

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
            agree(signs<T, host>{d, bucket, scales, words});
            agree(signs<T, host>{d, 0, {}, words});
            agree(means<T, host>{d, bucket, scales, more, words});
        }
}
