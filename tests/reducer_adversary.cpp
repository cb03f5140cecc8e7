// SPDX-License-Identifier: Apache-2.0
// Where one rank fails or drops alone, or comes from another step, a reducer throws, and no rank waits for ever.
#include <new>

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/passed_on.hpp"
#include "support/reducing.hpp"

using namespace reducing;

// A rank's communicator, whose from() a test may change, and whose finish() it may make fail.
struct changed : passed_on<fibers::member> {
    std::function<payload(int rank, payload)> seen = [](int, payload c) { return c; };
    std::function<void()> before_finish = [] {};

    void start_all_gather(payload mine, int lane = 0) { inner->start_all_gather(mine, lane); }
    void finish(int lane = 0) {
        before_finish();
        inner->finish(lane);
    }
    payload from(int r) const { return seen(r, inner->from(r)); }
    payload exchange(int to, payload mine, int from) { return inner->exchange(to, mine, from); }
};

// top_k that wants numbers.
struct fussy : top_k<> {
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, message<T, B>& m) const {
        if (std::all_of(x.begin(), x.end(), [](T v) { return v == 0; })) throw std::runtime_error("zeros");
        top_k<>::operator()(on, x, from, m);
    }
};

// Error feedback whose memory cannot be added up.
struct not_added : error_feedback<top_k<>> {
    template <Scalar T, class B>
    struct own_memory : memory<T, B> {
        using memory<T, B>::memory;
        void add() = delete;
    };
    template <Scalar T, class B>
    own_memory<T, B> feedback(std::size_t) const {
        return {0, 1};
    }
};

TEST_CASE("a compressor that fails on an absent layer's zeros is an error on all ranks") {
    std::vector<std::size_t> const sizes{9, 8, 7};
    for (std::size_t const share_below : {std::size_t{0}, std::size_t{4096}})
        fibers::run(3, [&](fibers::member& comm) {
            reducer reduce(unproved{plain{fussy{top_k{2}}}}, comm, sizes,
                           {.missing_layer = on_missing_layer::zero, .share_below = share_below});
            auto g = gradients(comm.rank(), 0, sizes);
            whole_step(reduce, g);
            auto const step = [&](bool without) {
                auto h = gradients(comm.rank(), 1, sizes);
                auto const before = h;
                auto const text = error_of([&] {
                    reduce.bind(1, h[1]);
                    reduce.start(2, h[2]);
                    if (!without) reduce.start(1, h[1]);
                    reduce.start(0, h[0]);
                    reduce.finish();
                });
                if (text != "nothing") CHECK(h == before);
                return text;
            };
            CHECK(step(comm.rank() == 1) == "rank 1, round 1: layer 1: zeros");
            CHECK(step(false) == "nothing");
            CHECK(reduce.steps() == 2);
        });
}

TEST_CASE(
    "one rank alone cannot read a message, or has no memory to, while others are still to be sent: no rank waits") {
    std::vector<std::size_t> const sizes(20, 6);
    for (bool const no_memory : {false, true})
        for (int const when : {0, 3, 7, 8, 11, 12, 19}) {
            CAPTURE(when);
            fibers::run(3, [&](fibers::member& inner) {
                changed comm{{&inner}};
                int message = -1;
                bool damages = false;
                static std::byte const nonsense[] = {std::byte{255}};
                comm.before_finish = [&] { ++message; };
                comm.seen = [&](int r, payload c) -> payload {
                    if (!damages || r != 0 || message != when) return c;
                    if (no_memory) throw std::bad_alloc();
                    return {nonsense, false};
                };
                reducer reduce(error_feedback{top_k{2}}, comm, sizes, {.share_below = 0});
                auto g = gradients(inner.rank(), 0, sizes);
                whole_step(reduce, g);
                auto const state = reduce.save();
                message = -1;
                damages = inner.rank() == 2;
                auto h = gradients(inner.rank(), 1, sizes);
                auto const before = h;
                std::string text;
                try {
                    text = error_of([&] { whole_step(reduce, h); });
                } catch (std::bad_alloc const&) {
                    text = "no memory";
                }
                if (inner.rank() == 2) {
                    if (no_memory) CHECK(text == "no memory");
                    CHECK(text != "nothing");
                    CHECK(h == before);
                } else if (when < 12) {  // a message is left that carries delta
                    CHECK(text.find(no_memory ? ": rank 2 failed: " : ": from rank 0: ") != text.npos);
                    CHECK(h == before);
                } else {
                    CHECK(text == "nothing");
                }
                damages = false;
                reduce.restore(state);
                auto again = gradients(inner.rank(), 1, sizes);
                whole_step(reduce, again);
                CHECK(reduce.steps() == 2);
            });
        }
}

