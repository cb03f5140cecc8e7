// SPDX-License-Identifier: Apache-2.0
// Every method in the list survives saving, forged states, gradients that are not finite and numbers that overflow.
#include <atomic>

#include "named_methods.hpp"
#include "support/allocations.hpp"
#include "support/everything.hpp"
#include "support/methods.hpp"
#include "support/samples.hpp"
#include "support/states.hpp"
#include "support/tasks.hpp"

// What every method promises, whatever it is: each by its text, over one loop of faces.

using toys::vec;

constexpr std::size_t features = 6;

// A logistic regression whose gradients can be broken at coordinate 4, from outside.
struct fragile {
    logistic_regression<> inside;
    double const* broken;

    std::size_t dimension() const { return inside.dimension(); }
    double value(std::span<double const> x) const { return inside.value(x); }
    void gradient(std::span<double const> x, std::span<double> g) const {
        inside.gradient(x, g);
        g[4] += *broken;
    }
    std::size_t samples() const { return inside.samples(); }
    void batch_gradient(std::span<std::uint32_t const> rows, std::span<double const> x, std::span<double> g) const {
        inside.batch_gradient(rows, x, g);
        g[4] += *broken;
    }
    std::size_t outputs() const { return inside.outputs(); }
    void slopes(std::size_t j, std::span<double const> x, std::span<double> s) const { inside.slopes(j, x, s); }
    void add_row(std::size_t j, std::span<double const> s, double w, std::span<double> g) const {
        inside.add_row(j, s, w, g);
    }
    void add_penalty_gradient(std::span<double const> x, std::span<double> g) const {
        inside.add_penalty_gradient(x, g);
        g[4] += *broken;
    }
};

struct workers {
    std::vector<double> broken = std::vector<double>(3, 0.0);
    std::vector<any_objective<>> f;
    problem constants;

    workers() {
        constants = {features, 3};
        for (std::size_t i = 0; i < 3; ++i) {
            auto const mine = samples::logistic_of(7, features, 10 + i);
            constants.smoothness += mine.smoothness() / 3;
            constants.largest_smoothness = std::max(constants.largest_smoothness, mine.smoothness());
            constants.mean_square_smoothness += mine.smoothness() * mine.smoothness() / 3;
            constants.largest_sample_smoothness =
                std::max(constants.largest_sample_smoothness, mine.sample_smoothness());
            f.push_back(fragile{mine, &broken[i]});
        }
        constants.mean_square_smoothness = std::sqrt(constants.mean_square_smoothness);
        constants.strong_convexity = constants.least_strong_convexity = 0.1;
        constants.samples = 7;
        constants.own_smoothness = constants.largest_smoothness;  // no less than any rank's own
    }
};

using lockstep = toys::any_run;

struct moment {
    std::vector<std::vector<std::byte>> states;
    explicit moment(lockstep& run) {
        for (std::size_t i = 0; i < 3; ++i) states.push_back(run.rank(i).save());
    }
    bool operator==(moment const&) const = default;
};

TEST_CASE("every method: saved in the middle and restored elsewhere, it goes on bit for bit") {
    workers const w;
    for (auto const& text : every_recursion()) {
        CAPTURE(text);
        auto const method = parse_method(text).compose<double, host>(w.constants);
        for (std::size_t const middle : {0u, 1u, 9u}) {
            lockstep run(method, w.f, vec(features, 1.0), 7);
            run.rounds(middle);
            moment const saved(run);
            run.rounds(12);
            CHECK(run.rank(0).rounds() == middle + 12);
            for (std::size_t const before : {0u, 4u}) {  // a fresh one, and one whose past is forgotten
                CAPTURE(before);
                lockstep other(method, w.f, vec(features, 1.0), 7);
                other.rounds(before);
                for (std::size_t i = 0; i < 3; ++i) other.rank(i).restore(saved.states[i]);
                CHECK(moment(other) == saved);
                other.rounds(12);
                CHECK(moment(other) == moment(run));
                CHECK(other.x() == run.x());
            }
        }
    }
}

