// SPDX-License-Identifier: Apache-2.0
// `descent` gives one run for one seed, goes on from saved states bit for bit, and undoes a round that throws.
#include "laconic/descent.hpp"

#include "support/allocations.hpp"
#include "support/error_of.hpp"
#include "support/everything.hpp"
#include "support/samples.hpp"
#include "support/tasks.hpp"

using namespace toys;

using bytes = std::vector<std::byte>;

std::vector<any_objective<>> some_means(std::size_t n, std::size_t d) {
    std::vector<any_objective<>> all;
    for (std::size_t i = 0; i < n; ++i) all.push_back(samples::logistic_of(8, d, 20 + i));
    return all;
}
// Bounds on the constants, from rows whose numbers are below 1.
problem constants_of(std::vector<any_objective<>> const& f) {
    double const most = .25 * static_cast<double>(f[0].dimension()) + .1;
    return {f[0].dimension(), static_cast<int>(f.size()), most, .1, most, most, .1, f[0].samples(), most, most};
}

// Threads or one thread for all, so that one loop is compiled for both. It keeps what this rank hands over, and damages
// it where a flag is set.
struct line {
    any_communicator inner;
    std::vector<bytes>* log = nullptr;
    bool damages_message = false, damages_answer = false, loses_answer = false;
    bytes damaged{};

    int rank() const { return inner.rank(); }
    int size() const { return inner.size(); }
    payload handed_over(payload mine, bool damages) {
        if (log) log->emplace_back(mine.bytes.begin(), mine.bytes.end());
        if (!damages) return mine;
        damaged.assign(mine.bytes.begin(), mine.bytes.end());
        damaged.push_back(std::byte{1});
        return {damaged, mine.is_error};
    }
    void all_gather(payload mine) { inner.all_gather(handed_over(mine, damages_message)); }
    void gather(int root, payload mine) { inner.gather(root, handed_over(mine, damages_message)); }
    void broadcast(int root, payload mine) {
        if (loses_answer) throw comm_error(-1, "the line is cut");
        inner.broadcast(root, rank() == root ? handed_over(mine, damages_answer) : mine);
    }
    payload from(int r) const { return inner.from(r); }
};

// Every method behind faces, so that one loop is compiled for all.
using method_type = any_recursion<>;
using loop = descent<method_type, any_objective<>, line>;

struct state {
    vec x;
    bytes saved;  // all that is remembered
    explicit state(loop const& run) : x(copied(run.x())), saved(run.save()) {}
    bool operator==(state const&) const = default;
};

// All ranks of a run in one thread.
struct crew {
    table all;
    std::vector<replayed_rank> seats;
    std::vector<line> lines;
    std::vector<std::vector<bytes>> logs;
    std::vector<vec> x;
    std::vector<std::unique_ptr<loop>> ranks;

    crew(method_type const& method, std::vector<any_objective<>> const& f, double start, std::uint64_t seed)
        : seats(f.size()), logs(f.size()), x(f.size(), vec(f.at(0).dimension(), start)) {
        all.sent.resize(f.size());
        lines.reserve(f.size());  // the loops refer to them
        for (std::size_t i = 0; i < f.size(); ++i) {
            seats[i] = {&all, static_cast<int>(i)};
            lines.push_back({seats[i]});
            ranks.push_back(std::make_unique<loop>(method, f[i], lines[i], std::span<double>(x[i]), seed));
            lines[i].log = &logs[i];
        }
        all.starting = false;
    }
    void rounds(int n) {
        for (int k = 0; k < n; ++k) {
            for (auto& r : ranks) r->send();
            for (auto& r : ranks) r->receive();
        }
    }
    std::vector<state> states() const {
        std::vector<state> found;
        for (auto const& r : ranks) found.emplace_back(*r);
        return found;
    }
};

any_transport<> served_by(any_compressor<> c, memory<> m) {
    return served<any_compressor<>>{std::move(c), std::move(m)};
}

method_type with_estimator(any_estimator<> const& estimator, problem const& p) {
    auto method = named("ef_sgd(top_k(2))", p);
    method.estimator = estimator;
    return method;
}

