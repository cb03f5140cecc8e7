// SPDX-License-Identifier: Apache-2.0
// Estimators, steps, feedbacks and levels compute on `apart` the bits that they compute on the host.
#include "laconic/adapt/level.hpp"

#include "support/apart.hpp"
#include "support/everything.hpp"
#include "support/laws/messages.hpp"

using laconic_test::apart;

constexpr std::size_t d = 12;
constexpr std::uint64_t rounds = 6;
using numbers = std::vector<double>;

template <class B>
using array = typename B::template array<double>;
template <class B>
array<B> drawn(B& on, std::uint64_t seed) {
    auto const here = laws::noise<double>(d, seed, 1);
    array<B> x(d);
    copy_from_host(on, std::span<double const>(here), std::span<double>(x));
    return x;
}
void append_numbers(auto& on, auto const& x, numbers& all) {
    std::span<double const> const from(x);
    all.resize(all.size() + from.size());
    copy_to_host(on, from, std::span<double>(all).last(from.size()));
}
round_context at(std::uint64_t round) { return round_context::of(key{3}, round, 0, 2); }

// A part that goes on another day: it is saved, and `fresh` becomes what it was. The bytes are appended, too.
template <class B, class P>
void save_and_restore(B& on, P& part, P const& fresh, numbers& all) {
    wire::state_writer to("a part", on);
    to(part);
    auto const bytes = to.finish();
    for (auto const b : bytes) all.push_back(std::to_integer<int>(b));
    part = fresh;
    wire::state_reader from(bytes, "a part", d, on);
    from(part);
    from.rewind();
    from(part);
}

// Least squares of five drawn rows. Like a user's objective on a device it works on vectors where they are.
struct squares {
    using rows_span = std::span<std::uint32_t const>;
    using in = std::span<double const>;
    using out = std::span<double>;

    static double entry(std::size_t j, std::size_t i) { return key{9}.uniform(j * d + i) - 0.5; }
    static double residual(std::size_t j, in x) {
        double sum = -1;
        for (std::size_t i = 0; i < d; ++i) sum += entry(j, i) * x[i];
        return sum;
    }
    std::size_t dimension() const { return d; }
    std::size_t samples() const { return 5; }
    std::size_t outputs() const { return 1; }
    double value(in x) const {
        laconic_test::opened const pages;
        double sum = 0;
        for (std::size_t j = 0; j < 5; ++j) sum += residual(j, x) * residual(j, x) / 10;
        return sum;
    }
    void gradient(in x, out g) const {
        std::uint32_t const all[] = {0, 1, 2, 3, 4};
        batch_gradient(all, x, g);
    }
    void batch_gradient(rows_span rows, in x, out g) const {
        laconic_test::opened const pages;
        for (double& v : g) v = 0;
        for (auto const j : rows)
            for (std::size_t i = 0; i < d; ++i) g[i] += residual(j, x) * entry(j, i) / static_cast<double>(rows.size());
    }
    void slopes(std::size_t j, in x, out s) const {
        laconic_test::opened const pages;
        s[0] = residual(j, x);
    }
    void add_row(std::size_t j, in s, double w, out g) const {
        laconic_test::opened const pages;
        for (std::size_t i = 0; i < d; ++i) g[i] += w * s[0] * entry(j, i);
    }
    void add_penalty_gradient(in, out) const {}
};

// What an estimator estimates while its iterate moves.
template <class B, class E>
numbers estimates(E estimator) {
    auto const fresh = estimator;
    B on;
    squares const f;
    numbers all;
    auto x = drawn(on, 1);
    array<B> g(d);
    for (std::uint64_t k = 0; k < rounds; ++k) {
        estimator(on, f, at(k), std::span<double const>(x), std::span<double>(g));
        append_numbers(on, g, all);
        add_scaled(on, -0.5, std::span<double const>(g), std::span<double>(x));
        estimator.update(on, std::span<double const>(x));
        if (k == 2) save_and_restore(on, estimator, fresh, all);
    }
    return all;
}