TEST_CASE(
    "one rank drops alone after a layer in another order, or in the first step, or where steps vary: the others get an "
    "error") {
    std::vector<std::size_t> const sizes{9, 8, 7};
    fibers::run(3, [&](fibers::member& comm) {
        reducer reduce(error_feedback{top_k{2}}, comm, sizes);
        auto g = gradients(comm.rank(), 0, sizes);
        whole_step(reduce, g);
        if (comm.rank() == 1) {
            reduce.start(0, g[0]);  // which is the last, and waits for the others
            reduce.drop();
        } else {
            CHECK(error_of([&] { whole_step(reduce, g); }) == "rank 1, round 1: the step was dropped there");
        }
        whole_step(reduce, g);
        CHECK(reduce.steps() == 2);
    });
    for (int const kind : {0, 1, 2})
        fibers::run(3, [&](fibers::member& comm) {
            int const first = kind / 2;
            reducer reduce(error_feedback{top_k{2}}, comm, sizes, {.steps_vary = kind != 0});
            auto g = gradients(comm.rank(), 0, sizes);
            for (int k = 0; k < first; ++k) whole_step(reduce, g);
            if (comm.rank() == 1) {
                reduce.start(2, g[2]);
                reduce.drop();
            } else {
                CHECK(error_of([&] { whole_step(reduce, g); }).find("the step was dropped there") != std::string::npos);
            }
            whole_step(reduce, g);
            CHECK(reduce.steps() == std::uint64_t(1 + first));
        });
}

TEST_CASE(
    "a rank that sends no weight or no digests is named, in finish() and not in start(), and nothing has changed") {
    struct row {
        reducer_options options;
        std::size_t bytes, left;  // of those messages, and of what comes of them
        char const* text;
    };
    for (row const& is :
         {row{{.steps_vary = true}, 16, 0, "rank 1 sent 0 bytes in place of its weight, of 16 bytes"},
          row{{.verify_every = 1}, 4 * 8, 3, "rank 1 sent 3 bytes in place of a digest of each layer, of 32 bytes"}})
        fibers::run(3, [&](fibers::member& inner) {
            std::vector<std::size_t> const sizes{5, 6, 7};
            changed comm{{&inner}};
            bool damages = false;
            reducer reduce(plain{}, comm, sizes, is.options);
            comm.seen = [&](int r, payload c) {
                return damages && r > 0 && c.bytes.size() == is.bytes ? payload{c.bytes.first(is.left)} : c;
            };
            auto g = gradients(inner.rank(), 0, sizes);
            whole_step(reduce, g);
            damages = true;
            auto const before = g;
            for (std::size_t const l : {2u, 1u, 0u}) CHECK_NOTHROW(reduce.start(l, g[l]));
            CHECK(error_of([&] { reduce.finish(); }) ==
                  is.text + std::string(": all ranks must make the same calls in the same order"));
            CHECK(g == before);
            damages = false;
            whole_step(reduce, g);
            CHECK(reduce.steps() == 2);
        });
}