// Calls forge(run, body, at) for each place of a word in rank 1's state after some rounds, where body is that state
// without its checksum; then all ranks are as they were.
void each_word_of_a_state(auto forge) {
    workers const w;
    for (auto const& text : every_recursion()) {
        CAPTURE(text);
        lockstep run(parse_method(text).compose<double, host>(w.constants), w.f, vec(features, 1.0), 5);
        run.rounds(4);
        moment const middle(run);
        auto const body = unsealed(middle.states[1]);
        for (auto at = 16 + word_at(body, 8); at + 8 <= body.size(); at += 8) {
            CAPTURE(at);
            forge(run, body, at);
            for (std::size_t i = 0; i < 3; ++i) run.rank(i).restore(middle.states[i]);
        }
    }
}

// A checksum is no signature.
TEST_CASE("every method: a forged state with an array that is longer or shorter is refused, and nothing has changed") {
    std::size_t at_once = 0, later = 0;
    each_word_of_a_state([&](lockstep& run, std::vector<std::byte> const& body, std::size_t at) {
        auto const n = word_at(body, at);
        if (n > (body.size() - at - 8) / 8) return;  // no length
        auto const next = body.begin() + static_cast<std::ptrdiff_t>(at + 8);
        for (bool const longer : {false, true}) {
            if (n == 0 && !longer) continue;
            std::vector<std::byte> forged(body.begin(), next);
            if (longer) forged.resize(forged.size() + 8);
            forged.insert(forged.end(), longer ? next : next + 8, body.end());
            put(forged, longer ? n + 1 : n - 1, at);
            moment const before(run);
            try {
                run.rank(1).restore(sealed(forged));
                CHECK_THROWS_WITH_AS(run.rank(1).look(), doctest::Contains("the table is of another objective"),
                                     shape_error);
                ++later;
                run.rank(1).restore(before.states[1]);
            } catch (wire_error const&) {
                ++at_once;
            }
            CHECK(moment(run) == before);
        }
    });
    CHECK(at_once > 100);
    CHECK(later == 4);  // of vr_diana_saga and isaga: the objective alone knows how long their tables are
}

TEST_CASE("every method: a forged state is refused or run, whatever stands in it, and nothing is read out of bounds") {
    std::size_t refused = 0, ran = 0, stopped = 0;
    key const random{77};
    std::uint64_t drawn = 0;
    each_word_of_a_state([&](lockstep& run, std::vector<std::byte> const& body, std::size_t at) {
        auto forged = body;
        std::uint64_t const words[] = {0,
                                       1,
                                       features,
                                       std::uint64_t{1} << 32,
                                       ~std::uint64_t{0},
                                       std::bit_cast<std::uint64_t>(1e300),
                                       std::bit_cast<std::uint64_t>(-HUGE_VAL),
                                       word_at(body, at) ^ std::uint64_t{1} << random.below(drawn, 64)};
        put(forged, words[drawn++ % 8], at);
        try {
            run.rank(1).restore(sealed(forged));
        } catch (wire_error const&) {
            ++refused;
            return;
        }
        try {
            run.rounds(3);
            ++ran;
        } catch (error const&) {
            ++stopped;
        }
    });
    CHECK(refused > 100);
    CHECK(ran > 100);
    CHECK(stopped > 100);
}

TEST_CASE("every method: where one rank's gradient is not finite all throw, and the run goes on as if never") {
    workers w;
    for (auto const& text : every_recursion()) {
        CAPTURE(text);
        auto const method = parse_method(text).compose<double, host>(w.constants);
        lockstep run(method, w.f, vec(features, 1.0), 3), other(method, w.f, vec(features, 1.0), 3);
        for (std::uint64_t k = 0; k < 12; ++k) {
            if (k == 0 || k == 1 || k == 6) {
                moment const before(run);
                w.broken[1] = k == 1 ? HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
                for (std::size_t i = 0; i < 3; ++i) run.rank(i).send();
                std::array<bool, 3> thrown{};
                run.receive_all([&](std::size_t i) {
                    try {
                        run.rank(i).receive();
                    } catch (non_finite_error const& e) {
                        thrown[i] = e.rank == 1 && e.round == k;
                    }
                });
                w.broken[1] = 0;
                CHECK(thrown == std::array<bool, 3>{true, true, true});
                CHECK(moment(run) == before);
            }
            run.round();
            other.round();
        }
        CHECK(moment(run) == moment(other));
    }
}