// Where a step leads.
template <class B, class S>
numbers iterates(S step) {
    auto const fresh = step;
    B on;
    numbers all;
    auto x = drawn(on, 1);
    for (std::uint64_t k = 0; k < rounds; ++k) {
        auto g = drawn(on, 10 + k);
        step(on, std::span<double>(x), std::span<double>(g));
        append_numbers(on, x, all);
        if (k == 2) save_and_restore(on, step, fresh, all);
    }
    return all;
}

// What a feedback makes delta, the message of it, and what is reconstructed. `move` gives it the memory of delta.
template <class B, class F, class C>
numbers rounds_of(F feedback, C const& c, bool move) {
    B on;
    numbers all;
    detail::message_of<C, double, B> m;
    feedback.start(d);
    auto const fresh = feedback;
    for (std::uint64_t k = 0; k < rounds; ++k) {
        auto delta = drawn(on, k), mean = drawn(on, 20 + k);
        feedback.compensate(on, at(k), std::span<double>(delta));
        append_numbers(on, delta, all);
        c(on, std::span<double const>(delta), at(k).own, m);
        if constexpr (requires { feedback.update(on, std::move(delta), m); }) {
            if (move)
                feedback.update(on, std::move(delta), m);
            else
                feedback.update(on, std::span<double const>(delta), m);
        } else {
            feedback.update(on, std::span<double const>(delta), m);
        }
        if constexpr (requires { feedback.residual_for_leftover(); })
            if (feedback.keeps_leftover() && k == 2) add_message(on, feedback.residual_for_leftover(), 1., m);
        feedback.reconstruct(on, at(k), std::span<double>(mean));
        append_numbers(on, mean, all);
        if (k == 2) save_and_restore(on, feedback, fresh, all);
    }
    return all;
}

// What a message adds, where a level has set how much it sends.
template <class B, class L, class C>
numbers levelled_rounds(L level, C c) {
    auto const fresh = level;
    B on;
    numbers all;
    detail::message_of<C, double, B> m;
    auto x = drawn(on, 1);
    for (std::uint64_t k = 0; k < rounds; ++k) {
        auto const delta = drawn(on, 30 + k);
        level.tune(on, c, at(k), std::span<double const>(x), std::span<double const>(delta));
        c(on, std::span<double const>(delta), at(k).own, m);
        array<B> added(d);
        add_message(on, std::span<double>(added), 1.0, m);
        append_numbers(on, added, all);
        level.update(on, std::span<double const>(x), m);
        if (k == 2) save_and_restore(on, level, fresh, all);
        add_scaled(on, 0.25 * static_cast<double>(k % 2), std::span<double const>(delta), std::span<double>(x));
    }
    return all;
}

// All are saved and restored halfway, too.

TEST_CASE("estimators") {
    CHECK(estimates<apart>(mini_batch{}) == estimates<host>(mini_batch{}));
    CHECK(estimates<apart>(mini_batch(2)) == estimates<host>(mini_batch(2)));
    CHECK(estimates<apart>(l_svrg<double, apart>(2, 0.5)) == estimates<host>(l_svrg<>(2, 0.5)));
    CHECK(estimates<apart>(saga<double, apart>(2)) == estimates<host>(saga<>(2)));
    CHECK(estimates<apart>(local_steps<double, apart>(0.5, 0.1)) == estimates<host>(local_steps<>(0.5, 0.1)));
    CHECK(estimates<apart>(local_momentum<mini_batch, double, apart>(0.5, 2)) ==
          estimates<host>(local_momentum<>(0.5, 2)));
    rand_block<> const blocks{2, 5};
    CHECK(estimates<apart>(block_saga<double, apart>(blocks)) == estimates<host>(block_saga<>(blocks)));
    for (auto const unit : {clip_at::norm, clip_at::deviations}) {
        clipped const c{mini_batch{}, 0.5, unit};
        CHECK(estimates<apart>(c) == estimates<host>(c));
    }
}

