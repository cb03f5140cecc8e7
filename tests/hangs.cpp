// SPDX-License-Identifier: Apache-2.0
// Where other codes of sparse collectives hang, crash or add up wrongly, each here ends with the sum or an error; for
// any ranks, numbers and terms, for NaN and for ranks that differ in collective/collectives.cpp.
#include <atomic>
#include <chrono>
#include <thread>

#include "support/collective_sums.hpp"
#include "support/everything.hpp"

using namespace collective_sums;
using std::chrono::milliseconds;
using vec = std::vector<double>;

// All that ranks of any engine can run; those that apply k terms with all terms, and those that round without.
std::vector<std::string> const collectives = [] {
    std::vector<std::string> all;
    for (auto const& x : list_collectives())
        if (x.name != "gather" && x.name != "robust" && x.name != "engine_all_reduce" &&
            (all.empty() || all.back() != x.name))
            all.push_back(x.parameters.starts_with("(k=") ? x.name + "(all)"
                          : x.name == "two_shot"          ? "two_shot(identity)"
                                                          : x.name);
    return all;
}();

// Whole numbers, every third of which is not 0, on each rank others.
vec brought(std::size_t d, int rank) {
    vec x(d);
    for (std::size_t i = 0; i < d; ++i)
        if ((i + std::size_t(rank)) % 3 == 0) x[i] = double(1 + (7 * i + 5 * std::size_t(rank)) % 100);
    return x;
}

// Whether every rank gets the sum of what own(d, rank) is.
bool all_get(vec const& sum, std::string const& collective, int ranks, auto own) {
    bool right = true;
    fibers::run(ranks, [&](fibers::member& comm) {
        any_communicator any(comm);
        vec x = own(sum.size(), comm.rank());
        summing<double>(any, by_text<double>(collective), x.size())(any, x);
        right = right && x == sum;
    });
    return right;
}

// Does what() in place of rank 1's first hand-over.
struct interrupted : threads::member {
    std::function<void()> what;
    bool is_done = true;

    payload exchange(int to, payload mine, int from) {
        if (rank() == 1 && !std::exchange(is_done, true)) what();
        return threads::member::exchange(to, mine, from);
    }
};
struct goes {};

// In every collective: rank 1 of three does what(ended) in place of its first hand-over, when all have agreed; the
// others throw errors that name rank 1, before the deadline and a little.
void without_rank_1(milliseconds deadline, std::function<void(std::atomic<int>&)> const& what) {
    for (auto const& text : collectives) {
        CAPTURE(text);
        std::atomic<int> named{0}, ended{0};
        auto const body = [&](threads::member& inner) {
            interrupted line{inner, [&] { what(ended); }};
            any_communicator comm(line);
            summing<double> add(comm, by_text<double>(text), 9);
            vec x = brought(9, inner.rank());
            line.is_done = false;
            try {
                add(comm, x);
                ++ended;
            } catch (goes) {
            } catch (comm_error const& e) {
                named += inner.rank() != 1 && std::string(e.what()).find("rank 1 ") != std::string::npos;
                ++ended;
                throw;
            }
        };
        auto const begin = std::chrono::steady_clock::now();
        CHECK_THROWS_AS(threads::run(3, body, {.deadline = deadline}), std::runtime_error);
        CHECK(std::chrono::steady_clock::now() - begin < deadline + milliseconds(3000));
        CHECK(named == 2);
    }
}

TEST_CASE("SparCML (drops 1e-8), SwitchML (flushes blocks to 0), OmniReduce (threshold): small values stay") {
    for (auto const& text : collectives) {
        CAPTURE(text);
        for (double const small : {0x1p-30, 0x1p-149, 0x1p-1074})
            CHECK(all_get(vec(10, 4 * small), text, 4, [&](std::size_t d, int) { return vec(d, small); }));
    }
}

TEST_CASE("Ok-Topk (float32 indices above 2^24, int32 boundaries where P d > 2^31): coordinates up to 2^32 - 2") {
    std::size_t const d = 4294967295;
    for (auto const* text : {"ok_top_k(5)", "gtop_k(5)", "spar_reduce_scatter(100)"}) {
        CAPTURE(text);
        auto const v = sv::of<double>(d, {{16777216, 1}, {16777217, 2}, {16777219, 3}, {2147483649, 4}, {d - 1, 5}});
        fibers::run(4, [&](fibers::member& comm) {
            host on;
            auto sum = make_sum<double>(parse_collective(text), d);
            for (std::uint64_t round = 0; round < 3; ++round) {
                auto mine = comm.rank() == 2 ? v : sparse_sum<double>(d);
                sum(on, comm, mine, round);
                CHECK(mine == v);
            }
        });
    }
}

TEST_CASE("ranks that never agreed on a collective: none waits for ever") {
    auto const begin = std::chrono::steady_clock::now();
    for (auto const& one : collectives)
        for (auto const& other : collectives) {
            auto const body = [&](threads::member& engine) {
                any_communicator comm(engine);
                host on;
                auto sum = make_sum<double>(by_text<double>(comm.rank() == 1 ? other : one)(20), 20);
                auto x = brought(20, comm.rank());
                sparse_sum<double> v(20);
                for (std::size_t i = 0; i < 20; ++i) v.append(i, x[i]);
                sum.wants_terms() ? sum(on, comm, v) : sum(on, comm, std::span<double>(x));
            };
            try {
                threads::run(3, body, {.deadline = milliseconds(10000)});
            } catch (error const&) {
            }
        }
    CHECK(std::chrono::steady_clock::now() - begin < milliseconds(10000));
}

TEST_CASE("a rank that hands over no bytes where a message should be: some rank throws, and none waits") {
    for (auto const& text : collectives) {
        CAPTURE(text);
        auto const errors = sv::errors_on(3, [&](any_communicator& inner) {
            summing<double> add(inner, by_text<double>(text), 20);
            sv::damaging line{inner, 1, 0, +[](std::vector<std::byte>& b) { b.clear(); }};
            any_communicator comm(line);
            auto x = brought(20, inner.rank());
            add(comm, x);
        });
        CHECK(std::count(errors.begin(), errors.end(), "none") < 3);
    }
}

// Ranks that go.

TEST_CASE("gTop-k, Ok-Topk (a thread dies, training waits for ever): a rank that throws in the middle") {
    without_rank_1(milliseconds(10000), [](auto&) { throw std::runtime_error("out of memory"); });
}

TEST_CASE("MPI's default (the others wait): a rank that leaves in the middle") {
    without_rank_1(milliseconds(10000), [](auto&) { throw goes{}; });
}

TEST_CASE("NCCL (a watchdog only): a rank that comes no further") {
    without_rank_1(milliseconds(250), [](auto& ended) {
        for (int n = 0; n < 5000 && ended < 2; ++n) std::this_thread::sleep_for(milliseconds(1));
    });
}
