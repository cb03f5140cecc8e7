// SPDX-License-Identifier: Apache-2.0
// A descent over any collective reaches what it reaches over gathered messages, and loses nothing of a sum.
#include "laconic/any/recursion.hpp"

#include "named_collectives.hpp"
#include "support/allocations.hpp"
#include "support/error_of.hpp"
#include "support/everything.hpp"
#include "support/passed_on.hpp"
#include "support/sparse_vectors.hpp"
#include "support/toys.hpp"

// Descents whose messages are added up on their way.

using toys::vec;

// One loop for all: over any ranks, by any collective.
using method = recursion<any_compressor<>, memory<>, gradient_step, fixed_level, mini_batch, any_collective<>>;
using loop = descent<method, toys::quadratic<>, any_communicator>;

constexpr std::size_t d = 12;
std::string const conserving[] = {"gtop_k(2)",
                                  "spar_reduce_scatter(4)",
                                  "spar_reduce_scatter(4, as_published=yes)",
                                  "ok_top_k(4, threshold=3, regions=2)",
                                  "split_all_gather(quantize(7))",
                                  "arc_top_k(rows=4, k=2)",
                                  "shared_factors(rows=3, refresh=4)",
                                  "shared_factors(rows=4, rank=2, refresh=3, in_full=yes)",
                                  "two_shot(bf16)",
                                  "two_shot(quantize(7))"};
std::string const exact[] = {"ring",           "halving_doubling",
                             "auto(every=3)",  "recursive_doubling",
                             "gathered_sum",   "split_all_gather(sparse)",
                             "sum_by_server",  "split_all_gather(dense)",
                             "omni_reduce(3)", "switch_ml"};
// The last one to so many bits as its integers have beside the largest number.
double precision_of(std::string const& text) { return text == "switch_ml" ? 1e-7 : 1e-13; }
std::vector<std::string> all_collectives() {
    std::vector<std::string> all(std::begin(exact), std::end(exact));
    all.insert(all.end(), std::begin(conserving), std::end(conserving));
    all.push_back("gtop_k(2, as_published=yes)");
    for (auto const& listed : list_collectives()) {  // those that no text above names, with their defaults
        auto const is_it = [&](std::string const& text) { return text.substr(0, text.find('(')) == listed.name; };
        if (std::none_of(all.begin(), all.end(), is_it) && listed.name != "gather" && listed.name != "robust" &&
            listed.name != "engine_all_reduce")
            all.push_back(listed.name);
    }
    return all;
}
bool among(std::string const& text, std::initializer_list<char const*> names) {
    return std::any_of(names.begin(), names.end(), [&](char const* name) { return text.starts_with(name); });
}

method composed(any_compressor<> const& c, memory<> const& m, std::string const& collective, double step = .002) {
    return {c,
            m,
            gradient_step{m.keeps_residual() ? 1 : step},
            {},
            {},
            parse_collective(collective),
            m.keeps_residual() ? step : 1};
}
method with_errors(std::string const& collective) { return composed(top_k{3}, {0, true}, collective); }

// body(run, me) on each rank, in turns.
template <class Engine = fibers, class Body>
void on_each(int ranks, method const& r, Body body) {
    auto const f = toys::random_ridges(ranks, d, 1, 3);
    Engine::run(ranks, [&](auto& engine) {
        auto const me = static_cast<std::size_t>(engine.rank());
        any_communicator comm(engine);
        vec x(d, 1.0);
        loop run(r, f[me], comm, x, 5);
        body(run, me);
    });
}
std::vector<vec> iterates(int ranks, method const& r, int rounds) {
    std::vector<vec> x(static_cast<std::size_t>(ranks));
    on_each(ranks, r, [&](loop& run, std::size_t me) {
        for (int k = 0; k < rounds; ++k) run.round();
        x[me] = toys::copied(run.x());
    });
    return x;
}

// Whether act() throws an E with this in its text.
template <class E, class Act>
bool throws(Act act, std::string const& text) {
    return error_of<E>(act).find(text) != std::string::npos;
}

TEST_CASE("exact sums give the iterates of gathered messages, with every compressor and memory") {
    for (int const n : {1, 4, 5})
        for (auto const& r :
             {composed(top_k{3}, {0, true}, "gather"), composed(rand_k{4}, {.25, false}, "gather"),
              composed(identity{}, {}, "gather"), composed(top_k{5} | natural{}, {1, false}, "gather")}) {
            auto const expected = iterates(n, r, 20);
            for (auto const& text : exact) {
                CAPTURE(n);
                CAPTURE(text);
                auto same = r;
                same.over = parse_collective(text);
                auto const x = iterates(n, same, 20);
                for (auto const& each : x) CHECK(each == x[0]);  // every rank has the same bits
                for (std::size_t i = 0; i < d; ++i)
                    CHECK(x[0][i] == doctest::Approx(expected[0][i]).epsilon(100 * precision_of(text)));
                // Where ranks are added up in their order and the mean of 4 is exact, there is nothing to round.
                if (n == 4 && among(text, {"split", "gathered", "sum_by", "omni"})) CHECK(x[0] == expected[0]);
            }
        }
}