TEST_CASE("steps") {
    CHECK(iterates<apart>(gradient_step{0.5}) == iterates<host>(gradient_step{0.5}));
    CHECK(iterates<apart>(decreasing_step(1, 1)) == iterates<host>(decreasing_step(1, 1)));
    CHECK(iterates<apart>(momentum<double, apart>(0.5, 0.5)) == iterates<host>(momentum<>(0.5, 0.5)));
    CHECK(iterates<apart>(dual_averaging_step<double, apart>(0.5)) == iterates<host>(dual_averaging_step<>(0.5)));
    CHECK(iterates<apart>(accelerated_step<double, apart>(0.5, 0.5)) == iterates<host>(accelerated_step<>(0.5, 0.5)));
    for (bool const amsgrad : {false, true}) {
        adam_options const how{.rate = 0.5, .amsgrad = amsgrad};
        CHECK(iterates<apart>(adam<double, apart>(how)) == iterates<host>(adam<>(how)));
    }
    CHECK(iterates<apart>(rmsprop<double, apart>(0.5)) == iterates<host>(rmsprop<>(0.5)));
    CHECK(iterates<apart>(lion<double, apart>(0.5)) == iterates<host>(lion<>(0.5)));
    CHECK(iterates<apart>(muon<double, apart>({.rows = 2})) == iterates<host>(muon<>({.rows = 2})));
    CHECK(iterates<apart>(dion2<double, apart>({.rows = 2})) == iterates<host>(dion2<>({.rows = 2})));
    proximal<gradient_step, elastic_net> const step{{0.5}, {0.5, 0.5}, 0.5};
    CHECK(iterates<apart>(step) == iterates<host>(step));
}

TEST_CASE("feedbacks, of messages that list their terms and of one that does not") {
    auto const agree = [](auto here, auto there) {
        auto const in_full = top_k{4};
        auto const rounded = top_k{4} | quantize{1};
        auto const lists_none = scaled_down{quantize{3}};
        for (bool const move : {false, true}) {
            CHECK(rounds_of<apart>(there, in_full, move) == rounds_of<host>(here, in_full, move));
            CHECK(rounds_of<apart>(there, rounded, move) == rounds_of<host>(here, rounded, move));
            CHECK(rounds_of<apart>(there, lists_none, move) == rounds_of<host>(here, lists_none, move));
        }
    };
    agree(memory<>(0, 1), memory<double, apart>(0, 1));
    agree(memory<>(0.5, 0), memory<double, apart>(0.5, 0));
    agree(memory<>(0.5, 1), memory<double, apart>(0.5, 1));
    agree(last_gradient<>(0.5), last_gradient<double, apart>(0.5));
    agree(memory<>(0, 1, 0.5), memory<double, apart>(0, 1, 0.5));
    agree(memory<>(0, 1, 0.5, false, true), memory<double, apart>(0, 1, 0.5, false, true));
}

TEST_CASE("levels") {
    threshold<identity, std::span<double const>> const bounds;
    CHECK(levelled_rounds<apart>(follow_last_move<double, apart>(2), bounds) ==
          levelled_rounds<host>(follow_last_move<double>(2), bounds));
    for (double const smoothness : {0.0, 2.0})
        CHECK(levelled_rounds<apart>(lag<double, apart>(1, 2, 1, smoothness), threshold<>{}) ==
              levelled_rounds<host>(lag<>(1, 2, 1, smoothness), threshold<>{}));
    using warm = low_rank<std::span<double const>>;
    CHECK(levelled_rounds<apart>(warm_start<double, apart>(), warm{3, 2}) ==
          levelled_rounds<host>(warm_start<double>(), warm{3, 2}));
    parts<warm> const pieces{{8, {2, 1}}, {4, {2, 1}}};
    CHECK(levelled_rounds<apart>(warm_start<double, apart>(), pieces) ==
          levelled_rounds<host>(warm_start<double>(), pieces));
}
