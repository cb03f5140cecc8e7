// SPDX-License-Identifier: Apache-2.0
#include "laconic/descent.hpp"

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <string>

#include "allocations.hpp"
#include "laconic/adapt/warm_start.hpp"
#include "laconic/comm/metered.hpp"
#include "laconic/compress/low_rank.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/method/dcgd.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/method/ef.hpp"
#include "laconic/method/ef21.hpp"
#include "laconic/method/gd.hpp"
#include "laconic/method/gd_sec.hpp"
#include "laconic/method/qsgd.hpp"
#include "laconic/optim/momentum.hpp"
#include "toys.hpp"

using namespace laconic;
using namespace toys;

namespace {

// A quadratic whose gradient can be broken at a coordinate, from outside.
struct fragile {
    quadratic<> inside;
    double const* broken;  // added to one coordinate
    std::size_t at;

    std::size_t dimension() const { return inside.dimension(); }
    double value(std::span<double const> x) const { return inside.value(x); }
    void gradient(std::span<double const> x, std::span<double> g) const {
        inside.gradient(x, g);
        g[at] += *broken;
    }
};

// Damages what one rank says, when told to.
struct damaging {
    threads::member* inner;
    bool now = false;
    std::vector<std::byte> damaged{};

    int rank() const { return inner->rank(); }
    int size() const { return inner->size(); }
    void all_gather(contribution mine) {
        if (now) {
            damaged.assign(mine.bytes.begin(), mine.bytes.end());
            damaged.push_back(std::byte{1});
            mine.bytes = damaged;
        }
        inner->all_gather(mine);
    }
    contribution from(int r) const { return inner->from(r); }
};

struct state {
    vec x, known, unsaid, mean_known;
    template <class Run>
    explicit state(Run const& run)
        : x(copied(run.x())),
          known(copied(run.remembered().known())),
          unsaid(copied(run.remembered().unsaid())),
          mean_known(copied(run.remembered().mean_known())) {}
    bool operator==(state const&) const = default;
};

// Calls `check(recursion)` for one recursion of every kind.
template <class Check>
void for_every_method(problem const& p, Check check) {
    check("gd", composed(gd{}, p));
    check("qsgd", composed(qsgd{4, {}}, p));
    check("dcgd rand_k", composed(dcgd{rand_k{2}}, p));
    check("dcgd rand_k natural", composed(dcgd{rand_k{5} | natural{}}, p));
    check("ef top_k", composed(ef{top_k{2}}, p));
    check("ef top_k quantize", composed(ef{top_k{3} | quantize{8}}, p));
    check("ef21", composed(ef21{top_k{2} | natural{}}, p));
    check("diana rand_k", composed(diana{rand_k{2}}, p));
    check("diana quantize", composed(diana{quantize{1, 2, norm::largest}}, p));
    check("diana l1", composed(diana{rand_k{2}, {}, l1{.01}}, p));
    check("gd_sec", composed(gd_sec{1, {.memory = .5}}, p));
    recursion<top_k<>, momentum<>> const heavy{top_k{2}, 0, true, 1, momentum<>(.2 / p.smoothness, .9), {}};
    check("momentum", heavy);
    // One more thing to remember: the factor of 3 rows that was said last, or of one.
    recursion<low_rank<std::span<double const>>, gradient_step, warm_start<double>> const warm{
        {p.dimension % 3 == 0 ? 3u : 1u, 1, {}}, 0, true, .1 / p.smoothness, gradient_step{1}, {}};
    check("low_rank", warm);
}

std::array<double, 3> sum_of_values_and_gradients(standing<quadratic<>, double> const& at) {
    return {at.value(), at.gradient[0], at.x[0]};
}

}  // namespace