// The largest |sum_i (g_i + e_i) - (P x applied + sum_i e_i after)| within 15 rounds, over the sum of all magnitudes.
double lost(int n, std::string const& collective) {
    std::size_t const rounds = 15;
    std::vector<std::vector<vec>> x(rounds + 1, std::vector<vec>(static_cast<std::size_t>(n))), g = x, residual = x;
    on_each(n, with_errors(collective), [&](loop& run, std::size_t me) {
        for (std::size_t k = 0;; run.round(), ++k) {
            auto const seen = run.look();
            x[k][me] = toys::copied(run.x());
            g[k][me] = toys::copied(seen.gradient);
            residual[k][me] = toys::copied(run.method().feedback.residual());
            if (k == rounds) break;
        }
    });
    double const scale = with_errors(collective).scale;
    double most = 0;
    for (std::size_t k = 0; k < rounds; ++k)
        for (std::size_t i = 0; i < d; ++i) {
            double const applied = n * (x[k][0][i] - x[k + 1][0][i]);
            double difference = -applied, size = std::abs(applied) + std::abs(x[k][0][i]);
            for (std::size_t r = 0; r < x[k].size(); ++r) {
                difference += scale * g[k][r][i] + residual[k][r][i] - residual[k + 1][r][i];
                size += scale * std::abs(g[k][r][i]) + std::abs(residual[k][r][i]) + std::abs(residual[k + 1][r][i]);
            }
            most = std::max(most, std::abs(difference) / size);
        }
    return most;
}

TEST_CASE("what is brought = what is applied + what is kept, except for gTop-k as published") {
    for (int const n : {1, 2, 5, 8}) {
        CAPTURE(n);
        for (auto const& text : conserving) CHECK(lost(n, text) < 1e-13);
        for (auto const& text : exact) CHECK(lost(n, text) < precision_of(text));
        if (n > 2) CHECK(lost(n, "gtop_k(2, as_published=yes)") > 1e-3);
    }
}

TEST_CASE("damaged bytes: a rank that throws goes on from a saved state or not at all") {
    std::string const broke_off = "the collective of round 2 broke off, and other ranks may have its sum";
    for (auto const& text : all_collectives()) {
        CAPTURE(text);
        auto const expected = iterates(5, with_errors(text), 6);
        auto const f = toys::random_ridges(5, d, 1, 3);
        std::array<bool, 5> thrown{}, right{};
        threads::run(5, [&](threads::member& engine) {
            auto const me = static_cast<std::size_t>(engine.rank());
            sparse_vectors::damaging line{engine, 3, -1, +[](std::vector<std::byte>& b) { b.pop_back(); }};
            any_communicator comm(line);
            vec x(d, 1.0);
            loop run(with_errors(text), f[me], comm, x, 5);
            run.round();
            run.round();
            auto const kept = run.save();
            line.collectives = 0;
            line.nth = 0;
            thrown[me] = throws<wire_error>([&] { run.round(); }, "from rank 3: ");
            line.nth = -1;
            right[me] = !thrown[me] || (throws<comm_error>([&] { run.round(); }, broke_off) &&
                                        throws<comm_error>([&] { run.save(); }, broke_off));
            run.restore(kept);
            for (int k = 2; k < 6; ++k) run.round();
            right[me] = right[me] && toys::copied(run.x()) == expected[me];
        });
        CHECK(right == std::array<bool, 5>{true, true, true, true, true});
        CHECK(std::count(thrown.begin(), thrown.end(), true) >=
              (among(text, {"recursive", "gathered", "auto"}) ? 1 : 5));
    }
}

TEST_CASE("saved in the middle and restored into another loop: the same iterates and memories") {
    for (auto const& text : all_collectives()) {
        CAPTURE(text);
        std::vector<std::vector<std::byte>> middle(5), end(5), again(5);
        on_each(5, with_errors(text), [&](loop& run, std::size_t me) {
            for (int k = 0; k < 9; ++k) {
                if (k == 4) middle[me] = run.save();
                run.round();
            }
            end[me] = run.save();
        });
        on_each(5, with_errors(text), [&](loop& run, std::size_t me) {
            run.round();
            run.restore(middle[me]);
            for (int k = 4; k < 9; ++k) run.round();
            again[me] = run.save();
        });
        CHECK(again == end);
    }
    // Another collective's state is another run's.
    std::vector<std::byte> kept;
    on_each(1, with_errors("ring"), [&](loop& run, std::size_t) { kept = run.save(); });
    std::string why;
    on_each<threads>(1, with_errors("gtop_k(2)"),
                     [&](loop& run, std::size_t) { why = error_of<shape_error>([&] { run.restore(kept); }); });
    CHECK(why == "this is the state of another run:\nsaved: the transport: ring\nhere: the transport: gtop_k(2)\n");
}

