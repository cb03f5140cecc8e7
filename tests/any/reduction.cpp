// SPDX-License-Identifier: Apache-2.0
// A reduction chosen at run time gives the estimates and bytes of its type, and refuses what no theorem covers.
#include "laconic/any/reduction.hpp"

#include "laconic/comm/fibers.hpp"
#include "named_reductions.hpp"
#include "support/error_of.hpp"
#include "support/everything.hpp"

static_assert(Reduction<any_reduction<>> && Reduction<any_reduction<double>, double>);

std::vector<float> gradient(int rank, int step) {
    std::vector<float> g(40);
    auto const k = key{3}.child(std::uint64_t(rank)).child(std::uint64_t(step));
    for (std::size_t i = 0; i < g.size(); ++i) g[i] = float(2 * k.uniform(i) - 1);
    return g;
}

// The estimates and the bytes of some steps.
std::vector<std::vector<float>> steps(auto make) {
    std::vector<std::vector<float>> all;
    std::vector<float> bytes;
    fibers::run(3, [&](fibers::member& comm) {
        auto const reduce = make(comm);
        for (int k = 0; k < 10; ++k) {
            auto g = gradient(comm.rank(), k);
            (*reduce)(g);
            if (comm.rank() == 0) all.push_back(g);
        }
        if (comm.rank() == 1) bytes.push_back(float(reduce->statistics().bytes_sent));
    });
    all.push_back(bytes);
    return all;
}

TEST_CASE("a reduction that is chosen while the program runs does what its type would, to the byte") {
    auto const same = [](auto const& how) {
        std::string const text = to_string(how);
        CAPTURE(text);
        using how_type = std::decay_t<decltype(how)>;
        reducer_options const seeded{.seed = 0};
        auto const right = steps([&](fibers::member& comm) {
            return std::make_unique<reducer<how_type, fibers::member>>(how, comm, std::size_t{40}, seeded);
        });
        CHECK(steps([&](fibers::member& comm) {
                  return std::make_unique<reducer<any_reduction<>, fibers::member>>(any_reduction<>(how), comm,
                                                                                    std::size_t{40}, seeded);
              }) == right);
        CHECK(steps([&](fibers::member& comm) {
                  return std::make_unique<reducer<any_reduction<>, fibers::member>>(parse_reduction(text), comm,
                                                                                    std::size_t{40}, seeded);
              }) == right);
        CHECK(to_string(any_reduction<>(how)) == text);
        CHECK(to_string(parse_reduction(text)) == text);
    };
    same(plain{});
    same(error_feedback{top_k{4} | natural{}, 0.5});
    same(error_feedback{top_k{4}, 1, gtop_k{4}});
    same(shifted{rand_k{4}});
    same(ef21_shift{top_k{4}});
    same(majority_vote{});
    same(unproved{plain{top_k{4}}});
    same(unproved{loco{block_float{block_format::int4}, block_float{block_format::int8}, .75, 4}});
    same(plain{quantize{4}, robust{robust_rules::trimmed_mean{1}}});
    same(plain{dct<>{4} | natural{}, robust{robust_rules::coordinate_median{}}});
    same(error_feedback{dct<>{8} | top_k{4}, .9, robust{robust_rules::mean_over_senders{}, true}});
}

TEST_CASE("only a reduction that finishes the estimate says so, inside unproved{...}, too") {
    auto const finishes = [](any_reduction<> const& how) {
        CHECK(any_reduction<>(unproved{how}).finishes_estimate() == how.finishes_estimate());
        return how.finishes_estimate();
    };
    CHECK(finishes(majority_vote{}));
    CHECK_FALSE(finishes(plain{}));
    CHECK_FALSE(finishes(parse_reduction("unproved(plain(top_k(4)))")));
}

TEST_CASE(
    "layers that share a message have the estimates of each alone, where the reduction is chosen at run time, too") {
    std::vector<layer> const layers{{"a", 20}, {"b", 20}};
    auto const how = error_feedback{top_k{4}};
    fibers::run(2, [&](fibers::member& comm) {
        reducer<error_feedback<top_k<>>, fibers::member> alone(how, comm, layers, {.seed = 0, .share_below = 0});
        reducer<any_reduction<>, fibers::member> chosen(any_reduction<>(how), comm, layers, {.seed = 0});
        for (int step = 0; step < 3; ++step) {
            std::vector<float> a = gradient(comm.rank(), step), b = a;
            auto const reduce = [](auto& by, std::vector<float>& g) {
                by.start(0, std::span(g).first(20));
                by.start(1, std::span(g).last(20));
                by.finish();
            };
            reduce(alone, a);
            reduce(chosen, b);
            CHECK(a == b);
        }
    });
}

