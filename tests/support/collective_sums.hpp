// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/metered.hpp"
#include "named_collectives.hpp"
#include "support/sparse_vectors.hpp"
#include "support/test.hpp"

/// Sums by collectives that a text names: compiled once, whatever the collective and the engine. In a text, (all stands
/// for all of the vector's numbers.
namespace collective_sums {

namespace sv = sparse_vectors;
using namespace laconic;

template <class T>
using vectors = std::vector<std::vector<T>>;
/// Vectors, one for each rank, of whole numbers, or of fractions that sums round.
template <class T>
vectors<T> whole_numbers(std::size_t d, int ranks, T divisor = 1) {
    vectors<T> all;
    for (int r = 0; r < ranks; ++r) {
        all.emplace_back(d);
        for (std::size_t i = 0; i < d; ++i)
            all.back()[i] = (T(key{3}.child(std::uint64_t(r)).below(i, 2001)) - T(1000)) / divisor;
    }
    return all;
}

/// What makes the collective for vectors of d numbers.
template <class T>
using recipe = std::function<any_collective<T>(std::size_t d)>;
template <class T>
recipe<T> by_text(std::string const& text) {
    return [text](std::size_t d) {
        auto const at = text.find("(all");
        return parse_collective<T>(at == text.npos ? text : std::string(text).replace(at + 1, 3, std::to_string(d)));
    };
}

/// One rank's part: a list or a vector in full becomes the sum of all ranks', whichever of both the collective adds up.
template <class T>
struct summing {
    any_sum<T, host> sum;
    host on{};

    summing(any_communicator& comm, recipe<T> const& how, std::size_t d) : sum(make_sum<T>(how(d), comm, d)) {}

