// SPDX-License-Identifier: Apache-2.0
// Gathered or by a collective, all ranks have the same mean and errors, and leftovers go to a feedback that keeps them.
#include "laconic/transport/summed.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/states.hpp"

using vec = std::vector<double>;
using message = detail::message_of<top_k<>, double, host>;
constexpr auto smallest = position_code::smallest;

// What four ranks bring: two numbers each.
vec brought(int rank) {
    std::array<vec, 4> const all{vec{8, 0, 0, 1, 0}, vec{-4, 0, 0, 0, 2}, vec{0, 12, 0, 1, 0}, vec{0, 0, 4, 2, 0}};
    return all[static_cast<std::size_t>(rank)];
}

// A message that cannot list its terms.
struct opaque {
    vec values;
    std::size_t dimension() const { return values.size(); }
    friend void add_message(host&, std::span<double> out, double w, opaque const& m) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] += w * m.values[i];
    }
};

template <class By, class Comm, class M>
void run_round(By& by, Comm& comm, M const& mine, std::uint64_t round, vec& mean) {
    host on;
    round_context now;
    now.round = round;
    by.send(on, comm, now, mine, {});
    by.receive(on, comm, now, mine, {}, nullptr, nullptr, std::span<double>(mean));
}
// The mean on each of the four ranks; message(on, v) is what each sends about its v.
template <class X, class Message>
std::vector<vec> mean_by(X const& x, Message message_about) {
    std::vector<vec> all(4, vec(5, 99.));
    fibers::run(4, [&](fibers::member& comm) {
        auto const mine = message_about(brought(comm.rank()));
        detail::summed<X, std::remove_const_t<decltype(mine)>, double> mean(x, 5, smallest);
        run_round(mean, comm, mine, 0, all[std::size_t(comm.rank())]);
    });
    return all;
}

// A sum that fails on demand.
enum class fault { none, wire, comm, input };
struct failing {
    fault* what;

    void check(std::size_t) const {}
    struct sum {
        sum(failing const& how, std::size_t, position_code) : what(how.what) {}
        fault* what;
        double rounds = 0;
        template <class Archive>
        void state(Archive& archive) {
            archive(rounds);
        }
        template <Communicator C>
        void operator()(host&, C&, std::span<double> x, sum_round const& round) {
            x[0] += rounds++;
            if (*what == fault::wire) throw wire_error(0, "damaged");
            if (*what == fault::comm) throw comm_error(2, "rank 2 left");
            if (*what == fault::input) throw non_finite_error(1, round.number, 3);
        }
    };
    template <Scalar T, class B>
    using adder = sum;
    friend std::string to_string(failing) { return "failing"; }
};

// What rank r sends: its largest number is 3 (r + 1), at r.
std::vector<double> numbers(int rank) {
    std::vector<double> x(5, 0.25);
    x[std::size_t(rank)] = 3 * (rank + 1);
    return x;
}

static_assert(Transport<detail::transport_for<ring, message>, fibers::member, message, memory<>>);

TEST_CASE("a sum travels by its collective, gathered messages by none") {
    CHECK(detail::transport_for<ring, message>(ring{}, 5, smallest).uses_collective());
    CHECK_FALSE(detail::transport_for<gather_all, message>({}, 5, smallest).uses_collective());
}

TEST_CASE("what a collective leaves out goes back to a feedback that keeps it, and to no other") {
    std::vector<double> left(5), brought(5);
    fibers::run(3, [&](fibers::member& comm) {
        host on;
        detail::summed<gtop_k, message, double> means(gtop_k{1}, 5, position_code::smallest);
        memory<> keeps(0, 1), loses(1, 0);
        CHECK_THROWS_AS(means.require_beside(loses, "memory"), argument_error);
        means.require_beside(keeps, "memory");
        keeps.start(5);
        auto const x = numbers(comm.rank());
        message mine;
        top_k{1}(on, std::span<double const>(x), key{}, mine);
        std::vector<double> mean(5);
        detail::failure const own;
        means.send(on, comm, round_context{}, mine, own);
        means.receive(
            on, comm, round_context{}, mine, own, [](auto&, int, auto&) {}, keeps, std::span(mean));
        keeps.update(on, std::span<double const>(x), mine);
        means.give_back(on, keeps);
        CHECK(mean == std::vector<double>{0, 0, 3, 0, 0});  // a third of 9, the largest
        for (std::size_t i = 0; i < 5; ++i) {
            left[i] += keeps.residual()[i];
            brought[i] += x[i];
        }
    });
    // Whichever rank keeps it: nothing is lost.
    brought[2] -= 9;
    CHECK(left == brought);
}

