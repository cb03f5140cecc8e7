// SPDX-License-Identifier: Apache-2.0
// The loop of block descent: what it reports, its errors on all ranks, its guard, and runs that go on from their state.
#include "laconic/vertical/block_descent.hpp"

#include <Eigen/Dense>

#include "support/data.hpp"
#include "support/everything.hpp"
#include "support/parties.hpp"
#include "support/states.hpp"

using namespace parties;

dataset<double> det6_signs() {
    auto data = det6::data();
    for (auto& y : data.labels) y = y < 0 ? -1 : 1;
    return data;
}

template <class M, class P, class F>
void values_are_those_of(M const& method, std::vector<P> const& all, F const& f) {
    fibers::run(int(all.size()), [&](fibers::member& comm) {
        auto const r = std::size_t(comm.rank());
        vec x(all[r].dimension(), .5 - double(r));
        auto run = method.start(problem{}, all[r], comm, std::span(x), 0);
        for (std::uint64_t n = 0; n < 5; ++n) {
            auto const now = run.look();
            CHECK(now.round == n);
            CHECK(run.rounds() == n);
            CHECK(now.x.data() == x.data());
            vec mine(6, std::numeric_limits<double>::quiet_NaN());
            std::copy(x.begin(), x.end(), mine.begin());
            mine[4] = double(x.size()), mine[5] = now.value();
            comm.all_gather({std::as_bytes(std::span(mine))});
            vec whole;
            double value = 0;
            for (int k = 0; k < comm.size(); ++k) {
                vec theirs(6);
                std::memcpy(theirs.data(), comm.from(k).bytes.data(), 48);
                whole.insert(whole.end(), theirs.begin(), theirs.begin() + std::ptrdiff_t(theirs[4]));
                value += theirs[5] / comm.size();
            }
            CHECK(value == doctest::Approx(f.value(whole)).epsilon(1e-13));
            run.round();
        }
    });
}

TEST_CASE("the mean of the parties' values is f, before every round") {
    auto const data = det6_signs();
    ridge<> const squares(data, .2);
    logistic_regression<> const logistic(data, .2);
    for (int const active : {-1, 2}) {
        auto const all = split<squared_loss>(data, {0, 1, 2, 4}, .2, active);
        values_are_those_of(fed_bcd<>{.local_steps = 3, .step = .5}, all, squares);
        values_are_those_of(fed_bcd<party_order::sequential>{.local_steps = 3, .step = .5}, all, squares);
    }
    auto const all = split<logistic_loss>(data, {0, 1, 2, 4}, .2);
    values_are_those_of(fed_bcd<>{.local_steps = 3, .step = .5}, all, logistic);
    values_are_those_of(fed_bcd<party_order::sequential>{.local_steps = 3, .step = .5}, all, logistic);
}

// A party whose embedding is spoiled at one coordinate while `bad` is at least 0.
struct spoiled : linear_party<squared_loss, double> {
    int bad = -1;

    void embedding(row_choice rows, std::span<double const> x, std::span<double> z) const {
        linear_party::embedding(rows, x, z);
        if (bad >= 0) z[std::size_t(bad)] = bad % 2 ? NAN : HUGE_VAL;
    }
};

void errors_change_nothing(auto const& method, std::size_t rows, bool in_turns = false) {
    auto const parties = split<squared_loss>(det6::data(), {0, 2, 3, 4}, .1, 0);
    auto const undisturbed = run_until(
        method, parties, [](vec const&) { return false; }, 9, 4);
    std::vector<vec> blocks(3);
    fibers::run(3, [&](fibers::member& comm) {
        auto const r = std::size_t(comm.rank());
        spoiled mine{parties[r]};
        vec x(mine.dimension());
        auto run = method.start(problem{}, mine, comm, std::span(x), 4);
        for (std::uint64_t n = 0; n < 9;) {
            auto const at = run.rounds();
            int const rank = int(n % 3), where = int((5 * n) % rows);
            run.look();
            vec const before = x;
            if (comm.rank() == rank) mine.bad = where;
            auto const check = [&](auto call) {
                try {
                    call();
                    CHECK(false);
                } catch (non_finite_error const& e) {
                    CHECK(e.rank == rank);
                    CHECK(e.round == at);
                    CHECK(e.coordinate == std::size_t(where));
                    CHECK(e.of == "the embeddings");
                }
            };
            check([&] { run.round(); });
            if (!in_turns || rank == 0) CHECK(x == before);  // those before the failed one have moved
            check([&] { run.round(); });
            mine.bad = -1;
            CHECK(run.rounds() == at);
            run.round();
            n = run.rounds();
        }
        blocks[r] = x;
    });
    CHECK(joined(blocks) == undisturbed.x);
}

