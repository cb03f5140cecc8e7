// SPDX-License-Identifier: Apache-2.0
// DS-LSR1 on logistic regression of Ionosphere over four ranks: the same steps by every way to share the pairs, and
// what travels as the derived table has it; what one rank gets wrong all ranks throw.
#include "laconic/second_order/ds_lsr1.hpp"

#include "support/data.hpp"
#include "support/det6.hpp"
#include "support/everything.hpp"
#include "support/rounds.hpp"
#include "support/solvers.hpp"

constexpr int ranks = 4;

// Counts the collective calls, of a communicator that does no others.
struct counting_calls {
    metered<threads::member> wire;
    std::uint64_t calls = 0;

    explicit counting_calls(threads::member& comm) : wire(comm) {}
    int rank() const { return wire.rank(); }
    int size() const { return wire.size(); }
    void all_gather(payload mine) { ++calls, wire.all_gather(mine); }
    void gather(int root, payload mine) { ++calls, wire.gather(root, mine); }
    void broadcast(int root, payload mine) { ++calls, wire.broadcast(root, mine); }
    payload from(int r) const { return wire.from(r); }
};

std::optional<std::vector<logistic_regression<>>> ionosphere(double lambda = 1e-3) {
    auto data = test_data("ionosphere");
    if (!data) return std::nullopt;
    binary_labels(*data);
    *data = data->first(data->samples() / ranks * ranks);
    std::vector<logistic_regression<>> f;
    for (int r = 0; r < ranks; ++r) f.emplace_back(data->part(std::size_t(r), ranks), lambda);
    return f;
}
double gradient_norm(std::vector<logistic_regression<>> const& f, std::span<double const> x) {
    std::vector<double> g(x.size()), one(x.size());
    for (auto const& each : f) {
        each.gradient(x, one);
        for (std::size_t i = 0; i < g.size(); ++i) g[i] += one[i] / double(f.size());
    }
    return std::sqrt(std::inner_product(g.begin(), g.end(), g.begin(), 0.));
}

// One round of rank 1: the bytes to and from others, collective calls, products of the search, whether the gradient
// travelled, and x after it.
struct seen_round {
    std::uint64_t sent, received, calls;
    std::size_t products;
    bool with_gradient;
    std::vector<double> x;
};
template <class M>
std::vector<seen_round> run_of(M const& method, std::vector<logistic_regression<>> const& f, std::size_t most = 200) {
    std::vector<seen_round> all;
    std::vector<std::vector<double>> ends(ranks);
    threads::run(ranks, [&](threads::member& comm) {
        counting_calls counted(comm);
        auto const& mine = f[std::size_t(comm.rank())];
        std::vector<double> x(mine.dimension());
        auto run = method.template start<double>(problem{}, mine, counted, std::span<double>(x), 3);
        bool moved = true;
        for (std::size_t k = 0; k < most && gradient_norm(f, x) >= 1e-6; ++k) {
            auto const sent = counted.wire.bytes_sent(), received = counted.wire.bytes_received(),
                       calls = counted.calls;
            run.round();
            if (comm.rank() == 1)
                all.push_back({counted.wire.bytes_sent() - sent, counted.wire.bytes_received() - received,
                               counted.calls - calls, run.last_search().products, moved, x});
            moved = run.accepted();
        }
        ends[std::size_t(comm.rank())] = x;
    });
    for (auto const& x : ends) CHECK(x == ends[0]);
    return all;
}
double farthest(std::vector<seen_round> const& a, std::vector<seen_round> const& b) {
    double far = 0;
    CHECK(a.size() == b.size());
    for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k)
        for (std::size_t i = 0; i < a[k].x.size(); ++i) far = std::max(far, std::abs(a[k].x[i] - b[k].x[i]));
    return far;
}
template <class X = gather_all>
ds_lsr1<X> by(curvature_transport how, std::size_t m, double gamma = 0) {
    return {.memory = m, .curvature = how, .gamma = gamma};
}

