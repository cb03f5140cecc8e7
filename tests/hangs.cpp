// SPDX-License-Identifier: Apache-2.0
// Where other codes of sparse collectives hang, crash or add up wrongly, each here ends with the sum or an error.
#include <atomic>
#include <chrono>
#include <thread>

#include "laconic/compress/about_top_k.hpp"
#include "named_collectives.hpp"
#include "support/sparse_vectors.hpp"
#include "support/test.hpp"

namespace tests_of_hangs {

using namespace laconic;
using std::chrono::milliseconds;
using vec = std::vector<double>;
namespace sv = sparse_vectors;

namespace {

// All that ranks of any engine can run; those that apply k terms with all terms.
std::vector<std::string> const collectives = [] {
    std::vector<std::string> all;
    for (auto const& x : list_collectives())
        if (x.name != "gather" && x.name != "engine_all_reduce" && (all.empty() || all.back() != x.name))
            all.push_back(x.parameters.starts_with("(k=") ? x.name + "(all)" : x.name);
    return all;
}();

// Of d numbers, that collective.
any_collective<> parsed(std::string text, std::size_t d) {
    if (auto const at = text.find("(all)"); at != std::string::npos) text.replace(at + 1, 3, std::to_string(d));
    return parse_collective(text);
}

// x <- the sum of all ranks' x, or what is applied of it.
struct summing {
    any_collective<> collective;
    any_sum<double, host> sum;

    template <class C>
    summing(C& comm, std::string const& text, std::size_t d)
        : collective(parsed(text, d)), sum(make_sum<double>(collective, comm, d)) {}
    template <class C>
    void operator()(C& comm, vec& x, std::uint64_t round = 0) {
        host on;
        if (!sum.wants_terms()) return sum(on, comm, std::span<double>(x), round);
        sparse_sum<double> v(x.size());
        for (std::size_t i = 0; i < x.size(); ++i)
            if (x[i] != 0) v.append(i, x[i]);
        sum(on, comm, v, round);
        x.assign(x.size(), 0);
        for (std::size_t j = 0; j < v.size(); ++j) x[v.support()[j]] = v.values()[j];
    }
};

// Whole vec, every third of which is not 0, on each rank others; and their sum over ranks.
vec brought(std::size_t d, int rank) {
    vec x(d);
    for (std::size_t i = 0; i < d; ++i)
        if ((i + std::size_t(rank)) % 3 == 0) x[i] = double(1 + (7 * i + 5 * std::size_t(rank)) % 100);
    return x;
}
vec sum_of(std::size_t d, int ranks) {
    vec sum(d);
    for (int r = 0; r < ranks; ++r)
        for (std::size_t i = 0; auto const v : brought(d, r)) sum[i++] += v;
    return sum;
}

// Whether every rank gets the sum of what own(d, rank) is.
template <class Own>
bool all_get(vec const& sum, std::string const& collective, int ranks, Own own) {
    bool right = true;
    fibers::run(ranks, [&](fibers::member& comm) {
        vec x = own(sum.size(), comm.rank());
        summing add(comm, collective, x.size());
        add(comm, x);
        right = right && x == sum;
    });
    return right;
}

// Whether the errors of all three ranks contain this.
template <class Body>
bool all_throw(std::string const& what, Body body) {
    int right = 0;
    for (auto const& text : sv::errors_on(3, body)) right += text.find(what) != std::string::npos;
    if (right < 3) MESSAGE(sv::errors_on(3, body)[0]);
    return right == 3;
}

// Does what(others) in place of this rank's next hand-over but `before`.
struct interrupted {
    threads::member* inner;
    int before;
    std::function<void()> what;

