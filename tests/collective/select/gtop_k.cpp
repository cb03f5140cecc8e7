// SPDX-License-Identifier: Apache-2.0
// `gtop_k` applies the terms of the paper's tree on all ranks; only the published rule loses any of them.
#include "laconic/collective/select/gtop_k.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/sparse_vectors.hpp"

namespace sv = sparse_vectors;

static_assert(detail::ListCarrier<fibers::member, host>);

sparse_sum<float> list_of(int rank) { return sv::of<float>(9, {{std::size_t(rank), float(rank + 1)}, {8, 1}}); }

TEST_CASE("each rank's list goes to the next, to nobody, and rank 0's to all") {
    for (int const n : {1, 2, 3, 5, 8}) {
        CAPTURE(n);
        fibers::run(n, [&](fibers::member& comm) {
            host on;
            detail::list_exchange<float, host> lists(position_code::smallest);
            lists.start(on, comm, 9, 2, 1);
            int const me = comm.rank(), next = (me + 1) % n, before = (me + n - 1) % n;
            auto mine = list_of(me);
            sparse_sum<float> theirs(9);
            CHECK(!lists.pass(on, comm, no_rank, mine, no_rank, theirs));
            CHECK(lists.pass(on, comm, next, mine, before, theirs));
            CHECK(theirs == list_of(before));
            lists.spread(on, comm, mine);
            CHECK(mine == list_of(0));
        });
    }
}

TEST_CASE("a rank whose list is refused passes nothing on, and all throw why") {
    auto const errors = sv::errors_on(4, [&](auto& comm) {
        host on;
        detail::list_exchange<float, host> lists(position_code::smallest);
        lists.start(on, comm, 9, 2, 3);
        auto mine = comm.rank() == 3 ? sv::of<float>(9, {{4, NAN}}) : list_of(comm.rank());
        lists.errors().check_input(on, comm.rank(), mine, 9);
        sparse_sum<float> theirs(9);
        bool const came =
            lists.pass(on, comm, comm.rank() == 3 ? 0 : no_rank, mine, comm.rank() == 0 ? 3 : no_rank, theirs);
        CHECK(!came);
        lists.spread(on, comm, mine);
    });
    CHECK(errors == std::vector<std::string>(4, "rank 3, round 3: the gradient is not finite at coordinate 4"));
}

TEST_CASE("a list of more terms than any rank has is refused on all ranks") {
    auto const errors = sv::errors_on(2, [](auto& comm) {
        host on;
        detail::list_exchange<float, host> lists(position_code::smallest);
        lists.start(on, comm, 9, 2, 3);
        auto mine = comm.rank() == 1 ? sv::of<float>(9, {{1, 1}, {2, 1}, {4, 1}}) : list_of(0);
        sparse_sum<float> theirs(9);
        lists.pass(on, comm, comm.rank() == 1 ? 0 : no_rank, mine, comm.rank() == 0 ? 1 : no_rank, theirs);
        lists.spread(on, comm, mine);
    });
    for (auto const& text : errors)
        CHECK(text.find("from rank 1: a list of 3 terms, where no rank has more than 2") != std::string::npos);
}

static_assert(Collective<gtop_k>);

template <class T>
auto keeping(std::size_t d, std::size_t k, bool as_published = false) {
    return [=](auto& comm) { return make_sum<T>(gtop_k{k, as_published}, comm, d); };
}

// The tree of the paper, one merge after another, on dense vectors, with a sort for a selection: what is applied.
// merged(r, v) gets what rank r sends or, for rank 0, what is applied.
template <class T, class Merged>
std::vector<double> by_hand(sv::lists<T> const& brought, std::size_t k, Merged merged) {
    std::vector<std::vector<double>> at;
    auto const cut = [k](std::vector<double>& x) {
        std::vector<std::size_t> order(x.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return std::abs(x[a]) > std::abs(x[b]); });
        for (std::size_t j = k; j < order.size(); ++j) x[order[j]] = 0;
    };
    for (auto const& v : brought) at.push_back(sv::dense(v));
    for (auto& x : at) cut(x);
    for (std::size_t step = 1; step < at.size(); step *= 2)
        for (std::size_t r = 0; r + step < at.size(); r += 2 * step) {
            merged(r + step, at[r + step]);
            for (std::size_t i = 0; i < at[r].size(); ++i) at[r][i] += at[r + step][i];
            cut(at[r]);
        }
    merged(0, at[0]);
    return at[0];
}
template <class T>
std::vector<double> by_hand(sv::lists<T> const& brought, std::size_t k) {
    return by_hand(brought, k, [](std::size_t, auto&) {});
}