TEST_CASE("a number that is not finite is an error on all ranks, and the run is as if it had not been tried") {
    errors_change_nothing(fed_bcd<>{.step = .5}, 48);
    errors_change_nothing(fed_bcd<>{.step = .5, .batch = 10}, 10);
    errors_change_nothing(fed_bcd<party_order::sequential>{.step = .5}, 48, true);
    errors_change_nothing(fed_bcd<party_order::parallel, ef21_shift<top_k<>>>{.step = .2, .send = {top_k<>{20}}}, 48);
    errors_change_nothing(fed_bcd<party_order::parallel, plain<identity, served<identity>>>{.step = .5}, 48);
}

TEST_CASE("in the exchange of the starting point, too, and blocks never move to what is not finite") {
    auto const parties = split<squared_loss>(det6::data(), {0, 2, 4}, .1, 0);
    fibers::run(2, [&](fibers::member& comm) {
        vec x(2);
        if (comm.rank() == 1) x[0] = HUGE_VAL;
        auto run = fed_bcd<>{.step = .5}.start(problem{}, parties[std::size_t(comm.rank())], comm, std::span(x), 0);
        CHECK_THROWS_AS(run.look(), non_finite_error);
        x[0] = 0;
        run.look();
        x[0] = 0;
    });
    fibers::run(2, [&](fibers::member& comm) {
        vec x(2);
        fed_bcd<> const wild{.local_steps = 50, .step = 1e6, .growth = on_growth::ignore};
        auto run = wild.start(problem{}, parties[std::size_t(comm.rank())], comm, std::span(x), 0);
        CHECK_THROWS_AS(([&] {
                            for (int n = 0; n < 100; ++n) run.round();
                        }()),
                        non_finite_error);
        for (double const v : x) CHECK(std::isfinite(v));
    });
}

TEST_CASE("growth: an error, fewer local steps, or nothing") {
    auto const all = correlated(3);
    auto const run = [&](on_growth growth, auto body) {
        fibers::run(3, [&](fibers::member& comm) {
            vec x(1);
            fed_bcd<> const method{.local_steps = 40, .step = .1, .growth = growth};
            auto loop = method.start(problem{}, all[std::size_t(comm.rank())], comm, std::span(x), 0);
            body(loop, x);
        });
    };
    run(on_growth::raise, [](auto& loop, vec const&) {
        try {
            for (int n = 0; n < 500; ++n) loop.round();
            CHECK(false);
        } catch (divergence_error const& e) {
            CHECK(e.round == loop.rounds());
            CHECK(e.round < 30);
            CHECK(e.value > 0);
        }
        loop.round();  // the state is whole
    });
    run(on_growth::halve_steps, [&](auto& loop, vec const& x) {
        for (int n = 0; n < 500; ++n) loop.round();
        CHECK(loop.local_steps() == 10);
        CHECK(std::abs(x[0] - optimum_of(all)[0]) * std::abs(x[0] - optimum_of(all)[1]) *
                  std::abs(x[0] - optimum_of(all)[2]) <
              1e-6);
    });
    run(on_growth::ignore, [](auto& loop, vec const& x) {
        for (int n = 0; n < 100; ++n) loop.round();
        CHECK(std::abs(x[0]) > 1e8);
    });
    fibers::run(3, [&](fibers::member& comm) {
        vec x(1);
        fed_bcd<> const method{.step = 1.5, .growth = on_growth::halve_steps};
        auto loop = method.start(problem{}, all[std::size_t(comm.rank())], comm, std::span(x), 0);
        CHECK_THROWS_AS(([&] {
                            for (int n = 0; n < 100; ++n) loop.round();
                        }()),
                        divergence_error);
    });
}

