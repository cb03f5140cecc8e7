// SPDX-License-Identifier: Apache-2.0
// The trust-region loop on one rank, which is S-LSR1: known numbers of iterations, Newton's method where the model is
// exact, and negative curvature.
#include "laconic/second_order/ds_lsr1.hpp"

#include "support/data.hpp"
#include "support/det6.hpp"
#include "support/everything.hpp"
#include "support/rounds.hpp"
#include "support/solvers.hpp"

double norm_of(std::vector<double> const& v) {
    return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.));
}

// The rounds on one rank until done(x), at most `most`; after_each(loop) looks at it.
std::size_t rounds_until(ds_lsr1<> const& method, auto const& f, std::vector<double>& x, std::uint64_t seed,
                         std::size_t most, auto done, auto after_each) {
    std::size_t k = 0;
    threads::run(1, [&](threads::member& comm) {
        auto run = method.start<double>(problem{}, f, comm, std::span<double>(x), seed);
        for (; k < most && !done(x); ++k) {
            run.round();
            after_each(run);
        }
        CHECK(run.rounds() == k);
        CHECK(run.x().data() == x.data());
    });
    return k;
}
std::size_t rounds_until(ds_lsr1<> const& method, auto const& f, std::vector<double>& x, std::uint64_t seed,
                         std::size_t most, auto done) {
    return rounds_until(method, f, x, seed, most, done, [](auto const&) {});
}
auto flatter_than(auto const& f, double norm) {
    return [&f, norm](std::vector<double> const& x) {
        std::vector<double> g(x.size());
        f.gradient(x, g);
        return norm_of(g) < norm;
    };
}

struct rosenbrock {
    std::size_t dimension() const { return 2; }
    double value(std::span<double const> w) const {
        double const a = 1 - w[0], b = w[1] - w[0] * w[0];
        return a * a + 100 * b * b;
    }
    void gradient(std::span<double const> w, std::span<double> g) const {
        double const b = w[1] - w[0] * w[0];
        g[0] = -2 * (1 - w[0]) - 400 * w[0] * b;
        g[1] = 200 * b;
    }
    void hessian_times(std::span<double const> w, std::span<double const> v, std::span<double> out) const {
        out[0] = (2 - 400 * w[1] + 1200 * w[0] * w[0]) * v[0] - 400 * w[0] * v[1];
        out[1] = -400 * w[0] * v[0] + 200 * v[1];
    }
};

// x^2 / 2 - y^2 / 2 + y^4 / 4
struct two_valleys {
    std::size_t dimension() const { return 2; }
    double value(std::span<double const> w) const { return w[0] * w[0] / 2 - w[1] * w[1] / 2 + std::pow(w[1], 4) / 4; }
    void gradient(std::span<double const> w, std::span<double> g) const {
        g[0] = w[0];
        g[1] = -w[1] + std::pow(w[1], 3);
    }
    void hessian_times(std::span<double const> w, std::span<double const> v, std::span<double> out) const {
        out[0] = v[0];
        out[1] = (-1 + 3 * w[1] * w[1]) * v[1];
    }
};

TEST_CASE("T3.3: a convex quadratic, m = d and a large radius are one step of Newton's") {
    auto const f = det6::objective::of_all();
    std::vector<double> x(4);
    ds_lsr1<> const method{.memory = 4, .radius = 1e6, .forcing = 1e-12};
    auto const rounds = rounds_until(method, f, x, 1, 10, flatter_than(f, 1e-9), [](auto const& run) {
        CHECK(run.accepted());
        CHECK(run.last_search().why == steihaug_end::converged);
        CHECK(run.last_search().products <= 4);
    });
    CHECK(rounds == 1);
    double const best[] = {-.057736389575, -.075322779672, .137868761553, .152527961002};
    for (std::size_t i = 0; i < 4; ++i) CHECK(std::abs(x[i] - best[i]) < 1e-11);
    CHECK(f.value(x) == doctest::Approx(7.977236817871502).epsilon(1e-14));
}

TEST_CASE("T3.4: out of a saddle along negative curvature, in five iterations") {
    two_valleys const f;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        std::vector<double> x{1, 1e-3};
        bool curved_down = false;
        auto const rounds = rounds_until({.memory = 2}, f, x, seed, 50, flatter_than(f, 1e-6), [&](auto const& run) {
            curved_down = curved_down || run.last_search().why == steihaug_end::no_curvature;
        });
        CHECK(rounds == 5);
        CHECK(curved_down);
        CHECK(std::abs(x[0]) < 1e-5);
        CHECK(std::abs(x[1]) == doctest::Approx(1).epsilon(1e-5));
        CHECK(f.value(x) == doctest::Approx(-.25).epsilon(1e-9));
    }
}

TEST_CASE("T3.5: Rosenbrock's valley in 45 iterations with m = 2 = d, whatever is drawn; f never rises") {
    rosenbrock const f;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        std::vector<double> x{-1.2, 1};
        double last = f.value(x);
        auto const rounds = rounds_until({.memory = 2}, f, x, seed, 300, flatter_than(f, 1e-8), [&](auto const& run) {
            CHECK(f.value(run.x()) <= last);
            CHECK(run.accepted() == (f.value(run.x()) < last));
            CHECK(run.pairs().accepted().size() == 2);
            last = f.value(run.x());
        });
        CHECK(rounds == 45);
        CHECK(last < 1e-26);
    }
}

TEST_CASE("T3.5: with m = 1 it takes some 80 iterations") {
    rosenbrock const f;
    std::vector<std::size_t> rounds;
    for (std::uint64_t seed = 0; seed < 21; ++seed) {
        std::vector<double> x{-1.2, 1};
        rounds.push_back(rounds_until({.memory = 1}, f, x, seed, 2000, flatter_than(f, 1e-6)));
    }
    std::sort(rounds.begin(), rounds.end());
    CHECK(rounds.front() >= 60);
    CHECK(rounds[10] >= 72);
    CHECK(rounds[10] <= 90);
    CHECK(rounds.back() <= 110);
}