// z |z| for normal z: heavy tails.
template <class T>
sv::lists<T> heavy_tails(std::size_t d, std::size_t k, int ranks, std::uint64_t seed) {
    host on;
    sv::lists<T> all;
    for (int r = 0; r < ranks; ++r) {
        std::vector<T> x(d);
        auto const from = key{seed}.child(std::uint64_t(r));
        for (std::size_t i = 0; i < d; ++i) {
            double const z = std::sqrt(-2 * std::log(1 - from.uniform(2 * i))) *
                             std::cos(6.283185307179586 * from.uniform(2 * i + 1));
            x[i] = T(z * std::abs(z));
        }
        std::vector<coordinate> chosen;
        select_largest(on, std::span<T const>(x), k, chosen);
        sparse_sum<T> v(d);
        for (auto const i : chosen) v.append(i, x[i]);
        all.push_back(v);
    }
    return all;
}

TEST_CASE("three ranks, by hand") {
    // Rank 0 merges with 1: 5 at 0, 2 at 1, 4 at 2, of which 0 and 2 are kept; then with 2: 5, 4, -3 at 3.
    sv::lists<double> const brought{sv::of<double>(4, {{0, 5}, {1, 2}}), sv::of<double>(4, {{1, -4}, {2, 4}}),
                                    sv::of<double>(4, {{1, -1}, {3, -3}})};
    auto const [applied, returned] = sv::after(brought, keeping<double>(4, 2));
    for (auto const& v : applied) CHECK(v == sv::of<double>(4, {{0, 5}, {2, 4}}));
    CHECK(returned[0] == sv::of<double>(4, {{1, -3}, {3, -3}}));
    CHECK(returned[1].size() == 0);
    CHECK(returned[2].size() == 0);
    // As published: coordinate 1 goes back to those who brought it. Nothing leaks, as no merge lost a part of 0 or 2.
    auto const [same, own] = sv::after(brought, keeping<double>(4, 2, true));
    CHECK(same == applied);
    CHECK(own[0] == sv::of<double>(4, {{1, 2}}));
    CHECK(own[1] == sv::of<double>(4, {{1, -4}}));
    CHECK(own[2] == brought[2]);
}

TEST_CASE("a merge loses a part of what is applied: as published it is gone") {
    // Ranks 0 and 1 leave coordinate 3 out with its 4, which ranks 2 and 3 bring past everything else.
    sv::lists<double> const brought{sv::of<double>(4, {{0, 5}}), sv::of<double>(4, {{3, 4}}),
                                    sv::of<double>(4, {{3, 9}}), sv::of<double>(4, {{3, 1}})};
    auto const kept = sv::after(brought, keeping<double>(4, 1));
    CHECK(kept.first[3] == sv::of<double>(4, {{3, 10}}));
    CHECK(kept.second[0] == sv::of<double>(4, {{0, 5}, {3, 4}}));
    auto const [applied, returned] = sv::after(brought, keeping<double>(4, 1, true));
    CHECK(applied == kept.first);
    CHECK(returned[0] == brought[0]);
    for (std::size_t r = 1; r < 4; ++r) CHECK(returned[r].size() == 0);
}

TEST_CASE_TEMPLATE("any number of ranks, any supports: the tree's terms on all ranks, and nothing is lost", T, float,
                   double) {
    for (int const n : {1, 2, 3, 4, 5, 7, 8, 9, 33})
        for (auto const how : sv::shapes) {
            CAPTURE(n);
            std::size_t const d = 60, k = 6;
            auto const brought = sv::all_whole_numbers<T>(how, d, k, n);
            for (std::size_t const kept : {std::size_t{0}, std::size_t{1}, k, d}) {
                auto const [applied, returned] = sv::after(brought, keeping<T>(d, kept));
                for (auto const& v : applied) CHECK(v == applied[0]);
                CHECK(applied[0].size() <= kept);
                CHECK(sv::dense(applied[0]) == by_hand(brought, kept));
                auto all = returned;  // whole numbers: conservation is exact
                all.push_back(applied[0]);
                CHECK(sv::sum_of(all) == sv::sum_of(brought));
            }
        }
}