TEST_CASE("a gradient that is not finite: every rank is told, nothing has changed, and the run goes on as if never") {
    auto const f = random_ridges(3, 6, 1, 4);
    for_every_method(constants(f), [&](std::string const& name, auto const& method) {
        CAPTURE(name);
        auto const expected = history(method, f, vec(6, 1.0), 9, 5);
        for (double const bad : {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -HUGE_VAL}) {
            std::array<bool, 3> told{}, untouched{}, as_if_never{};
            threads::run(3, [&](threads::member& comm) {
                auto const me = static_cast<std::size_t>(comm.rank());
                double broken = 0;
                fragile const mine{f[me], &broken, 2};
                vec x(6, 1.0);
                descent<std::remove_cvref_t<decltype(method)>, fragile, threads::member> run(method, mine, comm, x, 5);
                bool right_error = true, same = true;
                for (std::uint64_t k = 0; k < 9; ++k) {
                    if (k == 0 || k == 1 || k == 4 || k == 8)
                        for (int again = 0; again < 2; ++again) {
                            state const before(run);
                            broken = me >= 1 && (me == 1 || again == 1) ? bad : 0;  // rank 1 alone, then 1 and 2
                            try {
                                if (again == 0) run.look();  // a look may come first
                                run.round();
                                right_error = false;
                            } catch (non_finite_error const& e) {
                                right_error = right_error && e.rank == 1 && e.round == k && e.coordinate == 2;
                            }
                            same = same && state(run) == before && run.rounds() == k;
                            broken = 0;
                        }
                    run.round();
                }
                told[me] = right_error;
                untouched[me] = same;
                as_if_never[me] = x == expected[9].x[me] && state(run).known == expected[9].known[me] &&
                                  state(run).unsaid == expected[9].unsaid[me] &&
                                  state(run).mean_known == expected[9].mean_known[me];
            });
            CHECK(told == std::array<bool, 3>{true, true, true});
            CHECK(untouched == std::array<bool, 3>{true, true, true});
            CHECK(as_if_never == std::array<bool, 3>{true, true, true});
        }
    });
}

TEST_CASE("damaged bytes: every rank is told whose, nothing has changed, and the run goes on as if never") {
    auto const f = random_ridges(3, 6, 1, 4);
    for_every_method(constants(f), [&](std::string const& name, auto const& method) {
        CAPTURE(name);
        auto const expected = history(method, f, vec(6, 1.0), 6, 5);
        std::array<bool, 3> right{};
        threads::run(3, [&](threads::member& inner) {
            damaging comm{&inner};
            auto const me = static_cast<std::size_t>(comm.rank());
            vec x(6, 1.0);
            descent<std::remove_cvref_t<decltype(method)>, quadratic<>, damaging> run(method, f[me], comm, x, 5);
            bool told = true;
            for (int k = 0; k < 6; ++k) {
                if (k == 0 || k == 3) {
                    state const before(run);
                    comm.now = me == 2;
                    try {
                        run.round();
                        told = false;
                    } catch (wire_error const& e) {
                        told = told && e.why.starts_with("from rank 2: ");
                    }
                    comm.now = false;
                    told = told && state(run) == before;
                }
                run.round();
            }
            right[me] = told && x == expected[6].x[me];
        });
        CHECK(right == std::array<bool, 3>{true, true, true});
    });
}

TEST_CASE("one seed, one run: the same bytes and iterates however many ranks compute at once") {
    auto const f = random_ridges(5, 7, 1, 6);
    for_every_method(constants(f), [&](std::string const& name, auto const& method) {
        CAPTURE(name);
        auto const one = history(method, f, vec(7, 1.0), 12, 3, {.at_once = 1});
        for (int const at_once : {0, 2, 10}) {
            auto const other = history(method, f, vec(7, 1.0), 12, 3, {.at_once = at_once});
            for (std::size_t k = 0; k <= 12; ++k) {
                CHECK(other[k].x == one[k].x);
                CHECK(other[k].bytes == one[k].bytes);
                CHECK(other[k].known == one[k].known);
                CHECK(other[k].unsaid == one[k].unsaid);
            }
        }
        for (auto const& x : one[12].x) CHECK(x == one[12].x[0]);
        auto const next_seed = history(method, f, vec(7, 1.0), 12, 4);
        bool const draws = name.find("top_k") == std::string::npos && name != "gd" && name != "gd_sec" &&
                           name != "momentum" && name != "low_rank";
        if (draws) CHECK(next_seed[12].x[0] != one[12].x[0]);
    });
    // Ranks draw for themselves: two with the same gradient do not say the same.
    workers const twins(2, f[0]);
    auto const apart = history(composed(dcgd{rand_k{2}}, f), twins, vec(7, 1.0), 5);
    CHECK(apart[5].bytes[0] != apart[5].bytes[1]);
}

