// SPDX-License-Identifier: Apache-2.0
// What every collective promises: the list has each once; exact sums for any ranks, and all errors on all ranks.
#include "laconic/collective/collectives.hpp"

#include "support/collective_sums.hpp"
#include "support/everything.hpp"

using namespace collective_sums;

template <class... X>
std::vector<std::string> names_of(detail::type_list<X...>) {
    static_assert((detail::Described<X> && ...));
    return {(detail::listed<X>().name + detail::listed<X>().parameters)...};
}

// All that sum exactly, those that apply k terms with all terms; and whether all ranks learn of damage.
struct row {
    char const* text;
    bool reported_to_all = true;
};
constexpr row exact[] = {{"ring"},
                         {"halving_doubling"},
                         {"omni_reduce(4)"},
                         {"switch_ml"},
                         {"recursive_doubling", false},
                         {"gathered_sum", false},
                         {"split_all_gather(sparse)"},
                         {"split_all_gather(dense)"},
                         {"sum_by_server", false},
                         {"gtop_k(all)", false},
                         {"spar_reduce_scatter(all, as_published=yes)"},
                         {"spar_reduce_scatter(all, seed=5)"},
                         {"ok_top_k(all)"},
                         {"arc_top_k"},
                         {"shared_factors"},
                         {"auto(latency=2e-05, seconds_per_bit=1e-09, every=1)", false},
                         {"auto(seconds_per_bit=1e-09, per_term=1, every=1)", false}};

TEST_CASE("each collective stands in the list once, with its parameters, and those that sum exactly in the table") {
    std::vector<std::string> const names = names_of(detail::library_collectives{});
    for (auto const& name : names) {
        CAPTURE(name);
        CHECK(std::count(names.begin(), names.end(), name) == 1);
        auto const stem = name.substr(0, name.find('('));
        bool const stands = std::any_of(std::begin(exact), std::end(exact), [&](row const& r) {
            return std::string(r.text).substr(0, std::string(r.text).find('(')) == stem;
        });
        CHECK(stands != (stem == "gather" || stem == "engine_all_reduce"));
    }
}

// Others fail unless P = 2^m or P > 1, where d = 0 or d < P, and where nobody or one rank alone has terms.
TEST_CASE(
    "sums are exact for any number of ranks, of numbers and of terms, of the same bits on all ranks and threads") {
    std::vector const shapes(std::begin(sv::shapes), std::end(sv::shapes));
    for (row const& each : exact) {
        std::string const text = each.text;
        CAPTURE(text);
        sums_are_right<float>(by_text<float>(text), {1, 2, 3, 4, 5, 6, 7, 8, 9, 33}, shapes);
        sums_are_right<double>(by_text<double>(text), {1, 2, 3, 7}, {sv::shape::spread, sv::shape::all});
    }
}

TEST_CASE("what cannot be summed, damage, and ranks that differ: all ranks throw, and the next round has the sum") {
    for (row const& each : exact) {
        std::string const text = each.text;
        CAPTURE(text);
        refuses(by_text<float>(text), each.reported_to_all);
    }
}

TEST_CASE("long parts go in pieces, and where a sum in one of them overflows is known to all") {
    std::size_t const d = 21 * detail::in_pieces<float>::longest + 3;
    for (std::string const text : {"ring", "halving_doubling", "split_all_gather(dense)"})
        for (int const n : {2, 3}) {
            CAPTURE(text);
            auto const all = whole_numbers<float>(d, n);
            std::vector<float> sum(d);
            for (auto const& x : all)
                for (std::size_t i = 0; i < d; ++i) sum[i] += x[i];
            CHECK(after(all, text, nullptr, sv::run_over<threads>) == vectors<float>(std::size_t(n), sum));
            auto bad = all;
            for (auto& x : bad) x[d - 2] = x[70] = 3e38f;
            for (auto const& thrown : sv::errors_on(n, [&](any_communicator& comm) {
                     summing<float> collective(comm, by_text<float>(text), d);
                     collective(comm, bad[std::size_t(comm.rank())], 2);
                 }))
                CHECK(thrown == "round 2: the ranks' sum is not finite at coordinate 70");
        }
}
