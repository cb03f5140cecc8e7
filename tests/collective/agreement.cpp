// SPDX-License-Identifier: Apache-2.0
// Ranks that differ in anything agreed on all throw the first difference, and all get the same constants of the mean.
#include "laconic/collective/agreement.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "laconic/comm/metered.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/method/dcgd.hpp"
#include "laconic/method/ef_sgd.hpp"
#include "laconic/method/gd.hpp"
#include "laconic/method/gd_sec.hpp"
#include "support/toys.hpp"

using namespace laconic;

namespace tests_of_agreement {

using namespace toys;

namespace {

// The error that each rank throws when it calls require_agreement with its items, or "agreed".
std::vector<std::string> agreement_errors(std::vector<agreed_items> const& items) {
    std::vector<std::string> received(items.size());
    threads::run(static_cast<int>(items.size()), [&](threads::member& comm) {
        auto const me = static_cast<std::size_t>(comm.rank());
        try {
            require_agreement(comm, items[me]);
            received[me] = "agreed";
        } catch (agreement_error const& e) {
            received[me] = e.what();
        }
    });
    return received;
}

// The error that each of three ranks throws when rank 2 makes its loop in its own way, or "agreed".
template <class Make>
std::vector<std::string> errors_when_rank_2_differs(Make make) {
    std::vector<std::string> received(3);
    threads::run(3, [&](threads::member& comm) {
        auto const me = static_cast<std::size_t>(comm.rank());
        try {
            make(comm, me == 2);
            received[me] = "agreed";
        } catch (agreement_error const& e) {
            received[me] = e.what();
        }
    });
    return received;
}

template <class R, class T = double>
void make_loop(threads::member& comm, R const& method, std::size_t d = 4, std::uint64_t seed = 1, T start = 1) {
    using matrix = typename quadratic<T>::matrix;
    auto const n = static_cast<Eigen::Index>(d);
    quadratic<T> const f{matrix::Identity(n, n), quadratic<T>::vector::Zero(n), 0};
    std::vector<T> x(d, start);
    descent<R, quadratic<T>, threads::member, T> run(method, f, comm, std::span<T>(x), seed);
}

// What an objective knows of itself.
struct constants_of_7 {
    double l, mu;
    std::size_t dimension() const { return 7; }
    double smoothness() const { return l; }
    double strong_convexity() const { return mu; }
};

void check_disagreement(std::vector<std::string> const& received, std::string const& what) {
    for (auto const& h : received) CHECK(h == "ranks disagree: " + what);
}

}  // namespace

TEST_CASE("fingerprints of known bytes") {
    auto const of = [](std::string const& s) { return digest(std::as_bytes(std::span(s.data(), s.size()))); };
    CHECK(of("") == "cbf29ce484222325");
    CHECK(of("a") == "af63dc4c8601ec8c");  // the reference values of FNV-1a
    CHECK(of("foobar") == "85944171f73967e8");
}

TEST_CASE("the first line that differs is quoted on every rank") {
    agreed_items const base{{"the dimension", "3"}, {"the seed", "7"}, {"", "x"}};
    for (auto const& h : agreement_errors({base, base, base})) CHECK(h == "agreed");
    for (auto const& h : agreement_errors({base})) CHECK(h == "agreed");
    agreed_items const other{{"the dimension", 3}, {"the seed", 71}, {"", "x"}};
    check_disagreement(agreement_errors({base, base, other}),
                       "rank 0 has \"the seed: 7\", rank 2 has \"the seed: 71\"");
    check_disagreement(agreement_errors({other, base, base}),
                       "rank 0 has \"the seed: 71\", rank 1 has \"the seed: 7\"");
    agreed_items const first{{"the dimension", 4}, {"the seed", 7}, {"", "x"}};
    check_disagreement(agreement_errors({base, first}),
                       "rank 0 has \"the dimension: 3\", rank 1 has \"the dimension: 4\"");
    agreed_items const shorter{{"the dimension", "3"}, {"the seed", "7"}};
    check_disagreement(agreement_errors({base, shorter}), "rank 0 has \": x\", rank 1 has \"\"");
    check_disagreement(agreement_errors({shorter, base}), "rank 0 has \"\", rank 1 has \": x\"");
}

TEST_CASE("agreement costs 16 bytes a rank") {
    std::vector<std::uint64_t> sent(3);
    threads::run(3, [&](threads::member& comm) {
        metered counted(comm);
        require_agreement(counted, {{"a", "1"}});
        sent[static_cast<std::size_t>(comm.rank())] = counted.bytes_sent();
    });
    CHECK(sent == std::vector<std::uint64_t>(3, 16));
}

TEST_CASE("ranks that agree look at each other's digest once") {
    struct alike {  // all ranks hand over what this one does
        payload sent{};
        mutable int looks = 0;
        int rank() const { return 0; }
        int size() const { return 200; }
        void all_gather(payload mine) { sent = mine; }
        void gather(int, payload mine) { sent = mine; }
        void broadcast(int, payload mine) { sent = mine; }
        payload from(int) const {
            ++looks;
            return sent;
        }
    } comm;
    require_agreement(comm, {{"the dimension", "3"}});
    CHECK(comm.looks == 200);
}

TEST_CASE("a loop is not made where ranks differ in anything that it can see") {
    problem const p{4, 3, 1, 1, 1, 1};
    auto const step = gd{}.compose<double, host>(p);
    auto const single = gd{}.compose<float, host>(p);
    for (auto const &h : errors_when_rank_2_differs([&](auto&comm, bool) { make_loop(comm, step); }))
        CHECK(h == "agreed");
    check_disagreement(errors_when_rank_2_differs([&](auto& comm, bool odd) { make_loop(comm, step, odd ? 5 : 4); }),
                       "rank 0 has \"the dimension: 4\", rank 2 has \"the dimension: 5\"");
    check_disagreement(errors_when_rank_2_differs([&](auto& comm, bool odd) {
                           if (odd)
                               make_loop<recursion<identity, memory<float>>, float>(comm, single);
                           else
                               make_loop(comm, step);
                       }),
                       "rank 0 has \"the bytes of a number: 8\", rank 2 has \"the bytes of a number: 4\"");
    check_disagreement(errors_when_rank_2_differs([&](auto& comm, bool odd) {
                           make_loop(comm, composed(dcgd{top_k{odd ? 2 : 1}, {.step = .1}}, p));
                       }),
                       "rank 0 has \"the compressor: top_k(1)\", rank 2 has \"the compressor: top_k(2)\"");
    check_disagreement(errors_when_rank_2_differs([&](auto& comm, bool odd) { make_loop(comm, step, 4, odd ? 2 : 1); }),
                       "rank 0 has \"the seed: 1\", rank 2 has \"the seed: 2\"");
    check_disagreement(errors_when_rank_2_differs([&](auto& comm, bool odd) {
                           auto mine = step;
                           if (odd) mine.feedback = .5;
                           make_loop(comm, mine);
                       }),
                       "rank 0 has \"the feedback: memory(rate=0)\", rank 2 has \"the feedback: memory(rate=0.5)\"");
    check_disagreement(
        errors_when_rank_2_differs([&](auto& comm, bool odd) {
            auto mine = step;
            mine.feedback = {0, odd ? 1.0 : 0.0};
            make_loop(comm, mine);
        }),
        "rank 0 has \"the feedback: memory(rate=0)\", rank 2 has \"the feedback: memory(rate=0, decay=1)\"");
    for (auto const &h : errors_when_rank_2_differs(
             [&](auto&comm, bool odd) { make_loop(comm, step, 4, 1, odd ? std::nextafter(1., 2.) : 1.); }))
        CHECK(h.find("the starting point: ") != std::string::npos);
}

// Ranks that take different steps would diverge without an error.
TEST_CASE("ranks differ in the scale, the step or the level") {
    problem const p{4, 3, 1, 1, 1, 1};
    for (auto const &h : errors_when_rank_2_differs([&](auto&comm, bool odd) {
             make_loop(comm, composed(ef_sgd{top_k{1}, {.step = odd ? .2 : .1}}, p));
         }))
        CHECK(h != "agreed");
    for (auto const &h : errors_when_rank_2_differs(
             [&](auto&comm, bool odd) { make_loop(comm, composed(gd{{.step = odd ? .2 : .1}}, p)); }))
        CHECK(h != "agreed");
    for (auto const &h : errors_when_rank_2_differs([&](auto&comm, bool odd) {
             make_loop(comm, composed(gd_sec{odd ? 2. : 1., {}}, p));
         }))
        CHECK(h != "agreed");
}

TEST_CASE("the constants of the mean, from those of each rank") {
    std::vector<problem> found(3);
    double const smoothness[] = {3, 6, 1.5}, convexity[] = {.5, 0, .25};
    threads::run(3, [&](threads::member& comm) {
        auto const me = static_cast<std::size_t>(comm.rank());
        found[me] = agree_on_problem(comm, constants_of_7{smoothness[me], convexity[me]});
    });
    CHECK(found[0].dimension == 7);
    CHECK(found[0].workers == 3);
    CHECK(found[0].smoothness == doctest::Approx(3.5));
    CHECK(found[0].strong_convexity == doctest::Approx(.25));
    CHECK(found[0].least_strong_convexity == 0);
    CHECK(found[0].largest_smoothness == 6);
    CHECK(found[0].mean_square_smoothness == doctest::Approx(std::sqrt((9 + 36 + 2.25) / 3)));
    CHECK(found[0].samples == 0);
    CHECK(found[0].largest_sample_smoothness == 0);
    for (std::size_t i = 0; i < 3; ++i) {  // each knows its own smoothness; all else is the same
        CHECK(found[i].own_smoothness == smoothness[i]);
        found[i].own_smoothness = 0;
        CHECK(found[i] == found[0]);
    }
}

TEST_CASE("of means over samples: the most of them, and the largest constant of one") {
    struct sampled : constants_of_7 {
        std::size_t rows;
        double largest;
        std::size_t samples() const { return rows; }
        double sample_smoothness() const { return largest; }
    };
    std::vector<problem> found(3);
    threads::run(3, [&](threads::member& comm) {
        std::size_t const rows[] = {5, 9, 7};
        double const largest[] = {4, 8, 16};
        auto const me = static_cast<std::size_t>(comm.rank());
        found[me] = agree_on_problem(comm, sampled{{3, .5}, rows[me], largest[me]});
    });
    CHECK(found[0].samples == 9);
    CHECK(found[0].largest_sample_smoothness == 16);
    CHECK(found[0].smoothness == doctest::Approx(3));
    CHECK(found[1] == found[0]);
    CHECK(found[2] == found[0]);
}

TEST_CASE("where one rank does not know its constants, those of the mean are unknown") {
    struct bare {
        std::size_t dimension() const { return 7; }
        std::size_t samples() const { return 5; }
    };
    std::vector<problem> found(3);
    threads::run(3, [&](threads::member& comm) {
        auto const me = static_cast<std::size_t>(comm.rank());
        found[me] = me == 1 ? agree_on_problem(comm, bare{}) : agree_on_problem(comm, constants_of_7{3, .5});
    });
    for (auto const& p : found) CHECK(p == problem{.dimension = 7, .workers = 3, .samples = 5});
}

TEST_CASE("constants that are none are refused by name") {
    std::byte const word[3] = {};
    table all{{{}, {word}}, {}, false};
    replayed_rank air{&all};
    CHECK_THROWS_WITH_AS(
        agree_on_problem(air, constants_of_7{1, 1}),
        doctest::Contains("rank 1 sent 3 bytes in place of the constants of its objective, of 32 bytes"), comm_error);
}

}  // namespace tests_of_agreement

TEST_CASE("different items have different texts, also where a name or a value has a new line in it") {
    agreed_items const two{{"a", 1}, {"b", 2}}, one{{"a", "1\nb: 2"}}, other{{"a", "1\\nb: 2"}};
    CHECK(two.lines() == "a: 1\nb: 2\n");
    CHECK(one.lines() != two.lines());
    CHECK(one.lines() != other.lines());
}
