// SPDX-License-Identifier: Apache-2.0
// `ok_top_k` applies what its threshold keeps, loses nothing, balances its regions and saves its state.
#include "laconic/collective/select/ok_top_k.hpp"

#include "support/everything.hpp"
#include "support/sparse_vectors.hpp"

namespace sv = sparse_vectors;
using detail::regions;

TEST_CASE("equal at first, then where they are moved to") {
    regions r{10};
    r.prepare(3);
    CHECK(r.starts == std::vector<std::uint64_t>{0, 3, 6, 10});
    CHECK(r.length(2) == 4);
    r.move({0, 7, 7, 10});
    r.prepare(3);
    CHECK(r.starts == std::vector<std::uint64_t>{0, 7, 7, 10});
    CHECK(r.length(1) == 0);
    r.move({5, 4, 2, 9});  // from ranks that send wrong quantiles
    CHECK(r.starts == std::vector<std::uint64_t>{0, 4, 4, 10});
    regions of_nothing{0};
    of_nothing.prepare(1);
    CHECK(of_nothing.starts == std::vector<std::uint64_t>{0, 0});
}

TEST_CASE("quantiles of a support") {
    regions const r{100};
    auto const v = sv::of<float>(100, {{3, 1}, {5, 1}, {50, 1}, {51, 1}, {99, 1}});
    for (std::size_t p = 0; p < 5; ++p) CHECK(r.quantile(v, p, 5) == v.support()[p]);
    CHECK(r.quantile(v, 1, 2) == 50);
    CHECK(r.quantile(v, 7, 10) == 51);
    CHECK(r.quantile(sparse_sum<float>(100), 3, 4) == 75);
}

TEST_CASE("uneven is more than four times a share") {
    regions r{100};
    r.prepare(10);
    sparse_sum<float> v(100);
    for (std::size_t i = 0; i < 4; ++i) v.append(i, 1);  // a share is less than one: four are not many
    CHECK_FALSE(r.uneven(v));
    v.append(4, 1);
    CHECK(r.uneven(v));
    v = sparse_sum<float>(100);
    for (std::size_t i = 0; i < 10; ++i) v.append(i, 1);
    CHECK(r.uneven(v));
    for (std::size_t i = 10; i < 30; ++i) v.append(i, 1);  // 10 of 30: a share is 3
    CHECK_FALSE(r.uneven(v));
}

TEST_CASE("what is not of so many ranks and numbers is refused") {
    auto const refused = [](std::vector<std::uint64_t> const& starts) {
        regions r{10, starts};
        CHECK_THROWS_WITH_AS(r.prepare(2), "this state is not of 2 ranks and 10 numbers", shape_error);
    };
    refused({0, 10});
    refused({0, 2, 3, 10});
    refused({1, 2, 10});
    refused({0, 2, 11});
    refused({0, 11, 10});
}

static_assert(Collective<ok_top_k>);

// What each rank brings in each round, and what came of it.
template <class T>
struct story {
    std::vector<sv::lists<T>> applied, returned;            // [round][rank]
    std::vector<std::vector<std::uint64_t>> regions, sent;  // [round], and [round][rank]: bytes
    std::vector<T> thresholds;
    std::vector<int> messages;
};
// How often a rank hands something over.
struct counting_pieces : metered<fibers::member> {
    using metered<fibers::member>::metered;
    int handed = 0;
    payload exchange(int to, payload mine, int from) {
        handed += to != no_rank;
        return metered<fibers::member>::exchange(to, mine, from);
    }
};

template <class T>
story<T> hold(std::vector<sv::lists<T>> const& rounds, std::size_t k, ok_top_k::reused_for how = {}) {
    auto const n = rounds[0].size(), count = rounds.size();
    story<T> s{rounds, rounds, {}, {}, {}, {}};
    s.regions.resize(count);
    s.sent.assign(count, std::vector<std::uint64_t>(n));
    s.thresholds.resize(count);
    s.messages.resize(count);
    fibers::run(int(n), [&](fibers::member& inner) {
        host on;
        auto const me = std::size_t(inner.rank());
        counting_pieces counts(inner);
        any_communicator comm(counts);
        auto collective = make_sum<T>(ok_top_k{k, how}, rounds[0][0].dimension());
        for (std::size_t t = 0; t < count; ++t) {
            auto const before = counts.bytes_sent();
            counts.handed = 0;
            collective(on, comm, s.applied[t][me], t);
            s.returned[t][me] = collective.leftover();
            s.sent[t][me] = counts.bytes_sent() - before;
            if (me == 0) {
                s.regions[t] = collective.regions();
                s.thresholds[t] = collective.threshold();
            }
            s.messages[t] = counts.handed;
            inner.all_gather({});
            CHECK(collective.regions() == s.regions[t]);
            CHECK(collective.threshold() == s.thresholds[t]);
        }
    });
    return s;
}