TEST_CASE("probes and comparisons leave out layers that are skipped") {
    std::vector<std::size_t> const sizes{9, 8, 7};
    fibers::run(2, [&](fibers::member& comm) {
        reducer reduce(plain{}, comm, sizes,
                       {.missing_layer = on_missing_layer::skip, .probe_every = 1, .verify_every = 1});
        for (int k = 0; k < 3; ++k) {
            auto g = gradients(comm.rank(), k, sizes);
            if (k == 1) {
                reduce.start(2, g[2]), reduce.start(0, g[0]);
                reduce.finish();
            } else {
                whole_step(reduce, g);
            }
            double squared = 0;
            for (std::size_t l = 0; l < 3; ++l)
                for (std::size_t i = 0; i < sizes[l] && (l != 1 || k != 1); ++i) squared += double(g[l][i]) * g[l][i];
            auto const p = reduce.statistics().last_probe;
            CHECK(p.relative_error < 1e-6);  // all is sent
            CHECK(p.cosine == doctest::Approx(1));
            CHECK(p.gradient_norm == doctest::Approx(std::sqrt(squared)).epsilon(1e-6));
        }
    });
}

TEST_CASE("states of different steps are refused: by the restore of all, and else by the first step") {
    for (std::vector<std::size_t> const& sizes : {std::vector<std::size_t>{30}, std::vector<std::size_t>{9, 8}}) {
        std::vector<states> at;  // after each step
        at.resize(3, states(2));
        fibers::run(2, [&](fibers::member& comm) {
            reducer reduce(shifted{rand_k{2}}, comm, sizes, {.seed = 0});
            for (int k = 0; k < 3; ++k) {
                auto g = gradients(comm.rank(), k, sizes);
                whole_step(reduce, g);
                at[std::size_t(k)][std::size_t(comm.rank())] = reduce.save();
            }
        });
        states const mixed{at[2][0], at[1][1]};
        fibers::run(3, [&](fibers::member& comm) {
            reducer reduce(shifted{rand_k{2}}, comm, sizes, {.seed = 0});
            auto const before = reduce.save();
            CHECK(error_of([&] { reduce.restore(mixed); }) == "rank 1's state is of step 2, rank 0's of step 3");
            CHECK(reduce.save() == before);
            reduce.restore(at[2]);
            CHECK(reduce.steps() == 3);
        });
        fibers::run(2, [&](fibers::member& comm) {
            reducer reduce(shifted{rand_k{2}}, comm, sizes, {.seed = 0});
            CHECK(error_of([&] { reduce.restore(mixed); }) == "rank 1's state is of step 2, rank 0's of step 3");
            reduce.restore(std::span<std::byte const>(mixed[std::size_t(comm.rank())]));
            auto g = gradients(comm.rank(), 3, sizes);
            auto const before = g;
            CHECK(error_of([&] { whole_step(reduce, g); }) ==
                  "ranks disagree: rank 0 has \"the steps so far: 3\", rank 1 has \"the steps so far: 2\"");
            CHECK(g == before);
            reduce.restore(std::span<std::byte const>(at[2][std::size_t(comm.rank())]));
            whole_step(reduce, g);
            CHECK(reduce.steps() == 4);
        });
        fibers::run(2, [&](fibers::member& comm) {  // one rank is not restored
            reducer reduce(shifted{rand_k{2}}, comm, sizes, {.seed = 0});
            if (comm.rank() == 0) reduce.restore(std::span<std::byte const>(at[2][0]));
            auto g = gradients(comm.rank(), 3, sizes);
            auto const before = g;
            CHECK(error_of([&] { whole_step(reduce, g); }) ==
                  "ranks disagree: rank 0 has \"the steps so far: 3\", rank 1 has \"the steps so far: 0\"");
            CHECK(g == before);
        });
    }
}

