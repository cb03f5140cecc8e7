// SPDX-License-Identifier: Apache-2.0
// Values stand at their coordinates, nested, in blocks or of a payload of any kind, and room is only touched as used.
// Supports are drawn in three ways, the same on both backends, with the stated counts and probabilities.
#include "laconic/message/sparse.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <cstdlib>

#include "support/everything.hpp"

using at_coordinates = sparse<identity, support_is::listed, double, host>;
using nested = sparse<top_k<>, support_is::listed, double, host>;

static_assert(Message<at_coordinates, double, host> && TermMessage<at_coordinates> && TermMessage<nested>);
static_assert(!TermMessage<sparse<any_compressor<>, support_is::listed, double, host>>);
static_assert(Message<sparse<any_compressor<>, support_is::listed, double, host>, double, host>);

TEST_CASE("values are added at their coordinates") {
    at_coordinates m;
    m.length = 6;
    m.support = {1, 4};
    m.payload.values = {10, 20};
    host on;
    std::vector<double> out(6, 1.0);
    add_message(on, std::span<double>(out), 0.5, m);
    CHECK(out == std::vector<double>{1, 6, 1, 1, 11, 1});
    CHECK(m.dimension() == 6);

    at_coordinates same = m;
    same.chosen = {9, 9, 9};  // workspace is not sent
    CHECK(same == m);
    same.length = 7;
    CHECK(same != m);
}

// Of the coordinates 2, 5 and 9 of ten numbers, the first and the last are sent: at 2 and 9, not at 0 and 2.
TEST_CASE("a support within a support lists coordinates of the whole") {
    nested m;
    m.length = 10;
    m.support = {2, 5, 9};
    m.payload.length = 3;
    m.payload.support = {0, 2};
    m.payload.payload.values = {7, 8};
    auto const t = m.terms();
    REQUIRE(t.size() == 2);
    CHECK((t[0].at == 2 && t[0].value == 7));
    CHECK((t[1].at == 9 && t[1].value == 8));
}

TEST_CASE("expect_payload makes room for what is to come") {
    host on;
    nested m;
    m.length = 10;
    top_k const c{1, 0, top_k{2}};
    m.support = {0, 1, 2, 3, 4};
    m.expect_payload(on, c);
    CHECK(m.payload.dimension() == 5);
    CHECK(m.payload.support.size() == 2);
    m.support = {7};
    m.expect_payload(on, c);  // of one coordinate, two cannot be kept
    CHECK(m.payload.support.size() == 1);
    m.support = {};
    m.expect_payload(on, c);
    CHECK(m.terms().size() == 0);
}

// Ten numbers in blocks of four: the last block has two.
TEST_CASE("blocks of numbers stand at their places") {
    sparse<identity, support_is::listed, double, host, blocks> m;
    m.length = 10;
    m.unit = {4};
    CHECK(m.places() == 3);
    m.support = {0, 2};
    CHECK(m.numbers(2) == 6);
    CHECK(m.numbers(1) == 8);
    m.payload.values = {1, 2, 3, 4, 5, 6};
    std::vector<double> out(10, 0.0);
    host on;
    add_message(on, std::span<double>(out), 2.0, m);
    CHECK(out == std::vector<double>{2, 4, 6, 8, 0, 0, 0, 0, 10, 12});
    m.length = 12;
    CHECK(m.numbers(2) == 8);
    m.length = 0;
    CHECK(m.places() == 0);
}

TEST_CASE("a payload that is known at run time only is decoded first, and adds the same") {
    sparse<any_compressor<>, support_is::listed, double, host> m;
    m.length = 4;
    host on;
    m.support = {0, 3};
    m.payload.as<powers<double, host>>().codes = {1024, 2048 + 1022};
    std::vector<double> out(4, 1.0);
    for (int again = 1; again <= 2; ++again) {
        add_message(on, std::span<double>(out), 3.0, m);
        CHECK(out == std::vector<double>{1 + 6.0 * again, 1, 1, 1 - 1.5 * again});
    }
}

// How many bytes of the memory that a vector holds are in use, by whole pages: all that was ever written to.
template <class E>
std::size_t touched(std::vector<E> const& v) {
    auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    auto const first = (reinterpret_cast<std::uintptr_t>(v.data()) + page - 1) / page,
               last = reinterpret_cast<std::uintptr_t>(v.data() + v.capacity()) / page;
    if (first >= last) return 0;
    std::vector<unsigned char> pages(last - first);
    REQUIRE(mincore(reinterpret_cast<void*>(first * page), pages.size() * page, pages.data()) == 0);
    std::size_t bytes = 0;
    for (unsigned char const p : pages) bytes += (p & 1) * page;
    return bytes;
}

// Room for as many as there may ever be, of which no more is touched than is sent.
TEST_CASE("three of 2^24 numbers touch some pages, and so does what is blank") {
    constexpr std::size_t d = std::size_t{1} << 24, some_pages = std::size_t{8} << 20;  // huge ones, at most
    std::unique_ptr<float, void (*)(void*)> const memory(static_cast<float*>(std::calloc(d, sizeof(float))), std::free);
    REQUIRE(memory);
    std::span<float> const x(memory.get(), d);
    x[5] = 1, x[d / 2] = -2, x[d - 1] = 3;
    host on;
    threshold<> const c{0.5};
    detail::message_of<threshold<>, float> sent, received;
    c(on, std::span<float const>(x), key{1}, sent);
    c.blank(on, d, key{1}, received);
    CHECK(sent.support == std::vector<coordinate>{5, d / 2, d - 1});
    CHECK(sent.payload.values == std::vector<float>{1, -2, 3});
    for (auto const* m : {&sent, &received}) {
        CHECK(m->support.capacity() >= d);
        CHECK(m->payload.values.capacity() >= d);
        CHECK(touched(m->support) <= some_pages);
        CHECK(touched(m->payload.values) <= some_pages);
    }
    // All that is there, once it is sent.
    for (float& v : x) v = 1;
    auto const* const room = sent.support.data();
    c(on, std::span<float const>(x), key{1}, sent);
    CHECK(sent.support.data() == room);
    CHECK(touched(sent.support) > d * sizeof(coordinate) - some_pages);
}

TEST_CASE("the three ways to draw a support, the same on both backends") {
    host fast;
    reference plain;
    std::vector<coordinate> a, b;
    int all = 0;
    for (std::uint64_t t = 0; t < 400; ++t) {
        for (draw const& d : {draw{draw_method::exactly, 3, 0, key{t}}, draw{draw_method::each, 0, 0.3, key{t}},
                              draw{draw_method::all_or_none, 0, 0.25, key{t}}}) {
            draw_support(fast, d, 10, a);
            draw_support(plain, d, 10, b);
            CHECK(a == b);
            if (d.how == draw_method::exactly) CHECK(a.size() == 3);
            if (d.how == draw_method::all_or_none) CHECK((a.empty() || a.size() == 10));
            all += d.how == draw_method::all_or_none && a.size() == 10;
        }
    }
    CHECK(std::abs(all - 100) < 5 * std::sqrt(400 * 0.25 * 0.75));
}

TEST_CASE("a probability is drawn on the grid of a word") {
    CHECK(drawable(0.5) == 0.5);
    CHECK(drawable(0.1) < 0.1);
    CHECK(drawable(0.1) > 0.1 - 0x1p-32);
}