// What is applied, from the ranks' sums, with the rules of the threshold written down once more.
template <class T>
std::vector<std::vector<double>> by_hand(std::vector<sv::lists<T>> const& rounds, std::size_t k, std::uint64_t every) {
    std::vector<std::vector<double>> applied;
    double threshold = 0;
    bool anew = false;
    for (std::size_t t = 0; t < rounds.size(); ++t) {
        auto sum = sv::sum_of(rounds[t]);
        std::vector<bool> there(sum.size());
        for (auto const& v : rounds[t])
            for (auto const i : v.support()) there[i] = true;
        std::size_t terms = 0;
        if (anew || t % every == 0) {
            std::vector<std::size_t> order(sum.size());
            std::iota(order.begin(), order.end(), std::size_t{0});
            std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
                return there[a] != there[b] ? there[a] > there[b] : std::abs(sum[a]) > std::abs(sum[b]);
            });
            auto const present = std::size_t(std::count(there.begin(), there.end(), true));
            threshold = present >= k ? std::abs(sum[order[k - 1]]) : 0;
            for (std::size_t j = k; j < order.size(); ++j) sum[order[j]] = 0;
            anew = false;
        } else {
            for (std::size_t i = 0; i < sum.size(); ++i) {
                if (there[i] && std::abs(sum[i]) >= threshold)
                    ++terms;
                else
                    sum[i] = 0;
            }
            anew = double(terms) > 2. * double(k) || double(terms) < .5 * double(k);
            if (double(terms) > 1.25 * double(k)) threshold *= 1.025;
            if (double(terms) < .8 * double(k)) threshold /= 1.025;
        }
        applied.push_back(sum);
    }
    return applied;
}

// Rounds whose scale and place change.
std::vector<sv::lists<double>> changing(std::size_t d, std::size_t k, int n, std::size_t count) {
    std::vector<sv::lists<double>> rounds;
    for (std::size_t t = 0; t < count; ++t) {
        rounds.emplace_back();
        for (auto const& v : sv::all_whole_numbers<double>(sv::shapes[t / 3 % 7], d, k, n, 5 + t)) {
            rounds.back().emplace_back(d);
            for (std::size_t j = 0; j < v.size(); ++j)
                rounds.back().back().append(v.support()[j], v.values()[j] * double(1 + t % 4));
        }
    }
    return rounds;
}

TEST_CASE("two ranks, by hand") {
    // Sums 5, 7, 1, -4, 2 at 0, 1, 3, 6, 7: the three largest. Half of what rank 0 brings is before 3, of rank 1 before
    // 7 (of two terms one before the second): the second region starts at 5.
    std::vector<sv::lists<double>> const rounds(
        2, {sv::of<double>(8, {{0, 5}, {1, 4}, {3, 1}, {6, -4}}), sv::of<double>(8, {{1, 3}, {7, 2}})});
    auto const s = hold(rounds, 3);
    for (auto const& v : s.applied[0]) CHECK(v == sv::of<double>(8, {{0, 5}, {1, 7}, {6, -4}}));
    CHECK(s.returned[0][0] == sv::of<double>(8, {{3, 1}}));
    CHECK(s.returned[0][1] == sv::of<double>(8, {{7, 2}}));
    CHECK(s.regions[0] == std::vector<std::uint64_t>{0, 5, 8});
    CHECK(s.thresholds == std::vector<double>{4, 4});
    CHECK(s.applied[1] == s.applied[0]);  // by the threshold: what reaches it
    CHECK(s.returned[1] == s.returned[0]);
}

