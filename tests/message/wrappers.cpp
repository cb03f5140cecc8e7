// SPDX-License-Identifier: Apache-2.0
// A message around others is added as these are: one of two, that of a level, each part at its place.
#include "laconic/message/wrappers.hpp"

#include "support/everything.hpp"

using numbers = full_vector<double, host>;
using choice = either<numbers, scaled<numbers, double>>;
static_assert(Message<choice, double, host>);

TEST_CASE("it is the one that is_first states, and the other does not count") {
    choice m{true, {{1, 2, 3}}, {.5, {{4, -8}}}};
    host on;
    std::vector<double> out(3);
    CHECK(m.dimension() == 3);
    add_message(on, std::span<double>(out), 2.0, m);
    CHECK(out == std::vector<double>{2, 4, 6});

    auto other = m;
    other.second.factor = 1;
    CHECK(m == other);
    m.is_first = false;
    CHECK(m != other);
    other.is_first = false;
    CHECK(m != other);
    CHECK(m.dimension() == 2);
    out = {0, 0};
    add_message(on, std::span<double>(out), 1.0, m);
    CHECK(out == std::vector<double>{2, -4});
}

using message = levelled<std::vector<double>, full_vector<double, host>>;
static_assert(Message<message, double, host> && !TermMessage<message>);

message of(std::size_t level, std::vector<double> const& values) {
    message m;
    m.level = level;
    m.levels = 5;
    m.length = values.size();
    m.inside.values.assign(values.begin(), values.end());
    return m;
}

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

static_assert(Message<parts_of<full_vector<double, host>>, double, host> &&
              !TermMessage<parts_of<full_vector<double, host>>>);

TEST_CASE("each part is added where it stands") {
    parts_of<factors<double, host>> const m{7,
                                            {{4, 2, 1, {1, 2}, {3, 4}}, {0, 1, 0, {}, {}}, {3, 1, 1, {2}, {5, 6, 7}}}};
    CHECK(m.dimension() == 7);
    host on;
    std::vector<double> out(7, 1);
    add_message(on, std::span<double>(out), -1.0, m);
    CHECK(out == std::vector<double>{-2, -3, -5, -7, -9, -11, -13});
    auto other = m;
    CHECK(other == m);
    other.each[2].right[1] = 0;
    CHECK(other != m);
}

TEST_CASE("no parts add nothing, whatever their length") {
    host on;
    for (std::size_t const d : {0u, 3u}) {
        parts_of<full_vector<float, host>> const m{d, {}};
        std::vector<float> out(d, 4);
        add_message(on, std::span<float>(out), 1.0f, m);
        CHECK(out == std::vector<float>(d, 4));
    }
}
