// SPDX-License-Identifier: Apache-2.0
// An ensemble is the same on all ranks, for any number of them and any placement; what travels is what is said; it goes
// on from a saved state; and what is wrong on one rank is thrown by all.
#include "laconic/ensemble/growing_ensemble.hpp"

#include "support/drawn.hpp"
#include "support/everything.hpp"
#include "support/states.hpp"

template <class T>
dataset<T> curve() {
    auto data = drawn::data<T>(40, 3, 0.9);
    for (std::size_t j = 0; j < 40; ++j) {
        double sum = 0;
        for (std::ptrdiff_t i = 0; i < 3; ++i) sum += double(data.rows.coeff(std::ptrdiff_t(j), i));
        data.labels[j] = T(std::sin(sum));
    }
    return data;
}

adanet small() {
    adanet how;
    how.width = 6, how.steps = 12, how.batch = 8, how.rate = 0.03, how.lambda = 1e-4;
    return how;
}

// The state and F after some rounds, the same on all ranks.
template <class T, class Z>
std::vector<std::byte> grown(adanet const& how, int ranks, int rounds, Z z, double* value = nullptr) {
    auto const data = curve<T>();
    std::vector<std::vector<std::byte>> states(static_cast<std::size_t>(ranks));
    threads::run(ranks, [&](threads::member& comm) {
        auto e = how.start(data, squared_output<T>(data), comm, 5, z);
        for (int k = 0; k < rounds; ++k) e.round();
        states[std::size_t(comm.rank())] = e.save();
        if (comm.rank() == ranks - 1 && value) *value = e.look().value();
    });
    for (auto const& s : states) CHECK(s == states[0]);
    return states[0];
}

// The squared loss, except for what one rank finds in it.
struct faulty {
    squared_output<> true_loss;
    int what = 0;  // 1 throws, 2 is not a number

    std::size_t outputs() const { return 1; }
    std::size_t rows() const { return true_loss.rows(); }
    template <Scalar U>
    double loss(std::span<U> z, std::size_t j) const {
        if (what == 1) throw std::runtime_error("out of paper");
        double const loss = true_loss.loss(z, j);
        if (what == 2) z[0] = std::numeric_limits<U>::quiet_NaN();
        return loss;
    }
    template <Scalar U>
    void multiply_by_bend(std::span<U const> s, std::size_t j, std::span<U> v) const {
        true_loss.multiply_by_bend(s, j, v);
    }
};

TEST_CASE("growing_ensemble: any ranks, placements and messages come to the same bits") {
    for (auto const strategy : {ensemble_strategy::grow, ensemble_strategy::all, ensemble_strategy::solo}) {
        auto how = small();
        how.strategy = strategy;
        how.retry = true;
        double f = 0, other = 0;
        auto const known = grown<float>(how, 1, 3, identity{}, &f);
        CHECK(std::isfinite(f));
        for (auto const placed : {placement_strategy::replication, placement_strategy::round_robin})
            for (auto const send : {candidate_message::outputs, candidate_message::parameters})
                for (int const ranks : {1, 2, 3, 6}) {
                    if (strategy != ensemble_strategy::grow && ranks != 3) continue;
                    how.placed = placed, how.send = send;
                    CHECK(grown<float>(how, ranks, 3, identity{}, &other) == known);
                    CHECK(other == f);
                }
    }
}