TEST_CASE("T3.8: the steps are the same by every way to share the pairs") {
    auto const f = ionosphere();
    if (!f) return;
    for (std::size_t const m : {4u, 8u, 16u}) {
        CAPTURE(m);
        auto const y = run_of(by(curvature_transport::ship_y, m), *f);
        CHECK(y.size() < 200);
        CHECK(gradient_norm(*f, y.back().x) < 1e-6);
        auto const s_and_y = run_of(by(curvature_transport::ship_s_and_y, m), *f);
        CHECK(farthest(y, s_and_y) == 0);
        auto const by_m = run_of(by(curvature_transport::ship_m, m), *f);
        CHECK(farthest(y, by_m) < (m < 16 ? 1e-9 : 1e-7));
        auto const gram = run_of(by(curvature_transport::gram, m), *f);
        CHECK(farthest(y, gram) < 1e-5);
    }
    CHECK(farthest(run_of(by(curvature_transport::ship_y, 6, .1), *f),
                   run_of(by(curvature_transport::ship_m, 6, .1), *f)) < 1e-7);
    CHECK(farthest(run_of(by(curvature_transport::ship_y, 6, .1), *f),
                   run_of(by(curvature_transport::gram, 6, .1), *f)) < 1e-5);
}

TEST_CASE("T3.8: by the server, what crosses a link of the star is the derived table's, less what all ranks know") {
    auto const f = ionosphere();
    if (!f) return;
    std::size_t const d = 34, m = 8;
    for (auto const how : {curvature_transport::ship_s_and_y, curvature_transport::ship_y, curvature_transport::ship_m,
                           curvature_transport::gram}) {
        auto const run = run_of(by<served<identity>>(how, m), *f);
        std::uint64_t floats = 0, calls = 0;
        for (auto const& round : run) {
            auto const n_cg = round.products;
            // Rank 1's quarter of the coordinates, 8 .. 16, of which it sends nothing and receives the others' sums.
            std::size_t const own = 9;
            // The table of the spec: numbers on a link, of which a sum crosses it once, to the server, and what the
            // server broadcasts once. f = mean f_i in place of the sum: no difference here.
            std::size_t const table = how == curvature_transport::ship_s_and_y ? (2 * m + 3) * d + 2
                                      : how == curvature_transport::ship_y     ? (m + 3) * d + 2
                                      : how == curvature_transport::ship_m ? 3 * d + 2 + m * m + n_cg * (2 * d + 2 * m)
                                                                           : (m + 3) * d + 2 * m * m + m + 3;
            // All ranks move x and make the step: x, and the trial, are never broadcast, nor in ship_m a direction and
            // M^-1 u; of the parts a rank keeps its own.
            std::size_t known = 2 * d;
            if (how == curvature_transport::ship_s_and_y) known += m * d;  // S comes to this rank: it is received
            if (how == curvature_transport::ship_m) known += n_cg * (d + m);
            if (how == curvature_transport::gram) known += m * own - own;
            if (!round.with_gradient) known += d + 1;  // after a step that was refused the sums are still known
            CHECK(8 * (table - known) == round.sent);
            // The server answers every sum; in gram the gathers have none, and the step's parts come from all.
            std::size_t const answers =
                how == curvature_transport::gram ? round.sent / 8 - m * (d - own) - own + d - own : round.sent / 8;
            std::size_t const of_s = how == curvature_transport::ship_s_and_y ? m * d : 0;
            CHECK(round.received == 8 * (answers + of_s));
            floats += table, calls += round.calls;
        }
        MESSAGE(std::string(words_of(how)[std::size_t(how)])
                << ", m = 8: " << run.size() << " iterations, " << floats << " numbers by the table, " << calls
                << " collective calls");
    }
}