// The text of the error of every rank's finish(), the same on all, after two steps of all and then what odd() does on
// rank 1 alone; "nothing" where there is none.
std::string after_odd(auto const& how, std::vector<std::size_t> const& sizes, reducer_options const& options,
                      auto odd) {
    std::vector<std::string> texts(3);
    fibers::run(3, [&](fibers::member& comm) {
        auto const r = std::size_t(comm.rank());
        reducer reduce(how, comm, sizes, options);
        states saved;
        int k = 0;
        for (; k < 2; ++k) {
            auto g = gradients(comm.rank(), k, sizes);
            whole_step(reduce, g, {.step_size = 0.5});
            saved.push_back(reduce.save());
        }
        step_options own{.step_size = 0.5};
        texts[r] = error_of([&] {
            if (comm.rank() == 1) odd(reduce, saved, own);
            auto g = gradients(comm.rank(), k, sizes);
            auto const before = g;
            auto const state = reduce.save();
            auto const text = error_of([&] { whole_step(reduce, g, own); });
            CHECK((text == "nothing") == (g != before));
            CHECK((text == "nothing") == (reduce.save() != state));
            if (text == "nothing") return;
            // No rank is out of step with the others' messages: what all restore goes on.
            reduce.restore(std::span<std::byte const>(saved[0]));
            auto h = gradients(comm.rank(), 1, sizes);
            whole_step(reduce, h, {.step_size = 0.5});
            CHECK(reduce.save() == saved[1]);
            throw error(text);
        });
    });
    for (auto const& t : texts) CHECK(t == texts[0]);
    return texts[0];
}

TEST_CASE("ranks that are not in the same step, or not alike in it, see it before anything changes") {
    auto const disagree = [](std::string const& what, auto const& of_0, auto const& of_1) {
        return "ranks disagree: rank 0 has \"" + what + of_0 + "\", rank 1 has \"" + what + of_1 + "\"";
    };
    auto const check = [&](auto const& how, std::vector<std::size_t> const& sizes, reducer_options const& options) {
        auto const after = [&](auto odd) { return after_odd(how, sizes, options, odd); };
        CHECK(after([](auto&, auto&, auto&) {}) == "nothing");
        CHECK(after([](auto& reduce, auto& saved, auto&) { reduce.restore(std::span<std::byte const>(saved[0])); }) ==
              disagree("the steps so far: ", "2", "1"));
        for (double const size : {0.25, 0.75})
            CHECK(after([&](auto&, auto&, auto& own) { own.step_size = size; }) ==
                  disagree("the step size: ", "0.5", detail::shortest(size)));
        CHECK(after([](auto&, auto&, auto& own) { own.step_size.reset(); }) ==
              disagree("the step size: ", "0.5", "not given"));
        for (double const scale : {0.5, 2.0})
            CHECK(after([&](auto&, auto&, auto& own) { own.loss_scale = scale; }) ==
                  disagree("the loss scale: ", "1", detail::shortest(scale)));
    };
    for (bool const vary : {false, true}) {
        check(error_feedback{top_k{4}}, {20}, {.steps_vary = vary});
        check(shifted{rand_k{2}}, {9, 8, 7}, {.steps_vary = vary});
        check(error_feedback{top_k{2}}, std::vector<std::size_t>(11, 6), {.share_below = 0, .steps_vary = vary});
    }
    std::vector<std::size_t> const three(3, 6);
    CHECK(after_odd(plain{}, three, {.share_below = 0}, [](auto& reduce, auto& saved, auto&) {
              reduce.restore(std::span<std::byte const>(saved[1]));  // the present step's, but its order is forgotten
          }).find("one of them restored its state or called reorder() alone") != std::string::npos);
}

TEST_CASE("a rank that drops a step alone after its last layer, and one whose vector holds other numbers, are seen") {
    for (std::vector<std::size_t> const& sizes : {std::vector<std::size_t>{30}, std::vector<std::size_t>{9, 8}})
        fibers::run(2, [&](fibers::member& comm) {
            reducer reduce(error_feedback{top_k{2}}, comm, sizes, {.share_below = 0});
            for (int k = 0; k < 2; ++k) {
                auto g = gradients(comm.rank(), k, sizes);
                for (std::size_t l = sizes.size(); l-- > 0;) reduce.start(l, g[l]);
                comm.rank() == 1 && k == 1 ? reduce.drop() : reduce.finish();
            }
            auto g = gradients(comm.rank(), 2, sizes);
            CHECK(error_of([&] { whole_step(reduce, g); }) ==
                  "ranks disagree: rank 0 has \"the steps so far: 2\", rank 1 has \"the steps so far: 1\"");
        });
    fibers::run(2, [](fibers::member& comm) {
        reducer reduce(plain{}, comm, 3);
        std::vector<float> x(3, 1);
        std::vector<Eigen::half> y(3, Eigen::half(1));
        CHECK(error_of([&] {
                  comm.rank() == 0 ? reduce(x) : reduce(y);
              }).starts_with("ranks disagree: rank 0 has \"the largest number that is written: 3.4"));
    });
}

