// SPDX-License-Identifier: Apache-2.0
// `recursion` computes its equation as worked out by hand, and changing one of its parts changes no other.
#include "laconic/recursion.hpp"

#include "support/everything.hpp"
#include "support/toys.hpp"

using namespace toys;

// A recursion of your own, and types that lack something.
struct own {
    identity compressor;
    memory<> feedback;
    gradient_step step;
    fixed_level level;
    mini_batch estimator;
    gather_all over;
    double scale = 1;
};
struct without_estimator {
    identity compressor;
    memory<> feedback;
    gradient_step step;
    fixed_level level;
    gather_all over;
    double scale = 1;
};
struct method_of_your_own {
    template <Scalar T, class B>
    own compose(problem const&) const {
        return {};
    }
};

static_assert(Recursion<recursion<identity>> && Recursion<recursion<top_k<>>> && Recursion<own>);
static_assert(
    Recursion<recursion<identity, memory<float>, momentum<float>, fixed_level, saga<float>, served<identity, float>>>);
static_assert(!Recursion<without_estimator> && !Recursion<identity> && !Recursion<gd>);
static_assert(Method<gd> && Method<gd, float> && Method<method_of_your_own> && !Method<own> && !Method<int>);

// Remembers a number.
struct keeping {
    double kept = 0;
    void state(auto& archive) { archive(kept); }
};

// A level that sets k.
struct takes {
    std::size_t k = 1;
    template <class B, Scalar T>
    void tune(B&, top_k<>& c, round_context const&, std::span<T const>, std::span<T const>) const {
        c = top_k{k};
    }
    template <class B, Scalar T, class M>
    void update(B&, std::span<T const>, M const&) const {}
    friend std::string to_string(takes l) { return "takes(" + std::to_string(l.k) + ")"; }
};

TEST_CASE("another part is the one that runs, and all else stays") {
    auto const f = around({{4, 1.5}});
    auto const after = [&](auto const& r, int rounds) {
        lockstep run(r, f, {0, 0}, 1);
        for (int k = 0; k < rounds; ++k) run.round();
        return vec(run.x().begin(), run.x().end());
    };
    recursion<identity> const in_full{{}, {}, {.5}};
    CHECK(after(in_full, 1) == vec{2, .75});
    auto const one = in_full.with_compressor(top_k{1});
    CHECK(after(one, 1) == vec{2, 0});
    CHECK(after(one, 2) == vec{3, 0});
    auto const kept = one.with_feedback(memory<>{0, true});  // after a round (-2, -1.5) and (0, -1.5) from before
    CHECK(after(kept, 2) == vec{2, 1.5});
    CHECK(after(kept.with_level(takes{2}), 1) == vec{2, .75});

    auto all =
        kept.with_level(takes{1}).with_estimator(mini_batch(4)).with_step(momentum<>(.2, .9)).with_over(gtop_k{5});
    all.scale = 2;
    auto const parts = [](auto const& r) {
        return std::array{to_string(r.compressor), to_string(r.feedback), to_string(r.step),        to_string(r.level),
                          to_string(r.estimator),  to_string(r.over),     detail::shortest(r.scale)};
    };
    std::array<std::string, 7> const before{
        "top_k(1)", "memory(rate=0, decay=1)", "momentum(0.2, 0.9)", "takes(1)", "mini_batch(4)", "gtop_k(5)", "2"};
    CHECK(parts(all) == before);
    auto const changes_one = [&](std::size_t part, char const* text, auto const& r) {
        auto expected = before;
        expected[part] = text;
        CHECK(parts(r) == expected);
    };
    changes_one(0, "identity", all.with_compressor(identity{}));
    changes_one(1, "memory(rate=0.5)", all.with_feedback(memory<>(.5)));
    changes_one(2, "gradient_step(0.3)", all.with_step(gradient_step{.3}));
    changes_one(3, "takes(2)", all.with_level(takes{2}));
    changes_one(4, "saga(batch=4)", all.with_estimator(saga<>(4)));
    changes_one(5, "served(rand_k(3), memory(rate=0.25))", all.with_over(served<rand_k<>>{rand_k{3}, {.25, false}}));
    CHECK(parts(all) == before);
}