TEST_CASE("T3.8: collective calls where all ranks get all") {
    auto const f = ionosphere();
    if (!f) return;
    for (auto const& round : run_of(by(curvature_transport::ship_y, 8), *f))
        CHECK(round.calls == 2u + round.with_gradient);
    for (auto const& round : run_of(by(curvature_transport::ship_s_and_y, 8), *f, 5))
        CHECK(round.calls == 3u + round.with_gradient);
    for (auto const& round : run_of(by(curvature_transport::ship_m, 8), *f))
        CHECK(round.calls == 2u + round.with_gradient + 2 * round.products);
    for (auto const& round : run_of(by(curvature_transport::gram, 8), *f))
        CHECK(round.calls == ranks + 3u + round.with_gradient);
}

TEST_CASE("m = d: Newton's method, in fewer iterations than with fewer pairs; over a ring too") {
    auto const f = ionosphere();
    if (!f) return;
    auto const whole = run_of(by(curvature_transport::ship_y, 34), *f);
    CHECK(whole.size() < 25);
    CHECK(whole.size() < run_of(by(curvature_transport::ship_y, 8), *f).size());
    threads::run(ranks, [&](threads::member& comm) {
        auto const& mine = (*f)[std::size_t(comm.rank())];
        for (auto const how : {curvature_transport::ship_y, curvature_transport::ship_m, curvature_transport::gram}) {
            std::vector<double> x(34);
            auto run = by<ring>(how, 34).start<double>(problem{}, mine, comm, std::span<double>(x), 3);
            for (std::size_t k = 0; k < whole.size(); ++k) run.round();
            CHECK(gradient_norm(*f, x) < 1e-5);
        }
    });
}

// DET6, of which a rank brings what is no number, or throws, in one call.
struct sick {
    det6::objective f;
    int what = 0;  // 1: the gradient, 2: the value, 3: a product, 4: it throws
    mutable int until = 0;

    std::size_t dimension() const { return 4; }
    double value(std::span<double const> x) const { return f.value(x); }
    double value_and_gradient(std::span<double const> x, std::span<double> g) const {
        f.gradient(x, g);
        if (what == 1 && until-- > 0) g[2] = std::nan("");
        if (what == 2 && until-- > 0) return INFINITY;
        return f.value(x);
    }
    void gradient(std::span<double const> x, std::span<double> g) const { f.gradient(x, g); }
    void hessian_times(std::span<double const> x, std::span<double const> v, std::span<double> out) const {
        f.hessian_times(x, v, out);
        if (what == 3 && until-- > 0) out[1] = INFINITY;
        if (what == 4 && until-- > 0) throw error("no product today");
    }
};

template <class X>
void errors_reach_all(X) {
    auto const parts = det6::parts();
    std::string const expected[] = {"rank 1, round 1: the gradient is not finite at coordinate 2",
                                    "rank 1, round 1: the value of the objective is not finite",
                                    "rank 1, round 1: the gradient is not finite at coordinate 1",
                                    "rank 1, round 1: no product today"};
    for (auto const how : {curvature_transport::ship_y, curvature_transport::ship_s_and_y, curvature_transport::ship_m,
                           curvature_transport::gram})
        for (int what = 1; what <= 4; ++what) {
            CAPTURE(what);
            CAPTURE(int(how));
            threads::run(3, [&](threads::member& comm) {
                sick f{det6::objective::of(parts[std::size_t(comm.rank())])};
                std::vector<double> x(4), healthy(4);
                ds_lsr1<X> const method{.memory = 3, .curvature = how, .radius = .02};
                auto run = method.template start<double>(problem{}, f, comm, std::span<double>(x), 5);
                auto other = method.template start<double>(problem{}, f, comm, std::span<double>(healthy), 5);
                run.round(), other.round();
                if (comm.rank() == 1) f.what = what, f.until = 1;
                auto const before = x;
                double const radius = run.radius();
                CHECK_THROWS_WITH_AS(run.round(), expected[what - 1].c_str(), error);
                CHECK(x == before);
                CHECK(run.radius() == radius);
                CHECK(run.rounds() == 1);
                f.what = 0;
                for (int k = 0; k < 4; ++k) run.round(), other.round();
                CHECK(x == healthy);
            });
        }
}

