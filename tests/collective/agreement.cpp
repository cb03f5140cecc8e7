// SPDX-License-Identifier: Apache-2.0
// Ranks that differ in anything agreed on all throw the first difference.
// `composition_of` lists every part and number of a recursion by name, parts without a text included.
#include "laconic/collective/agreement.hpp"

#include "support/everything.hpp"
#include "support/toys.hpp"

using namespace toys;

// The error that each rank throws when it calls require_agreement with its items, or "agreed".
std::vector<std::string> agreement_errors(std::vector<detail::agreed_items> const& items) {
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

void check_disagreement(std::vector<std::string> const& received, std::string const& what) {
    for (auto const& h : received) CHECK(h == "ranks disagree: " + what);
}

TEST_CASE("fingerprints of known bytes") {
    auto const of = [](std::string const& s) { return detail::digest(std::as_bytes(std::span(s.data(), s.size()))); };
    CHECK(of("") == "cbf29ce484222325");
    CHECK(of("a") == "af63dc4c8601ec8c");  // the reference values of FNV-1a
    CHECK(of("foobar") == "85944171f73967e8");
}

TEST_CASE("the first line that differs is quoted on every rank") {
    detail::agreed_items const base{{"the dimension", "3"}, {"the seed", "7"}, {"", "x"}};
    for (auto const& h : agreement_errors({base, base, base})) CHECK(h == "agreed");
    for (auto const& h : agreement_errors({base})) CHECK(h == "agreed");
    detail::agreed_items const other{{"the dimension", 3}, {"the seed", 71}, {"", "x"}};
    check_disagreement(agreement_errors({base, base, other}),
                       "rank 0 has \"the seed: 7\", rank 2 has \"the seed: 71\"");
    check_disagreement(agreement_errors({other, base, base}),
                       "rank 0 has \"the seed: 71\", rank 1 has \"the seed: 7\"");
    detail::agreed_items const first{{"the dimension", 4}, {"the seed", 7}, {"", "x"}};
    check_disagreement(agreement_errors({base, first}),
                       "rank 0 has \"the dimension: 3\", rank 1 has \"the dimension: 4\"");
    detail::agreed_items const shorter{{"the dimension", "3"}, {"the seed", "7"}};
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

TEST_CASE("different items have different texts, also where a name or a value has a new line in it") {
    detail::agreed_items const two{{"a", 1}, {"b", 2}}, one{{"a", "1\nb: 2"}}, other{{"a", "1\\nb: 2"}};
    CHECK(two.lines() == "a: 1\nb: 2\n");
    CHECK(one.lines() != two.lines());
    CHECK(one.lines() != other.lines());
}

struct named {
    friend std::string to_string(named) { return "a name"; }
};
struct nameless {};
struct composed_of {
    named compressor, feedback, step, level;
    nameless estimator;
    named over;
    double scale = 0.5;
};

TEST_CASE("every part and number by its name, and a part that has none") {
    CHECK(detail::composition_of(composed_of{}).lines() ==
          "the compressor: a name\nthe feedback: a name\nthe scale: 0.5\n"
          "the step: a name\nthe level: a name\nthe estimator: of the user's own making\n"
          "the transport: a name\n");
}