// A logistic regression to whose gradient a vector is added from outside.
struct pushed {
    logistic_regression<> inside;
    vec const* push;

    std::size_t dimension() const { return inside.dimension(); }
    double value(std::span<double const> x) const { return inside.value(x); }
    void gradient(std::span<double const> x, std::span<double> g) const {
        inside.gradient(x, g);
        for (std::size_t i = 0; i < g.size(); ++i) g[i] += (*push)[i];
    }
};

// Three ranks over threads, on whom rank 1, or all, has another push in some rounds, which must be refused: all ranks
// throw the same, nothing has changed, and the run goes on as if those rounds had not been tried.
struct refused_rounds {
    any_recursion<> method;
    vec usual = vec(features, 0.0), unusual = vec(features, 0.0);
    std::set<std::uint64_t> when{0, 1, 4};
    bool everywhere = false;

    using loop = descent<any_recursion<>, any_objective<>, threads::member>;
    std::array<vec, 3> end(std::function<void(loop&, vec&, bool)> const& before) const {
        std::array<vec, 3> found;
        threads::run(3, [&](threads::member& comm) {
            auto const me = static_cast<std::size_t>(comm.rank());
            bool const mine = everywhere || me == 1;
            vec push = mine ? usual : vec(features, 0.0), x(features, 1.0);
            any_objective<> const f = pushed{samples::logistic_of(7, features, 10 + me), &push};
            loop run(method, f, comm, x, 5);
            for (std::uint64_t k = 0; k < 6; ++k) {
                if (when.contains(k)) before(run, push, mine);
                run.round();
            }
            found[me] = x;
        });
        return found;
    }
    template <class E, class Right>
    void throw_on_all(Right right) const {
        std::atomic<int> thrown = 0, unchanged = 0;
        auto const refused = end([&](loop& run, vec& push, bool mine) {
            auto const before = run.save();
            auto const kept = push;
            if (mine) push = unusual;
            try {
                run.round();
            } catch (E const& e) {
                thrown += right(e) && e.round == run.rounds();
            }
            push = kept;
            unchanged += run.save() == before;
        });
        auto const tries = static_cast<int>(3 * when.size());
        CHECK(thrown == tries);
        CHECK(unchanged == tries);
        CHECK(refused == end([](loop&, vec&, bool) {}));
    }
    void throw_compression_error(std::string const& why, int rank = 1) const {
        throw_on_all<compression_error>(
            [&](compression_error const& e) { return e.rank == rank && e.why.find(why) != std::string::npos; });
    }
    void throw_non_finite(std::size_t coordinate) const {
        throw_on_all<non_finite_error>(
            [&](non_finite_error const& e) { return e.rank == 1 && e.coordinate == coordinate; });
    }
};

using compressor = any_compressor<>;
any_transport<> served_by(compressor c, memory<> m) { return served<compressor>{std::move(c), std::move(m)}; }

// Every rank receives all messages, a server does, or a collective adds them up.
std::vector<any_recursion<>> in_all_ways(compressor const& c, any_feedback<> const& f, double step) {
    any_recursion<> r{c, f, gradient_step{step}};
    return {r, r.with_over(served_by(identity{}, {})), r.with_over(any_transport<>(ring{}))};
}

TEST_CASE("finite gradients whose norm or scaled numbers overflow: all errors have the cause, and the run goes on") {
    double const huge = std::numeric_limits<double>::max() / 1.1;
    vec const large{huge, -huge, huge, -huge, huge, -huge};
    for (char const* text :
         {"quantize(1)", "natural_dithering(4)", "uniform(3)", "rand_k(2)", "bernoulli(0.8)", "proportional(2)",
          "two_means", "scaled_sign", "top_k(3) | quantize(2)", "low_rank(rows=2, rank=1)"}) {
        std::string const name = text;
        CAPTURE(name);
        auto const c = parse_compressor<double, host>(text);
        for (auto const& method : in_all_ways(c, memory<>{}, .1))
            refused_rounds{method, vec(features, 0.0), large}.throw_compression_error("");
        // The server's, where every rank's gradient is as large.
        auto const served_method = in_all_ways(identity{}, memory<>(.5), .1)[0].with_over(served_by(c, memory<>(.5)));
        refused_rounds{served_method, vec(features, 0.0), large, {0, 1, 4}, true}.throw_compression_error(
            "the server's answer: ", 0);
    }
    auto const one = in_all_ways(quantize{1}, memory<>{}, .1)[0];
    refused_rounds{one, vec(features, 0.0), large}.throw_compression_error(
        "quantize: the norm of a bucket is not finite");
}