TEST_CASE(
    "growing_ensemble: a member is a network that RMSProp has trained from Glorot's start, with keys of its round") {
    auto const data = curve<double>();
    auto how = small();
    how.force_grow = true;
    threads::run(3, [&](threads::member& comm) {
        auto e = how.start(data, squared_output<>(data), comm, 5);
        std::size_t depth = 0;
        for (std::uint64_t round = 0; round < 3; ++round) {
            e.round();
            auto const& newest = e.look().members.back();
            neural_network<squared_output<>> const net(data, std::vector<std::size_t>(newest.depth, 6),
                                                       squared_output<>(data));
            auto const from = key{5}.child(round).child(newest.depth - depth);
            auto x = net.initial_point(from.child(0));
            std::size_t hidden = 0;  // He's bound is wider than Glorot's
            for (auto const m : net.matrices()) {
                double const glorot = std::sqrt(6 / double(m.rows + m.columns)), he = std::sqrt(6 / double(m.columns));
                for (std::size_t i = 0; i < m.size() && hidden < newest.depth; ++i) x[m.offset + i] *= glorot / he;
                ++hidden;
            }
            rmsprop<> step(how.rate);
            host on;
            std::vector<double> g(x.size());
            for (std::uint64_t k = 0; k < 12; ++k) {
                std::vector<std::uint32_t> rows;
                for (std::uint64_t t = 0; t < 8; ++t)
                    rows.push_back(std::uint32_t(from.child(1).child(k).below(t, 40)));
                net.batch_gradient(rows, x, g);
                step(on, std::span<double>(x), std::span<double>(g));
            }
            for (std::size_t i = 0; i < x.size(); ++i)
                CHECK(newest.parameters[i] == doctest::Approx(x[i]).epsilon(1e-9));
            depth = newest.depth;
        }
    });
}

TEST_CASE("growing_ensemble: a compressor of the outputs, too, comes to the same bits everywhere") {
    auto how = small();
    auto const exact = grown<double>(how, 1, 3, identity{});
    for (int const ranks : {2, 3, 5}) {
        how.placed = placement_strategy::round_robin;
        CHECK(grown<double>(how, ranks, 3, top_k{0.5}) == grown<double>(how, 1, 3, top_k{0.5}));
        how.placed = placement_strategy::replication;
        CHECK(grown<double>(how, ranks, 3, top_k{0.5}) == grown<double>(how, 1, 3, top_k{0.5}));
    }
    CHECK(grown<double>(how, 1, 3, top_k{0.5}) != exact);
}

TEST_CASE("growing_ensemble: what travels in a round") {
    auto const data = curve<float>();
    for (auto const send : {candidate_message::outputs, candidate_message::parameters}) {
        auto how = small();
        how.send = send;
        threads::run(3, [&](threads::member& comm) {
            metered wire(comm);
            auto e = how.start(data, squared_output<float>(data), wire, 5);
            std::uint64_t const linear = 3 + 1, hidden = 6 * 4 + 7;
            for (std::uint64_t members = 1; members <= 2; ++members) {
                auto const sent = wire.bytes_sent(), gathered = wire.bytes_gathered(),
                           broadcast = wire.bytes_broadcast(), received = wire.bytes_received();
                std::uint64_t const depth_before = members == 1 ? 0 : e.look().members[0].depth;
                e.round();
                REQUIRE(e.look().members.size() == members);
                auto const& newest = e.look().members.back();
                int const winner = newest.depth == depth_before ? 1 : 2;
                auto const numbers = std::uint64_t(newest.parameters.size());
                if (members == 1) CHECK(numbers == (winner == 1 ? linear : hidden));
                if (send == candidate_message::outputs) {
                    CHECK(wire.bytes_sent() - sent == (comm.rank() == 0 ? 0 : 1 + 4 * 40));
                    CHECK(wire.bytes_gathered() - gathered == (comm.rank() == 0 ? 2 * (1 + 4 * 40) : 0));
                } else if (comm.rank() == winner) {
                    CHECK(wire.bytes_sent() - sent == 1 + 4 * numbers);
                }
                std::uint64_t const choice = 4 + 8 * members;
                CHECK(wire.bytes_broadcast() - broadcast ==
                      (comm.rank() == 0 ? choice : 0) + (comm.rank() == winner ? 4 * numbers : 0));
                CHECK(wire.bytes_received() - received ==
                      (comm.rank() == 0 ? 0 : choice) + (comm.rank() == winner ? 0 : 4 * numbers));
            }
        });
    }
    auto how = small();
    how.placed = placement_strategy::replication;
    threads::run(3, [&](threads::member& comm) {
        metered wire(comm);
        auto e = how.start(data, squared_output<float>(data), wire, 5);
        auto const sent = wire.bytes_sent(), received = wire.bytes_received();
        e.round();
        CHECK(wire.bytes_sent() == sent);
        CHECK(wire.bytes_received() == received);
        CHECK(wire.bytes_broadcast() == 0);
    });
}