TEST_CASE("a damaged tag is damage on the rank that reads it, as elsewhere in a message") {
    std::vector<std::string> texts(2);
    fibers::run(2, [&](fibers::member& inner) {
        std::vector<std::byte> damaged;
        changed comm{{&inner}};
        reducer reduce(error_feedback{top_k{2}}, comm, std::vector<std::size_t>{6, 5}, {.share_below = 0});
        auto g = gradients(inner.rank(), 0, {6, 5});
        whole_step(reduce, g);
        bool once = true;
        comm.seen = [&](int r, payload p) {
            if (inner.rank() != 0 || r != 1 || !once) return p;
            damaged.assign(p.bytes.begin(), p.bytes.end());
            damaged.back() ^= std::byte{4};
            return payload{damaged, p.is_error};
        };
        reduce.start(1, g[1]);
        texts[std::size_t(inner.rank())] = error_of([&] {
            reduce.start(0, g[0]);
            reduce.finish();
        });
        once = false;
    });
    CHECK(texts[0].find("from rank 1: the tag behind it is damaged") != std::string::npos);
}

TEST_CASE(
    "over a collective verify_every finds a rank that has restored or dropped a step alone, and nothing has changed") {
    enum class alone { restores, drops };
    std::vector<std::size_t> const sizes[] = {{5}, {5, 4}};
    for (auto const what : {alone::restores, alone::drops})
        for (std::uint64_t const every : {1u, 3u})
            for (auto const& all : sizes)
                fibers::run(3, [&](fibers::member& comm) {
                    reducer reduce(plain<identity, ring>{}, comm, all, {.verify_every = every});
                    std::vector<std::byte> first;
                    std::string text;
                    int compared = 0;
                    for (int k = 0; k < 12; ++k) {
                        auto x = gradients(comm.rank(), k, all);
                        auto const before = x;
                        if (k == 1) first = reduce.save();
                        if (k == 4 && what == alone::restores && comm.rank() == 1) reduce.restore(first);
                        if (k == 9) reduce.restore(first);  // all ranks
                        for (std::size_t l = 0; l < x.size(); ++l) reduce.start(l, x[l]);
                        if (k == 4 && what == alone::drops && comm.rank() == 1) {
                            reduce.drop();
                            continue;
                        }
                        bool const fails = k >= (what == alone::drops ? 5 : 4) && k < 9 && (k + 1) % int(every) == 0;
                        auto const steps = reduce.steps();
                        try {
                            reduce.finish();
                            CHECK_FALSE(fails);
                            CHECK(reduce.steps() == steps + 1);
                        } catch (agreement_error const& e) {
                            CHECK(fails);
                            CHECK(x == before);
                            CHECK(reduce.steps() == steps);
                            text = e.what(), ++compared;
                        }
                    }
                    CHECK(compared > 0);
                    CHECK(text.starts_with("ranks disagree: rank 0 has \"the steps so far: "));
                    CHECK(text.find("\", rank 1 has \"the steps so far: ") != std::string::npos);
                    CHECK(reduce.steps() == 4);
                });
}

TEST_CASE("restore within a step is refused, and the step goes on") {
    fibers::run(2, [](fibers::member& comm) {
        reducer reduce(error_feedback{top_k{2}}, comm, std::vector<std::size_t>{5, 6}, {.share_below = 0});
        auto g = gradients(comm.rank(), 0, {5, 6});
        whole_step(reduce, g);
        auto const state = reduce.save();
        reduce.start(1, g[1]);
        CHECK_THROWS_AS(reduce.restore(state), argument_error);
        CHECK_THROWS_AS(reduce.restore(states(3, state)), argument_error);
        reduce.start(0, g[0]);
        reduce.finish();
        CHECK(reduce.steps() == 2);
        reduce.restore(state);
        CHECK(reduce.steps() == 1);
    });
}