TEST_CASE("what overflows on its way to the compressor: every rank's error has the coordinate, and the run goes on") {
    auto const push = [](double size) { return vec{0, 0, size, size, 0, 0}; };
    double const step = 1e-308;
    for (auto const& method : in_all_ways(identity{}, memory<>(.5), step))  // g - h
        refused_rounds{method, push(6e307), push(-1.7e308), {1, 4}}.throw_non_finite(2);
    for (auto const& method : in_all_ways(top_k{1}, memory<>(0, 1), step))  // g + e
        refused_rounds{method, push(3e307), push(1.79e308), {1, 3, 5}}.throw_non_finite(3);
    for (auto const& method : in_all_ways(top_k{1}, memory<>(0, 1, .9), step))  // v + m u + g
        refused_rounds{method, push(2e307), push(1.79e308), {1}}.throw_non_finite(3);
    for (auto const& method : in_all_ways(top_k{1}, memory<>(0, 1, .9, true, true), step))
        refused_rounds{method, push(2e307), push(1.79e308), {1}}.throw_non_finite(2);
    for (auto const& method : in_all_ways(identity{}, last_gradient<>(1e-9), step))  // MARINA's difference
        refused_rounds{method, push(6e307), push(-1.7e308), {1, 4}}.throw_non_finite(2);
    auto scaled = in_all_ways(identity{}, memory<>{}, 1);
    for (auto& method : scaled) {
        method.scale = 8;
        refused_rounds{method, push(0), push(6e307)}.throw_non_finite(2);
    }
    auto const served_method =
        in_all_ways(identity{}, memory<>{}, step)[0].with_over(served_by(identity{}, memory<>(.5)));
    refused_rounds{served_method, push(6e307), push(-1.7e308), {1, 4}, true}.throw_compression_error(
        "the server's answer: what the server has to send is not finite at coordinate 2", 0);
}

TEST_CASE("every method: nothing allocated after the first round, and over threads the same as in one thread") {
    workers const w;
    for (auto const& text : every_recursion()) {
        CAPTURE(text);
        auto const method = parse_method(text).compose<double, host>(w.constants);
        lockstep expected(method, w.f, vec(features, 1.0), 5);
        auto const last = last_to_allocate(100, [&] { expected.round(); });
        std::size_t const step = text.starts_with("adiana") ? 2 : 1;  // rounds
        if (!expected.has_collective()) CHECK(last <= step);          // else see tests/collectives.cpp
        std::vector<vec> x(3, vec(features, 1.0));
        threads::run(3, [&](threads::member& comm) {
            auto const me = static_cast<std::size_t>(comm.rank());
            descent<any_recursion<>, any_objective<>, threads::member> run(method, w.f[me], comm, x[me], 5);
            for (int k = 0; k < 100; ++k) run.round();
        });
        for (auto const& mine : x) CHECK(mine == expected.x());
    }
}

