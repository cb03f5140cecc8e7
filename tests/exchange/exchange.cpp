// SPDX-License-Identifier: Apache-2.0
#include "laconic/exchange/exchange.hpp"

#include <doctest/doctest.h>

#include <string>

#include "laconic/exchange/gtop_k.hpp"
#include "laconic/exchange/halving_doubling.hpp"
#include "laconic/exchange/recursive_doubling.hpp"
#include "laconic/exchange/ring.hpp"
#include "laconic/exchange/spar_reduce_scatter.hpp"
#include "laconic/exchange/split_all_gather.hpp"

using namespace laconic;

namespace {

// Exchanges of your own, and what lacks something.
struct nothing_to_add {  // of one rank
    template <Communicator C>
    void operator()(host&, C&, std::span<float>, std::uint64_t) {}
};
struct lists_only {
    template <PointToPoint C>
    void operator()(host&, C&, sparse_sum<float>&, std::uint64_t) {}
    sparse_sum<float> const& returned() const { return back; }
    sparse_sum<float> back;
};
struct integers_only {
    template <Communicator C>
    void operator()(host&, C&, std::span<int>, std::uint64_t) {}
};
template <class Sum>
struct own {
    void check(std::size_t) const {}
    template <Scalar T, class B>
    Sum make(std::size_t, position_code) const {
        return {};
    }
    friend std::string to_string(own) { return "own"; }
};
template <class Sum>
struct unchecked {
    template <Scalar T, class B>
    Sum make(std::size_t, position_code) const {
        return {};
    }
    friend std::string to_string(unchecked) { return "unchecked"; }
};
struct meets_only {
    int rank() const { return 0; }
    int size() const { return 1; }
    void all_gather(contribution) {}
    void gather(int, contribution) {}
    void broadcast(int, contribution) {}
    contribution from(int) const { return {}; }
};

static_assert(Exchange<own<nothing_to_add>, float> && Exchange<own<lists_only>, float>);
static_assert(!Exchange<own<nothing_to_add>, double> && !Exchange<own<integers_only>, float>);
static_assert(!Exchange<unchecked<lists_only>, float> && !Exchange<lists_only, float> && !Exchange<int, float>);
static_assert(!Exchange<gather_all>);  // it makes no sum

static_assert(SumsNumbers<nothing_to_add, float, host, meets_only>);
static_assert(!SumsTerms<nothing_to_add, float, host, meets_only>);
static_assert(!SumsTerms<lists_only, float, host, meets_only>);
static_assert(SumsTerms<lists_only, float, host, detail::some_ranks>);
static_assert(GivesBack<lists_only, float, host> && !GivesBack<nothing_to_add, float, host>);
static_assert(GivesBack<gtop_k<double>, double, host> && GivesBack<spar_reduce_scatter<double>, double, host>);
static_assert(!GivesBack<ring<double>, double, host> && !GivesBack<split_all_gather<double>, double, host>);
static_assert(PointToPoint<detail::some_ranks>);

// What it makes for vectors of so many numbers.
template <class X>
std::string made(X const& x, std::size_t d) {
    x.check(d);
    return to_string(x.template make<float, host>(d, position_code::smallest));
}

}  // namespace

TEST_CASE("what an exchange makes for vectors of 200 numbers, and how it is written") {
    CHECK(made(by_ring{}, 200) == "ring");
    CHECK(made(by_halving_doubling{}, 200) == "halving_doubling");
    CHECK(made(by_recursive_doubling{}, 200) == "recursive_doubling");
    CHECK(made(by_split_all_gather{}, 200) == "split_all_gather(sparse)");
    CHECK(made(by_split_all_gather{second_stage::dense}, 200) == "split_all_gather(dense)");
    CHECK(made(by_gtop_k{0.05}, 200) == to_string(gtop_k<float>(200, 10)));
    CHECK(made(by_gtop_k{7, left_out::as_published}, 200) == to_string(gtop_k<float>(200, 7, left_out::as_published)));
    CHECK(made(by_spar_reduce_scatter{0.05}, 200) == to_string(spar_reduce_scatter<float>(200, 10, key{0})));
    CHECK(made(by_spar_reduce_scatter{7, false, 5}, 200) == to_string(spar_reduce_scatter<float>(200, 7, key{5})));
    CHECK(made(by_spar_reduce_scatter{7, true}, 200) == to_string(spar_reduce_scatter<float>(200, 7)));

    CHECK(to_string(gather_all{}) == "gather");
    CHECK(to_string(by_ring{}) == "ring");
    CHECK(to_string(by_split_all_gather{second_stage::dense}) == "split_all_gather(dense)");
    CHECK(to_string(by_gtop_k{0.05, left_out::as_published}) == "gtop_k(0.05, as_published=yes)");
    CHECK(to_string(by_spar_reduce_scatter{7, false, 5}) == "spar_reduce_scatter(7, seed=5)");
    CHECK(to_string(by_spar_reduce_scatter{7, true}) == "spar_reduce_scatter(7, as_published=yes)");
}

TEST_CASE("a k that the dimension does not have is refused") {
    char const* const why = "k = 11 is above the dimension d = 10";
    CHECK_THROWS_WITH_AS(by_gtop_k{11}.check(10), why, argument_error);
    CHECK_THROWS_WITH_AS(by_spar_reduce_scatter{11}.check(10), why, argument_error);
    CHECK_THROWS_AS(by_gtop_k{1.5}.check(10), argument_error);
    CHECK_THROWS_AS(by_spar_reduce_scatter{-1}.check(10), argument_error);
}