// Counts apart what the engine's own queues allocate.
struct counted : passed_on<threads::member> {
    std::size_t of_engine = 0;

    payload exchange(int to, payload mine, int from) {
        auto const before = allocations();
        auto const received = inner->exchange(to, mine, from);
        of_engine += allocations() - before;
        return received;
    }
};

TEST_CASE("after its first round a descent allocates nothing, whatever its engine does") {
    for (auto text : all_collectives()) {
        if (text.starts_with("auto")) text = "auto(every=100)";  // choosing takes memory
        CAPTURE(text);
        std::array<std::size_t, 5> last{};
        auto const f = toys::random_ridges(5, d, 1, 3);
        threads::run(5, [&](threads::member& engine) {
            auto const me = static_cast<std::size_t>(engine.rank());
            counted line{{&engine}};
            any_communicator comm(line);
            vec x(d, 1.0);
            loop run(with_errors(text), f[me], comm, x, 5);
            for (std::size_t k = 1; k <= 30; ++k) {
                auto const before = allocations() - line.of_engine;
                run.round();
                if (allocations() - line.of_engine != before) last[me] = k;
            }
        });
        CHECK(last == std::array<std::size_t, 5>{1, 1, 1, 1, 1});
    }
}

TEST_CASE("ranks that differ in whether they are in one process all throw") {
    auto const f = toys::random_ridges(3, d, 1, 3);
    std::array<bool, 3> thrown{};
    threads::run(3, [&](threads::member& engine) {
        auto const me = static_cast<std::size_t>(engine.rank());
        counted line{{&engine}};  // which does not know where its ranks are
        any_communicator comm = me == 1 ? any_communicator(line) : any_communicator(engine);
        vec x(d, 1.0);
        thrown[me] =
            throws<agreement_error>([&] { loop(with_errors("gather"), f[me], comm, x, 5); }, "one process: no");
    });
    CHECK(thrown == std::array<bool, 3>{true, true, true});
}

// Threads that add up vectors themselves, as MPI does.
struct adding_threads {
    struct member : threads::member {
        void all_reduce(std::span<double> x) {
            all_gather({std::as_bytes(x)});
            vec sum(x.size());
            for (int r = 0; r < size(); ++r)
                for (std::size_t i = 0; i < x.size(); ++i)
                    sum[i] += reinterpret_cast<double const*>(from(r).bytes.data())[i];
            all_gather({});  // others may still read x
            std::copy(sum.begin(), sum.end(), x.begin());
        }
    };
    template <class Body>
    static void run(int ranks, Body body) {
        threads::run(ranks, [&](threads::member& inner) {
            member mine{inner};
            body(mine);
        });
    }
};

TEST_CASE("the engine's own sum, where it has one") {
    auto const expected = iterates(4, with_errors("gather"), 20);
    on_each<adding_threads>(4, with_errors("engine_all_reduce"), [&](loop& run, std::size_t me) {
        for (int k = 0; k < 20; ++k) run.round();
        CHECK(toys::copied(run.x()) == expected[me]);
    });
    on_each<threads>(2, with_errors("engine_all_reduce"), [&](loop& run, std::size_t) {
        CHECK(throws<argument_error>([&] { run.round(); }, "this communicator's engine adds up no vectors"));
    });
}

TEST_CASE("ranks with another collective, and what goes with none, are refused before anything is sent") {
    auto const errors_of = [](int ranks, auto recursion_of) {
        return sparse_vectors::errors_on(ranks, [&](auto& engine) {
            any_communicator comm(engine);
            auto const f = toys::random_ridges(1, d, 1, 3);
            vec x(d, 1.0);
            loop const run(recursion_of(engine.rank()), f[0], comm, x, 5);
        });
    };
    for (auto const& text : errors_of(3, [](int r) { return with_errors(r == 2 ? "gtop_k(3)" : "gtop_k(2)"); }))
        CHECK(text ==
              "ranks disagree: rank 0 has \"the transport: gtop_k(2)\", rank 2 has \"the transport: gtop_k(3)\"");
    CHECK(errors_of(1, [](int) { return with_errors("gtop_k(13)"); })[0] ==
          "k = 13 is above the dimension d = 12; a fraction, such as 0.1, suits every length");
    for (auto const& m : {memory<>{0, 0}, memory<>{.5, 0}, memory<>{.5, 1}})
        CHECK(
            errors_of(1, [&](int) { return composed(top_k{3}, m, "gtop_k(2)"); })[0] ==
            "the collective gtop_k(2) gives back what it leaves out, which the feedback " + to_string(m) +
                " would lose: take a collective that applies the whole sum, or error feedback: error_feedback{...} in "
                "a reducer, memory(0, 1) in a recursion");
    for (auto const& text : all_collectives()) CHECK(errors_of(2, [&](int) { return with_errors(text); })[1] == "none");
}