TEST_CASE("all that its parts remember is its state") {
    using type = recursion<identity, keeping, keeping, keeping, keeping>;
    type was{{}, {1}, {2}, {3}, {4}}, is;
    wire::state_writer writer("");
    was.state(writer);
    auto const bytes = writer.finish();
    CHECK(bytes.size() == 16 + 4 * 8 + 4);
    wire::state_reader reader(bytes, "");
    is.state(reader);
    reader.rewind();
    is.state(reader);
    CHECK(is.feedback.kept == 1);
    CHECK(is.step.kept == 2);
    CHECK(is.level.kept == 3);
    CHECK(is.estimator.kept == 4);
}

TEST_CASE("the equation by hand, with a scale and a memory, and what a server changes") {
    // |x - 3|^2 / 2 and |x + 1|^2 / 2 from 0: twice the gradients are -6 and 2.
    auto const f = around({{3}, {-1}});
    recursion<identity> const method{{}, {.5, false}, {.1}, {}, {}, {}, 2};
    lockstep run(method, f, {0}, 1);
    run.round();
    CHECK(run.x()[0] == doctest::Approx(.2));  // d = -2
    CHECK(run.known(0)[0] == -3);
    CHECK(run.known(1)[0] == 1);
    CHECK(run.mean_shift()[0] == -1);
    run.round();  // gradients -5.6 and 2.4, deltas -2.6 and 1.4, d = -1 - 0.6
    CHECK(run.x()[0] == doctest::Approx(.36));
    CHECK(run.known(0)[0] == doctest::Approx(-4.3));
    CHECK(run.known(1)[0] == doctest::Approx(1.7));
    CHECK(run.mean_shift()[0] == doctest::Approx(-1.3));

    // The server sends d in full, less what it sent before: the same iterates, and a memory of its own.
    lockstep with_server(method.with_over(served<identity>{{}, {.25, false}}), f, {0}, 1);
    with_server.round();
    CHECK(with_server.x()[0] == doctest::Approx(.2));
    CHECK(with_server.message_of_rank(1).values == vec{2});
    for (std::size_t rank : {0u, 1u}) CHECK(with_server.transport(rank).feedback().mean_shift()[0] == -.5);
    CHECK(with_server.transport(0).feedback().shift()[0] == -.5);
    CHECK(with_server.transport(1).feedback().shift().empty());  // the server's alone
    CHECK(with_server.method(1).feedback.mean_shift().empty());  // no other rank receives the ranks' messages
    CHECK(with_server.mean_shift()[0] == -1);
    with_server.round();  // d = -1.6, delta -1.1
    CHECK(with_server.x()[0] == doctest::Approx(.36));
    CHECK(with_server.transport(0).feedback().shift()[0] == doctest::Approx(-.775));
}

TEST_CASE("what the server's compressor leaves out, it sends later, by hand") {
    auto const f = around({{4, 1}, {2, 3}});
    auto const method = recursion<identity>{{}, {}, {.5}}.with_over(served<top_k<>>{top_k{1}, {0, true}});
    lockstep run(method, f, {0, 0}, 1);
    run.round();  // the mean gradient is (-3, -2)
    CHECK(run.x() == vec{1.5, 0});
    CHECK(copied(run.transport(0).feedback().residual()) == vec{0, -2});
    CHECK(run.transport(1).feedback().residual().empty());
    run.round();  // (-1.5, -2) and (0, -2) from before
    CHECK(run.x() == vec{1.5, 2});
    CHECK(copied(run.transport(0).feedback().residual()) == vec{-1.5, 0});
}

TEST_CASE("with a server that compresses, a run still converges to the optimum, and all ranks hold the same iterate") {
    auto const f = random_ridges(3, 6, 1, 4);
    auto const p = constants(f);
    known_optimum const best(f);
    auto const comes_there = [&](auto const& down, double step) {
        CAPTURE(to_string(down));
        auto const method = recursion<identity>{{}, {}, {step / p.smoothness}}.with_over(down);
        lockstep run(method, f, vec(6, 1.0), 3);
        run.rounds(4000);
        CHECK(distance2(run.x(), best.x) < 1e-20);
        for (std::size_t i = 1; i < 3; ++i) CHECK(copied(run.rank(i).x()) == run.x());
    };
    comes_there(served<identity>{}, 1);
    comes_there(served<rand_k<>>{rand_k{3}, {.5, false}}, .3);
    comes_there(served<rand_k<>>{rand_k{3}, {}}, .3);
    comes_there(served<top_k<>>{top_k{2}, {1, false}}, .2);
    comes_there(served<top_k<>>{top_k{2}, {0, true}}, .2);
}
