// SPDX-License-Identifier: Apache-2.0
#include "laconic/message/message.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/message/plain.hpp"

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

// And one that does list its terms: one coordinate, said twice.
struct twice {
    struct terms_type {
        double value;
        static constexpr bool in_order = false;
        std::size_t size() const { return 2; }
        term<double> operator[](std::size_t) const { return {1, value}; }
    };
    double value = 0;
    std::size_t dimension() const { return 3; }
    terms_type terms() const { return {value}; }
    bool operator==(twice const&) const = default;
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