TEST_CASE("equal magnitudes: the lower coordinates") {
    sv::lists<float> brought;
    for (int r = 0; r < 7; ++r) brought.push_back(sv::whole_numbers<float>(sv::shape::none, 50, 3, r, 7));
    for (std::size_t r = 0; r < 7; ++r)
        for (std::size_t i = 0; i < 5; ++i) brought[r].append(7 * i + r, i % 2 == 0 ? 1.f : -1.f);
    for (auto const& v : sv::after(brought, keeping<float>(50, 5)).first)
        CHECK(v == sv::of<float>(50, {{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}}));
}

TEST_CASE("no dimensions, and more ranks than coordinates") {
    sv::lists<double> const nothing(5, sparse_sum<double>(0));
    for (auto const& v : sv::after(nothing, keeping<double>(0, 0)).first) CHECK(v.dimension() == 0);
    auto const brought = sv::all_whole_numbers<double>(sv::shape::all, 2, 2, 9);
    for (auto const& v : sv::after(brought, keeping<double>(2, 2)).first) CHECK(sv::dense(v) == sv::sum_of(brought));
}

TEST_CASE("with threads the bits are the same") {
    auto const brought = heavy_tails<float>(2000, 40, 6, 5);
    auto const make = keeping<float>(2000, 40);
    CHECK(sv::after(brought, make, sv::run_over<threads>) == sv::after(brought, make));
}

// The table of how much leaks: independent heavy-tailed gradients, rho = 0.01, one round.
TEST_CASE("how much the published rule loses, and that the merger's loses nothing" * doctest::test_suite("slow")) {
    std::size_t const d = 100000, k = 1000;
    struct leak {
        int ranks;
        double loss, tolerance;  // the share that leaks, and how much one draw may differ
    };
    for (auto const& row : {leak{4, .006, .5}, leak{32, .128, .1}}) {
        auto const brought = heavy_tails<double>(d, k, row.ranks, 7);
        auto const sum = sv::sum_of(brought);
        for (bool const as_published : {true, false}) {
            auto [applied, all] = sv::after(brought, keeping<double>(d, k, as_published));
            double selected = 0, leaked = 0, elsewhere = 0;
            for (auto const i : applied[0].support()) selected += std::abs(sum[i]);
            all.push_back(applied[0]);
            auto const kept = sv::sum_of(all);
            for (std::size_t i = 0; i < d; ++i) leaked += std::abs(sum[i] - kept[i]);
            CAPTURE(row.ranks);
            CAPTURE(leaked / selected);
            if (!as_published) {
                CHECK(leaked < 1e-13 * selected);
            } else {
                CHECK(leaked > (1 - row.tolerance) * row.loss * selected);
                CHECK(leaked < (1 + row.tolerance) * row.loss * selected);
                for (auto const i : applied[0].support()) elsewhere += std::abs(sum[i] - kept[i]);
                CHECK(elsewhere == doctest::Approx(leaked));  // none of it at coordinates that are not applied
            }
        }
    }
}

// Error feedback on f_i(x) = sum_j a_ij (x_j - b_ij)^2 / 2, which differ, with a fixed step: the point x - mean e_i
// takes exact steps as long as nothing is lost (Stich, Karimireddy, JMLR 2020), so that x ends near the optimum, at a
// distance of the order of the step.
TEST_CASE("with error feedback what merges leave out decides how near the optimum is reached" *
          doctest::test_suite("slow")) {
    std::size_t const d = 40, k = 3;
    int const n = 4;
    double const step = .02;
    auto const a = [](int r, std::size_t j) { return .5 + key{1}.child(std::uint64_t(r)).uniform(j); };
    auto const b = [](int r, std::size_t j) { return 20 * key{2}.child(std::uint64_t(r)).uniform(j) - 10; };
    auto const reach = [&](bool as_published) {
        std::vector<double> x_of_0(d), exact(d), sum_of_e(d);
        sv::run_over<fibers>(n, [&](any_communicator& comm) {
            host on;
            auto collective = make_sum<double>(gtop_k{k, as_published}, comm, d);
            std::vector<double> x(d), e(d);
            std::vector<coordinate> chosen;
            sparse_sum<double> v;
            for (std::uint64_t round = 0; round < 1500; ++round) {
                v.reset(d);
                for (std::size_t j = 0; j < d; ++j) {
                    double const g = step * a(comm.rank(), j) * (x[j] - b(comm.rank(), j));
                    e[j] += g;
                    exact[j] -= g / n;
                }
                select_largest(on, std::span<double const>(e), k, chosen);
                for (auto const j : chosen) v.append(j, std::exchange(e[j], 0));
                collective(on, comm, v, round);
                for (std::size_t j = 0; j < v.size(); ++j) x[v.support()[j]] -= v.values()[j] / n;
                auto const& back = collective.leftover();
                for (std::size_t j = 0; j < back.size(); ++j) e[back.support()[j]] += back.values()[j];
            }
            for (std::size_t j = 0; j < d; ++j) sum_of_e[j] += e[j];
            if (comm.rank() == 0) x_of_0 = x;
        });
        double distance = 0, lost = 0;
        for (std::size_t j = 0; j < d; ++j) {
            double of_a = 0, of_ab = 0;
            for (int r = 0; r < n; ++r) {
                of_a += a(r, j);
                of_ab += a(r, j) * b(r, j);
            }
            distance += std::pow(x_of_0[j] - of_ab / of_a, 2);
            lost += std::abs(x_of_0[j] - sum_of_e[j] / n - exact[j]);
        }
        return std::pair(distance, lost);  // squared
    };
    auto const merger = reach(false), published = reach(true);
    CHECK(merger.second < 1e-10);
    CHECK(published.second > 1);
    CHECK(merger.first < published.first / 3);  // 1.2 and 14
}