TEST_CASE("the mean of four messages, of terms and in full") {
    auto const top_2 = [](vec const& v) { return compress(top_k{2}, v, key{}); };
    auto const as_it_is = [](vec const& v) { return opaque{v}; };
    vec const mean{1, 3, 1, 1, .5};
    CHECK(mean_by(ring{}, top_2) == std::vector(4, mean));
    CHECK(mean_by(ring{}, as_it_is) == std::vector(4, mean));
    // Of ranks 0 and 1 (4, 0, 0, 1, 2), of 2 and 3 (0, 12, 4, 3, 0): 2 of each, then 2 of their sum.
    CHECK(mean_by(gtop_k{2}, top_2) == std::vector(4, vec{1, 3, 0, 0, 0}));
    CHECK(mean_by(gtop_k{2}, as_it_is) == std::vector(4, vec{1, 3, 0, 0, 0}));
    CHECK(mean_by(gtop_k{5}, as_it_is) == std::vector(4, mean));
}

TEST_CASE("what is not applied goes to the feedbacks of those that cut it") {
    std::array<vec, 4> residual;
    fibers::run(4, [&](fibers::member& comm) {
        host on;
        memory<> errors(0, true);
        errors.start(5);
        detail::summed<gtop_k, message, double> mean(gtop_k{2}, 5, smallest);
        auto const v = brought(comm.rank());
        auto const sent = compress(top_k{1}, v, key{});
        vec out(5);
        run_round(mean, comm, sent, 0, out);
        CHECK(out == vec{1, 3, 0, 0, 0});
        errors.update(on, std::span<double const>(v), sent);
        mean.give_back(on, errors);
        residual[std::size_t(comm.rank())].assign(errors.residual().begin(), errors.residual().end());
    });
    CHECK(residual[0] == vec{0, 0, 4, 1, 0});  // 1 of its own was not sent, and 4 of rank 3 was cut
    CHECK(residual[1] == vec{0, 0, 0, 0, 2});
    CHECK(residual[2] == vec{0, 0, 0, 1, 0});
    CHECK(residual[3] == vec{0, 0, 0, 2, 0});
}

TEST_CASE("beside a feedback that would lose what comes back, it is refused") {
    detail::summed<gtop_k, message, double> const some(gtop_k{2}, 5, smallest);
    detail::summed<ring, message, double> const all(ring{}, 5, smallest);
    memory<> const errors(0, true), known(.5, true), nothing;
    last_gradient<> const last;
    some.require_beside(errors, "");
    for (auto const* const feedback : {&errors, &known, &nothing}) all.require_beside(*feedback, "");
    all.require_beside(last, "");
    std::string const why =
        "the collective gtop_k(2) gives back what it leaves out, which F would lose: take a collective that applies "
        "the "
        "whole sum, or error feedback: error_feedback{...} in a reducer, memory(0, 1) in a recursion";
    CHECK_THROWS_WITH_AS(some.require_beside(known, "F"), why.c_str(), argument_error);
    CHECK_THROWS_WITH_AS(some.require_beside(nothing, "F"), why.c_str(), argument_error);
    CHECK_THROWS_WITH_AS(some.require_beside(last, "F"), why.c_str(), argument_error);
    CHECK_THROWS_AS((detail::summed<gtop_k, message, double>(gtop_k{6}, 5, smallest)), argument_error);
}

TEST_CASE("what breaks off leaves ranks apart; an error that all ranks get leaves them together") {
    threads::run(1, [](threads::member& comm) {
        fault what = fault::none;
        detail::summed<failing, opaque, double> mean(failing{&what}, 2, smallest);
        vec out(2);
        auto const round = [&](std::uint64_t k) { run_round(mean, comm, opaque{{1, 2}}, k, out); };
        round(0);
        CHECK(out == vec{1, 2});
        mean.require_consistent();
        round(1);
        CHECK(out == vec{2, 2});
        detail::summed<failing, opaque, double> restored(failing{&what}, 2, smallest);
        restore_from(mean, restored);
        run_round(restored, comm, opaque{{1, 2}}, 2, out);
        CHECK(out == vec{3, 2});  // what it remembers has come along
        what = fault::input;
        CHECK_THROWS_AS(round(1), non_finite_error);
        mean.require_consistent();
        for (auto const bad : {fault::wire, fault::comm}) {
            what = bad;
            CHECK_THROWS_AS(round(2), error);
            CHECK_THROWS_WITH_AS(mean.require_consistent(), doctest::Contains("the collective of round 2 broke off"),
                                 comm_error);
            mean.recover();
            mean.require_consistent();
        }
    });
}

TEST_CASE("a rank without a message for a vector of no numbers is an error on all ranks") {
    auto const with = [](auto const& collective) {
        std::vector<std::string> errors(2);
        fibers::run(2, [&](fibers::member& comm) {
            detail::summed<std::remove_cvref_t<decltype(collective)>, message, double> by(collective, 0, smallest);
            host on;
            detail::failure own;
            if (comm.rank() == 1) own = detail::failure::no_message("it has none").by(1, 0);
            round_context now;
            vec mean;
            message const mine = compress(top_k{0}, vec{}, key{});
            by.send(on, comm, now, mine, own);
            try {
                by.receive(on, comm, now, mine, own, nullptr, nullptr, std::span<double>(mean));
            } catch (error const& e) {
                errors[std::size_t(comm.rank())] = e.what();
            }
        });
        CHECK(!errors[0].empty());
        CHECK(errors[0] == errors[1]);
    };
    with(ring{});
    with(gathered_sum{});
}
