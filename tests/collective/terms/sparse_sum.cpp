// SPDX-License-Identifier: Apache-2.0
// A `sparse_sum` adds, splits, selects, writes and reads its terms as vectors do, never much longer than in full.
#include "laconic/collective/terms/sparse_sum.hpp"

#include "support/apart.hpp"
#include "support/everything.hpp"
#include "support/sparse_vectors.hpp"

namespace sv = sparse_vectors;

TEST_CASE_TEMPLATE("sums of lists, by hand", T, float, double) {
    host on;
    auto a = sv::of<T>(9, {{0, 1}, {3, 2}, {8, 5}});
    auto const b = sv::of<T>(9, {{3, -2}, {4, 7}});
    a.add(on, b);
    CHECK(a == sv::of<T>(9, {{0, 1}, {3, 0}, {4, 7}, {8, 5}}));  // a term may be 0
    a.add(on, sparse_sum<T>(9));
    CHECK(a.size() == 4);
    sparse_sum<T> c(9);
    c.add(on, a);
    CHECK(c == a);
    c.add(on, c);
    CHECK(c == sv::of<T>(9, {{0, 2}, {3, 0}, {4, 14}, {8, 10}}));
    sparse_sum<T> nowhere(0);
    nowhere.add(on, nowhere);
    CHECK(nowhere.size() == 0);
}

TEST_CASE("the sum of two does not depend on which is which; more than two, on the order") {
    host on;
    auto const big = sv::of<double>(2, {{0, 1e16}, {1, .1}}), small = sv::of<double>(2, {{0, 1}, {1, .2}}),
               minus = sv::of<double>(2, {{0, -1e16}});
    auto a = big, b = small;
    a.add(on, small);
    b.add(on, big);
    CHECK(a == b);
    a.add(on, minus);
    CHECK(a.values()[0] == 0);
    auto c = big;
    c.add(on, minus);
    c.add(on, small);
    CHECK(c.values()[0] == 1);
}

TEST_CASE_TEMPLATE("random lists add up like vectors", T, float, double) {
    host on;
    for (std::size_t const d : {1, 2, 7, 64, 65, 300})
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            auto const lists = sv::all_whole_numbers<T>(sv::shape::spread, d, 1 + d * seed / 10, 3, seed);
            auto sum = lists[0];
            sum.add(on, lists[1]);
            sum.add(on, lists[2]);
            CHECK(sv::dense(sum) == sv::sum_of(lists));
        }
}

TEST_CASE("parts of a vector, and together again") {
    host on;
    auto const v = sv::of<float>(10, {{0, 1}, {4, 2}, {5, 3}, {9, 4}});
    sparse_sum<float> part, whole(10);
    part.assign_part(v, 4, 3);
    CHECK(part == sv::of<float>(3, {{0, 2}, {1, 3}}));
    for (std::size_t first = 0; first < 10; first += 2) {
        part.assign_part(v, first, 2);
        whole.append(part, first);
    }
    CHECK(whole == v);
    part.assign_part(v, 10, 0);
    CHECK(part.dimension() == 0);
    part.assign_without(on, v, sv::of<float>(10, {{1, 9}, {4, 9}, {9, 9}}));
    CHECK(part == sv::of<float>(10, {{0, 1}, {5, 3}}));
    part.drop_from(6);
    CHECK(part == sv::of<float>(10, {{0, 1}, {5, 3}}));
    part.drop_from(5);
    CHECK(part == sv::of<float>(10, {{0, 1}}));
    part.drop_from(0);
    CHECK(part.size() == 0);
}

TEST_CASE("the largest are kept, of equal ones the lower coordinates, and the others join what was left out") {
    host on;
    auto v = sv::of<double>(12, {{0, 1}, {2, -3}, {3, 2}, {5, 3}, {7, -2}, {11, 2}});
    auto left = sv::of<double>(12, {{1, 9}, {7, 10}});
    v.keep_largest(on, 3, left);
    CHECK(v == sv::of<double>(12, {{2, -3}, {3, 2}, {5, 3}}));
    CHECK(left == sv::of<double>(12, {{0, 1}, {1, 9}, {7, 8}, {11, 2}}));
    v.keep_largest(on, 3, left);
    CHECK(v.size() == 3);
    CHECK(left.size() == 4);
    v.keep_largest(on, 0, left);
    CHECK(v.size() == 0);
    CHECK(left.size() == 7);
}

TEST_CASE("the others may go behind what another list has, where this one is a part of it") {
    host on;
    auto v = sv::of<float>(6, {{0, 1}, {2, -3}, {3, 2}, {5, 3}});
    auto rest = sv::of<float>(20, {{1, 9}});
    v.keep_largest(on, 2, rest, 10);
    CHECK(v == sv::of<float>(6, {{2, -3}, {5, 3}}));
    CHECK(rest == sv::of<float>(20, {{1, 9}, {10, 1}, {13, 2}}));
    v.keep_largest(on, 2, rest, 10);
    CHECK(rest.size() == 3);
}

