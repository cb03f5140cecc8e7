// SPDX-License-Identifier: Apache-2.0
// `engine_all_reduce` gives the engine's own sums on all ranks, and refuses bad vectors before the engine adds.
#include "laconic/collective/dense/engine_all_reduce.hpp"

#include "support/collective_sums.hpp"
#include "support/everything.hpp"

using namespace collective_sums;

static_assert(Collective<engine_all_reduce>);

// An engine that adds up vectors itself, from the last rank on; Inner has the ranks.
template <class Inner>
struct adding {
    struct member : Inner::member {
        int* sums;

        template <class T>
        void all_reduce(std::span<T> x) {
            this->all_gather({std::as_bytes(x)});
            std::vector<T> theirs(x.size());
            std::fill(x.begin(), x.end(), T(0));
            for (int r = this->size(); r-- > 0;) {
                REQUIRE(this->from(r).bytes.size() == x.size_bytes());
                if (!x.empty()) std::memcpy(theirs.data(), this->from(r).bytes.data(), x.size_bytes());
                for (std::size_t i = 0; i < x.size(); ++i) x[i] += theirs[i];
            }
            ++*sums;
        }
    };
    template <class Body>
    static void run(int ranks, Body body) {
        Inner::run(ranks, [&](auto& comm) {
            int sums = 0;
            member mine{comm, &sums};
            body(mine);
        });
    }
};
static_assert(AllReducer<adding<fibers>::member, float> && !AllReducer<fibers::member, float>);

// The errors of three ranks that contribute `bad` in round 4, whether rank 0's vector is as it was, and how often the
// engine added; the next round succeeds.
struct outcome {
    std::vector<std::string> errors;
    bool untouched;
    int sums;
};
outcome after_bad(vectors<float> const& bad) {
    outcome all{std::vector<std::string>(3), true, 0};
    adding<threads>::run(3, [&](adding<threads>::member& engine) {
        any_communicator comm(engine);
        summing<float> sum(comm, by_text<float>("engine_all_reduce"), 4);
        auto const me = std::size_t(comm.rank());
        auto x = bad[me];
        try {
            sum(comm, x, 4);
        } catch (error const& e) {
            all.errors[me] = e.what();
        }
        if (me == 0) all.sums = *engine.sums;
        if (me == 0) all.untouched = x == bad[me];
        x = {1, 2, 3, 4};
        sum(comm, x, 5);
        CHECK(x == std::vector<float>{3, 6, 9, 12});
    });
    CHECK(all.errors == std::vector(3, all.errors[0]));
    return all;
}

TEST_CASE_TEMPLATE("the engine's sums, on all ranks, counted as what is handed to it", T, float, double) {
    for (int const n : {1, 2, 5})
        for (std::size_t const d : {0, 1, 16}) {
            auto const all = whole_numbers<T>(d, n);
            std::vector<T> sum(d);
            for (auto const& x : all)
                for (std::size_t i = 0; i < d; ++i) sum[i] += x[i];
            std::vector<std::uint64_t> sent(std::size_t(n), 99);
            CHECK(after(all, "engine_all_reduce", &sent, sv::run_over<adding<fibers>>) ==
                  vectors<T>(std::size_t(n), sum));
            CHECK(sent == std::vector(std::size_t(n), std::uint64_t{d * sizeof(T)}));
        }
}

TEST_CASE("the order is the engine's") {
    auto const sums = after(vectors<double>{{1e16}, {-1e16}, {1.}}, "engine_all_reduce", nullptr,
                            sv::run_over<adding<fibers>>);
    CHECK(sums[0][0] == 0);  // 1 - 1e16 rounds to -1e16
}

TEST_CASE("what cannot be added is refused on all ranks before the engine adds, and x is as it was") {
    std::vector<float> const good{1, 2, 3, 4};
    for (std::size_t r = 0; r < 3; ++r) {
        auto const who = "rank " + std::to_string(r);
        std::vector bad(3, good);
        bad[r][2] = NAN;
        bad[2][3] = INFINITY;
        auto const found = after_bad(bad);
        CHECK(found.errors[0] == who + ", round 4: the gradient is not finite at coordinate 2");
        CHECK(found.sums == 0);
        bad = std::vector(3, good);
        bad[r].pop_back();
        auto const shorter = after_bad(bad);
        CHECK(shorter.errors[0] == who + " has a vector of 3 numbers, the collective is for 4");
        CHECK(shorter.sums == 0);
        CHECK(shorter.untouched);
    }
    auto const large = after_bad(std::vector(3, std::vector<float>{1, 3e38f, 1, 1}));
    CHECK(large.errors[0] == "round 4: the ranks' sum is not finite at coordinate 1");
    CHECK(large.sums == 1);
    CHECK(after_bad(std::vector(3, good)).errors[0].empty());
}
