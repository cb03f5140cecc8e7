// SPDX-License-Identifier: Apache-2.0
// Rounds of local steps come to known answers, a round that fails changes nothing, and states go on bit for bit.
#include "laconic/outer_reducer.hpp"

#include "laconic/any/parse_step.hpp"
#include "laconic/backend/reference.hpp"
#include "laconic/comm/fibers.hpp"
#include "support/bowls.hpp"
#include "support/error_of.hpp"
#include "support/everything.hpp"
#include "support/laws/known_rounds.hpp"

using vec = std::vector<double>;

TEST_CASE_TEMPLATE("rounds of local steps come to known answers", B, host, reference) { laws::known_rounds<B>(); }
TEST_CASE_TEMPLATE("rounds of local steps of Adam and Muon, and by robust rules, come to known answers", B, host,
                   reference) {
    laws::known_rounds_of_optimizers<B>();
    laws::known_rounds_of_rules<B>();
}

TEST_CASE("an outer step is read from a text") {
    laws::rounds_come_to<host>({{10, {.338952998464, -.229567995652, 2.39281375073}}},
                               parse_step("momentum(0.7, 0.9, nesterov=yes)"));
}

TEST_CASE(
    "streaming rounds, of which nothing is kept, have the fixed point of local SGD with the steps until start()") {
    for (int const tau : {0, 1}) {
        vec const x = laws::streamed<host>(tau, 0, 1200).agreed;
        for (std::size_t j = 0; j < bowls::d; ++j) {
            double sum = 0, of = 0;
            for (int i = 0; i < bowls::ranks; ++i) {
                double const w = 1 - std::pow(1 - .1 * bowls::a(i, j), 6 - tau);
                sum += w * bowls::b(i, j), of += w;
            }
            CHECK(x[j] == doctest::Approx(sum / of).epsilon(1e-10));
        }
    }
    CHECK(laws::streamed<host>(1, .5, 1200).agreed[0] == doctest::Approx(.1164).epsilon(1e-3));  // farther from .3304
}

TEST_CASE("all ranks start from rank 0's model, in layers, too, and agree on one after each round") {
    fibers::run(3, [](fibers::member& comm) {
        std::vector<float> a(5, float(comm.rank())), b(7, float(comm.rank() + 10));
        outer_reducer outer(plain{}, comm, layers_of({5, 7}));
        CHECK_THROWS_WITH_AS(outer.start(0, a),
                             "layer 0 of this outer_reducer has no model yet: call begin(0, model) on all ranks",
                             argument_error);
        outer.begin(0, a), outer.begin(1, b);
        CHECK((a == std::vector(5, 0.0f) && b == std::vector(7, 10.0f)));
        for (float& v : a) v += float(comm.rank());
        outer.start(1, b), outer.start(0, a);
        b[0] = 55;  // after start() the model may change
        outer.finish();
        CHECK((a == std::vector(5, 1.0f) && b == std::vector(7, 10.0f)));
        CHECK((std::ranges::equal(outer.agreed(0), a) && std::ranges::equal(outer.agreed(1), b)));
        CHECK(outer.rounds() == 1);
        CHECK_THROWS_WITH_AS(outer(a),
                             "this outer_reducer has 2 layers: call start(layer, model) for each of them, and then "
                             "finish()",
                             argument_error);
        CHECK_THROWS_WITH_AS(outer.start(2, a), "there is no layer 2: this outer_reducer has 2", argument_error);
        CHECK_THROWS_WITH_AS(outer.begin(0, b), "layer 0 of this outer_reducer has 5 numbers, and the model 7",
                             shape_error);
    });
}

TEST_CASE("a round that fails is an error on all ranks and changes nothing, and the next one succeeds") {
    fibers::run(3, [](fibers::member& comm) {
        vec y(6, 1);
        outer_reducer outer(error_feedback{top_k{2}}, comm, y, momentum<>(.5, .9), {.seed = 0});
        auto const local = [&] {
            for (std::size_t j = 0; j < y.size(); ++j) y[j] += .125 * comm.rank() + double(j);
        };
        local(), outer(y);
        auto const before = outer.save();
        local();
        auto const own = y;
        if (comm.rank() == 1) y[3] = NAN;
        auto const at = y;
        auto const error = error_of<non_finite_error>([&] { outer(y); });
        CHECK(error == "rank 1, round 1: the gradient is not finite at coordinate 3");
        CHECK(std::memcmp(y.data(), at.data(), sizeof(double) * y.size()) == 0);
        CHECK(outer.save() == before);
        y = own;
        outer(y);
        CHECK(outer.rounds() == 2);
        CHECK(std::ranges::equal(y, outer.agreed()));
    });
}