// Calls `check` for one recursion of every kind, in each of the ways that its messages may go.
using check_type = std::function<void(std::string const& name, method_type const& method, bool draws)>;
void for_every_method(problem const& p, check_type const& check) {
    auto const each = [&](std::string const& name, method_type const& hidden, bool draws = true) {
        check(name, hidden, draws);
        check(name + ", served in full", hidden.with_over(served_by(identity{}, {})), draws);
        check(name + ", served rand_k", hidden.with_over(served_by(rand_k{3}, {.4, false})), true);
        check(name + ", served top_k", hidden.with_over(served_by(top_k{2}, {0, true})), draws);
    };
    each("gd", named("gd", p), false);
    each("dcgd rand_k natural", named("dcgd(rand_k(5) | natural)", p));
    each("ef top_k", named("ef_sgd(top_k(2))", p), false);
    each("diana rand_k", named("diana(rand_k(2))", p));
    each("gd_sec", named("gd_sec(xi=1, beta=0.5)", p), false);
    recursion<top_k<>, memory<>, momentum<>> const heavy{top_k{2}, {0, true}, momentum<>(.2 / p.smoothness, .9)};
    each("momentum", erased<double, host>(heavy), false);
    // One more thing to remember: the factor of 3 rows that was sent last, or of one.
    recursion<low_rank<std::span<double const>>, memory<>, gradient_step, warm_start<double>> const warm{
        {p.dimension % 3 == 0 ? 3u : 1u, 1, {}}, {0, true}, gradient_step{1}, {}, {}, {}, .1 / p.smoothness};
    each("low_rank", erased<double, host>(warm));
    each("l_svrg", with_estimator(l_svrg<>(2, .4), p));
    each("saga", with_estimator(saga<>(2), p));
}

// Three ranks over threads, for six rounds. Before some of them `disturb` does what must not change anything, and
// returns whether it was refused as it must be; in the end all is as if it had never been.
void goes_on_as_if_never(method_type const& method, std::vector<any_objective<>> const& f,
                         std::function<bool(loop& run, line& comm)> const& disturb) {
    crew expected(method, f, 1, 5);
    expected.rounds(6);
    auto const after = expected.states();
    std::array<bool, 3> refused{}, as_if_never{};
    threads::run(3, [&](threads::member& inner) {
        auto const me = static_cast<std::size_t>(inner.rank());
        line comm{inner};
        vec x(6, 1.0);
        loop run(method, f[me], comm, x, 5);
        bool right = true;
        for (int k = 0; k < 6; ++k) {
            if (k == 0 || k == 1 || k == 4) right = disturb(run, comm) && right;
            run.round();
        }
        refused[me] = right;
        as_if_never[me] = state(run) == after[me];
    });
    CHECK(refused == std::array<bool, 3>{true, true, true});
    CHECK(as_if_never == std::array<bool, 3>{true, true, true});
}

// Whether act() throws an E that is `right`.
template <class E, class Act, class Right>
bool throws(Act act, Right right) {
    try {
        act();
    } catch (E const& e) {
        return right(e);
    }
    return false;
}

// A mean over samples one of whose results, counted from 0, is wrong: it throws, or has a NaN in it.
struct faulty {
    logistic_regression<> inside;
    int* calls;
    int const* wrong;
    bool const* throws;

    void spoil(std::span<double> g) const {
        if ((*calls)++ != *wrong) return;
        if (*throws) throw std::runtime_error("no data");
        g[g.size() / 2] = std::numeric_limits<double>::quiet_NaN();
    }
    std::size_t dimension() const { return inside.dimension(); }
    std::size_t samples() const { return inside.samples(); }
    std::size_t outputs() const { return 1; }
    double value(std::span<double const> x) const { return inside.value(x); }
    void gradient(std::span<double const> x, std::span<double> g) const {
        inside.gradient(x, g);
        spoil(g);
    }
    void batch_gradient(std::span<std::uint32_t const> rows, std::span<double const> x, std::span<double> g) const {
        inside.batch_gradient(rows, x, g);
        spoil(g);
    }
    void slopes(std::size_t j, std::span<double const> x, std::span<double> s) const {
        inside.slopes(j, x, s);
        spoil(s);
    }
    void add_row(std::size_t j, std::span<double const> s, double w, std::span<double> g) const {
        inside.add_row(j, s, w, g);
        spoil(g);
    }
    void add_penalty_gradient(std::span<double const> x, std::span<double> g) const {
        inside.add_penalty_gradient(x, g);
        spoil(g);
    }
};

