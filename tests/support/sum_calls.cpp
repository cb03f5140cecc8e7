// SPDX-License-Identifier: Apache-2.0
#include "support/sum_calls.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "laconic/collective/dense/halving_doubling.hpp"
#include "laconic/collective/dense/omni_reduce.hpp"
#include "laconic/collective/dense/ring.hpp"
#include "laconic/collective/sparse/gathered_sum.hpp"
#include "laconic/collective/sparse/recursive_doubling.hpp"
#include "laconic/collective/sparse/split_all_gather.hpp"
#include "laconic/collective/sparse/sum_by_server.hpp"

namespace sum_calls {

namespace {

template <class E, class How>
std::string wrong_by(any_communicator& comm, std::size_t d, How const& how) {
    auto const at = [&](char const* what) {
        return what + (" of " + std::to_string(d) + " numbers by " + to_string(how));
    };
    auto const ranks = comm.size(), me = comm.rank();
    auto const mine = numbers<E>(me, d), all = sums<E>(ranks, d);
    std::size_t const first = d * static_cast<std::size_t>(me) / static_cast<std::size_t>(ranks),
                      last = d * static_cast<std::size_t>(me + 1) / static_cast<std::size_t>(ranks);

    auto x = mine;
    sum(comm, x, how);
    if (x != all) return at("sum");
    x = mine;
    auto const part = reduce_scatter(comm, x, how);
    auto expected = mine;
    std::copy(all.begin() + std::ptrdiff_t(first), all.begin() + std::ptrdiff_t(last),
              expected.begin() + std::ptrdiff_t(first));
    if (x != expected || part.first != first || part.values.size() != last - first ||
        part.values.data() != x.data() + first)
        return at("reduce_scatter");

    auto const terms = without_zeros(mine), sum_of_terms = without_zeros(all);
    if (sum(comm, terms, how) != sum_of_terms) return at("sparse sum");
    if (sum(comm, in_disorder(terms), how) != sum_of_terms) return at("sparse sum of unsorted terms");
    std::vector<std::int64_t> const indices(terms.indices.begin(), terms.indices.end());
    if (sum(comm, sparse_view(d, indices, terms.values), how) != sum_of_terms) return at("sum of a sparse view");
    auto part_of_terms = all;
    std::fill(part_of_terms.begin(), part_of_terms.begin() + std::ptrdiff_t(first), static_cast<E>(0));
    std::fill(part_of_terms.begin() + std::ptrdiff_t(last), part_of_terms.end(), static_cast<E>(0));
    if (reduce_scatter(comm, terms, how) != without_zeros(part_of_terms)) return at("sparse reduce_scatter");
    // Rank 0 alone has terms, and has fewer of them in each call.
    sparse_vector<E> few{d};
    if (me == 0) few = terms;
    if (sum(comm, few, how) != without_zeros(numbers<E>(0, d))) return at("sparse sum of one rank's terms");

    if constexpr (!std::is_integral_v<E>) {
        x = mine;
        mean(comm, x, how);
        if (x != sums<E>(ranks, d, ranks)) return at("mean");
        if (mean(comm, terms, how) != without_zeros(sums<E>(ranks, d, ranks))) return at("sparse mean");
    }
    return {};
}

template <class... E>
std::string wrong_with_numbers(any_communicator& comm, std::size_t d, std::type_identity<E>...) {
    std::string wrong;
    ((wrong.empty() ? void(wrong = wrong_by<E>(comm, d, automatic{})) : void()), ...);
    return wrong;
}

// Those that have no reduce_scatter of their own are chosen at run time, so that the calls are compiled once.
template <class E>
std::string wrong_with_each(any_communicator& comm, std::size_t d) {
    using any = any_collective<detail::addend_type<E>>;
    std::string wrong;
    for (any const& how :
         {any(halving_doubling{}), any(omni_reduce{.block = 3}), any(recursive_doubling{}), any(gathered_sum{}),
          any(split_all_gather{split_all_gather::second_stage::dense}), any(sum_by_server{}), any(ring{})})
        if (wrong.empty()) wrong = wrong_by<E>(comm, d, how);
    if (wrong.empty()) wrong = wrong_by<E>(comm, d, ring{});
    if (wrong.empty()) wrong = wrong_by<E>(comm, d, split_all_gather{});
    return wrong;
}

}  // namespace

std::string wrong_with(any_communicator& comm, std::size_t d, any_collective<float> const& how) {
    return wrong_by<float>(comm, d, how);
}
std::string wrong_with_types(any_communicator& comm, std::size_t d) {
    return wrong_with_numbers(comm, d, std::type_identity<float>{}, std::type_identity<double>{},
                              std::type_identity<Eigen::half>{}, std::type_identity<Eigen::bfloat16>{},
                              std::type_identity<std::int32_t>{}, std::type_identity<std::int64_t>{},
                              std::type_identity<std::uint8_t>{});
}
std::string wrong_with_collectives(any_communicator& comm, std::size_t d) {
    auto const wrong = wrong_with_each<float>(comm, d);
    return wrong.empty() ? wrong_with_each<std::int64_t>(comm, d) : wrong;
}

std::string wrong_with_errors(any_communicator& comm) {
    int const last = comm.size() - 1;
    bool const bad = comm.rank() == last;
    std::string const who = "rank " + std::to_string(last);
    std::size_t const d = 10;
    auto const mine = numbers<float>(comm.rank(), d);
    auto const same_on_all = [&](std::string const& text) {
        comm.all_gather({std::as_bytes(std::span(text))});
        for (int r = 0; r < comm.size(); ++r)
            if (detail::text_of_bytes(comm.from(r).bytes) != text) return false;
        return true;
    };
    auto const check = [&](std::string const& what, std::string const& text, std::string const& expected) {
        if (!same_on_all(text)) return what + ": not the same on all ranks";
        return text == expected ? "" : what + ": " + text;
    };
    std::string wrong;
    auto const expect = [&](std::string const& what, std::string const& text, std::string const& expected) {
        if (auto const found = check(what, text, expected); wrong.empty()) wrong = found;
    };
    auto x = mine;
    auto const unchanged = [&](std::string const& what) {
        bool same = true;
        for (std::size_t i = 0; i < d; ++i) same = same && (x[i] == mine[i] || (std::isnan(x[i]) && bad && i == 7));
        if (wrong.empty() && !same) wrong = what + ": x has changed";
    };

    auto const each_how = [&](auto const& how) {
        auto const by = " by " + to_string(how);
        if (bad) x[7] = std::numeric_limits<float>::quiet_NaN();
        auto const not_finite = who + ", round 0: the gradient is not finite at coordinate 7";
        expect("NaN" + by, thrown<non_finite_error>([&] { sum(comm, x, how); }), not_finite);
        expect("NaN in mean" + by, thrown<non_finite_error>([&] { mean(comm, x, how); }), not_finite);
        expect("NaN in reduce_scatter" + by, thrown<non_finite_error>([&] { reduce_scatter(comm, x, how); }),
               not_finite);
        unchanged("NaN" + by);
        auto const as_it_was = x;
        expect("NaN in a sparse sum" + by, thrown<non_finite_error>([&] {
                   sum(comm, sparse_view(d, std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, as_it_was), how);
               }),
               not_finite);
        x = mine;
        // Beyond the range: every rank has half of the largest number and more.
        if (comm.size() > 2) {
            std::vector<float> huge(d, std::numeric_limits<float>::max() / 2), before = huge;
            auto const beyond = thrown<non_finite_error>([&] { sum(comm, huge, how); });
            if (beyond.find("sum is not finite at coordinate") == beyond.npos) wrong = "overflow" + by + ": " + beyond;
            if (huge != before) wrong = "overflow" + by + ": x has changed";
            expect("overflow" + by, beyond, beyond);
            // In one rank's part alone, so that the others know only from it.
            std::vector<float> one(d);
            one[1] = std::numeric_limits<float>::max() / 2;
            auto const at_1 = std::string("round 0: the ranks' sum is not finite at coordinate 1");
            expect("overflow in a part" + by, thrown<non_finite_error>([&] { reduce_scatter(comm, one, how); }), at_1);
            expect("overflow in a sparse part" + by,
                   thrown<non_finite_error>([&] { reduce_scatter(comm, without_zeros(one), how); }), at_1);
        }
        persistent_sum again(comm, x, how);
        std::vector<float> longer(bad ? d + 1 : d);
        auto const lengths = who + " has a vector of 11 numbers, the collective is for 10";
        expect("another length" + by, thrown<shape_error>([&] { again(longer); }), lengths);
        expect("another length, mean" + by, thrown<shape_error>([&] { again.mean(longer); }), lengths);
        expect("another length, part" + by, thrown<shape_error>([&] { again.reduce_scatter(longer); }), lengths);
        again(x);
        if (wrong.empty() && x != sums<float>(comm.size(), d)) wrong = "the next sum" + by;
        x = mine;
    };
    each_how(automatic{});
    each_how(ring{});
    each_how(any_collective<float>(split_all_gather{}));
    each_how(any_collective<float>(halving_doubling{}));

    // Terms that are none of the vector, and what integers and 16 bits cannot hold.
    auto const indices = [&](int i) { return std::vector<std::int32_t>{3, bad ? i : 4}; };
    auto const sparse = [&](int i, auto... how) {
        return thrown<argument_error>([&] {
            sum(comm, sparse_view(d, indices(i), std::vector<double>{1, 2}), how...);
        });
    };
    expect("index", sparse(10), who + ": index 10 in a sparse vector of 10 numbers");
    expect("index by ring", sparse(-2, ring{}), who + ": index -2 in a sparse vector of 10 numbers");
    expect("values", thrown<argument_error>([&] {
               reduce_scatter(comm, sparse_view(d, indices(0), std::vector<double>(bad ? 3 : 2)));
           }),
           who + ": a sparse vector has 2 indices and 3 values");

    auto const range = std::string("the ranks' sum at coordinate 1 is outside the range of the vector's numbers");
    auto const beyond = [&](auto most) {
        if (comm.size() == 1) return;
        std::vector<decltype(most)> whole{decltype(most)(0), most, decltype(most)(0)}, before = whole;
        expect("range", thrown<error>([&] { sum(comm, whole); }), range);
        expect("range, sparse", thrown<error>([&] { sum(comm, without_zeros(whole)); }), range);
        auto const owner = (2 * comm.size() - 1) / 3;  // the rank whose part has coordinate 1
        auto const by_owner = "rank " + std::to_string(owner) + ": " + range;
        expect("range, part", thrown<error>([&] { reduce_scatter(comm, whole); }), by_owner);
        expect("range, sparse part", thrown<error>([&] { reduce_scatter(comm, without_zeros(whole)); }), by_owner);
        if (wrong.empty() && whole != before) wrong = "range: x has changed";
    };
    beyond(std::numeric_limits<std::int32_t>::max());
    beyond(std::numeric_limits<std::int64_t>::min());
    beyond(std::numeric_limits<std::uint64_t>::max());
    beyond(Eigen::half(65504.0f));

    // Ranks that do not agree, before anything is sent.
    if (comm.size() > 1) {
        std::vector<float> other(bad ? d + 1 : d);
        expect("lengths", thrown<agreement_error>([&] { sum(comm, other); }),
               "ranks disagree: rank 0 has \"the dimension: 10\", rank " + std::to_string(last) +
                   " has \"the dimension: 11\"");
        std::vector<std::int64_t> whole(d, 1);
        expect("numbers", thrown<agreement_error>([&] { bad ? sum(comm, whole) : sum(comm, x); }),
               "ranks disagree: rank 0 has \"the numbers: float\", " + who + " has \"the numbers: signed integers\"");
        expect("how", thrown<agreement_error>([&] { bad ? sum(comm, x, ring{}) : sum(comm, x, halving_doubling{}); }),
               "ranks disagree: rank 0 has \"the collective: halving_doubling\", " + who +
                   " has \"the collective: ring\"");
        auto const terms = without_zeros(x);
        expect("sparse", thrown<agreement_error>([&] { bad ? void(sum(comm, terms)) : sum(comm, x); }),
               "ranks disagree: rank 0 has \"the vector: in full\", " + who + " has \"the vector: sparse\"");
        unchanged("disagreement");
    }
    sum(comm, x);
    if (wrong.empty() && x != sums<float>(comm.size(), d)) wrong = "the next sum";
    return wrong;
}

}  // namespace sum_calls