TEST_CASE("rebind where one rank alone has taken the first step: all have a mean shift then") {
    using reducer_type = reducer<ef21_shift<top_k<>>, changed>;
    std::vector<std::unique_ptr<changed>> comms(2);
    std::vector<std::unique_ptr<reducer_type>> kept(2);
    std::vector<std::size_t> const sizes{9, 8};
    CHECK_THROWS_AS(fibers::run(2,
                                [&](fibers::member& inner) {
                                    auto const r = std::size_t(inner.rank());
                                    comms[r] = std::make_unique<changed>(changed{{&inner}});
                                    kept[r] = std::make_unique<reducer_type>(ef21_shift{top_k{2}}, *comms[r], sizes);
                                    auto g = gradients(inner.rank(), 0, sizes);
                                    if (r == 1)  // the ranks compare their orders, and then it is lost
                                        comms[r]->before_finish = [n = 0]() mutable {
                                            if (n++ > 0) throw comm_error(0, "lost");
                                        };
                                    whole_step(*kept[r], g);
                                }),
                    comm_error);
    CHECK(kept[0]->steps() == 1);
    CHECK(kept[1]->steps() == 0);
    fibers::run(2, [&](fibers::member& inner) {
        changed comm{{&inner}};
        auto& reduce = *kept[std::size_t(inner.rank())];
        reduce.rebind(comm);
        CHECK(reduce.steps() == 1);
        for (int k = 1; k < 4; ++k) {
            auto g = gradients(inner.rank(), k, sizes);
            whole_step(reduce, g);
        }
    });
    for (std::size_t l = 0; l < 2; ++l)
        for (std::size_t i = 0; i < sizes[l]; ++i) {
            auto const &f = kept[0]->layers()[l].feedback(), &g = kept[1]->layers()[l].feedback();
            CHECK(f.mean_shift()[i] == g.mean_shift()[i]);
            CHECK(f.mean_shift()[i] == doctest::Approx((f.shift()[i] + g.shift()[i]) / 2).epsilon(1e-5));
        }
}

TEST_CASE("rebind after steps that failed goes on as if they had not been") {
    std::vector<std::size_t> const sizes{9, 8};
    auto const run = [&](bool troubled) {
        std::vector<vectors> all(2);
        fibers::run(2, [&](fibers::member& comm) {
            reducer reduce(shifted{rand_k{3}}, comm, sizes, {.seed = 0});
            for (int k = 0; k < 4; ++k) {
                auto g = gradients(comm.rank(), k, sizes);
                if (troubled && k < 3) {
                    auto bad = g;
                    if (comm.rank() == k % 2) bad[std::size_t(k) % 2][1] = std::numeric_limits<float>::infinity();
                    CHECK_THROWS_AS(whole_step(reduce, bad), non_finite_error);
                    if (k == 2) reduce.start(1, bad[1]);  // and one more under way
                }
                if (k == 2) reduce.rebind(comm);
                whole_step(reduce, g);
                all[std::size_t(comm.rank())] = g;
            }
        });
        return all;
    };
    CHECK(run(true) == run(false));
}