TEST_CASE("one rank and seven, and models of one number, of none, and of zeros") {
    for (int const n : {1, 7})
        fibers::run(n, [&](fibers::member& comm) {
            for (std::size_t const d : {0, 1, 5}) {
                vec y(d);
                outer_reducer outer(plain{}, comm, y, momentum<>(.5, .9));
                outer(y);
                CHECK(y == vec(d));
                for (double& v : y) v += comm.rank();
                outer(y);
                for (double const v : y) CHECK(v == doctest::Approx((n - 1) / 4.).epsilon(1e-14));
            }
        });
}

TEST_CASE("ranks with different outer steps are found before the first round") {
    fibers::run(2, [](fibers::member& comm) {
        vec y(6, 1);
        momentum<> const step(comm.rank() == 0 ? .7 : .5, .9);
        CHECK(error_of<agreement_error>([&] { outer_reducer(plain{}, comm, y, step); }).find("the outer step") !=
              std::string::npos);
    });
}

TEST_CASE("a model of another length on one rank is an error on all, and the next round succeeds") {
    fibers::run(3, [](fibers::member& comm) {
        vec y(6, 1), z(5 + (comm.rank() == 1 ? 0 : 1), 2);
        outer_reducer outer(plain{}, comm, y);
        auto const before = outer.save();
        CHECK(error_of<compression_error>([&] { outer(z); }).find("rank 1") != std::string::npos);
        CHECK(z == vec(z.size(), 2));
        CHECK(outer.save() == before);
        CHECK_THROWS_AS(outer.begin(0, z), agreement_error);
        for (double& v : y) v += comm.rank();
        outer(y);
        CHECK(y == vec(6, 2));
    });
}

TEST_CASE("what an outer_reducer cannot do is refused") {
    fibers::run(2, [](fibers::member& comm) {
        vec y(4);
        using outer_type = outer_reducer<plain<>, fibers::member, gradient_step, double>;
        CHECK_THROWS_AS(outer_type(plain{}, comm, y, {}, {.non_finite = on_non_finite::propagate}), argument_error);
        CHECK_THROWS_AS(outer_type(plain{}, comm, y, {}, {.missing_layer = on_missing_layer::zero}), argument_error);
        CHECK_THROWS_AS(outer_type(plain{}, comm, y, {}, {.skip_zero_layers = true}), argument_error);
        muon<> const matrix({.rows = 3});
        CHECK_THROWS_AS((outer_reducer<plain<>, fibers::member, muon<>, double>(plain{}, comm, y, matrix)),
                        argument_error);
        outer_type outer(plain{}, comm, y);
        outer.start(0, y);
        for (double const keep : {-.1, 1., double(NAN)}) CHECK_THROWS_AS(outer.finish(keep), argument_error);
        CHECK_THROWS_AS(outer.save(), argument_error);
        outer.finish();
        CHECK(outer.rounds() == 1);
    });
}

TEST_CASE("one more start() than a round has layers is refused, and the round ends in the first model") {
    for (std::size_t const length : {3u, 4u, 9u})
        fibers::run(2, [&](fibers::member& comm) {
            vec y(4, 1.0), late(length, 7.0);
            outer_reducer outer(plain{}, comm, y);
            y.assign(4, comm.rank() + 2.0);
            outer.start(0, y);
            CHECK_THROWS_AS(outer.start(0, late), argument_error);
            outer.finish();
            CHECK(y == vec(4, 2.5));
            CHECK(late == vec(length, 7.0));
        });
}