TEST_CASE("the threshold follows how many pass, and is found anew where that is far off") {
    // One rank, of which n numbers are 10; the others are 1.
    auto const with = [](std::size_t n) {
        sv::lists<double> one(1, sparse_sum<double>(40));
        for (std::size_t i = 0; i < 40; ++i) one[0].append(i, i < n ? 10 : 1);
        return one;
    };
    auto const after = [&](std::size_t n) { return hold<double>({with(8), with(n), with(n)}, 8); };
    CHECK(after(10).thresholds == std::vector<double>{10, 10, 10});
    auto const more = after(11);  // more than 10: the next time none reaches it
    CHECK(more.thresholds == std::vector<double>{10, 10 * 1.025, 10 * 1.025 / 1.025});
    CHECK(more.applied[1][0].size() == 11);
    CHECK(more.applied[2][0].size() == 0);
    CHECK(more.returned[2][0].size() == 40);
    CHECK(after(7).thresholds == std::vector<double>{10, 10, 10});
    CHECK(after(6).thresholds == std::vector<double>{10, 10 / 1.025, 10 / 1.025 / 1.025});
    for (std::size_t const n : {3, 17}) {  // fewer than 4 and more than 16: anew
        auto const far = after(n);
        CHECK(far.applied[1][0].size() == n);
        CHECK(far.applied[2][0].size() == 8);
        CHECK(far.thresholds[2] == (n == 3 ? 1 : 10));
    }
    // And every third round, by request.
    CHECK(hold<double>({with(8), with(11), with(11), with(11)}, 8, {3, 1}).applied[3][0].size() == 8);
}

TEST_CASE("round after round of other supports and scales, for any number of ranks, as by hand, and nothing is lost") {
    std::size_t const d = 60, k = 9;
    for (int const n : {1, 2, 3, 7, 12})
        for (auto const how : {ok_top_k::reused_for{}, ok_top_k::reused_for{4, 3}, ok_top_k::reused_for{1, 1}}) {
            CAPTURE(n);
            auto const rounds = changing(d, k, n, 30);
            auto const s = hold(rounds, k, how);
            auto const expected = by_hand(rounds, k, how.threshold);
            for (std::size_t t = 0; t < rounds.size(); ++t) {
                CAPTURE(t);
                for (auto const& v : s.applied[t]) CHECK(v == s.applied[t][0]);
                CHECK(sv::dense(s.applied[t][0]) == expected[t]);
                auto everything = s.returned[t];  // whole numbers: conservation is exact
                everything.push_back(s.applied[t][0]);
                CHECK(sv::sum_of(everything) == sv::sum_of(rounds[t]));
            }
        }
}

TEST_CASE("regions start at the mean of quantiles, of which more than 2^32 are added up") {
    std::size_t const d = detail::largest_dimension;
    sv::lists<float> brought;
    for (std::size_t r = 0; r < 5; ++r) {
        brought.emplace_back(d);
        for (std::size_t i = 0; i < 10; ++i) brought.back().append(d - 100 + 10 * i + r, 1);
    }
    auto const s = hold<float>({brought, brought}, 50);
    CHECK(s.regions[0] == std::vector<std::uint64_t>{0, d - 78, d - 58, d - 38, d - 18, d});
    CHECK(s.applied[1][4].size() == 50);
    // Who brings nothing has equal parts.
    auto const nothing = hold<float>({sv::lists<float>(4, sparse_sum<float>(1000))}, 7);
    CHECK(nothing.regions[0] == std::vector<std::uint64_t>{0, 250, 500, 750, 1000});
    CHECK(nothing.applied[0][2].size() == 0);
}

TEST_CASE("regions spread what is crowded") {
    // All that ranks bring lies in the first tenth, where equal parts would leave all to rank 0.
    std::size_t const d = 4000, k = 100;
    std::vector<sv::lists<float>> rounds;
    for (std::uint64_t t = 0; t < 2; ++t)
        rounds.push_back(sv::all_whole_numbers<float>(sv::shape::crowded, d, k, 8, t + 1));
    auto const s = hold(rounds, k);
    CHECK(s.regions[0][7] < d / 10);
    auto const most = [&](std::size_t t) { return *std::max_element(s.sent[t].begin(), s.sent[t].end()); };
    CHECK(most(1) < most(0) / 2);
}

TEST_CASE("after an uneven round sums are dealt before they are gathered, and regions found anew") {
    std::size_t const d = 1600, k = 80;
    int const n = 8;
    auto const spread = sv::all_whole_numbers<float>(sv::shape::all, d, k, n);
    auto crowded = sv::lists<float>(8, sparse_sum<float>(d));
    for (auto& v : crowded)
        for (std::size_t i = 0; i < k; ++i) v.append(i, 4000);
    auto const s = hold<float>({spread, crowded, crowded, crowded}, k, {100, 100});
    CHECK(s.messages == std::vector<int>{7 + 3, 7 + 3, 7 + 3 + 7, 7 + 3});
    CHECK(s.regions[1] == s.regions[0]);
    CHECK(s.regions[2] == std::vector<std::uint64_t>{0, 10, 20, 30, 40, 50, 60, 70, d});
    for (std::size_t t = 1; t < 4; ++t)
        for (auto const& v : s.applied[t]) {
            CHECK(v.size() == k);
            CHECK(sv::dense(v) == sv::sum_of(crowded));
        }
    // In the first of these rounds those next to rank 0 pass on all that it has, in the second each hands on a share.
    auto const most = [&](std::size_t t) { return *std::max_element(s.sent[t].begin(), s.sent[t].end()); };
    CHECK(most(3) < most(1));
}