    int rank() const { return inner->rank(); }
    int size() const { return inner->size(); }
    void all_gather(payload mine) { inner->all_gather(mine); }
    void gather(int root, payload mine) { inner->gather(root, mine); }
    void broadcast(int root, payload mine) { inner->broadcast(root, mine); }
    payload from(int r) const { return inner->from(r); }
    payload exchange(int to, payload mine, int from) {
        if (rank() == 1 && before-- == 0) what();
        return inner->exchange(to, mine, from);
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
            summing add(inner, text, 9);
            vec x = brought(9, inner.rank());
            interrupted comm{&inner, 0, [&] { what(ended); }};
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

}  // namespace

// Any number of ranks, of numbers, of terms.

TEST_CASE("gTop-k (IndexError unless P = 2^m), SwitchML (32 workers at most), Ok-Topk (P = 1): any number of ranks") {
    for (auto const& text : collectives)
        for (int const ranks : {1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 33}) {
            CAPTURE(text);
            CAPTURE(ranks);
            CHECK(all_get(sum_of(20, ranks), text, ranks, brought));
        }
}

TEST_CASE(
    "Ok-Topk (IndexError), gTop-k (an index twice), SparCML (assertion where full): d = 0, d < P, none, few, all") {
    for (auto const& text : collectives) {
        CAPTURE(text);
        for (std::size_t const d : {0, 1, 4}) CHECK(all_get(sum_of(d, 7), text, 7, brought));
        CHECK(all_get(vec(30), text, 5, [](std::size_t d, int) { return vec(d); }));
        vec last(30);
        last[29] = 2;
        CHECK(all_get(last, text, 5, [&](std::size_t d, int rank) { return rank == 3 ? last : vec(d); }));
        CHECK(all_get(vec(30, 5), text, 5, [](std::size_t d, int) { return vec(d, 1); }));
    }
    for (auto const* text : {"gtop_k(0)", "spar_reduce_scatter(0)", "ok_top_k(0)"})
        CHECK(all_get(vec(20), text, 3, brought));
    for (auto const* text : {"gtop_k(1000)", "spar_reduce_scatter(1000)", "ok_top_k(1000)"})
        CHECK_THROWS_AS(parse_collective(text).check(20), argument_error);
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

// What ranks bring.

TEST_CASE(
    "OmniReduce (zeroed), SwitchML (finite garbage), gTop-k (spreads), Ok-Topk (stays), SIDCo (nothing ever again): "
    "NaN") {
    for (auto const& text : collectives) {
        CAPTURE(text);
        vec sums[3];
        CHECK(all_throw("rank 1, round 6: the gradient is not finite at coordinate 7", [&](auto& comm) {
            auto const me = std::size_t(comm.rank());
            summing add(comm, text, 20);
            auto x = brought(20, comm.rank());
            if (me == 1) x = vec(20), x[7] = NAN;
            if (me == 2) x[9] = -INFINITY;
            try {
                add(comm, x, 6);
            } catch (non_finite_error const& e) {
                x = brought(20, comm.rank());
                add(comm, x, 7);
                sums[me] = x;
                throw;
            }
        }));
        for (auto const& x : sums) CHECK(x == sum_of(20, 3));  // in the round after
    }
}

TEST_CASE("SIDCo (0/0, division by a variance of 0, the least of none): gradients of zeros, and of equal numbers") {
    host on;
    about_top_k<> const about{3};
    for (double const value : {0.0, 1.0}) {
        vec const x(10, value);
        auto m = message_of<about_top_k<>, double, host>();
        about(on, std::span<double const>(x), key{1}, m);
        CHECK(m.terms().size() <= 3);
        for (std::size_t j = 0; j < m.terms().size(); ++j) CHECK(m.terms()[j].value == value);
    }
}

TEST_CASE(
    "NCCL (hangs, or data are incorrect), OmniReduce (hangs), SwitchML (adds anyway), SparCML (writes beyond): ranks "
    "differ") {
    for (std::size_t i = 0; i < collectives.size(); ++i) {
        auto const text = collectives[i], other = collectives[(i + 1) % collectives.size()];
        CAPTURE(text);
        CHECK(all_throw("the dimension: 21\"", [&](auto& c) { summing(c, text, c.rank() == 2 ? 21 : 20); }));
        CHECK(all_throw("the collective: ", [&](auto& c) { summing(c, c.rank() == 2 ? other : text, 20); }));
        CHECK(all_throw("has a vector of 19 numbers, the collective is for 20", [&](auto& comm) {
            summing add(comm, text, 20);
            auto x = brought(comm.rank() == 0 ? 19 : 20, comm.rank());
            add(comm, x);
        }));
    }
    CHECK(all_throw("the bytes of a number: 4", [&](auto& comm) {
        comm.rank() == 1 ? detail::agree_on_collective<float>(comm, 5, "")
                         : detail::agree_on_collective<double>(comm, 5, "");
    }));
    CHECK(
        all_throw("the collective: gtop_k(4)", [&](auto& c) { summing(c, c.rank() ? "gtop_k(3)" : "gtop_k(4)", 20); }));
}

TEST_CASE("ranks that never agreed on a collective: none waits for ever") {
    auto const begin = std::chrono::steady_clock::now();
    for (auto const& one : collectives)
        for (auto const& other : collectives) {
            auto const body = [&](threads::member& comm) {
                host on;
                auto sum = make_sum<double>(parsed(comm.rank() == 1 ? other : one, 20), 20);
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
        auto const errors = sv::errors_on(3, [&](auto& inner) {
            summing add(inner, text, 20);
            sv::damaging comm{&inner, 1, 0, +[](std::vector<std::byte>& b) { b.clear(); }};
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

}  // namespace tests_of_hangs
