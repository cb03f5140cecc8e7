// SPDX-License-Identifier: Apache-2.0
#include "laconic/transport/in_background.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "laconic/any/communicator.hpp"
#include "laconic/collective/dense/ring.hpp"
#include "laconic/collective/sparse/recursive_doubling.hpp"
#include "laconic/comm/delayed.hpp"
#include "laconic/comm/fibers.hpp"
#include "laconic/comm/metered.hpp"
#include "laconic/comm/threads.hpp"
#include "support/sparse_vectors.hpp"

using namespace laconic;
namespace sv = sparse_vectors;

namespace {

// Of ranks that talk in pairs, what a collective over them is.
using ranks = metered<threads::member>;
template <class Sum>
using beside = in_background<Sum, double, ranks>;

std::vector<double> numbers(int rank, int round) {
    std::vector<double> x(10);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0 / double(1 + i + std::size_t(3 * rank + round));
    return x;
}

}  // namespace

TEST_CASE("sums in full and of terms are the same, bit for bit and byte for byte, while the rank computes") {
    for (int const at_once : {0, 1}) {
        std::atomic<int> wrong = 0, ran_on = 0;
        threads::run(4,
                     [&](threads::member& engine) {
                         metered plain(engine), comm(engine);
                         host on;
                         auto sum = make_sum<double>(ring{}, comm, 10), same = make_sum<double>(ring{}, plain, 10);
                         auto merge = make_sum<double>(recursive_doubling{}, comm, 10),
                              also = make_sum<double>(recursive_doubling{}, plain, 10);
                         comm = plain = metered(engine);
                         beside<decltype(sum)> dense(sum, comm);
                         beside<decltype(merge)> sparse(merge, comm);
                         for (int round = 0; round < 20; ++round) {
                             auto x = numbers(comm.rank(), round), y = x;
                             dense.start(std::span(x), std::uint64_t(round));
                             ++ran_on;
                             dense.finish();
                             same(on, plain, std::span(y), std::uint64_t(round));
                             wrong += x != y;
                             auto v = sv::whole_numbers<double>(sv::shape::spread, 10, 4, comm.rank(), 4), w = v;
                             sparse.start(v, std::uint64_t(round));
                             sparse.finish();
                             also(on, plain, w, std::uint64_t(round));
                             wrong += sv::dense(v) != sv::dense(w);
                         }
                         wrong += comm.bytes_sent() != plain.bytes_sent() || comm.bytes_sent() == 0;
                         wrong += comm.bytes_received() != plain.bytes_received();
                     },
                     {.at_once = at_once});
        CHECK(wrong == 0);
        CHECK(ran_on == 80);
    }
}

TEST_CASE("a start waits for nobody") {
    std::atomic<int> started = 0;
    threads::run(2, [&](threads::member& engine) {
        metered comm(engine);
        auto sum = make_sum<double>(ring{}, comm, 10);
        auto x = numbers(comm.rank(), 0);
        beside<decltype(sum)> background(sum, comm);
        if (comm.rank() == 1)
            while (started == 0) std::this_thread::yield();
        background.start(std::span(x), 0);
        ++started;
        background.finish();
    });
    CHECK(started == 2);
}

TEST_CASE("what the collective throws, its finish throws, and the next one may begin") {
    std::vector<std::string> told(3);
    std::atomic<int> wrong = 0;
    threads::run(3, [&](threads::member& engine) {
        metered comm(engine);
        auto sum = make_sum<double>(ring{}, comm, 10);
        auto x = numbers(comm.rank(), 0);
        std::vector<double> y(10, 1.0);
        beside<decltype(sum)> background(sum, comm);
        if (comm.rank() == 1) x[3] = NAN;
        background.start(std::span(x), 7);
        try {
            background.finish();
        } catch (non_finite_error const& e) {
            told[std::size_t(comm.rank())] = e.what();
        }
        background.start(std::span(y), 8);
        CHECK_THROWS_AS(background.start(std::span(x), 9), argument_error);
        background.finish();
        CHECK_THROWS_AS(background.finish(), argument_error);
        wrong += y != std::vector<double>(10, 3.0);
    });
    CHECK(wrong == 0);
    for (auto const& why : told) CHECK(why == "rank 1, round 7: the gradient is not finite at coordinate 3");
}

TEST_CASE("who goes without finishing still takes part, and a rank that fails meanwhile is named") {
    std::atomic<int> wrong = 0;
    std::vector<std::string> told(3);
    auto const body = [&](threads::member& engine, bool fails) {
        metered comm(engine);
        auto sum = make_sum<double>(ring{}, comm, 10);
        std::vector<double> x(10, 1.0);
        beside<decltype(sum)> background(sum, comm);
        if (fails && comm.rank() == 2) throw file_error("data", 3, 1, "broken line");
        background.start(std::span(x), 0);
        if (comm.rank() == 0 && !fails) return;
        try {
            background.finish();
        } catch (comm_error const& e) {
            told[std::size_t(comm.rank())] = e.what();
            return;
        }
        wrong += x != std::vector<double>(10, 3.0);
    };
    threads::run(3, [&](threads::member& comm) { body(comm, false); });
    CHECK(wrong == 0);
    CHECK_THROWS_AS(threads::run(3, [&](threads::member& comm) { body(comm, true); }), file_error);
    CHECK(std::count(told.begin(), told.end(), "rank 2 failed: data:3:1: broken line") >= 1);
    CHECK(told[2].empty());
}

TEST_CASE("communicators that serve one thread only are refused") {
    auto const refuses = [](auto& comm) {
        auto sum = make_sum<double>(ring{}, comm, 10);
        using type = in_background<decltype(sum), double, std::remove_cvref_t<decltype(comm)>>;
        CHECK_THROWS_WITH_AS(type(sum, comm),
                             "this communicator serves one thread only: no collective runs on another meanwhile",
                             argument_error);
    };
    threads::run(1, [&](threads::member& engine) {
        delayed clocked(engine, network{});
        refuses(clocked);
        any_communicator hidden(clocked);
        refuses(hidden);
        metered counted(engine);
        CHECK(any_communicator(counted).may_change_threads());
    });
    fibers::run(1, [](fibers::member& engine) { CHECK_FALSE(any_communicator(engine).may_change_threads()); });
}