TEST_CASE("gamma above 0 gives steps shorter than the radius where pairs are few") {
    auto const f = det6::objective::of_all();
    std::vector<double> x(4);
    rounds_until(
        {.memory = 1, .gamma = 30, .radius = 100}, f, x, 1, 3, [](auto const&) { return false; },
        [](auto const& run) {
            CHECK(run.last_search().why == steihaug_end::converged);
            CHECK(run.last_search().norm < 1);
        });
    std::vector<double> flat(4);
    rounds_until(
        {.memory = 1, .radius = .1}, f, flat, 1, 1, [](auto const&) { return false; },
        [](auto const& run) { CHECK(run.last_search().norm == doctest::Approx(.1).epsilon(1e-12)); });
}

TEST_CASE("it comes as near to the minimum as numbers go, and stays there") {
    auto const f = det6::objective::of_all();
    std::vector<double> x(4);
    rounds_until({.memory = 4}, f, x, 1, 60, [](auto const&) { return false; });
    std::vector<double> g(4);
    f.gradient(x, g);
    CHECK(norm_of(g) < 1e-13);
}

// scale (x_0^2 + 2 x_1^2) / 2 from (1, 1), whose value away from there is `elsewhere` times as large.
struct in_range_of_squares {
    double scale, elsewhere = 1;
    std::size_t dimension() const { return 2; }
    double value(std::span<double const> x) const {
        return scale * (x[0] * x[0] / 2 + x[1] * x[1]) * (x[0] == 1 && x[1] == 1 ? 1 : elsewhere);
    }
    void gradient(std::span<double const> x, std::span<double> g) const {
        g[0] = scale * x[0], g[1] = scale * 2 * x[1];
    }
    void hessian_times(std::span<double const>, std::span<double const> v, std::span<double> out) const {
        out[0] = scale * v[0], out[1] = scale * 2 * v[1];
    }
};

TEST_CASE("squares that leave the range of numbers are an error, and x does not stand still in silence") {
    for (auto const how : {curvature_transport::ship_y, curvature_transport::gram})
        for (double const scale : {1e-170, 1e-145, 1e-100, 1., 1e100, 1e145, 1e155, 1e200, 1e300}) {
            std::vector<double> x{1, 1};
            in_range_of_squares const f{scale};
            bool threw = false;
            try {
                rounds_until({.memory = 2, .curvature = how}, f, x, 1, 40, [](auto const&) { return false; });
            } catch (error const&) {
                threw = true;
            }
            CAPTURE(scale);
            CHECK((threw || std::abs(x[0]) + std::abs(x[1]) < 1e-5));
            if (scale >= 1e-100 && scale <= 1e100) CHECK(!threw);
        }
    std::vector<double> x{1, 1};
    CHECK_THROWS_WITH_AS(
        rounds_until({.memory = 2}, in_range_of_squares{1e-170}, x, 1, 1, [](auto const&) { return false; }),
        "ds_lsr1, round 0: squares of the gradient's numbers underflow; scale the objective", error);
    CHECK_THROWS_WITH_AS(
        rounds_until({.memory = 2}, in_range_of_squares{1e200}, x, 1, 1, [](auto const&) { return false; }),
        "ds_lsr1, round 0: squares of the gradient's numbers overflow; scale the objective", error);
}

TEST_CASE("trial values that are never finite are an error") {
    std::vector<double> x{1, 1};
    CHECK_THROWS_AS(
        rounds_until({.memory = 2}, in_range_of_squares{1, HUGE_VAL}, x, 1, 60, [](auto const&) { return false; }),
        error);
    CHECK(x[0] == 1);
    std::vector<double> y{1, 1};  // finite ones that are no better are none: x may be the minimum
    CHECK(rounds_until({.memory = 2}, in_range_of_squares{1, 1e9}, y, 1, 100, [](auto const&) { return false; }) ==
          100);
}

TEST_CASE("a trial value that is not finite is refused, and the radius halves") {
    struct with_a_wall {  // -log x + x: none for x <= 0
        std::size_t dimension() const { return 1; }
        double value(std::span<double const> x) const { return x[0] - std::log(x[0]); }
        void gradient(std::span<double const> x, std::span<double> g) const { g[0] = 1 - 1 / x[0]; }
        void hessian_times(std::span<double const> x, std::span<double const> v, std::span<double> out) const {
            out[0] = v[0] / (x[0] * x[0]);
        }
    } const f;
    std::vector<double> x{10};
    double before = 100;
    rounds_until(
        {.memory = 1, .radius = 100}, f, x, 1, 1, [](auto const&) { return false; },
        [&](auto const& run) {
            CHECK(!run.accepted());
            CHECK(run.x()[0] == 10);
            CHECK(run.radius() == before / 2);
        });
    CHECK(rounds_until({.memory = 1, .radius = 100}, f, x, 1, 60, flatter_than(f, 1e-10)) < 30);
    CHECK(x[0] == doctest::Approx(1).epsilon(1e-9));
}

// DS-LSR1 on logistic regression of Ionosphere over four ranks: the same steps by every way to share the pairs, and
// what travels as the derived table has it; what one rank gets wrong all ranks throw.

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
std::vector<seen_round> run_of(auto const& method, std::vector<logistic_regression<>> const& f,
                               std::size_t most = 200) {
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

TEST_CASE("T3.8: the steps are the same by every way to share the pairs" * doctest::test_suite("slow")) {
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
            // The numbers on a link, of which a sum crosses it once, to the server, and what the
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
