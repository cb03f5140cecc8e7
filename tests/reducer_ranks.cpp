// SPDX-License-Identifier: Apache-2.0
// A reducer goes on with another number of ranks, its mean residual and mean shift kept.
#include "laconic/comm/fibers.hpp"
#include "support/error_of.hpp"
#include "support/everything.hpp"

using states = std::vector<std::vector<std::byte>>;
using vectors = std::vector<std::vector<double>>;

std::vector<layer> const layers{{"a", 20}, {"b", 30}};

std::vector<double> gradient(int rank, int step, std::size_t size) {
    std::vector<double> g(size);
    auto const k = key{77}.child(std::uint64_t(rank)).child(std::uint64_t(step)).child(size);
    for (std::size_t i = 0; i < size; ++i) g[i] = 60 * std::round(16 * (2 * k.uniform(i) - 1));  // sums are exact
    return g;
}

// Starts the second layer once `between` is done.
template <class Reducer>
void take_step(
    Reducer& reduce, int rank, int k, std::function<void()> const& between = [] {}) {
    auto a = gradient(rank, k, 20), b = gradient(rank, k, 30);
    reduce.start(0, a);
    between();
    reduce.start(1, b);
    reduce.finish();
}

// What n ranks have after some steps from these states on: their states, and the means of residuals and of shifts.
struct outcome {
    states saved;
    vectors mean_residual, mean_shift, mean_shift_kept;
};
template <class How>
outcome steps(int n, How const& how, int count, states const& from) {
    outcome all{states(std::size_t(n)), vectors(2), vectors(2), vectors(2)};
    fibers::run(n, [&](fibers::member& comm) {
        reducer<How, fibers::member, double> reduce(how, comm, layers, {.seed = 0});
        if (!from.empty()) reduce.restore(from);
        for (int k = 0; k < count; ++k) take_step(reduce, comm.rank(), k);
        all.saved[std::size_t(comm.rank())] = reduce.save();
        for (std::size_t l = 0; l < 2; ++l) {
            auto const& f = reduce.layers()[l].feedback();
            auto const add = [&](auto const& x, auto& sum) {
                sum.resize(x.size());
                for (std::size_t i = 0; i < x.size(); ++i) sum[i] += x[i] / n;
            };
            add(f.residual(), all.mean_residual[l]);
            add(f.shift(), all.mean_shift[l]);
            all.mean_shift_kept[l].assign(f.mean_shift().begin(), f.mean_shift().end());
        }
    });
    return all;
}

TEST_CASE("restored on another number of ranks, the mean residual and the mean shift are kept: 4 to 2 to 8, 3 to 5") {
    auto const check = [](auto const& how, bool exact) {
        auto const same = [&](vectors const& a, vectors const& b) {
            for (std::size_t l = 0; l < 2; ++l) {
                REQUIRE(a[l].size() == b[l].size());
                for (std::size_t i = 0; i < a[l].size(); ++i)
                    if (exact)
                        CHECK(a[l][i] == b[l][i]);
                    else
                        CHECK(a[l][i] == doctest::Approx(b[l][i]).epsilon(1e-13));
            }
        };
        for (auto const& way : {std::vector<int>{4, 2, 8}, std::vector<int>{3, 5}}) {
            auto now = steps(way[0], how, 6, {});
            for (std::size_t w = 1; w < way.size(); ++w) {
                auto const next = steps(way[w], how, 0, now.saved);
                same(next.mean_residual, now.mean_residual);
                same(next.mean_shift, now.mean_shift);
                same(next.mean_shift_kept, next.mean_shift);
                now = next;
            }
            auto const later = steps(way.back(), how, 5, now.saved);
            same(later.mean_shift_kept, later.mean_shift);
        }
    };
    check(error_feedback{top_k{4}}, true);
    check(ef21_shift{top_k{4}}, true);
    check(error_feedback{top_k{4}, 0.5}, true);
    check(shifted{rand_k{0.5}}, false);
    check(error_feedback{top_k{4}, 1, ok_top_k{0.1}}, true);
}

TEST_CASE("states that do not belong together are refused, and nothing has changed") {
    auto const saved = steps(3, error_feedback{top_k{4}}, 4, {}).saved;
    fibers::run(2, [&](fibers::member& comm) {
        reducer<error_feedback<top_k<>>, fibers::member, double> reduce(error_feedback{top_k{4}}, comm, layers);
        auto const before = reduce.save();
        auto wrong = saved;
        std::swap(wrong[0], wrong[1]);
        CHECK_THROWS_AS(reduce.restore(wrong), shape_error);
        wrong = saved;
        wrong.pop_back();
        CHECK_THROWS_AS(reduce.restore(wrong), shape_error);
        wrong = saved;
        wrong[2][wrong[2].size() / 2] ^= std::byte{4};
        CHECK_THROWS_AS(reduce.restore(wrong), wire_error);
        CHECK_THROWS_AS(reduce.restore(states{}), argument_error);
        CHECK(reduce.save() == before);
    });
}