// Forty rounds from x, with the step of theory and forty local steps at most halved: whether f rose in one, and what
// the guard did.
struct guarded {
    bool rose = false, raised = false;
    std::uint64_t local_steps = 0;
    bool operator==(guarded const&) const = default;
};
template <class M, class P>
guarded from_there(M method, std::vector<P> const& all, vec const& start, on_growth growth) {
    method.growth = growth;
    guarded seen;
    fibers::run(int(all.size()), [&](fibers::member& comm) {
        auto const r = std::size_t(comm.rank());
        std::size_t first = 0;
        for (std::size_t k = 0; k < r; ++k) first += all[k].dimension();
        vec x(start.begin() + std::ptrdiff_t(first), start.begin() + std::ptrdiff_t(first + all[r].dimension()));
        auto loop = method.start(agree_on_problem(comm, all[r]), all[r], comm, std::span(x), 0);
        double before = HUGE_VAL;
        try {
            for (int n = 0; n < 40; ++n) {
                double const part = loop.look().value();
                comm.all_gather({std::as_bytes(std::span(&part, 1))});
                double value = 0;
                for (int k = 0; k < comm.size(); ++k) {
                    double theirs;
                    std::memcpy(&theirs, comm.from(k).bytes.data(), 8);
                    value += theirs / comm.size();
                }
                if (value > before + 1e-13 * std::abs(before)) seen.rose = true;
                before = value;
                loop.round();
            }
        } catch (divergence_error const&) {
            seen.raised = true;
        }
        seen.local_steps = loop.local_steps();
    });
    return seen;
}

// No party meets a false alarm where f, from the best x of a smaller penalty on, falls while the loss grows, and at the
// best x, where f has come to rest.
template <class Each, class M>
void no_false_alarm(M method, dataset<double> const& data, double lambda, int active) {
    method.local_steps = active == 0 && std::same_as<Each, logistic_loss> ? 1 : 4;
    auto const d = std::size_t(data.rows.cols());
    auto const all = split<Each>(data, {0, d / 3, d / 2, d}, lambda, active);
    for (double const start : {lambda / 10, lambda}) {
        vec const x = find_optimum(linear_model<Each, double>(data, start)).x;
        CAPTURE(to_string(method));
        CAPTURE(data.name);
        for (auto const growth : {on_growth::raise, on_growth::halve_steps}) {
            auto const seen = from_there(method, all, x, growth);
            if constexpr (!std::same_as<M, fed_bcd<party_order::frozen>>) CHECK(!seen.rose);
            CHECK(!seen.raised);
            CHECK(seen.local_steps == method.local_steps);
        }
    }
}

void no_false_alarms(dataset<double> const& data, double lambda) {
    for (int const active : {-1, 1}) {
        no_false_alarm<squared_loss>(fed_bcd<>{}, data, lambda, active);
        no_false_alarm<squared_loss>(fed_bcd<party_order::sequential>{}, data, lambda, active);
    }
    no_false_alarm<logistic_loss>(fed_bcd<>{}, data, lambda, -1);
    no_false_alarm<logistic_loss>(fed_bcd<party_order::frozen>{}, data, lambda, 0);
}

TEST_CASE("growth is that of f, and not of the loss without the penalty or of rounding") {
    no_false_alarms(det6_signs(), .3);
    if (auto data = test_data("heart_scale")) binary_labels(*data), no_false_alarms(*data, .1);
    // Nothing is left of the loss but rounding.
    auto exact = det6::data();
    Eigen::Map<Eigen::VectorXd>(exact.labels.data(), 48) = exact.rows * Eigen::Vector4d(1, -2, 3, .1);
    for (int const active : {-1, 0, 1}) {
        auto const all = split<squared_loss>(exact, {0, 2, 4}, 0, active);
        auto const seen = from_there(fed_bcd<>{.local_steps = 3}, all, {1, -2, 3, .1}, on_growth::raise);
        CHECK(!seen.raised);
    }
}

TEST_CASE("frozen residuals that diverge are an error, as rank 0's loss shows") {
    auto const all = split<squared_loss>(det6::data(), {0, 2, 4}, .01, 0);
    fed_bcd<party_order::frozen> const wild{.local_steps = 30, .step = .5, .unproved = true};
    CHECK(from_there(wild, all, {1, 1, 1, 1}, on_growth::raise).raised);
    CHECK(from_there(wild, all, {1, 1, 1, 1}, on_growth::halve_steps).local_steps < 30);
}