std::vector<method_type> every_estimator(problem const& p) {
    auto const with = [&](any_estimator<> const& estimator) { return with_estimator(estimator, p); };
    rand_block<> const blocks{2, 2};
    recursion<scaled_down<rand_block<>>, memory<>, gradient_step, fixed_level, block_saga<>> const in_blocks{
        {blocks}, {}, {.1}, {}, block_saga<>(blocks)};
    return {with(mini_batch{}),
            with(mini_batch(2)),
            with(l_svrg<>(2, .6)),
            with(l_svrg<>(1)),
            with(saga<>(3)),
            with(saga<>(1)),
            erased<double, host>(in_blocks),
            with(local_momentum<>(.5, mini_batch(2))),
            with(local_steps<>(.5, .1, 1)),
            with(clipped<l_svrg<>>{l_svrg<>(1, .6), 100, clip_at::norm})};
}

TEST_CASE("an objective whose one result is wrong, whichever: at most one round is refused, and the run goes on") {
    int calls = 0, wrong = -1;
    bool throws = false;
    auto f = some_means(3, 6);
    f[1] = faulty{samples::logistic_of(8, 6, 21), &calls, &wrong, &throws};
    for (auto const& method : every_estimator(constants_of(f))) {
        auto const name = to_string(method.estimator);
        CAPTURE(name);
        wrong = -1, calls = 0;
        crew expected(method, f, 1, 5);
        expected.rounds(5);
        auto const after = expected.states();
        int const all_calls = calls;
        for (throws = false;; throws = true) {
            CAPTURE(throws);
            int refused = 0;
            for (int w = 0; w < all_calls; ++w) {
                CAPTURE(w);
                wrong = w, calls = 0;
                crew run(method, f, 1, 5);
                for (int tries = 0; tries < 7 && run.ranks[2]->rounds() < 5; ++tries) {
                    auto const before = run.states();
                    for (auto& r : run.ranks) try {
                            r->send();
                        } catch (std::runtime_error const&) {
                            ++refused;
                            r->send();
                        }
                    int thrown = 0;
                    for (auto& r : run.ranks) try {
                            r->receive();
                        } catch (non_finite_error const& e) {
                            thrown += e.rank == 1 && e.round == run.ranks[0]->rounds();
                        }
                    CHECK((thrown == 0 || thrown == 3));
                    refused += thrown > 0;
                    if (thrown > 0) CHECK(run.states() == before);
                }
                CHECK(run.states() == after);
            }
            CHECK(refused <= all_calls);
            CHECK(refused >= (throws ? all_calls : all_calls * 9 / 10));
            if (throws) break;
        }
    }
}

struct stumbling {
    bool const* stumbles;
    gradient_step inside{.1};

    void operator()(host& on, std::span<double> x, std::span<double> d) const {
        inside(on, x, d);
        if (*stumbles) throw std::runtime_error("a stone");
    }
};

TEST_CASE("a part that throws once the messages are received: the round is broken until a state is restored") {
    auto const f = some_means(3, 6);
    bool stumbles = false;
    recursion<top_k<>, memory<>, stumbling> const own{top_k{2}, {0, true}, {&stumbles}};
    auto const plain_method = erased<double, host>(own);
    for (auto const& method : {plain_method, plain_method.with_over(served_by(top_k{2}, {0, true}))}) {
        crew run(method, f, 1, 5), expected(method, f, 1, 5);
        run.rounds(2);
        std::vector<bytes> kept;
        for (auto const& r : run.ranks) kept.push_back(r->save());
        for (auto& r : run.ranks) r->send();
        run.ranks[0]->receive();
        stumbles = true;
        CHECK_THROWS_WITH_AS(run.ranks[1]->receive(), "a stone", std::runtime_error);
        stumbles = false;
        char const* const why = "round 2 broke off while rank 1 moved: only a saved state can be gone on from";
        for (int again = 0; again < 2; ++again) {
            CHECK_THROWS_WITH_AS(run.ranks[1]->round(), why, comm_error);
            CHECK_THROWS_WITH_AS(run.ranks[1]->look(), why, comm_error);
            CHECK_THROWS_WITH_AS(run.ranks[1]->save(), why, comm_error);
        }
        for (std::size_t r = 0; r < 3; ++r) run.ranks[r]->restore(kept[r]);
        run.rounds(2);
        expected.rounds(4);
        CHECK(run.states() == expected.states());
    }
}

TEST_CASE("damaged bytes: every rank's error names the sender, nothing has changed, and the run goes on as if never") {
    auto const f = some_means(3, 6);
    for_every_method(constants_of(f), [&](std::string const& name, method_type const& method, bool) {
        CAPTURE(name);
        goes_on_as_if_never(method, f, [](loop& run, line& comm) {
            state const before(run);
            comm.damages_message = comm.rank() == 2;
            bool const thrown = throws<wire_error>(
                [&] { run.round(); }, [](wire_error const& e) { return e.why.starts_with("from rank 2: "); });
            comm.damages_message = false;
            return thrown && state(run) == before;
        });
    });
}