TEST_CASE("after a comm_error the ranks that are left go on with rebind, and the mean shift is theirs") {
    auto const check = [](auto const& how) {
        using how_type = std::decay_t<decltype(how)>;
        using reducer_type = reducer<how_type, threads::member, double>;
        std::vector<std::unique_ptr<reducer_type>> kept(3);
        CHECK_THROWS_AS(threads::run(3,
                                     [&](threads::member& comm) {
                                         auto const r = std::size_t(comm.rank());
                                         kept[r] = std::make_unique<reducer_type>(how, comm, layers,
                                                                                  reducer_options{.seed = 0});
                                         for (int k = 0; k < 5; ++k)
                                             take_step(*kept[r], comm.rank(), k, [&] {
                                                 if (k == 4 && r == 1) throw std::runtime_error("lost");
                                             });
                                     }),
                        std::runtime_error);
        kept.erase(kept.begin() + 1);
        threads::run(2, [&](threads::member& comm) {
            auto& reduce = *kept[std::size_t(comm.rank())];
            reduce.rebind(comm);
            CHECK(reduce.steps() == 4);
            for (int k = 5; k < 8; ++k) take_step(reduce, comm.rank(), k);
            CHECK(reduce.steps() == 7);
        });
        for (std::size_t l = 0; l < 2; ++l)
            for (std::size_t i = 0; i < kept[0]->layers()[l].feedback().shift().size(); ++i) {
                auto const& f = kept[0]->layers()[l].feedback();
                auto const& g = kept[1]->layers()[l].feedback();
                CHECK(f.mean_shift()[i] == doctest::Approx((f.shift()[i] + g.shift()[i]) / 2).epsilon(1e-12));
                CHECK(f.mean_shift()[i] == g.mean_shift()[i]);
            }
    };
    check(error_feedback{top_k{4}});
    check(ef21_shift{top_k{4}});
}

TEST_CASE("a rank that joins by rebind gets the common momentum, as does one that is behind") {
    auto const how = error_feedback{top_k{4}, 1, gather_all{}, .5, false, true};
    using reducer_type = reducer<std::remove_cv_t<decltype(how)>, threads::member, double>;
    std::vector<std::unique_ptr<reducer_type>> kept(3);
    for (int const among : {1, 2})  // rank 2 alone, then 0 and 1
        threads::run(among, [&](threads::member& comm) {
            auto const r = among == 1 ? 2 : std::size_t(comm.rank());
            kept[r] = std::make_unique<reducer_type>(how, comm, layers, reducer_options{.seed = 0});
            for (int k = 0; k < (among == 1 ? 1 : 4); ++k) take_step(*kept[r], comm.rank(), k);
        });
    std::swap(kept[0], kept[2]);  // who joins comes first
    auto const momentum = [&](std::size_t r, std::size_t l) {
        auto const u = kept[r]->layers()[l].feedback().momentum();
        return std::vector<double>(u.begin(), u.end());
    };
    std::vector<std::vector<double>> const before{momentum(1, 0), momentum(1, 1)};
    CHECK(momentum(0, 0) != before[0]);
    threads::run(3, [&](threads::member& comm) {
        auto const r = std::size_t(comm.rank());
        kept[r]->rebind(comm);
        CHECK(kept[r]->steps() == 4);
        for (std::size_t l = 0; l < 2; ++l) CHECK(momentum(r, l) == before[l]);
        take_step(*kept[r], comm.rank(), 5);
    });
    for (std::size_t r : {1u, 2u}) CHECK(momentum(r, 0) == momentum(0, 0));
}

TEST_CASE_TEMPLATE("a rank that destroys its reducer in mid-step is named to the others, which go on in another run",
                   engine, threads, fibers) {
    using how_type = error_feedback<top_k<>>;
    using reducer_type = reducer<how_type, typename engine::member, double>;
    std::vector<std::unique_ptr<reducer_type>> kept(3);
    std::vector<std::string> why(3), again(3);
    engine::run(3, [&](typename engine::member& comm) {
        auto const r = std::size_t(comm.rank());
        kept[r] = std::make_unique<reducer_type>(how_type{top_k{4}}, comm, layers);
        auto const step = [&](bool leaves) {
            auto a = gradient(comm.rank(), 0, 20), b = gradient(comm.rank(), 0, 30);
            kept[r]->start(0, a);
            if (leaves) return kept[r].reset();
            kept[r]->start(1, b);
            kept[r]->finish();
        };
        step(false);
        why[r] = error_of<comm_error>([&] { step(r == 1), comm.all_gather({}); });
        again[r] = error_of<comm_error>([&] {  // not in this run
            kept[r] ? kept[r]->rebind(comm) : comm.all_gather({});
        });
    });
    std::string const left = "rank 1 has ended, while others wait for it: all ranks must make the same calls";
    for (auto const& text : why) CHECK(text.ends_with(left));  // after the layers that a reducer waited for
    CHECK(again == std::vector(3, left));
    kept.erase(kept.begin() + 1);
    engine::run(2, [&](typename engine::member& comm) {
        auto& reduce = *kept[std::size_t(comm.rank())];
        reduce.rebind(comm);
        take_step(reduce, comm.rank(), 1);
        CHECK(reduce.steps() == 2);
    });
}