TEST_CASE("the watch sees every iterate once, and the last; false stops the run") {
    auto const f = random_ridges(3, 4, 1, 2);
    auto const expected = history(composed(gd{}, f), f, vec(4, 1.0), 8);
    auto const p = constants(f);
    for (std::uint64_t const stop_at : {100u, 5u, 0u}) {
        std::array<std::uint64_t, 3> rounds{}, calls{};
        std::array<bool, 3> right{true, true, true};
        threads::run(3, [&](threads::member& comm) {
            auto const me = static_cast<std::size_t>(comm.rank());
            vec x(4, 1.0);
            rounds[me] = descend(gd{}, p, f[me], x, comm, {.rounds = 8}, [&](auto const& at) {
                vec g(4);
                f[me].gradient(at.x, g);
                right[me] = right[me] && at.round == calls[me] && copied(at.x) == expected[at.round].x[me] &&
                            copied(at.gradient) == g && at.value() == f[me].value(at.x);
                ++calls[me];
                return at.round != stop_at;
            });
            right[me] = right[me] && x == expected[std::min<std::uint64_t>(stop_at, 8)].x[me];
        });
        std::uint64_t const last = std::min<std::uint64_t>(stop_at, 8);
        CHECK(rounds == std::array<std::uint64_t, 3>{last, last, last});
        CHECK(calls == std::array<std::uint64_t, 3>{last + 1, last + 1, last + 1});
        CHECK(right == std::array<bool, 3>{true, true, true});
    }
}

TEST_CASE("a watch that returns nothing, no rounds at all, and a look that costs one gradient") {
    struct counting {
        quadratic<> inside;
        int* gradients;
        std::size_t dimension() const { return inside.dimension(); }
        double value(std::span<double const> x) const { return inside.value(x); }
        void gradient(std::span<double const> x, std::span<double> g) const {
            ++*gradients;
            inside.gradient(x, g);
        }
    };
    int gradients = 0, calls = 0;
    auto const f = random_ridges(1, 4, 1, 2);
    threads::run(1, [&](threads::member& comm) {
        counting const mine{f[0], &gradients};
        vec x(4, 1.0);
        CHECK(descend(gd{}, constants(f), mine, x, comm, {.rounds = 6}, [&](auto const&) { ++calls; }) == 6);
        CHECK(gradients == 7);
        CHECK(calls == 7);
        CHECK(descend(gd{}, constants(f), mine, x, comm, {.rounds = 0}, [&](auto const&) { ++calls; }) == 0);
        CHECK(calls == 8);
        CHECK(descend(gd{}, constants(f), mine, x, comm, {.rounds = 2}) == 2);
        CHECK(descend(composed(gd{}, f), f[0], x, comm, {.rounds = 3}, [](auto const&) {}) == 3);
        CHECK(descend(gd{}, f[0], x, comm) == 1000);  // the objective knows its constants
        CHECK(distance2(x, optimum(f).x) < 1e-12);
    });
}

TEST_CASE("a fused objective is asked once and gives the same run") {
    struct fused : quadratic<> {
        int* passes;
        fused(quadratic<> const& q, int& count) : quadratic<>(q), passes(&count) {}
        double value_and_gradient(std::span<double const> x, std::span<double> g) const {
            ++*passes;
            gradient(x, g);
            return value(x);
        }
    };
    auto const f = random_ridges(2, 5, 1, 7);
    auto const method = composed(diana{rand_k{2}}, f);
    std::array<int, 2> passes{};
    std::array<double, 2> fused_sum{}, plain_sum{};
    std::vector<vec> fused_x(2), plain_x(2);
    threads::run(2, [&](threads::member& comm) {
        auto const me = static_cast<std::size_t>(comm.rank());
        fused const mine(f[me], passes[me]);
        vec x(5, 1.0), y(5, 1.0);
        descend(method, mine, x, comm, {.rounds = 20}, [&](auto const& at) { fused_sum[me] += at.value(); });
        descend(method, f[me], y, comm, {.rounds = 20},
                [&](auto const& at) { plain_sum[me] += sum_of_values_and_gradients(at)[0]; });
        fused_x[me] = x;
        plain_x[me] = y;
    });
    CHECK(passes == std::array<int, 2>{21, 21});
    CHECK(fused_sum == plain_sum);
    CHECK(fused_x == plain_x);
}