    void operator()(any_communicator& comm, sparse_sum<T>& v, std::uint64_t round = 0) {
        if (sum.wants_terms()) return sum(on, comm, v, round);
        std::vector<T> x(v.dimension());
        v.write_out(on, std::span(x));
        sum(on, comm, std::span(x), round);
        v.assign_nonzero(on, x);
    }
    void operator()(any_communicator& comm, std::vector<T>& x, std::uint64_t round = 0) {
        if (!sum.wants_terms()) return sum(on, comm, std::span(x), round);
        sparse_sum<T> v;
        v.assign_nonzero(on, x);
        sum(on, comm, v, round);
        v.write_out(on, std::span(x));
    }
};

/// What each rank then has of its list or vector, and the bytes that it sent for that.
template <class T, class V>
std::vector<V> after(std::vector<V> all, recipe<T> const& how, std::size_t d, std::vector<std::uint64_t>* sent,
                     sv::rank_runner run) {
    run(int(all.size()), [&](any_communicator& engine) {
        metered counted(engine);
        any_communicator comm(counted);
        auto const me = std::size_t(comm.rank());
        summing<T> sum(comm, how, d);
        auto const before = counted.bytes_sent();
        sum(comm, all[me]);
        if (sent) (*sent)[me] = counted.bytes_sent() - before;
    });
    return all;
}
template <class T>
sv::lists<T> after(sv::lists<T> const& all, recipe<T> const& how, std::vector<std::uint64_t>* sent = nullptr,
                   sv::rank_runner run = sv::run_over<fibers>) {
    return after<T, sparse_sum<T>>(all, how, all[0].dimension(), sent, run);
}
template <class T>
vectors<T> after(vectors<T> const& all, recipe<T> const& how, std::vector<std::uint64_t>* sent = nullptr,
                 sv::rank_runner run = sv::run_over<fibers>) {
    return after<T, std::vector<T>>(all, how, all[0].size(), sent, run);
}
template <class T>
auto after(std::vector<T> const& all, std::string const& text, std::vector<std::uint64_t>* sent = nullptr,
           sv::rank_runner run = sv::run_over<fibers>) {
    return after(all, by_text<typename T::value_type>(text), sent, run);
}
template <class V>
std::vector<std::uint64_t> bytes_sent_by(std::vector<V> const& brought, std::string const& text) {
    std::vector<std::uint64_t> sent(brought.size());
    after(brought, text, &sent);
    return sent;
}

/// Exact sums are right for these numbers of ranks and every support, and of the same bits on all ranks and over
/// threads, whatever is rounded.
template <class T>
void sums_are_right(recipe<T> const& how, std::vector<int> const& ranks, std::vector<sv::shape> const& shapes) {
    for (int const n : ranks)
        for (auto const shape : shapes)
            for (std::size_t const d : {0u, 1u, 4u, 61u}) {
                if (n > 9 && shape != sv::shape::spread && shape != sv::shape::all) continue;
                CAPTURE(n);
                CAPTURE(d);
                auto const brought = sv::all_whole_numbers<T>(shape, d, d / 6, n);
                auto const sums = after(brought, how);
                for (auto const& v : sums) CHECK(v == sums[0]);
                CHECK(sv::dense(sums[0]) == sv::sum_of(brought));
            }
    for (int const n : {6, 7}) {
        auto const brought = whole_numbers<T>(90, n, 7);
        auto const sums = after(brought, how);
        for (auto const& x : sums) CHECK(std::memcmp(x.data(), sums[0].data(), 90 * sizeof(T)) == 0);
        CHECK(after(brought, how, nullptr, sv::run_over<threads>) == sums);
    }
}

/// What is wrong with a vector all of seven ranks throw in the same words, and the next round has the sum; damage all
/// throw where it is always `reported_to_all`, else some.
inline void refuses(recipe<float> const& how, bool reported_to_all) {
    std::size_t const d = 20;
    auto const good = whole_numbers<float>(d, 7), expected = after(good, how);
    auto const thrown = [&](vectors<float> const& bad) {
        auto const errors = sv::errors_on(7, [&](any_communicator& comm) {
            auto const me = std::size_t(comm.rank());
            summing<float> sum(comm, how, d);
            auto x = bad[me];
            std::string text = "none";
            try {
                sum(comm, x, 4);
            } catch (error const& e) {
                text = e.what();
            }
            x = good[me];
            sum(comm, x, 5);
            CHECK(x == expected[me]);
            throw error(text);
        });
        CHECK(errors == std::vector(7, errors[0]));
        return errors[0];
    };
    CHECK(thrown(good) == "none");
    for (std::size_t const r : {0u, 1u, 4u, 6u}) {
        auto const who = "rank " + std::to_string(r);
        auto bad = good;
        bad[r][13] = NAN;
        bad[r][15] = INFINITY;
        CHECK(thrown(bad) == who + ", round 4: the gradient is not finite at coordinate 13");
        bad[6][2] = NAN;
        CHECK(thrown(bad) == who + ", round 4: the gradient is not finite at coordinate " + (r == 6 ? "2" : "13"));
        bad = good;
        bad[r].pop_back();
        CHECK(thrown(bad) == who + " has a vector of 19 numbers, the collective is for 20");
    }
    for (std::size_t const i : {0u, 3u, 13u, 19u}) {
        auto const text = "round 4: the ranks' sum is not finite at coordinate " + std::to_string(i);
        auto bad = good;
        for (auto& x : bad) x[i] = 1e38f;
        CHECK(thrown(bad) == text);
        for (auto const& [r, other] : {std::pair(0, 4), {1, 2}, {5, 6}}) {
            bad = good;
            bad[std::size_t(r)][i] = bad[std::size_t(other)][i] = 3e38f;
            CHECK(thrown(bad) == text);
        }
    }
    // What a rank hands over first is damaged: too short, too long, no message at all. A rank that throws nothing has
    // the sum.
    for (int const culprit : {0, 2, 3, 5, 6})
        for (auto const damage : {+[](std::vector<std::byte>& b) { b.pop_back(); },
                                  +[](std::vector<std::byte>& b) { b.push_back(std::byte(0)); },
                                  +[](std::vector<std::byte>& b) { b.assign(b.size(), std::byte(0xff)); }}) {
            auto const errors = sv::errors_on(7, [&](any_communicator& engine) {
                sv::damaging line{engine, culprit, 0, damage};
                any_communicator comm(line);
                auto const me = std::size_t(comm.rank());
                summing<float> sum(comm, how, d);
                auto x = good[me];
                sum(comm, x);
                CHECK(x == expected[me]);
            });
            CHECK(std::count(errors.begin(), errors.end(), "none") <= (reported_to_all ? 0 : 6));
            for (auto const& text : errors)
                CHECK((text == "none" || text.find("from rank " + std::to_string(culprit) + ": ") != text.npos));
        }
    for (auto const& text :
         sv::errors_on(3, [&](any_communicator& comm) { summing<float>(comm, how, comm.rank() == 2 ? 6 : 5); }))
        CHECK(text.find("the dimension: 6") != text.npos);
}

}  // namespace collective_sums