TEST_CASE("every method: a compressor's number that is outside its range is named, not what would follow from it") {
    struct wrong {
        char const *compressor, *why;
    };
    wrong const numbers[] = {{"rand_k(0)", "k = 0 is neither a count from 1 on nor a fraction between 0 and 1"},
                             {"rand_k(-1)", "k = -1 is neither a count nor a fraction below 1"},
                             {"rand_k(1.5)", "k = 1.5 is neither"},
                             {"rand_k(7)", "k = 7 is above the dimension d = 6"},
                             {"rand_k(nan)", "k is a number"},
                             {"rand_k(2) | rand_k(0)", "k = 0 is neither"},
                             {"scaled_down(rand_k(0))", "k = 0 is neither"},
                             {"rand_block(0, block=2)", "k = 0 is neither"},
                             {"proportional(0)", "k = 0 is neither"},
                             {"top_k(-1)", "k = -1 is neither"},
                             {"top_k(7)", "k = 7 is above"},
                             {"bernoulli(0)", "p is from 2.3283064365386963e-10 to 1"},
                             {"bernoulli(-1)", "p is from 2.3283064365386963e-10 to 1"},
                             {"bernoulli(1.5)", "p is from 2.3283064365386963e-10 to 1"},
                             {"lazy(0)", "p is from 2.3283064365386963e-10 to 1"},
                             {"about_top_k(2, band=2)", "band is from 0 to 0.9999999999999999"},
                             {"low_rank(rows=4, rank=1)", "no matrix of 4 rows"},
                             {"quantize(0)", "levels is a whole number from 1 to 32767"},
                             {"uniform(9)", "bits is a whole number from 1 to 8"}};
    workers const w;
    for (char const* method :
         {"dcgd(C)", "dcgd(C, step=0.1)", "ef_sgd(C)", "ef21(C)", "diana(C)", "diana(C, memory=0.1)", "vr_diana(C)",
          "vr_diana_saga(C)", "marina(C)", "marina(C, p=0.5, step=0.1)", "quantized_gd_sec(C)", "bidirectional(gd, C)",
          "bidirectional(diana(C), natural)", "heavy_ball(diana(C), beta=0.5)"})
        for (auto const& [c, why] : numbers) {
            std::string text = method;
            text.replace(text.find('C'), 1, c);
            CAPTURE(text);
            auto const run = [&] { lockstep(parse_method(text).compose<double, host>(w.constants), w.f, vec(6), 1); };
            CHECK_THROWS_WITH_AS(run(), doctest::Contains(why), error);
        }
    for (auto const& [text, why] :
         std::initializer_list<wrong>{{"ibcd(tau=-1)", "ibcd: tau = -1: k = -1 is neither"},
                                      {"isega(tau=9, block=2)", "isega: tau = 9: k = 9 is above"},
                                      {"isaga(tau=1.5)", "isaga: tau = 1.5"},
                                      {"isgd(tau=-1)", "isgd: tau = -1"},
                                      {"iasgd(tau=-1, rho=2)", "iasgd: tau = -1"},
                                      {"ibgd(tau=2)", "tau is from 0 to 1"},
                                      {"top_k_sgd(k=7, step=0.1)", "k = 7 is above"},
                                      {"gtop_k_sgd(k=-1, step=0.1)", "k = -1 is neither"},
                                      {"dgc(k=-1, step=0.1)", "k = -1 is neither"},
                                      {"proxskip(p=2)", "p is from 0 to 1"}}) {
        std::string const name = text;
        CAPTURE(name);
        auto const run = [&] { lockstep(parse_method(name).compose<double, host>(w.constants), w.f, vec(6), 1); };
        CHECK_THROWS_WITH_AS(run(), doctest::Contains(why), error);
    }
}

TEST_CASE("every method with a proximal operator or a clear refusal") {
    workers const w;
    elastic_net const prox{0.05, 0};
    std::set<std::string> refused;
    for (auto const& text : every_recursion()) {
        CAPTURE(text);
        try {
            lockstep run(parse_method(text).compose(w.constants, prox), w.f, vec(features, 0.0), 5);
            run.rounds(5);
            CHECK(std::isfinite(run.x()[0]));
        } catch (argument_error const& e) {
            CHECK(std::string(e.what()).find("its step has no form with a proximal operator") != std::string::npos);
            refused.insert(text.substr(0, text.find('(')));
        }
    }
    CHECK(refused == std::set<std::string>{"adiana", "bidirectional", "diloco", "dual_averaging", "ef21_muon",
                                           "heavy_ball", "iasgd", "isgd", "local_sgd", "locodl", "one_bit_adam",
                                           "proxskip", "scaffold", "some_of", "with_step"});
}