TEST_CASE("growing_ensemble: a restored state goes on bit for bit, over other ranks too; others are refused") {
    auto const data = curve<double>();
    auto how = small();
    auto const two = grown<double>(how, 1, 2, identity{}), four = grown<double>(how, 1, 4, identity{});
    CHECK(two != four);
    how.placed = placement_strategy::round_robin;
    threads::run(3, [&](threads::member& comm) {
        auto e = how.start(data, squared_output<>(data), comm, 5);
        e.round();
        e.restore(two);
        CHECK(e.rounds() == 2);
        CHECK(e.save() == two);
        double const f = e.look().value();
        auto const refused = [&](auto const& state) {
            CHECK_THROWS_AS(e.restore(state), wire_error);
            CHECK(e.save() == two);
            CHECK(e.look().value() == f);
        };
        auto damaged = two;
        damaged[damaged.size() / 2] ^= std::byte{1};
        refused(damaged);
        auto forged = unsealed(two);  // one number fewer than the members have
        forged.resize(forged.size() - 8);
        auto const parameters = [&] {
            std::size_t n = 0;
            for (auto const& m : e.look().members) n += m.parameters.size();
            return n;
        }();
        put(forged, parameters - 1, forged.size() - 8 * (parameters - 1) - 8);
        refused(sealed(forged));
        forged = unsealed(two);  // a depth beyond all bounds
        std::size_t const members = e.look().members.size();
        put(forged, std::uint64_t{1} << 60, forged.size() - 8 * (parameters + 1 + members + 1 + members));
        refused(sealed(forged));
        e.round();
        e.round();
        CHECK(e.save() == four);
        auto other = how.start(data, squared_output<>(data), comm, 6);
        CHECK_THROWS_AS(other.restore(two), shape_error);
        other.restore(other.save());
        CHECK(other.rounds() == 0);
        CHECK(other.look().value() == std::numeric_limits<double>::infinity());
    });
}

TEST_CASE("growing_ensemble: the predictions are the weighted members'") {
    auto const data = curve<double>();
    threads::run(2, [&](threads::member& comm) {
        auto e = small().start(data, squared_output<>(data), comm, 5);
        e.round();
        e.round();
        auto const z = e.predict(data);
        double sum = 0, penalty = 0;
        for (std::size_t i = 0; i < 40; ++i) {
            double own = 0;
            for (auto const& m : e.look().members) own += m.weight * m.outputs[i];
            CHECK(z[i] == doctest::Approx(own).epsilon(1e-12));
            sum += (own - data.labels[i]) * (own - data.labels[i]) / 40;
        }
        for (auto const& m : e.look().members) penalty += 1e-4 * m.complexity() * std::abs(m.weight);
        CHECK(e.look().value() == doctest::Approx(sum + penalty).epsilon(1e-12));
        CHECK(e.predict(data.first(3)).size() == 3);
    });
}

TEST_CASE("growing_ensemble: where the ensemble before is best, that is the end, or new candidates are drawn") {
    auto const data = curve<double>();
    auto how = small();
    how.beta = 10;  // every weight is 0, so that F never falls
    threads::run(3, [&](threads::member& comm) {
        for (bool const retry : {false, true}) {
            how.retry = retry;
            auto e = how.start(data, squared_output<>(data), comm, 5);
            e.round();
            CHECK_FALSE(e.stopped());
            CHECK(e.look().members[0].weight == 0);
            e.round();
            CHECK(e.look().members.size() == 1);
            CHECK(e.stopped() != retry);
            auto const now = e.save();
            e.round();
            CHECK(e.rounds() == (retry ? 3 : 2));
            CHECK((e.save() == now) != retry);
        }
        how.force_grow = true;
        how.retry = false;
        auto e = how.start(data, squared_output<>(data), comm, 5);
        for (std::size_t k = 1; k <= 3; ++k) {
            e.round();
            CHECK(e.look().members.size() == k);
        }
    });
}