TEST_CASE("a saved state goes on bit for bit, and over other ranks with the mean residual") {
    constexpr std::size_t d = 9;
    using outer_type = outer_reducer<error_feedback<top_k<>>, fibers::member, momentum<>, double>;
    auto const local = [](int rank, int round, std::span<double> y) {
        for (std::size_t j = 0; j < y.size(); ++j)
            y[j] += key{7}.child(std::uint64_t(rank)).child(std::uint64_t(round)).uniform(j) - .3;
    };
    std::vector<std::vector<std::byte>> states(3);
    std::vector<vec> later(3), residuals(3);
    auto const run = [&](outer_type& outer, int rank, vec& y, int from, int to) {
        for (int k = from; k < to; ++k) local(rank, k, y), outer(y);
    };
    fibers::run(3, [&](fibers::member& comm) {
        auto const r = std::size_t(comm.rank());
        vec y(d, 1);
        outer_type outer(error_feedback{top_k{2}}, comm, y, momentum<>(.5, .9), {.seed = 3});
        run(outer, comm.rank(), y, 0, 4);
        states[r] = outer.save();
        auto const e = outer.reduction().residual(0);
        residuals[r].assign(e.begin(), e.end());
        run(outer, comm.rank(), y, 4, 7);
        later[r] = y;
    });
    fibers::run(3, [&](fibers::member& comm) {
        auto const r = std::size_t(comm.rank());
        vec y(d, -5);
        outer_type outer(error_feedback{top_k{2}}, comm, y, momentum<>(.5, .9), {.seed = 3});
        run(outer, comm.rank(), y, 20, 22);
        auto const before = outer.save();
        auto damaged = states[r];
        damaged[damaged.size() / 2] ^= std::byte{1};
        CHECK_THROWS_AS(outer.restore(damaged), wire_error);
        damaged.resize(11);
        CHECK_THROWS_AS(outer.restore(damaged), wire_error);
        CHECK_THROWS_AS(outer.restore(outer.reduction().save()), shape_error);
        outer_type other(error_feedback{top_k{2}}, comm, y, momentum<>(.75, .9), {.seed = 3});
        for (bool const all : {false, true}) {
            auto const why = error_of<shape_error>([&] { all ? other.restore(states) : other.restore(states[r]); });
            CHECK(why.find("saved: the outer step: momentum(0.5") != std::string::npos);
            CHECK(why.find("here: the outer step: momentum(0.75") != std::string::npos);
        }
        CHECK(outer.save() == before);
        outer.restore(states[r]);
        y.assign(outer.agreed().begin(), outer.agreed().end());
        run(outer, comm.rank(), y, 4, 7);
        CHECK(y == later[r]);
        outer.restore(states);
        y.assign(outer.agreed().begin(), outer.agreed().end());
        run(outer, comm.rank(), y, 4, 7);
        CHECK(y == later[r]);
    });
    fibers::run(2, [&](fibers::member& comm) {
        vec y(d);
        outer_type outer(error_feedback{top_k{2}}, comm, y, momentum<>(.5, .9), {.seed = 3});
        outer.restore(states);
        for (std::size_t j = 0; j < d; ++j)
            CHECK(outer.reduction().residual(0)[j] ==
                  doctest::Approx((residuals[0][j] + residuals[1][j] + residuals[2][j]) / 3));
        y.assign(outer.agreed().begin(), outer.agreed().end());
        run(outer, comm.rank(), y, 4, 5);
        CHECK(std::ranges::equal(y, outer.agreed()));
    });
}

TEST_CASE("where one rank cannot restore its state and the others do, the next round is an error on all") {
    using outer_type = outer_reducer<plain<>, fibers::member, gradient_step, double>;
    fibers::run(3, [](fibers::member& comm) {
        vec y(4, 1), z(5, 1);
        outer_type outer(plain{}, comm, y), of_another_shape(plain{}, comm, z);
        outer(y), of_another_shape(z);
        auto const before = outer.save();
        outer(y);
        if (comm.rank() == 1)
            CHECK_THROWS_AS(outer.restore(of_another_shape.save()), shape_error);
        else
            outer.restore(before);
        CHECK(error_of<agreement_error>([&] { outer(y); }).find("rank 1") != std::string::npos);
        outer.restore(before);
        outer(y);
        CHECK(outer.rounds() == 2);
    });
}