TEST_CASE("half of many are kept") {
    host on;
    std::size_t const n = 3000;
    sparse_sum<double> v(2 * n), left(2 * n), kept(2 * n), others(2 * n);
    for (std::size_t j = 0; j < n; ++j) {
        auto const value = double(key{5}.below(j, n)) - n / 2.0;
        v.append(2 * j, value);
        (std::abs(value) > n / 4.0 ? kept : others).append(2 * j, value);
    }
    v.keep_largest(on, kept.size(), left);
    CHECK(v == kept);
    CHECK(left == others);
}

TEST_CASE("terms that are chosen by value, in any order, behind others, in a room that was another's") {
    host on;
    auto v = sv::of<float>(12, {{0, 1}, {2, -3}, {3, 2}, {5, 3}});
    v.keep_from(on, 2);
    CHECK(v == sv::of<float>(12, {{2, -3}, {3, 2}, {5, 3}}));
    v.keep_from(on, std::nextafter(2.f, 3.f));
    CHECK(v == sv::of<float>(12, {{2, -3}, {5, 3}}));
    v.keep_from(on, 0);
    CHECK(v.size() == 2);
    v.keep_from(on, std::numeric_limits<float>::infinity());
    CHECK(v.size() == 0);
    v = sv::of<float>(12, {{3, 2}, {5, 3}});
    std::vector<coordinate> const at{2, 4};
    std::vector<float> const values{7, 8};
    v.append({at, values}, 6);
    CHECK(v == sv::of<float>(12, {{3, 2}, {5, 3}, {8, 7}, {10, 8}}));
    sparse_sum<float> low(9);
    low.append({at, values}, std::size_t{0} - 2);
    CHECK(low == sv::of<float>(9, {{0, 7}, {2, 8}}));
    CHECK(v.count_below(8) == 2);
    CHECK(v.count_below(9) == 3);

    std::vector<coordinate> const mixed{9, 0, 4};
    std::vector<float> const theirs{1, 2, 3};
    v.assign_unsorted(on, mixed, theirs, 10);
    CHECK(v == sv::of<float>(10, {{0, 2}, {4, 3}, {9, 1}}));

    wire::bit_writer sink;
    write(sink, low);
    v.expect(9);
    wire::bit_reader source(sink.finish());
    read(on, source, v);
    CHECK(v == low);
}

TEST_CASE("from messages") {
    host on;
    std::vector<double> const x{3, 0, -5, 1, 4};
    top_k<>::message<double, host> largest;
    top_k{2}(on, std::span<double const>(x), key{}, largest);
    sparse_sum<double> v;
    v.assign(on, largest);
    CHECK(v == sv::of<double>(5, {{2, -5}, {4, 4}}));
    messages::full_vector<double, host> in_full{x};
    v.assign(on, in_full);
    CHECK(sv::dense(v) == x);
}

TEST_CASE("on the wire it is what threshold sends") {
    host on;
    std::vector<float> x(1000);
    for (std::size_t i = 0; i < x.size(); i += 7) x[i] = float(i + 1);
    threshold<>::message<float, host> sent;
    threshold{.5}(on, std::span<float const>(x), key{}, sent);
    sparse_sum<float> v, received(1000);
    v.assign(on, sent);
    wire::bit_writer one, other;
    write(one, sent);
    write(other, v);
    auto const a = one.finish(), b = other.finish();
    CHECK(std::equal(a.begin(), a.end(), b.begin(), b.end()));
    wire::bit_reader source(b);
    read(on, source, received);
    source.finish();
    CHECK(received == v);
    // 10 bits of a count, 3 of a code, then 143 gaps of 6 at about 4 bits each, and floats.
    CHECK(b.size() == (bits(sent) + 7) / 8);
    CHECK(b.size() < 143 * 4 + 90);
}

TEST_CASE("bytes that are no list are refused") {
    host on;
    wire::bit_writer sink;
    write(sink, sv::of<float>(100, {{3, 1}, {50, 2}}));
    auto const good = sink.finish();
    std::vector<std::byte> bytes(good.begin(), good.end());
    auto const refused = [&](std::size_t d) {
        sparse_sum<float> received(d);
        wire::bit_reader source(bytes);
        try {
            read(on, source, received);
            source.finish();
        } catch (wire_error const&) {
            return true;
        }
        return false;
    };
    CHECK(!refused(100));
    bytes.pop_back();
    CHECK(refused(100));
    bytes.assign(good.begin(), good.end());
    bytes.push_back(std::byte(0));
    CHECK(refused(100));
    bytes[0] = std::byte(0x7f);  // 127 coordinates of 100
    CHECK(refused(100));
    sink.clear();
    write(sink, sv::of<float>(100, {{3, INFINITY}}));
    auto const beyond = sink.finish();
    bytes.assign(beyond.begin(), beyond.end());
    CHECK(refused(100));
}