TEST_CASE("growing_ensemble: what one rank throws all throw, in the same round, and nothing has changed") {
    auto const data = curve<double>();
    for (auto const placed : {placement_strategy::round_robin, placement_strategy::replication})
        for (int const guilty : {0, 1, 2})
            threads::run(3, [&](threads::member& comm) {
                auto how = small();
                how.placed = placed;
                auto good = how.start(data, faulty{squared_output<>(data)}, comm, 5);
                good.round();
                auto e = how.start(data, faulty{squared_output<>(data), comm.rank() == guilty ? 1 : 0}, comm, 5);
                auto const before = e.save();
                for (int k = 0; k < 2; ++k)
                    CHECK_THROWS_WITH_AS(e.round(), compression_error(guilty, 0, "out of paper").what(),
                                         compression_error);
                CHECK(e.save() == before);
            });
}

TEST_CASE("growing_ensemble: a candidate that is not finite is left out; where all are, all ranks say so") {
    auto const data = curve<double>();
    for (int const guilty : {1, 2})
        threads::run(3, [&](threads::member& comm) {
            auto e = small().start(data, faulty{squared_output<>(data), comm.rank() == guilty ? 2 : 0}, comm, 5);
            e.round();
            REQUIRE(e.look().members.size() == 1);
            CHECK(e.look().members[0].depth == (guilty == 1 ? 1 : 0));
        });
    for (auto const placed : {placement_strategy::round_robin, placement_strategy::replication})
        threads::run(3, [&](threads::member& comm) {
            auto how = small();
            how.placed = placed;
            int const first = placed == placement_strategy::replication ? 0 : 1;
            auto e = how.start(data, faulty{squared_output<>(data), comm.rank() == 0 && first == 1 ? 0 : 2}, comm, 5);
            CHECK_THROWS_WITH_AS(e.round(), non_finite_error(first, 0, 0).what(), non_finite_error);
            CHECK(e.rounds() == 0);
            CHECK(e.look().members.empty());
            auto good = how.start(data, squared_output<>(data), comm, 5);
            good.round();  // no rank is left waiting
        });
}

TEST_CASE("growing_ensemble: a candidate that no rank has is left out") {
    auto const data = curve<double>();
    auto how = small();
    how.placed = placement_strategy::round_robin_drop;
    threads::run(2, [&](threads::member& comm) {
        auto e = how.start(data, squared_output<>(data), comm, 5);
        for (int k = 0; k < 2; ++k) e.round();
        for (auto const& m : e.look().members) CHECK(m.depth == 0);
    });
}

TEST_CASE("growing_ensemble: ranks that disagree, and what makes no ensemble, are refused") {
    auto const data = curve<double>();
    auto other = data;
    other.labels[7] += 1;
    threads::run(2, [&](threads::member& comm) {
        bool const odd = comm.rank() == 1;
        auto how = small();
        auto const& mine = odd ? other : data;
        CHECK_THROWS_WITH_AS(how.start(mine, squared_output<>(mine), comm, 5), doctest::Contains("the labels"),
                             agreement_error);
        CHECK_THROWS_WITH_AS(how.start(data, squared_output<>(data), comm, odd ? 5 : 6), doctest::Contains("the seed"),
                             agreement_error);
        how.lambda = odd ? 1 : 2;
        CHECK_THROWS_WITH_AS(how.start(data, squared_output<>(data), comm, 5), doctest::Contains("lambda"),
                             agreement_error);
        how = small();
        how.send = odd ? candidate_message::outputs : candidate_message::parameters;
        CHECK_THROWS_AS(how.start(data, squared_output<>(data), comm, 5), agreement_error);
        how = small();
        how.beta = -1;
        CHECK_THROWS_AS(how.start(data, squared_output<>(data), comm, 5), argument_error);
        how = small();
        how.width = 0;
        CHECK_THROWS_AS(how.start(data, squared_output<>(data), comm, 5), argument_error);
        how = small();
        how.batch = 0;
        CHECK_THROWS_AS(how.start(data, squared_output<>(data), comm, 5), argument_error);
    });
}