TEST_CASE("no terms at all, of no dimensions, and one rank") {
    for (int const n : {1, 2, 5}) {
        auto const none = hold<double>({sv::lists<double>(std::size_t(n), sparse_sum<double>(0)),
                                        sv::lists<double>(std::size_t(n), sparse_sum<double>(0))},
                                       0);
        CHECK(none.applied[1][0].dimension() == 0);
        auto const brought = sv::all_whole_numbers<double>(sv::shape::spread, 50, 9, n);
        auto const s = hold<double>({brought, brought}, 0);
        for (auto const& round : s.applied)
            for (auto const& v : round) CHECK(v.size() == 0);
        CHECK(s.returned[1] == brought);
    }
}

TEST_CASE("what is remembered can be saved, and the run goes on as if it had not stopped") {
    std::size_t const d = 60, k = 9;
    auto const rounds = changing(d, k, 5, 24);
    auto const whole = hold(rounds, k, {5, 7});
    for (std::size_t const stop : {0, 1, 5, 6, 7, 11, 23}) {
        sv::run_over<fibers>(5, [&](any_communicator& comm) {
            host on;
            auto const me = std::size_t(comm.rank());
            auto first = make_sum<double>(ok_top_k{k, {5, 7}}, d), second = make_sum<double>(ok_top_k{k, {5, 7}}, d);
            sparse_sum<double> v;
            for (std::size_t t = 0; t < stop; ++t) first(on, comm, v = rounds[t][me], t);
            wire::state_writer writer("this");
            first.state(writer);
            auto const saved = writer.finish();
            wire::state_reader reader(saved, "this", d);
            second.state(reader);
            reader.rewind();
            second.state(reader);
            for (std::size_t t = stop; t < rounds.size(); ++t) {
                second(on, comm, v = rounds[t][me], t);
                CHECK(v == whole.applied[t][me]);
                CHECK(second.regions() == whole.regions[t]);
            }
        });
    }
}

TEST_CASE("a state that is not that of the others, or of other ranks, is an error on all") {
    auto const saved = [](int n, std::uint64_t seed) {
        std::vector<std::byte> bytes;
        sv::run_over<fibers>(n, [&](any_communicator& comm) {
            host on;
            auto collective = make_sum<float>(ok_top_k{5}, 30);
            auto v = sv::whole_numbers<float>(sv::shape::spread, 30, 8, comm.rank(), n, seed);
            collective(on, comm, v);
            wire::state_writer writer("this");
            collective.state(writer);
            if (comm.rank() == 0) bytes = writer.finish();
        });
        return bytes;
    };
    auto const go_on = [&](auto state_of) {
        return sv::errors_on(3, [&](auto& comm) {
            host on;
            auto collective = make_sum<float>(ok_top_k{5}, 30);
            auto const bytes = state_of(comm.rank());
            wire::state_reader reader(bytes, "this");
            collective.state(reader);
            reader.rewind();
            collective.state(reader);
            auto v = sv::whole_numbers<float>(sv::shape::spread, 30, 8, comm.rank(), 3);
            collective(on, comm, v);
        });
    };
    CHECK(go_on([&](int) { return saved(3, 1); }) == std::vector<std::string>(3, "none"));
    for (auto const& text : go_on([&](int r) { return saved(3, r == 1 ? 2 : 1); }))
        CHECK(text.find("it remembers other regions, or another threshold") != std::string::npos);
    CHECK(go_on([&](int) { return saved(4, 1); }) ==
          std::vector<std::string>(3, "this state is not of 3 ranks and 30 numbers"));
}

TEST_CASE("numbers of rounds that are none") {
    CHECK_THROWS_AS((make_sum<float>(ok_top_k{4, {0, 1}}, 9)), argument_error);
    CHECK_THROWS_AS((make_sum<float>(ok_top_k{4, {1, 0}}, 9)), argument_error);
}
