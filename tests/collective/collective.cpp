// SPDX-License-Identifier: Apache-2.0
// Which types are a `Collective` and what each can sum; ranks that make different ones throw what differs.
#include "laconic/collective/collective.hpp"

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
static_assert(GivesBack<lists_only, float, host> && !GivesBack<nothing_to_add, float, host>);
static_assert(GivesBack<gtop_k::adder<double>, double, host> &&
              GivesBack<spar_reduce_scatter::adder<double>, double, host>);
static_assert(!GivesBack<ring::adder<double>, double, host> &&
              !GivesBack<split_all_gather::adder<double>, double, host>);
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
    char const* const why = "k = 11 is above the dimension d = 10";
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
