// SPDX-License-Identifier: Apache-2.0
// Which types are a `Collective` and what each can sum; ranks that make different ones throw what differs.
#include "laconic/collective/collective.hpp"

#include "laconic/comm/fibers.hpp"
#include "named_collectives.hpp"
#include "support/everything.hpp"
#include "support/sparse_vectors.hpp"

namespace sv = sparse_vectors;

// Exchanges of your own, and what lacks something.
struct nothing_to_add {  // of one rank
    template <Communicator C>
    void operator()(host&, C&, std::span<float>, sum_round const&) {}
};
struct lists_only {
    template <PointToPoint C>
    void operator()(host&, C&, sparse_sum<float>&, sum_round const&) {}
    sparse_sum<float> const& leftover() const { return back; }
    sparse_sum<float> back;
};
struct integers_only {
    template <Communicator C>
    void operator()(host&, C&, std::span<int>, sum_round const&) {}
};
template <class Sum>
struct own {
    void check(std::size_t) const {}
    template <Scalar T, class B>
    using adder = Sum;
    friend std::string to_string(own) { return "own"; }
};
template <class Sum>
struct unchecked {
    template <Scalar T, class B>
    using adder = Sum;
    friend std::string to_string(unchecked) { return "unchecked"; }
};
struct meets_only {
    int rank() const { return 0; }
    int size() const { return 1; }
    void all_gather(payload) {}
    void gather(int, payload) {}
    void broadcast(int, payload) {}
    payload from(int) const { return {}; }
};

static_assert(Collective<own<nothing_to_add>, float> && Collective<own<lists_only>, float>);
static_assert(!Collective<own<nothing_to_add>, double> && !Collective<own<integers_only>, float>);
static_assert(Collective<unchecked<lists_only>, float> && !Collective<lists_only, float> && !Collective<int, float>);
static_assert(!Collective<gather_all>);  // it makes no sum

static_assert(detail::SumsNumbers<nothing_to_add, float, host, meets_only>);
static_assert(!detail::SumsTerms<nothing_to_add, float, host, meets_only>);
static_assert(!detail::SumsTerms<lists_only, float, host, meets_only>);
static_assert(detail::SumsTerms<lists_only, float, host, detail::some_ranks>);
static_assert(detail::GivesBack<lists_only, float, host> && !detail::GivesBack<nothing_to_add, float, host>);
static_assert(detail::GivesBack<gtop_k::adder<double>, double, host> &&
              detail::GivesBack<spar_reduce_scatter::adder<double>, double, host>);
static_assert(!detail::GivesBack<ring::adder<double>, double, host> &&
              !detail::GivesBack<split_all_gather::adder<double>, double, host>);
static_assert(PointToPoint<detail::some_ranks>);

// How many terms are left of so many by what it makes, on one rank.
template <class X>
std::size_t kept_of(std::size_t d, X const& x) {
    std::size_t kept = 0;
    sv::run_over<threads>(1, [&](any_communicator& comm) {
        host on;
        auto sum = make_sum<float>(any_collective<float>(x), comm, d);
        sparse_sum<float> v(d);
        for (std::size_t i = 0; i < d; ++i) v.append(i, float(i + 1));
        sum(on, comm, v);
        kept = v.size();
    });
    return kept;
}

TEST_CASE("a share of the numbers, and so many of them") {
    CHECK(kept_of(200, recursive_doubling{}) == 200);
    CHECK(kept_of(200, gtop_k{0.05}) == 10);
    CHECK(kept_of(200, gtop_k{7, true}) == 7);
    CHECK(kept_of(200, spar_reduce_scatter{0.05}) == 10);
    CHECK(kept_of(200, spar_reduce_scatter{7, true}) == 7);
    CHECK_THROWS_AS(kept_of(6, gtop_k{7}), argument_error);
}