TEST_CASE("weights, absent layers and a drop together: the estimates are those of a run without the dropped steps") {
    std::vector<std::size_t> const sizes{9, 8, 7};
    auto const run = [&](bool troubled) {
        std::vector<vectors> all(27);
        fibers::run(3, [&](fibers::member& comm) {
            reducer reduce(error_feedback{top_k{2}}, comm, sizes,
                           {.missing_layer = on_missing_layer::zero, .dense_rounds = 2, .steps_vary = true});
            for (int k = 0; k < 9; ++k) {
                auto g = gradients(comm.rank(), k, sizes);
                step_options const how{.weight = double(1 + (comm.rank() + k) % 3), .dense = k % 4 == 3};
                if (troubled && k % 2 == 0) {
                    auto bad = g;
                    int const who = k / 2 % 3;
                    auto const text = error_of([&] {
                        if (comm.rank() != who) return whole_step(reduce, bad, how);
                        if (k % 4 == 0) reduce.start(2, bad[2], how);
                        reduce.drop();
                    });
                    if (comm.rank() != who) CHECK(text.find("the step was dropped there") != std::string::npos);
                    CHECK(bad == g);
                }
                reduce.bind(1, g[1]);
                reduce.start(2, g[2], how);
                if ((comm.rank() + k) % 3 != 0) reduce.start(1, g[1], how);
                reduce.start(0, g[0], how);
                reduce.finish();
                all[std::size_t(9 * comm.rank() + k)] = g;
            }
        });
        return all;
    };
    CHECK(run(true) == run(false));
}

TEST_CASE("restored on another number of ranks with layers in full, which remember nothing") {
    std::vector<layer> const layers{{"a.bias", 5}, {"a.weight", 30}};
    states saved(3);
    reducer_options const options{.seed = 0, .in_full = {"*.bias"}, .share_below = 8};
    fibers::run(3, [&](fibers::member& comm) {
        reducer reduce(shifted{rand_k{3}}, comm, layers, options);
        for (int k = 0; k < 3; ++k) {
            auto g = gradients(comm.rank(), k, {5, 30});
            whole_step(reduce, g);
        }
        saved[std::size_t(comm.rank())] = reduce.save();
    });
    fibers::run(2, [&](fibers::member& comm) {
        reducer reduce(shifted{rand_k{3}}, comm, layers, options);
        reduce.restore(saved);
        auto g = gradients(comm.rank(), 3, {5, 30});
        whole_step(reduce, g);
        CHECK(reduce.steps() == 4);
        for (std::size_t i = 0; i < 5; ++i)
            CHECK(g[0][i] ==
                  doctest::Approx((gradients(0, 3, {5})[0][i] + gradients(1, 3, {5})[0][i]) / 2).epsilon(1e-6));
        CHECK(reduce.layers()[0].memory().bytes() == 0);
    });
}

TEST_CASE("messages that share, dense rounds, and layers in full among exchanged ones: the means are right") {
    std::vector<std::size_t> const sizes{40, 3, 41, 4, 42};
    auto const check = [&](auto const& how, reducer_options const& options, int exact_until) {
        CAPTURE(to_string(how));
        fibers::run(3, [&](fibers::member& comm) {
            reducer reduce(how, comm, sizes, options);
            for (int k = 0; k < 4; ++k) {
                auto g = gradients(comm.rank(), k, sizes);
                if (k == 1) {  // fails in a layer in full, amid the others
                    auto bad = g;
                    if (comm.rank() == 1) bad[3][2] = std::nanf("");
                    CHECK_THROWS_AS(whole_step(reduce, bad), non_finite_error);
                }
                whole_step(reduce, g);
                for (std::size_t l = 0; l < sizes.size(); ++l)
                    for (std::size_t i = 0; i < sizes[l] && (k < exact_until || sizes[l] < 5); ++i) {
                        float mean = 0;
                        for (int r = 0; r < 3; ++r) mean += gradients(r, k, sizes)[l][i] / 3;
                        CHECK(g[l][i] == doctest::Approx(mean).epsilon(1e-5));
                    }
            }
        });
    };
    check(error_feedback{top_k{4}}, {.dense_below = 5, .dense_rounds = 2}, 2);
    check(error_feedback{top_k{4}}, {.dense_below = 5, .dense_rounds = 2, .share_below = 41}, 2);
    check(error_feedback{top_k{4}, 1, gtop_k{0.1}}, {.dense_below = 5, .dense_rounds = 2}, 2);
    check(plain{identity{}, ring{}}, {.dense_below = 5}, 4);
}