// The server has learnt from the messages before it answers: ranks that went on would diverge without an error.
TEST_CASE("a damaged answer: every rank throws, and goes on from a saved state or not at all") {
    auto const f = some_means(3, 6);
    for_every_method(constants_of(f), [&](std::string const& name, method_type const& method, bool) {
        if (!method.over.server()) return;
        CAPTURE(name);
        goes_on_as_if_never(method, f, [](loop& run, line& comm) {
            auto const kept = run.save();
            comm.damages_answer = true;
            bool thrown = throws<wire_error>([&] { run.round(); },
                                             [](wire_error const& e) { return e.why.starts_with("from rank 0: "); });
            comm.damages_answer = false;
            auto const of_rank_0 = [](comm_error const& e) { return e.rank == 0; };
            thrown = thrown && throws<comm_error>([&] { run.round(); }, of_rank_0);
            thrown = thrown && throws<comm_error>([&] { run.save(); }, of_rank_0);
            run.restore(kept);
            return thrown;
        });
    });
}

TEST_CASE("a server whose answer was lost goes on from a saved state or not at all") {
    auto const f = some_means(1, 6);
    auto const diana_2 = named("diana(rand_k(2))", constants_of(f));
    auto const method = diana_2.with_over(served_by(top_k{2}, {0, true}));
    crew run(method, f, 1, 5), expected(method, f, 1, 5);
    run.rounds(2);
    auto const kept = run.ranks[0]->save();
    run.lines[0].loses_answer = true;
    CHECK_THROWS_WITH_AS(run.rounds(1), "the line is cut", comm_error);
    run.lines[0].loses_answer = false;
    char const* const why = "the server's answer in round 2 was lost: only a saved state can be gone on from";
    CHECK_THROWS_WITH_AS(run.rounds(1), why, comm_error);
    CHECK_THROWS_WITH_AS(run.ranks[0]->save(), why, comm_error);
    run.ranks[0]->restore(kept);
    run.rounds(2);
    expected.rounds(4);
    CHECK(run.states() == expected.states());
}

TEST_CASE("one seed, one run: the same bytes and iterates however many ranks compute at once") {
    auto const f = some_means(5, 7);
    for_every_method(constants_of(f), [&](std::string const& name, method_type const& method, bool draws) {
        CAPTURE(name);
        crew one(method, f, 1, 3);
        one.rounds(12);
        auto const after = one.states();
        for (auto const& s : after) CHECK(s.x == after[0].x);
        for (int const at_once : {0, 1, 2, 10}) {
            std::vector<std::vector<bytes>> logs(5);
            std::vector<std::vector<state>> states(5);
            threads::run(5,
                         [&](threads::member& comm) {
                             auto const me = static_cast<std::size_t>(comm.rank());
                             line over{comm};
                             vec x(7, 1.0);
                             loop run(method, f[me], over, x, 3);
                             over.log = &logs[me];
                             for (int k = 0; k < 12; ++k) run.round();
                             states[me].emplace_back(run);
                         },
                         {.at_once = at_once});
            CHECK(logs == one.logs);
            for (std::size_t r = 0; r < 5; ++r) CHECK(states[r][0] == after[r]);
        }
        crew next_seed(method, f, 1, 4);
        next_seed.rounds(12);
        // What starts from drawn numbers and leaves nothing out differs by its rounding errors at most.
        if (!name.starts_with("low_rank")) CHECK((next_seed.x[0] != one.x[0]) == draws);
    });
    // Ranks draw for themselves: two with the same gradient do not send the same.
    std::vector<any_objective<>> const same(2, f[0]);
    crew twins(named("dcgd(rand_k(2))", constants_of(f)), same, 1, 1);
    twins.rounds(5);
    for (std::size_t k = 0; k < 5; ++k) CHECK(twins.logs[0][k] != twins.logs[1][k]);
}