TEST_CASE_TEMPLATE("a list is never much longer than the vector in full", T, float, double) {
    host on;
    std::size_t const d = 6400;
    std::uint64_t const in_full = detail::width_of(d + 1) + d * 8 * sizeof(T);
    for (std::size_t lacking = 0; lacking <= d; lacking = lacking < 300 ? lacking + 1 : lacking + 700) {
        sparse_sum<T> v(d);
        for (std::size_t i = 0; i < d; ++i)
            if (i * 7919 % d >= lacking) v.append(i, T(1));  // each remainder once
        REQUIRE(v.size() == d - lacking);
        sparse_sum<T> filled;
        filled.assign_in_full(on, v, 0, d);
        CHECK(filled.size() == d);
        CHECK(sv::dense(filled) == sv::dense(v));
        CHECK(account(filled.message()).unpadded() == in_full);
        auto const as_it_is = account(v.message()).unpadded();
        CHECK(as_it_is <= in_full + (sizeof(T) == 4 ? 16 : 0));  // one zero is shorter than to send that it lacks it
        // Pairs of a coordinate and a number, of 32 or 64 bits each.
        if (lacking > 0 && 2 * lacking < d) CHECK(2 * v.size() * 8 * sizeof(T) > as_it_is + d * sizeof(T));
    }
}

TEST_CASE("runs of terms are added as term by term") {
    host on;
    std::size_t const d = 4000;
    for (std::uint64_t draw = 0; draw < 12; ++draw) {
        std::vector<double> sum(d);
        sparse_sum<double> lists[2] = {sparse_sum<double>(d), sparse_sum<double>(d)};
        for (std::uint64_t l = 0; l < 2; ++l)
            for (std::size_t i = 0; i < d; ++i) {
                // Blocks of 1, 5, 40, .., some shifted against the other list's by one.
                std::size_t const block = std::size_t{1} + 13 * (draw / 2), at = (i + (draw % 2) * l) / block;
                if (key{draw}.child(l).uniform(at) < 0.5) continue;
                lists[l].append(i, double(i + 1) * (l == 0 ? 1 : -3));
                sum[i] += double(i + 1) * (l == 0 ? 1 : -3);
            }
        auto other = lists[1];
        other.add(on, lists[0]);
        lists[0].add(on, lists[1]);
        CHECK(lists[0] == other);
        std::size_t j = 0;
        for (std::size_t i = 0; i < d; ++i)
            if (sum[i] != 0) {
                REQUIRE(j < lists[0].size());
                REQUIRE(lists[0].support()[j] == i);
                REQUIRE(lists[0].values()[j++] == sum[i]);
            }
        CHECK(j == lists[0].size());
    }
}

TEST_CASE("lists in a memory that the host cannot reach: what both have, and no look into it") {
    using laconic_test::apart;
    apart on;
    host here;
    auto const taken = [&](sparse_sum<double> const& v) {
        sparse_sum<double, apart> there;
        there.assign(on, v.dimension(), v.support(), v.values());
        return there;
    };
    auto const is = [&](sparse_sum<double, apart> const& there, sparse_sum<double> const& v) {
        return there.dimension() == v.dimension() && there.message() == taken(v).message();
    };
    for (auto const how : sv::shapes) {
        auto v = sv::whole_numbers<double>(how, 60, 8, 0, 3), left = sv::whole_numbers<double>(how, 60, 8, 1, 3);
        auto const other = sv::whole_numbers<double>(how, 60, 8, 2, 3);
        auto there = taken(v), left_there = taken(left);
        auto const other_there = taken(other);
        there.reserve_to_cut(on, 20, 5);
        v.add(here, other);
        there.add(on, other_there);
        CHECK(is(there, v));
        v.keep_largest(here, 5, left);
        there.keep_largest(on, 5, left_there);
        CHECK(is(there, v));
        CHECK(is(left_there, left));
        v.assign_without(here, other, left);
        there.assign_without(on, other_there, left_there);
        CHECK(is(there, v));
        v.keep_from(here, 2);
        there.keep_from(on, 2);
        CHECK(is(there, v));
    }
    std::vector<double> const x{0, 3, -0.0, -1};
    apart::array<double> x_there(4);
    copy_from_host(on, std::span<double const>(x), std::span<double>(x_there));
    sparse_sum<double, apart> there;
    there.assign_nonzero(on, std::span<double const>(x_there));
    CHECK(is(there, sv::of<double>(4, {{1, 3}, {3, -1}})));
}