TEST_CASE("a model of 16 bits is rounded from the agreed model, which is of float") {
    using number = Eigen::half;
    fibers::run(2, [](fibers::member& comm) {
        std::vector<number> y{number(1), number(2), number(1)};
        auto const given = y;
        outer_reducer outer(plain{}, comm, y);
        static_assert(std::same_as<decltype(outer.agreed()), std::span<float const>>);
        auto const is_rounded = [&] {
            for (std::size_t j = 0; j < y.size(); ++j) CHECK(y[j] == number(outer.agreed()[j]));
        };
        outer(y);
        CHECK(y == given);
        y[0] += number(comm.rank() == 0 ? .5f : .25f);
        y[2] += number(0x1p-10f * float(comm.rank()));
        outer(y), is_rounded();
        CHECK(y[0] == number(1.375f));
        CHECK(outer.agreed()[2] == 1 + 0x1p-11f);
        outer.start(0, y);
        y[1] += number(1);
        outer.finish(.25);
        CHECK(y[1] == number(2.25f));
        y[1] = number(std::numeric_limits<float>::infinity());
        CHECK_THROWS_AS(outer(y), non_finite_error);
        y.resize(2);
        CHECK_THROWS_AS(outer(y), compression_error);
        CHECK(outer.rounds() == 3);
    });
}

TEST_CASE("it reduces on another backend, such as one of several threads") {
    fibers::run(2, [](fibers::member& comm) {
        vec y(6, comm.rank());
        outer_reducer outer(plain{}, comm, y, gradient_step{}, {}, threaded(2));
        for (double& v : y) v += comm.rank();
        outer(y);
        CHECK(y == vec(6, .5));
    });
}

TEST_CASE("ranks of which one has missed the first round go on with rebind") {
    using outer_type = outer_reducer<plain<>, threads::member, momentum<>, double>;
    std::vector<std::unique_ptr<outer_type>> kept(2);
    std::vector<vec> y(2, vec(5, 1));
    for (int lost : {0, 1}) {  // both make one, and then rank 0 alone takes a step
        threads::run(lost == 0 ? 2 : 1, [&](threads::member& comm) {
            auto const r = std::size_t(comm.rank());
            if (lost == 0)
                kept[r] = std::make_unique<outer_type>(plain{}, comm, y[r], momentum<>(.5, .9));
            else
                kept[0]->rebind(comm), y[0][2] = 3, (*kept[0])(y[0]);
        });
    }
    threads::run(2, [&](threads::member& comm) {
        auto const r = std::size_t(comm.rank());
        kept[r]->rebind(comm);
        CHECK(std::ranges::equal(kept[r]->agreed(), kept[0]->agreed()));
        CHECK(kept[r]->step().velocity().size() == 5);
    });
}

TEST_CASE("after a lost rank the others go on with rebind, from one model and one momentum") {
    using outer_type = outer_reducer<plain<>, threads::member, momentum<>, double>;
    std::vector<std::unique_ptr<outer_type>> kept(3);
    std::vector<vec> y(3, vec(5, 1));
    auto const local = [&](std::size_t r) {
        for (double& v : y[r]) v -= .25 * double(r + 1);
    };
    CHECK_THROWS_AS(threads::run(3,
                                 [&](threads::member& comm) {
                                     auto const r = std::size_t(comm.rank());
                                     kept[r] = std::make_unique<outer_type>(plain{}, comm, y[r], momentum<>(.5, .9));
                                     for (int k = 0; k < 3; ++k) {
                                         local(r);
                                         if (k == 2 && r == 1) throw std::runtime_error("lost");
                                         (*kept[r])(y[r]);
                                     }
                                 }),
                    std::runtime_error);
    threads::run(2, [&](threads::member& comm) {
        auto const r = std::size_t(2 * comm.rank());
        auto& outer = *kept[r];
        outer.rebind(comm);
        y[r].assign(outer.agreed().begin(), outer.agreed().end());
        for (int k = 0; k < 2; ++k) local(r), outer(y[r]);
        CHECK(outer.rounds() == 4);
    });
    CHECK(y[0] == y[2]);
    CHECK(std::ranges::equal(kept[0]->step().velocity(), kept[2]->step().velocity()));
}