TEST_CASE("what one rank gets wrong all ranks throw in the same round, and then go on as if it had not been") {
    errors_reach_all(gather_all{});
    errors_reach_all(served<identity>{});
    errors_reach_all(ring{});
}

TEST_CASE("a saved run goes on bit for bit, and is no other's") {
    std::vector<det6::objective> f;
    for (auto const& part : det6::parts()) f.push_back(det6::objective::of(part));
    for (auto const how : {curvature_transport::ship_y, curvature_transport::ship_m, curvature_transport::gram}) {
        auto const with = [&](std::size_t memory) {
            return [&, memory](threads::member& comm, std::span<double> x) {
                ds_lsr1<ring> const method{.memory = memory, .curvature = how, .radius = 3};
                return method.start<double>(problem{}, f[std::size_t(comm.rank())], comm, x, 5);
            };
        };
        rounds::go_on_from_states(3, std::vector<double>(4, 1.), 6, with(2), with(3));
    }
}

TEST_CASE("floats; and look() has what this rank knows") {
    struct bowl {
        std::size_t dimension() const { return 3; }
        float value(std::span<float const> x) const { return (x[0] * x[0] + 4 * x[1] * x[1] + 9 * x[2] * x[2]) / 2; }
        void gradient(std::span<float const> x, std::span<float> g) const {
            g[0] = x[0], g[1] = 4 * x[1], g[2] = 9 * x[2];
        }
        void hessian_times(std::span<float const>, std::span<float const> v, std::span<float> out) const {
            gradient(v, out);
        }
    } const f;
    threads::run(2, [&](threads::member& comm) {
        for (auto const how : {curvature_transport::ship_y, curvature_transport::ship_m, curvature_transport::gram}) {
            std::vector<float> x{3, -2, 1};
            auto run = by(how, 3).start<float>(problem{}, f, comm, std::span<float>(x), 1);
            auto const seen = run.look();
            CHECK(seen.round == 0);
            CHECK(seen.value() == 17);
            CHECK(seen.gradient[1] == -8);
            CHECK(seen.x[2] == 1);
            for (int k = 0; k < 12; ++k) run.round();
            CHECK(f.value(x) < 1e-9);
        }
    });
}

TEST_CASE("its text; wrong settings; ranks that disagree") {
    CHECK(to_string(ds_lsr1<>{}) == "ds_lsr1(memory=16)");
    CHECK(to_string(ds_lsr1<ring>{.memory = 4, .curvature = curvature_transport::ship_m, .gamma = .5}) ==
          "ds_lsr1(memory=4, curvature=ship_m, gamma=0.5, over=ring)");
    CHECK(ds_lsr1<>{.memory = 3} != ds_lsr1<>{});
    auto const f = det6::objective::of_all();
    threads::run(2, [&](threads::member& comm) {
        std::vector<double> x(4);
        auto const start = [&](ds_lsr1<> const& method, std::span<double> at) {
            method.start<double>(problem{}, f, comm, at, 1);
        };
        CHECK_THROWS_WITH_AS(start({.memory = 0}, x), doctest::Contains("memory = 0"), argument_error);
        CHECK_THROWS_AS(start({.gamma = NAN}, x), argument_error);
        CHECK_THROWS_WITH_AS(start({.radius = 0}, x), doctest::Contains("radius = 0"), argument_error);
        CHECK_THROWS_AS(start({.radius = INFINITY}, x), argument_error);
        CHECK_THROWS_WITH_AS(start({.forcing = 1}, x), doctest::Contains("forcing = 1"), argument_error);
        CHECK_THROWS_AS(start({}, std::span<double>(x).first(3)), shape_error);
        CHECK_THROWS_WITH_AS(start({.memory = 2 + std::size_t(comm.rank())}, x), doctest::Contains("memory=3"),
                             agreement_error);
        x[1] = comm.rank();
        CHECK_THROWS_WITH_AS(start({}, x), doctest::Contains("starting point"), agreement_error);
    });
}
