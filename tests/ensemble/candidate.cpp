// SPDX-License-Identifier: Apache-2.0
// The networks of a family share their data and predict as networks do, for these data and others.
#include "laconic/ensemble/candidate.hpp"

#include "support/drawn.hpp"
#include "support/everything.hpp"

TEST_CASE("network_family: networks of any depth over one set of data") {
    auto const data = drawn::data(30, 4, 0.8, 3), other = drawn::data(7, 4, 0.8, 3, 5);
    network_family<class_output<>, double> const family(data, class_output<>(data), 5);
    CHECK(family.outputs() == 90);
    for (std::size_t const depth : {0, 1, 3}) {
        std::vector<std::size_t> const hidden(depth, 5);
        neural_network<class_output<>> const here(data, hidden, class_output<>(data)),
            there(other, hidden, class_output<>(other, {0, 1, 2}));
        CHECK(family.of(depth).depth() == depth);
        CHECK(&family.of(depth).data() == &family.data());
        auto const x = drawn::point(here.dimension(), depth);
        std::vector<double> z(90), of_other(21), sum(21, 1.);
        here.predict(x, z);
        CHECK(family.predict(depth, x) == z);
        there.predict(x, of_other);
        family.add_prediction(depth, x, other, 2, sum);
        for (std::size_t i = 0; i < 21; ++i) CHECK(sum[i] == 1 + 2 * of_other[i]);
    }
}

// T4.1: the rank that trains each candidate, first of those that the table of TensorFlow's adanet has for it.

TEST_CASE("T4.1: which rank trains which candidate") {
    constexpr auto whole = placement_strategy::round_robin, drop = placement_strategy::round_robin_drop,
                   everywhere = placement_strategy::replication;
    struct trained_by {
        placement_strategy strategy;
        int ranks;
        std::vector<int> trainers;  // of each candidate
    };
    for (auto const& [strategy, ranks, trainers] :
         std::initializer_list<trained_by>{{whole, 1, {0, 0, 0}},
                                           {whole, 2, {1, 1, 1}},
                                           {whole, 3, {1, 2, 1}},
                                           {whole, 4, {1, 2, 3}},
                                           {whole, 5, {1, 2, 3}},
                                           {whole, 7, {1, 2, 3}},
                                           {whole, 8, {1, 2, 3}},
                                           {whole, 2, {1, 1, 1, 1, 1}},
                                           {whole, 3, {0}},
                                           {drop, 1, {0, 0}},
                                           {drop, 2, {1, no_rank, no_rank, no_rank, no_rank}},
                                           {drop, 3, {1, 2, no_rank}},
                                           {drop, 4, {1, 2, 3}},
                                           {drop, 6, {1, 2, 3}},
                                           {everywhere, 3, {0, 0}},
                                           {everywhere, 3, {0, 0, 0}}})
        for (std::size_t s = 0; s < trainers.size(); ++s)
            CHECK(trainer_of(strategy, ranks, int(trainers.size()), int(s)) == trainers[s]);
}

// A candidate that was written is read as it was, by its outputs or its parameters; what it is not is refused.

template <class Z>
candidate<double, Z> trained(network_family<squared_output<>, double> const& family, Z const& z,
                             std::vector<double> const& x) {
    candidate<double, Z> c;
    c.net.depth = 1;
    c.take(family, z, key{1}, x);
    return c;
}
template <class Z>
std::vector<std::byte> written(candidate<double, Z> const& c, candidate_message what) {
    wire::bit_writer sink;
    c.write(sink, what);
    auto const bytes = sink.finish();
    return {bytes.begin(), bytes.end()};
}
template <class Z>
candidate<double, Z> read_back(network_family<squared_output<>, double> const& family, Z const& z,
                               std::vector<std::byte> const& bytes, candidate_message what) {
    candidate<double, Z> c;
    c.net.depth = 1;
    wire::bit_reader source(bytes);
    c.read(source, what, family, z, key{1});
    source.finish();
    return c;
}

TEST_CASE_TEMPLATE("candidate: its outputs or its parameters travel, and the others see it as its trainer does", Z,
                   identity, top_k<>) {
    auto const data = drawn::data(20, 3);
    network_family<squared_output<>, double> const family(data, squared_output<>(data), 4);
    Z const z{};
    auto const x = drawn::point(family.of(1).dimension(), 1);
    auto const here = trained(family, z, x);
    auto const exact = family.predict(1, x);
    CHECK(here.net.parameters == x);
    CHECK((here.net.outputs == exact) == std::is_same_v<Z, identity>);
    CHECK(here.net.outputs.size() == 20);

    auto const outputs = written(here, candidate_message::outputs);
    auto const there = read_back(family, z, outputs, candidate_message::outputs);
    CHECK(there.net.outputs == here.net.outputs);
    CHECK(there.net.parameters.empty());
    if (std::is_same_v<Z, identity>) CHECK(outputs.size() == 1 + 8 * 20);

    auto const parameters = written(here, candidate_message::parameters);
    CHECK(parameters.size() == 1 + 8 * x.size());
    auto const whole = read_back(family, z, parameters, candidate_message::parameters);
    CHECK(whole.net.outputs == here.net.outputs);
    CHECK(whole.net.parameters == x);
}

TEST_CASE("candidate: one that is not finite says where") {
    auto const data = drawn::data(20, 3, 1);
    network_family<squared_output<>, double> const family(data, squared_output<>(data), 4);
    auto x = drawn::point(family.of(1).dimension(), 1);
    auto broken = x;
    broken[5] = std::nan("");
    auto huge = x;
    for (auto& v : huge) v *= 1e200;
    for (auto const what : {candidate_message::outputs, candidate_message::parameters}) {
        auto const c = trained(family, identity{}, broken);
        CHECK(c.net.outputs.empty());
        CHECK(c.bad == 5);
        CHECK(written(c, what).size() == 9);
        auto const there = read_back(family, identity{}, written(c, what), what);
        CHECK(there.net.outputs.empty());
        CHECK(there.bad == 5);
        CHECK(trained(family, identity{}, huge).bad >= x.size());
        CHECK(trained(family, identity{}, huge).bad < x.size() + 20);
    }
}

TEST_CASE("candidate: bytes that are none are refused") {
    auto const data = drawn::data(20, 3, 1);
    network_family<squared_output<>, double> const family(data, squared_output<>(data), 4);
    auto const good =
        written(trained(family, identity{}, drawn::point(family.of(1).dimension(), 1)), candidate_message::outputs);
    auto bad = good;
    bad[0] = std::byte{2};
    CHECK_THROWS_AS(read_back(family, identity{}, bad, candidate_message::outputs), wire_error);
    bad = good;
    bad.pop_back();
    CHECK_THROWS_AS(read_back(family, identity{}, bad, candidate_message::outputs), wire_error);
    CHECK_THROWS_AS(read_back(family, identity{}, {}, candidate_message::parameters), wire_error);
    for (std::size_t i = 1; i < 9; ++i) bad[i] = std::byte{0xff};  // not a number
    CHECK_THROWS_AS(read_back(family, identity{}, bad, candidate_message::outputs), wire_error);
}
