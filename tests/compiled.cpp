// SPDX-License-Identifier: Apache-2.0
// What laconic::compiled holds computes the same bits, and sends the same bytes, as the headers do.
#include "laconic/compiled.hpp"

#include "support/everything.hpp"
#include "support/toys.hpp"

toys::quadratic<> bowl(int rank) { return toys::around({std::vector<double>(20, rank)})[0]; }

std::vector<float> gradient_of(int rank, int step) {
    std::vector<float> g(50);
    for (std::size_t i = 0; i < g.size(); ++i)
        g[i] = static_cast<float>((static_cast<int>(i) * 7 + step * 3 + rank) % 11 - 5);
    return g;
}

TEST_CASE("descend() from a text moves x as the method's type does, by as many bytes") {
    threads::run(3, [](threads::member& comm) {
        auto const f = bowl(comm.rank());
        metered by_text(comm), by_type(comm);
        std::vector<double> x(20), y(20);
        auto const a = compiled::descend("diana(rand_k(0.1) | natural)", f, x, by_text, {.rounds = 50, .seed = 0});
        auto const b = descend(diana{rand_k{0.1} | natural{}}, f, y, by_type, {.rounds = 50, .seed = 0});
        CHECK(a.rounds == b.rounds);
        CHECK(x == y);
        CHECK(x[0] != 0);
        CHECK(by_text.bytes_sent() == by_type.bytes_sent());
    });
}

TEST_CASE("a reducer from a text takes vectors of double, or of float and numbers of 16 bits, also by their address") {
    threads::run(2, [](threads::member& comm) {
        std::vector<double> x(50), y;
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0 / static_cast<double>(3 * i + 1) + comm.rank();
        y = x;
        compiled::reducer of_double("error_feedback(top_k(0.1))", comm, x, {.seed = 1});
        auto others = comm.duplicate();
        reducer by_type(error_feedback{top_k{0.1}}, others, y, {.seed = 1});
        of_double(x), by_type(y);
        CHECK(x == y);
        std::vector<float> f(50);
        CHECK_THROWS_AS(of_double.start(0, f), argument_error);
        of_double.start(0, x.data(), x.size(), compiled::number_type::float64);
        of_double.finish();

        std::vector<Eigen::half> half(2, Eigen::half(1 + comm.rank()));
        std::vector<Eigen::bfloat16> brain(2, Eigen::bfloat16(3 + comm.rank()));
        std::vector<float> full(2, 5);
        compiled::reducer mixed("plain(identity)", comm, layers_of({2, 2, 2}));
        mixed.start(0, half);
        mixed.start(1, brain.data(), 2, compiled::number_type::bfloat16);
        mixed.start(2, full);
        mixed.finish();
        CHECK((half[1] == Eigen::half(1.5f) && brain[0] == Eigen::bfloat16(3.5f) && full[1] == 5));
        CHECK_THROWS_WITH_AS(mixed.start(0, x),
                             "this reducer takes vectors of float32 and of numbers of 16 bits: one for float64 is made "
                             "with number_type::float64",
                             argument_error);
    });
}

TEST_CASE("a reducer from a text is the reducer of the same reduction, in saved states, too") {
    threads::run(3, [](threads::member& comm) {
        compiled::reducer by_text("error_feedback(top_k(0.1))", comm, 50);
        auto others = comm.split(0, comm.rank());
        reducer by_type(error_feedback{top_k{0.1}}, others, std::size_t{50});
        std::vector<std::byte> saved;
        for (int step = 0; step < 4; ++step) {
            auto a = gradient_of(comm.rank(), step), b = a;
            by_text(a);
            by_type(b);
            CHECK(a == b);
            if (step == 1) saved = by_text.save();
        }
        CHECK(by_text.steps() == 4);
        CHECK(by_text.statistics().bytes_sent == by_type.statistics().bytes_sent);
        by_text.restore(saved);
        CHECK(by_text.steps() == 2);
        auto again = gradient_of(comm.rank(), 2);
        by_text.start(0, again);
        by_text.drop();
        compiled::reducer moved = std::move(by_text);
        moved.rebind(comm);
        moved(again);
        CHECK(moved.steps() == 3);
        moved.reorder();
        std::vector<float> first(7, static_cast<float>(comm.rank()));
        moved.broadcast(first, 2);
        CHECK(first == std::vector<float>(7, 2.0f));
        // In the middle of a step, that step is dropped.
        auto next = comm.duplicate();
        moved.start(0, again);
        moved.rebind(next);
        moved(again);
        CHECK(moved.steps() == 4);
    });
}

TEST_CASE("a reducer from a text has its residual copied and set, and is restored with another reduction") {
    threads::run(2, [](threads::member& comm) {
        compiled::reducer before("error_feedback(top_k(0.1))", comm, 50), after("error_feedback(top_k(0.2))", comm, 50);
        std::vector<float> g(50), e(50), short_of_one(49);
        e[7] = 2;
        before.set_residual(0, e);
        CHECK_THROWS_AS(before.set_residual(0, short_of_one), shape_error);
        CHECK_THROWS_AS(before.copy_residual(0, short_of_one), shape_error);
        CHECK_THROWS_AS(after.restore(before.save()), shape_error);
        CHECK(after.resume(before.save()).empty());
        after.copy_residual(0, g);
        CHECK(g == e);
    });
}

TEST_CASE("a text that is none names its place, and the lists name what there is") {
    threads::run(1, [](threads::member& comm) {
        std::vector<double> x(20);
        CHECK_THROWS_AS(compiled::descend("dianna", bowl(1), x, comm), parse_error);
        CHECK_THROWS_AS(compiled::reducer("error_feedback(top_q(0.1))", comm, 50), parse_error);
    });
    auto const has = [](std::vector<listed_value> const& all, std::string const& name) {
        return std::any_of(all.begin(), all.end(), [&](auto const& v) { return v.name == name; });
    };
    CHECK(has(compiled::list_methods(), "diana"));
    CHECK(has(compiled::list_compressors(), "top_k"));
    CHECK(has(compiled::list_reductions(), "error_feedback"));
    CHECK(has(compiled::list_collectives(), "ring"));
}

TEST_CASE("vectors of Eigen's are taken as they are, and lengths of its type") {
    threads::run(2, [](threads::member& comm) {
        Eigen::VectorXd x = Eigen::VectorXd::Zero(20);
        std::vector<double> y(20);
        auto const f = bowl(comm.rank());
        compiled::descend("gd", f, x, comm, {.rounds = 3});
        compiled::descend("gd", f, y, comm, {.rounds = 3});
        CHECK(std::equal(y.begin(), y.end(), x.data()));
        CHECK(x.norm() > 0);

        Eigen::VectorXf g = Eigen::VectorXf::LinSpaced(6, 1, 6);
        std::vector<float> h(g.data(), g.data() + g.size());
        compiled::reducer reduce("error_feedback(top_k(2))", comm, g);
        compiled::reducer of_a_length("error_feedback(top_k(2))", comm, g.size());
        reduce(g);
        of_a_length(h);
        CHECK(std::equal(h.begin(), h.end(), g.data()));
        CHECK(g[5] == 6);
        compiled::reducer of_layers("plain", comm, {{"w", g.size()}, {"b", h.size()}});
        Eigen::MatrixXf w = Eigen::MatrixXf::Constant(3, 2, static_cast<float>(comm.rank()));
        of_layers.start(0, w);
        of_layers.start(1, std::span(h));
        of_layers.finish();
        CHECK(w(2, 1) == 0.5f);
    });
}