TEST_CASE("another run's state is refused with what differs, a damaged one as well, and nothing has changed") {
    auto const f = some_means(3, 6);
    auto const p = constants_of(f);
    auto const method = named("ef_sgd(top_k(2))", p).with_over(served_by(rand_k{3}, {.4, false}));
    crew run(method, f, 1, 5);
    run.rounds(3);
    auto const before = run.states();
    auto const refused = [&](bytes const& saved, std::string const& theirs, std::string const& ours) {
        CAPTURE(theirs);
        auto const why = error_of<shape_error>([&] { run.ranks[0]->restore(saved); });
        auto const middle = why.find("\nhere: ");
        CHECK(why.find("this is the state of another run:\n") == 0);
        CHECK(why.substr(0, middle + 1).find(theirs) != std::string::npos);
        REQUIRE(middle != std::string::npos);
        CHECK(why.substr(middle).find(ours) != std::string::npos);
        CHECK(std::count(why.begin(), why.end(), '\n') == 3);  // nothing that is the same
        CHECK(run.states() == before);
    };
    refused(run.ranks[1]->save(), " rank 1 of 3\n", " rank 0 of 3\n");
    refused(crew(method, f, 1, 6).ranks[0]->save(), " the seed: 6\n", " the seed: 5\n");
    refused(crew(method, {f[0], f[1]}, 1, 5).ranks[0]->save(), " rank 0 of 2\n", " rank 0 of 3\n");
    refused(crew(method, some_means(3, 7), 1, 5).ranks[0]->save(), "the dimension: 7\n", "the dimension: 6\n");
    auto const other = [&](auto change, std::string const& theirs, std::string const& ours) {
        auto changed = method;
        change(changed);
        refused(crew(changed, f, 1, 5).ranks[0]->save(), theirs, ours);
    };
    other([](auto& r) { r.compressor = top_k{3}; }, " the compressor: top_k(3)\n", " the compressor: top_k(2)\n");
    other([](auto& r) { r.feedback = memory<>(.5); }, "the feedback: memory(rate=0.5)\n",
          "the feedback: memory(rate=0, decay=1)\n");
    other([](auto& r) { r.step = gradient_step{7}; }, "the step: gradient_step(7)\n", "the step: gradient_step(1)\n");
    other([](auto& r) { r.estimator = mini_batch(4); }, "the estimator: mini_batch(4)\n",
          "the estimator: the full gradient\n");
    other([](auto& r) { r.over = gather_all{}; }, "the transport: gather\n",
          "the transport: served(rand_k(3), memory(rate=0.4))\n");
    other([](auto& r) { r.scale = 9; }, "the scale: 9\n", "the scale: ");

    auto const good = run.ranks[0]->save();
    for (std::size_t n = 0; n < good.size(); n += 11) {
        auto damaged = good;
        damaged[n] ^= std::byte{4};
        CHECK_THROWS_AS(run.ranks[0]->restore(damaged), wire_error);
        CHECK_THROWS_AS(run.ranks[0]->restore(std::span(good).first(n)), wire_error);
    }
    CHECK(run.states() == before);
}

TEST_CASE("an x or a compressor of the wrong size is refused before anything is sent") {
    auto const f = some_means(2, 4);
    auto const p = constants_of(f);
    auto const start_with = [&](method_type const& method, std::size_t d) {
        threads::run(2, [&](threads::member& comm) {
            vec x(d, 1.0);
            line over{comm};
            loop run(method, f[static_cast<std::size_t>(comm.rank())], over, x, 1);
        });
    };
    auto const plain_descent = named("gd", p);
    CHECK_THROWS_WITH_AS(start_with(plain_descent, 3), "x has 3 numbers, the objective's dimension is 4", shape_error);
    CHECK_THROWS_WITH_AS(start_with(named("ef_sgd(top_k(5), step=0.1)", p), 4),
                         "top_k(5): k = 5 is above the dimension d = 4; a fraction, such as 0.1, suits every length",
                         argument_error);
    CHECK_THROWS_WITH_AS(start_with(plain_descent.with_over(served_by(top_k{5}, {})), 4),
                         doctest::Contains("k = 5 is above the dimension d = 4"), argument_error);
    start_with(plain_descent, 4);
}

TEST_CASE("after its first round a method allocates nothing over threads") {
    auto const f = some_means(3, 6);
    for_every_method(constants_of(f), [&](std::string const& name, method_type const& method, bool) {
        CAPTURE(name);
        std::array<std::size_t, 3> last{};
        threads::run(3, [&](threads::member& comm) {
            auto const me = static_cast<std::size_t>(comm.rank());
            vec x(6, 1.0);
            line over{comm};
            loop run(method, f[me], over, x, 5);
            last[me] = last_to_allocate(40, [&] { run.round(); });
        });
        for (auto const k : last) CHECK(k <= 1);
    });
}