TEST_CASE("reducers, wrappers and loops keep a copy of a handle, which the caller then uses for another") {
    struct engine {  // one rank, which counts its calls
        int calls = 0;
        payload sent{};
        int rank() const { return 0; }
        int size() const { return 1; }
        void all_gather(payload mine) { ++calls, sent = mine; }
        void gather(int, payload mine) { all_gather(mine); }
        void broadcast(int, payload mine) { all_gather(mine); }
        payload from(int) const { return sent; }
        payload exchange(int, payload mine, int) {
            all_gather(mine);
            return mine;
        }
    };
    auto const stays = [](auto make, auto use) {
        engine first, second;
        any_communicator handle(first);
        auto made = make(handle);
        handle = second;
        first.calls = 0;
        use(*made);
        CHECK(first.calls > 0);
        CHECK(second.calls == 0);
        return made;
    };
    auto const how = parse_reduction("error_feedback(top_k(0.1))");
    std::vector<float> g(40, 1.f);
    engine next, unused;
    auto const use = [&](auto& reduce) { reduce(g); };
    auto const reduce = stays([&](auto& c) { return std::make_unique<any_reducer<>>(how, c, std::size_t{40}); }, use);
    {
        any_communicator handle(next);
        reduce->rebind(handle);
        handle = unused;
        next.calls = 0;
        (*reduce)(g);
        CHECK(next.calls > 0);
    }
    using over_nodes = hierarchy<any_communicator, any_communicator>;
    auto const nodes = stays(
        [&](auto& c) {
            return std::make_unique<reducer<any_reduction<>, over_nodes>>(how, over_nodes{c, c}, std::size_t{40});
        },
        use);
    {
        any_communicator inside(next), across(next);
        nodes->rebind(hierarchy{inside, across});
        inside = across = unused;
        next.calls = 0;
        (*nodes)(g);
        CHECK(next.calls > 0);
    }
    CHECK(unused.calls == 0);
    auto const gathers = [](auto& c) { c.all_gather({}); };
    stays([](auto& c) { return std::make_unique<metered<any_communicator>>(c); }, gathers);
    stays([](auto& c) { return std::make_unique<recorded<any_communicator>>(c); }, gathers);
    stays([](auto& c) { return std::make_unique<delayed<any_communicator>>(c, network{}); }, gathers);
}

TEST_CASE("a reduction whose transport has a server, chosen at run time, is refused") {
    fibers::run(1, [](fibers::member& comm) {
        any_transport<float> const server = served<identity, float>{};
        CHECK_THROWS_WITH_AS(reducer(plain<identity, any_transport<float>>{{}, server}, comm, std::size_t{4}),
                             "a reducer has no server: served(identity, memory(rate=0))", argument_error);
        reducer(plain<identity, any_transport<float>>{{}, gather_all{}}, comm, std::size_t{4});
    });
}

TEST_CASE("what no theorem covers is refused when a reducer is made, unless unproved stands around it") {
    auto const reason = [](any_reduction<> const& how) {
        std::string text;
        fibers::run(1, [&](fibers::member& comm) {
            try {
                reducer(how, comm, std::size_t{40});
            } catch (theory_error const& e) {
                text = e.what();
            }
        });
        return text;
    };
    CHECK(reason(parse_reduction("plain(top_k(4))")).starts_with("plain{top_k(4)}: the compressor is biased"));
    for (auto const* const text : {"shifted(top_k(4))", "unproved(shifted(top_k(4)))"})
        CHECK(reason(parse_reduction(text)) ==
              "shifted{top_k(4)}: the compressor is biased, so that errors add up; take error_feedback{...} or "
              "ef21_shift{...}");
    CHECK(reason(parse_reduction("error_feedback(rand_k(4))")).find("scaled_down") != std::string::npos);
    CHECK(reason(plain<top_k<>>{top_k{4}}) ==
          "no theorem covers plain(top_k(4)): unproved(plain(top_k(4))) takes it as it is");
    CHECK(reason(parse_reduction("unproved(plain(top_k(4)))")).empty());
    CHECK(reason(parse_reduction("loco(top_k(4), bf16)")).find("unproved(loco(top_k(4), bf16)) takes it") !=
          std::string::npos);
}

TEST_CASE("of ranks in one process long vectors in full have the same mean, chosen at run time or not") {
    std::size_t const d = 40000;
    threads::run(2, [d](auto& comm) {
        auto const same = [&](auto const& how) {
            reducer right(how, comm, d);
            reducer chosen(any_reduction<>(how), comm, d);
            for (int step = 1; step <= 2; ++step) {
                std::vector<float> g(d);
                for (std::size_t j = 0; j < d; ++j) g[j] = float(step) + float(j % 100) + float(comm.rank());
                auto mine = g;
                right(g), chosen(mine);
                CHECK(g[1] == float(step) + 1.5f);
                CHECK(mine == g);
            }
        };
        same(plain{});
        same(error_feedback{identity{}});
        same(plain{any_compressor<float>(identity{})});
    });
}

TEST_CASE("small layers next to each other have a rule's estimate, too") {
    fibers::run(5, [](fibers::member& comm) {
        reducer reduce(parse_reduction("plain(over=robust(coordinate_median))"), comm,
                       std::vector<layer>{{"a", 40}, {"b", 40}});
        std::vector<float> a(40, comm.rank() == 3 ? 1e6f : float(comm.rank())), b = a;
        reduce.start(0, a), reduce.start(1, b), reduce.finish();
        CHECK(a == std::vector<float>(40, 2));
        CHECK(b == a);
    });
}

