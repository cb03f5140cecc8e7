// SPDX-License-Identifier: Apache-2.0
// A levelled message adds the one inside, has its dimension before it, and ignores the sender's memory.
#include "laconic/message/levelled.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;

namespace {

// A compressor of which the message needs nothing but the name of its memory.
struct any_level {
    using workspace = std::vector<double>;
};
using message = levelled<any_level, full_vector<double, host>>;
static_assert(Message<message, double, host> && !TermMessage<message>);

message of(std::size_t level, std::vector<double> const& values) {
    message m;
    m.level = level;
    m.levels = 5;
    m.length = values.size();
    m.inside.values.assign(values.begin(), values.end());
    return m;
}

}  // namespace

TEST_CASE("a levelled message adds the one inside") {
    host on;
    std::vector<double> out{1, 1, 1};
    add_message(on, std::span<double>(out), -2.0, of(2, {3, 0, -4}));
    CHECK(out == std::vector<double>{-5, 1, 9});
}

TEST_CASE("the dimension is known before the message inside is") {
    message m;
    CHECK(m.dimension() == 0);
    m.length = 7;
    CHECK(m.dimension() == 7);
}

TEST_CASE("two are equal where they are sent as the same; the sender's memory is not sent") {
    auto const m = of(2, {3, 0, -4});
    auto other = m;
    other.work = {1, 2, 3};
    other.from = key{9};
    CHECK(other == m);
    other.level = 3;
    CHECK(other != m);
    CHECK(m != of(2, {3, 1, -4}));
}