TEST_CASE("a k that the dimension does not have is refused") {
    char const* const why = "k = 11 is above the dimension d = 10; a fraction, such as 0.1, suits every length";
    CHECK_THROWS_WITH_AS(gtop_k{11}.check(10), why, argument_error);
    CHECK_THROWS_WITH_AS(spar_reduce_scatter{11}.check(10), why, argument_error);
    CHECK_THROWS_WITH_AS(ok_top_k{11}.check(10), why, argument_error);
    CHECK_THROWS_AS((make_sum<float>(ring{}, std::size_t{1} << 32)), argument_error);
    CHECK_THROWS_AS(gtop_k{1.5}.check(10), argument_error);
    CHECK_THROWS_AS(spar_reduce_scatter{-1}.check(10), argument_error);
}

TEST_CASE("ranks that make different collectives all throw what differs") {
    auto const all = [](auto make) {
        auto const errors = sv::errors_on(3, make);
        CHECK(errors == std::vector(3, errors[0]));
        return errors[0];
    };
    auto const agree = [](auto& comm, std::size_t d, std::string const& what) {
        detail::agree_on_collective<float>(comm, d, what);
    };
    CHECK(all([&](auto& comm) { agree(comm, 5, "a"); }) == "none");
    CHECK(all([&](auto& comm) { agree(comm, comm.rank() == 1 ? 6 : 5, "a"); }) ==
          "ranks disagree: rank 0 has \"the dimension: 5\", rank 1 has \"the dimension: 6\"");
    CHECK(all([&](auto& comm) { agree(comm, 5, comm.rank() == 2 ? "b" : "a"); }) ==
          "ranks disagree: rank 0 has \"the collective: a\", rank 2 has \"the collective: b\"");
    CHECK(all([&](auto& comm) {
              if (comm.rank() == 2)
                  detail::agree_on_collective<double>(comm, 5, "a");
              else
                  agree(comm, 5, "a");
          }) == "ranks disagree: rank 0 has \"the bytes of a number: 4\", rank 2 has \"the bytes of a number: 8\"");
}

static_assert(detail::ReduceScatters<ring::adder<float>, host, threads::member, std::span<float>>);
static_assert(!detail::ReduceScatters<ring::adder<float>, host, threads::member, sparse_sum<float>&>);
static_assert(!detail::ReduceScatters<gathered_sum::adder<float>, host, threads::member, sparse_sum<float>&>);

TEST_CASE_TEMPLATE("lists and vectors in full have the same sums and the same parts", how, ring, gathered_sum,
                   split_all_gather, automatic) {
    std::size_t const d = 7;
    std::vector<double> const all{0, 3, 0, -3, 9, 0, 3};  // 3 x the vector of each rank
    std::vector<int> right(3);
    fibers::run(3, [&](auto& comm) {
        host on;
        detail::whole_sum<how, double> sum(how{}, d);
        auto const me = static_cast<std::size_t>(comm.rank());
        std::vector<double> const mine{0, 1, 0, -1, 3, 0, 1};
        auto const is_part = [&](std::span<double const> x) {
            bool same = true;
            for (std::size_t i = d * me / 3; i < d * (me + 1) / 3; ++i) same = same && x[i] == all[i];
            return same;
        };
        for (std::uint64_t round = 0; round < 2; ++round) {
            auto x = mine, y = mine;
            sum(on, comm, std::span<double>(x), round);
            sum.reduce_scatter(on, comm, std::span<double>(y), round);
            sparse_sum<double> v, w;
            v.assign_nonzero(on, mine);
            w.assign_nonzero(on, mine);
            sum(on, comm, v, round);
            sum.reduce_scatter(on, comm, w, round);
            std::vector<double> of_v(d), of_w(d);
            scatter(on, v.values(), v.support(), 1, std::span(of_v));
            scatter(on, w.values(), w.support(), 1, std::span(of_w));
            bool only_part = true;
            for (auto const i : w.support()) only_part = only_part && i >= d * me / 3 && i < d * (me + 1) / 3;
            right[me] += x == all && of_v == all && is_part(y) && is_part(of_w) && only_part;
        }
    });
    CHECK(right == std::vector<int>{2, 2, 2});
}