TEST_CASE(
    "a rule counts ranks: weights beside it are refused, and what it remembers changes with a step that succeeds") {
    fibers::run(4, [](fibers::member& comm) {
        reducer by_median(parse_reduction("plain(natural, over=robust(coordinate_median))"), comm, std::size_t{40},
                          {.steps_vary = true});
        auto g = gradient(comm.rank(), 0);
        by_median(g, {.weight = 2});
        CHECK(error_of<compression_error>([&] { by_median(g, {.weight = comm.rank() + 1.}); }).find("counts ranks") !=
              std::string::npos);
        reducer clipped(plain{identity{}, robust{robust_rules::centered_clip{.5}}}, comm,
                        std::vector<layer>{{"a", 40}, {"b", 40}});
        auto const both = [&](float last) {
            auto a = gradient(comm.rank(), 1), b = gradient(comm.rank(), 2);
            b.back() += last;
            clipped.start(0, a), clipped.start(1, b), clipped.finish();
        };
        both(0);
        auto const before = clipped.save();
        CHECK_THROWS_AS(both(std::numeric_limits<float>::infinity()), error);
        CHECK(clipped.save() == before);
        both(0);
        CHECK(clipped.save() != before);
    });
}

TEST_CASE("beside a residual a rule must be asked for, and it suits the number of ranks, also of those that are left") {
    fibers::run(5, [](fibers::member& comm) {
        auto const make = [&](char const* text) { return reducer(parse_reduction(text), comm, std::size_t{40}); };
        CHECK_THROWS_WITH_AS(make("error_feedback(top_k(4), over=robust(coordinate_median))"),
                             doctest::Contains("beside_memory"), argument_error);
        CHECK_THROWS_AS(make("ef21_shift(top_k(4), over=robust(krum(1)))"), argument_error);
        CHECK_THROWS_AS(make("unproved(loco(top_k(4), natural, over=robust(krum(1))))"), argument_error);
        CHECK_THROWS_AS(make("plain(top_k(4), over=robust(krum(1)))"), theory_error);
        CHECK_THROWS_AS(make("plain(natural, over=robust(krum(2)))"), argument_error);
        auto reduce = make("plain(natural, over=robust(krum(1)))");
        auto g = gradient(comm.rank(), 0);
        reduce(g);
        auto left = comm.split(comm.rank() == 4, 0);
        if (comm.rank() < 4) CHECK_THROWS_AS(reduce.rebind(left), argument_error);
    });
}

TEST_CASE("rebound to fewer ranks, every collective goes on and loses nothing, also what remembers the ranks it had") {
    constexpr std::size_t d = 200;
    for (auto const& listed : list_collectives()) {
        if (listed.name == "engine_all_reduce") continue;  // fibers have none; it remembers nothing
        if (listed.name == "robust") continue;             // it makes no mean
        CAPTURE(listed.name);
        std::string const fields =
            listed.name == "ok_top_k" || listed.name == "gtop_k" || listed.name == "spar_reduce_scatter" ? "(10)"
            : listed.name == "auto"             ? "(latency=1e-5, seconds_per_bit=1e-9, every=100)"
            : listed.name == "split_all_gather" ? "(quantize(7))"
            : listed.name == "two_shot"         ? "(scaled_sign)"
            : listed.name == "arc_top_k"        ? "(rows=20, k=4)"
            : listed.name == "shared_factors"   ? "(rows=20, refresh=2)"
                                                : "";
        auto const how = parse_reduction("error_feedback(top_k(20), over=" + std::string(listed.name) + fields + ")");
        fibers::run(4, [&](fibers::member& comm) {
            reducer<any_reduction<>, fibers::member> reduce(how, comm, d);
            auto const grad = [&](int step) {
                std::vector<float> g(d);
                auto const from = key{8}.child(std::uint64_t(comm.rank())).child(std::uint64_t(step));
                for (std::size_t i = 0; i < d; ++i) g[i] = float(2 * from.uniform(i) - 1);
                return g;
            };
            for (int k = 0; k < 3; ++k) {
                auto g = grad(k);
                reduce(g);
            }
            auto left = comm.split(comm.rank() / 3, 0);
            if (comm.rank() == 3) return;
            reduce.rebind(left);
            reducer exact(plain{}, left, d);
            auto const mean = [&](std::vector<float> x) {
                exact(x);
                return x;
            };
            auto const residual = [&] {
                auto const e = reduce.layers()[0].feedback().residual();
                return std::vector<float>(e.begin(), e.end());
            };
            auto waits = mean(residual());
            for (int k = 3; k < 6; ++k) {
                auto g = grad(k);
                auto const all = mean(g);
                reduce(g);
                auto const after = mean(residual());
                for (std::size_t i = 0; i < d; ++i)
                    CHECK(g[i] + after[i] == doctest::Approx(waits[i] + all[i]).epsilon(1e-3));
                waits = after;
            }
            CHECK(reduce.steps() == 6);
        });
    }
}