TEST_CASE("x may be a vector of Eigen, an array or a span, of doubles or floats") {
    auto const f = random_ridges(2, 4, 1, 3);
    std::vector<quadratic<float>> single;
    for (auto const& q : f) single.push_back({q.h.cast<float>(), q.b.cast<float>(), float(q.c)});
    auto const p = constants(f);
    optimum const best(f);
    std::array<bool, 2> same{};
    std::vector<Eigen::VectorXf> far(2);
    std::vector<std::uint64_t> bytes(2), bytes_single(2);
    threads::run(2, [&](threads::member& inner) {
        auto const me = static_cast<std::size_t>(inner.rank());
        metered comm(inner), comm_single(inner);
        Eigen::VectorXd x = Eigen::VectorXd::Ones(4);
        std::array<double, 4> y{1, 1, 1, 1};
        vec z(4, 1.0);
        std::span<double> const part(z);
        descend(diana{rand_k{2}}, p, f[me], x, comm, {.rounds = 50});
        descend(diana{rand_k{2}}, p, f[me], y, inner, {.rounds = 50});
        descend(diana{rand_k{2}}, p, f[me], part, inner, {.rounds = 50});
        same[me] = vec(x.begin(), x.end()) == z && vec(y.begin(), y.end()) == z;
        far[me] = Eigen::VectorXf::Ones(4);
        descend(diana{rand_k{2}}, p, single[me], far[me], comm_single, {.rounds = 50});
        bytes[me] = comm.bytes_sent();
        bytes_single[me] = comm_single.bytes_sent();
        descend(diana{rand_k{2}}, p, single[me], far[me], inner, {.rounds = 3000});
    });
    CHECK(same == std::array<bool, 2>{true, true});
    CHECK(far[0] == far[1]);
    for (Eigen::Index j = 0; j < 4; ++j) CHECK(far[0][j] == doctest::Approx(best.x[std::size_t(j)]).epsilon(1e-3));
    CHECK(bytes[0] == 16 + 50 * 2 * 8);  // the agreement, then two numbers a round
    CHECK(bytes_single[0] == 16 + 50 * 2 * 4);
}

TEST_CASE("an x or a compressor of the wrong size is refused before anything is said") {
    auto const f = random_ridges(2, 4, 1, 3);
    auto const start_with = [&](auto const& method, std::size_t d) {
        threads::run(2, [&](threads::member& comm) {
            vec x(d, 1.0);
            descend(method, constants(f), f[static_cast<std::size_t>(comm.rank())], x, comm, {.rounds = 1});
        });
    };
    CHECK_THROWS_WITH_AS(start_with(gd{}, 3), "x has 3 numbers, the objective's dimension is 4", shape_error);
    CHECK_THROWS_WITH_AS(start_with(ef{top_k{5}, {.step = .1}}, 4), "k = 5 is above the dimension d = 4",
                         argument_error);
}

namespace {

// The last round, from 1, in which any rank allocated.
template <class R, class Run>
std::size_t last_allocation(Run& run) {
    std::size_t last = 0;
    for (std::size_t k = 1; k <= 40; ++k) {
        auto const before = allocations();
        run.round();
        if (allocations() != before) last = k;
    }
    return last;
}

}  // namespace

TEST_CASE("after its first round a method allocates nothing") {
    auto const f = random_ridges(3, 6, 1, 4);
    for_every_method(constants(f), [&](std::string const& name, auto const& method) {
        CAPTURE(name);
        using R = std::remove_cvref_t<decltype(method)>;
        vec x(6, 1.0);
        replay alone{{{}}, 0};
        descent<R, quadratic<>, replay> run(method, f[0], alone, x, 5);
        CHECK(last_allocation<R>(run) == 1);
    });
}

TEST_CASE("nor does it over threads") {
    auto const f = random_ridges(3, 6, 1, 4);
    for_every_method(constants(f), [&](std::string const& name, auto const& method) {
        CAPTURE(name);
        using R = std::remove_cvref_t<decltype(method)>;
        std::array<std::size_t, 3> last{};
        threads::run(3, [&](threads::member& comm) {
            auto const me = static_cast<std::size_t>(comm.rank());
            vec x(6, 1.0);
            descent<R, quadratic<>, threads::member> run(method, f[me], comm, x, 5);
            last[me] = last_allocation<R>(run);
        });
        for (auto const k : last) CHECK(k <= 1);
    });
}