TEST_CASE("each rank hands over what it merged, once up, and the result once to each child") {
    std::size_t const d = 500, k = 20;
    for (int const n : {1, 2, 3, 5, 8, 13}) {
        auto const brought = sv::all_whole_numbers<float>(sv::shape::spread, d, k, n);
        auto const ranks = std::size_t(n);
        std::vector<std::uint64_t> expected(ranks), sent(ranks);
        auto const size = [](std::vector<double> const& x) {
            sparse_sum<float> v(d);
            for (std::size_t i = 0; i < d; ++i)
                if (x[i] != 0) v.append(i, float(x[i]));
            return bits(v.message()) / 8;
        };
        auto const applied = by_hand(brought, k, [&](std::size_t r, auto const& x) {
            if (r > 0) expected[r] = size(x);
        });
        for (int r = 0; r < n; ++r)
            for (int child = 1; r + child < n && (r & child) == 0; child *= 2)
                expected[std::size_t(r)] += size(applied);
        sv::run_over<fibers>(n, [&](any_communicator& inner) {
            metered counted(inner);
            any_communicator comm(counted);
            host on;
            auto collective = make_sum<float>(gtop_k{k}, comm, d);
            CHECK(counted.bytes_sent() == 16);
            auto v = brought[std::size_t(comm.rank())];
            collective(on, comm, v);
            sent[std::size_t(comm.rank())] = counted.bytes_sent() - 16;
        });
        CHECK(sent == expected);
    }
}

TEST_CASE("bytes that are no message are refused on all ranks, with their sender") {
    auto const brought = sv::all_whole_numbers<float>(sv::shape::spread, 50, 5, 6);
    auto const with = [&](int culprit, auto damage) {
        return sv::errors_on(6, [&](auto& inner) {
            sv::damaging line{inner, culprit, 0, damage};
            any_communicator comm(line);
            host on;
            auto collective = make_sum<float>(gtop_k{5}, comm, 50);
            auto v = brought[std::size_t(comm.rank())];
            collective(on, comm, v);
        });
    };
    for (int const culprit : {1, 3, 4, 5}) {  // on their way up
        auto const shorter = with(culprit, [](std::vector<std::byte>& b) { b.pop_back(); });
        CHECK(shorter == std::vector(6, shorter[0]));
        CHECK(shorter[0].find("from rank " + std::to_string(culprit) + ": ") != std::string::npos);
        for (auto const& h : with(culprit, [](std::vector<std::byte>& b) { b.push_back(std::byte(0)); }))
            CHECK(h.find("bits are left over") != std::string::npos);
        for (auto const& h : with(culprit, [](std::vector<std::byte>& b) { b.assign(9, std::byte(0xff)); }))
            CHECK(h.find("more coordinates than the vector has") != std::string::npos);
    }
    // Damage on the way down comes too late for the ranks above: those below throw.
    auto const below = with(0, [](std::vector<std::byte>& b) { b.clear(); });
    for (std::size_t const r : {0, 1, 2, 3}) CHECK(below[r] == "none");
    for (std::size_t const r : {4, 5}) CHECK(below[r].find("from rank 0: ") != std::string::npos);
}