TEST_CASE("a forged number of local steps, with a right checksum, is a wire_error") {
    auto const all = split<squared_loss>(det6::data(), {0, 2, 4}, .1, 0);
    fibers::run(2, [&](fibers::member& comm) {
        vec x(2);
        fed_bcd<> const method{.local_steps = 5, .step = .3};
        auto run = method.start(problem{}, all[std::size_t(comm.rank())], comm, std::span(x), 0);
        run.round();
        auto const state = run.save();
        int found = 0;
        for (std::size_t at = 0; at + 12 <= state.size(); ++at) {
            if (word_at(state, at) != 5) continue;
            for (std::uint64_t const steps : {std::uint64_t{0}, std::uint64_t{6}, ~std::uint64_t{0}}) {
                auto forged = unsealed(state);
                put(forged, steps, at);
                try {
                    run.restore(sealed(forged));
                } catch (wire_error const& e) {
                    found += e.why == "the saved state: a number is outside its range";
                } catch (error const&) {
                }
            }
        }
        CHECK(found == 3);
        run.restore(state);
        run.round();
    });
}

// The blocks after eleven rounds, where each rank starts anew from its saved state after `stop` of them.
template <class Engine, class T = double, class M, class P>
std::vector<T> interrupted(M const& method, std::vector<P> const& all, std::uint64_t stop) {
    std::vector<std::vector<T>> blocks(all.size());
    Engine::run(int(all.size()), [&](auto& comm) {
        auto const r = std::size_t(comm.rank());
        std::vector<std::byte> state;
        std::vector<T> x(all[r].dimension()), y(x.size(), T(3));
        {
            auto run = method.start(problem{}, all[r], comm, std::span(x), 9);
            while (run.rounds() < stop) run.round();
            if (stop > 0) run.look();
            state = run.save();
            for (int n = 0; n < 3; ++n) run.round();
        }
        auto run = method.start(problem{}, all[r], comm, std::span(y), 9);
        run.round();
        run.restore(state);
        CHECK(run.rounds() == stop);
        auto damaged = state;
        damaged[damaged.size() / 2] ^= std::byte{1};
        CHECK_THROWS_AS(run.restore(damaged), wire_error);
        while (run.rounds() < 11) run.round();
        blocks[r] = y;
        auto other = method;
        other.local_steps += 1;
        CHECK_THROWS_AS(other.start(problem{}, all[r], comm, std::span(x), 9).restore(state), shape_error);
    });
    return joined(blocks);
}

template <class T = double, class M, class P>
void goes_on(M const& method, std::vector<P> const& all) {
    auto const straight = interrupted<fibers, T>(method, all, 0);
    for (std::uint64_t const stop : {1u, 6u}) CHECK(interrupted<fibers, T>(method, all, stop) == straight);
    CHECK(interrupted<threads, T>(method, all, 4) == straight);
}

TEST_CASE("a saved run goes on, bit for bit, over fibers and threads") {
    auto const all = split<squared_loss>(det6::data(), {0, 2, 3, 4}, .1, 0);
    auto const logistic = split<logistic_loss>(det6_signs(), {0, 2, 3, 4}, .1);
    goes_on(fed_bcd<>{.local_steps = 2, .step = .5}, all);
    goes_on(fed_bcd<>{.local_steps = 2, .step = .5, .prox = .3, .batch = 7}, logistic);
    goes_on(fed_bcd<party_order::parallel, ef21_shift<top_k<>>>{.local_steps = 2, .step = .2, .send = {top_k<>{5}}},
            all);
    goes_on(fed_bcd<party_order::parallel, plain<identity, served<identity>>>{.step = .5, .batch = 20}, all);
    goes_on(fed_bcd<party_order::sequential>{.local_steps = 2, .step = .5}, logistic);
    goes_on(fed_bcd<party_order::sequential>{.local_steps = 2, .step = .5, .batch = 7}, all);
    goes_on(fed_bcd<party_order::sequential, ef21_shift<top_k<>>>{.local_steps = 2, .step = .2, .send = {top_k<>{5}}},
            all);
    goes_on(fed_bcd<party_order::frozen>{.local_steps = 2, .step = .1, .batch = 20, .unproved = true}, logistic);
    goes_on(fed_bcd<>{.local_steps = 40, .step = .1, .growth = on_growth::halve_steps}, correlated(3));
    auto const floats = split<squared_loss>(det6::data<float>(), {0, 2, 3, 4}, .1, 0);
    goes_on<float>(fed_bcd<>{.local_steps = 2, .step = .5}, floats);
    goes_on<float>(fed_bcd<party_order::sequential>{.local_steps = 2, .step = .5, .batch = 7}, floats);
}