TEST_CASE("dense steps amid others: the exact mean, and the mean shift stays that of the shifts") {
    std::vector<std::size_t> const sizes{9, 8};
    auto const check = [&](auto const& how) {
        CAPTURE(to_string(how));
        std::vector<vectors> known(3, vectors(2));
        vectors mean_shift(2);
        fibers::run(3, [&](fibers::member& comm) {
            reducer reduce(how, comm, sizes, {.seed = 0, .steps_vary = true, .verify_every = 1});
            for (int k = 0; k < 9; ++k) {
                auto g = gradients(comm.rank(), k, sizes);
                whole_step(reduce, g, {.dense = k % 3 == 1});
                for (std::size_t l = 0; l < 2 && k % 3 == 1; ++l)
                    for (std::size_t i = 0; i < sizes[l]; ++i) {
                        float mean = 0;
                        for (int r = 0; r < 3; ++r) mean += gradients(r, k, sizes)[l][i] / 3;
                        CHECK(g[l][i] == doctest::Approx(mean).epsilon(1e-5));
                    }
            }
            for (std::size_t l = 0; l < 2; ++l) {
                auto const& f = reduce.layers()[l].feedback();
                known[std::size_t(comm.rank())][l].assign(f.shift().begin(), f.shift().end());
                mean_shift[l].assign(f.mean_shift().begin(), f.mean_shift().end());
            }
        });
        for (std::size_t l = 0; l < 2; ++l)
            for (std::size_t i = 0; i < sizes[l]; ++i)
                CHECK(mean_shift[l][i] ==
                      doctest::Approx((known[0][l][i] + known[1][l][i] + known[2][l][i]) / 3).epsilon(1e-4));
    };
    check(shifted{rand_k{3}});
    check(ef21_shift{top_k{2}});
}

TEST_CASE("a memory that cannot be added up is refused on another number of ranks, and nothing has changed") {
    states saved(2);
    auto const how = not_added{{top_k{2}}};
    fibers::run(2, [&](fibers::member& comm) {
        reducer reduce(how, comm, std::vector<std::size_t>{9, 8});
        auto g = gradients(comm.rank(), 0, {9, 8});
        whole_step(reduce, g);
        saved[std::size_t(comm.rank())] = reduce.save();
    });
    fibers::run(3, [&](fibers::member& comm) {
        reducer reduce(how, comm, std::vector<std::size_t>{9, 8});
        auto const before = reduce.save();
        CHECK_THROWS_AS(reduce.restore(saved), argument_error);
        CHECK(reduce.save() == before);
    });
}

TEST_CASE("reductions that are chosen at run time, gathered, exchanged and in full side by side: each as if alone") {
    std::vector<layer> const layers{{"a", 40}, {"b", 6}, {"c", 41}, {"d", 42}, {"e", 43}};
    auto const rule = [](layer const& l) -> any_reduction<float> {
        if (l.name == "a") return error_feedback{top_k{4}, 1, ring{}};
        if (l.name == "c") return error_feedback{top_k{4}, 0.5, gtop_k{0.1}};
        if (l.name == "d") return shifted{rand_k{4}};
        return majority_vote{};
    };
    fibers::run(3, [&](fibers::member& comm) {
        reducer<any_reduction<float>, fibers::member> together(rule, comm, layers, {.seed = 0, .in_full = {"b"}});
        std::vector<std::unique_ptr<reducer<any_reduction<float>, fibers::member>>> alone;
        for (auto const& l : layers)
            alone.push_back(std::make_unique<reducer<any_reduction<float>, fibers::member>>(
                rule, comm, std::vector<layer>{l},
                l.name == "b" ? reducer_options{.seed = 0, .in_full = {"b"}} : reducer_options{.seed = 0}));
        for (int k = 0; k < 6; ++k) {
            auto g = gradients(comm.rank(), k, {40, 6, 41, 42, 43}), h = g;
            if (k == 3) {
                auto bad = g;
                if (comm.rank() == 1) bad[2][7] = std::numeric_limits<float>::infinity();
                CHECK_THROWS_AS(whole_step(together, bad), non_finite_error);
            }
            whole_step(together, g);
            for (std::size_t l = 0; l < layers.size(); ++l) (*alone[l])(h[l]);
            CHECK(g == h);
        }
    });
}
