// SPDX-License-Identifier: Apache-2.0
// `automatic` sums exactly, chooses the same sum on all ranks from what they contribute, and saves its choice.
// `collective_choice` names the quickest sum by its formulas, and its text lists the others with their seconds.
#include "laconic/collective/automatic.hpp"

#include "support/everything.hpp"
#include "support/sparse_vectors.hpp"

static_assert(Collective<automatic>);
namespace sv = sparse_vectors;

// Where a list is best, for most of what the tests bring.
automatic const cluster{{2e-5, 1e-9, 0}, {}, 1};

TEST_CASE("all ranks choose the same sum for what they contribute together, and give the reason") {
    // One rank has much more than the others.
    std::size_t const d = 20000;
    std::set<std::string> chosen;
    for (std::size_t const k : {1, 300, 20000}) {
        std::vector<std::string> why(std::size_t{5});
        sv::errors_on(5, [&](auto& comm) {
            host on;
            auto sum = make_sum<float>(cluster, comm, d);
            CHECK(!sum.why());
            sparse_sum<float> v(d);
            for (std::size_t i = 0; i < (comm.rank() == 3 ? k : 1); ++i) v.append(i, 1);
            sum(on, comm, v);
            why[std::size_t(comm.rank())] = to_string(*sum.why());
            if (comm.rank() == 0) chosen.insert(sum.why()->name());
            CHECK(sum.why()->what.k == doctest::Approx((4 + double(k)) / 5));
            CHECK(sum.why()->what.blocks == doctest::Approx((4 + std::ceil(double(k) / 256)) / 5));
        });
        CHECK(why == std::vector(5, why[0]));
    }
    CHECK(chosen.size() >= 2);
}

TEST_CASE("the choice is made anew after as many rounds as are set") {
    std::vector<std::string> chosen;
    sv::run_over<fibers>(4, [&](any_communicator& comm) {
        host on;
        auto how = cluster;
        how.every = 3;
        auto sum = make_sum<float>(how, comm, 5000);
        for (int round = 0; round < 7; ++round) {
            std::vector<float> x(5000);
            std::fill_n(x.begin(), round == 0 ? 3 : 5000, 1.f);
            sum(on, comm, std::span(x));
            CHECK(std::all_of(x.begin(), x.end(), [&](float v) { return v == 4 || (v == 0 && round == 0); }));
            if (comm.rank() == 2) chosen.push_back(sum.why()->name());
        }
    });
    CHECK(chosen[0] == "recursive_doubling");
    CHECK(chosen[2] == chosen[0]);
    CHECK(chosen[3] == "omni_reduce(256)");  // two latencies, not four
    CHECK(chosen[6] == chosen[3]);
}

TEST_CASE("a sum that fails changes no choice, not even the first one") {
    sv::run_over<threads>(3, [](any_communicator& comm) {
        host on;
        auto how = cluster;
        how.every = 4;
        auto sum = make_sum<float>(how, 5000);
        auto const hold = [&](std::size_t terms, float value) {
            std::vector<float> x(5000);
            std::fill_n(x.begin(), terms, value);
            try {
                sum(on, comm, std::span(x));
            } catch (error const&) {
                return false;
            }
            return true;
        };
        CHECK(!hold(3, comm.rank() == 1 ? NAN : 1));
        CHECK(!sum.why());
        CHECK(!hold(3, 3e38f));  // what three bring overflows
        CHECK(!sum.why());
        for (int i = 0; i < 4; ++i) CHECK(hold(i == 0 ? 3 : 5000, 1));
        CHECK(sum.why()->name() == "gathered_sum");
        for (int i = 0; i < 2; ++i) {
            CHECK(!hold(5000, 3e38f));
            CHECK(sum.why()->name() == "gathered_sum");
        }
        CHECK(hold(5000, 1));
        CHECK(sum.why()->name() == "omni_reduce(256)");
    });
}

TEST_CASE("what is chosen can be saved, and is gone on with") {
    auto how = cluster;
    how.every = 4;
    auto const after_two = [&](auto& comm, auto& sum) {
        host on;
        for (std::size_t const terms : {3, 5000}) {
            std::vector<float> x(5000);
            std::fill_n(x.begin(), terms, 1.f);
            sum(on, comm, std::span(x));
        }
        wire::state_writer writer("this");
        sum.state(writer);
        return writer.finish();
    };
    sv::run_over<fibers>(4, [&](any_communicator& comm) {
        host on;
        auto first = make_sum<float>(how, 5000), second = make_sum<float>(how, 5000);
        auto const saved = after_two(comm, first);
        wire::state_reader reader(saved, "this");
        second.state(reader);
        CHECK(!second.why());  // so far it was only looked at
        reader.rewind();
        second.state(reader);
        CHECK(to_string(*second.why()) == to_string(*first.why()));
        for (int i = 2; i < 5; ++i)
            for (auto* const sum : {&first, &second}) {
                std::vector<float> x(5000, 1);
                (*sum)(on, comm, std::span(x));
                CHECK(sum->why()->name() == (i < 4 ? "recursive_doubling" : "omni_reduce(256)"));
            }
    });
    std::vector<std::byte> saved;
    sv::run_over<fibers>(4, [&](any_communicator& comm) {
        auto sum = make_sum<float>(how, 5000);
        auto const bytes = after_two(comm, sum);
        if (comm.rank() == 0) saved = bytes;
    });
    for (auto const& text : sv::errors_on(3, [&](auto& comm) {
             host on;
             auto sum = make_sum<float>(how, 5000);
             wire::state_reader reader(saved, "this");
             sum.state(reader);
             reader.rewind();
             sum.state(reader);
             std::vector<float> x(5000, 1);
             sum(on, comm, std::span(x));
         }))
        CHECK(text == "auto: this state is not of 3 ranks");
}

TEST_CASE("it takes as long as what it has chosen, and the count before") {
    network const net{1e-3, 1e-6, 0};
    std::size_t const d = 3000;
    for (std::size_t const k : {10, 300, 3000}) {
        double last = 0;
        std::optional<detail::collective_choice> why;
        fibers::run(8, [&](fibers::member& engine) {
            delayed clocked(engine, net);
            any_communicator comm(clocked);
            host on;
            auto sum = make_sum<float>(automatic{net, {}, 1}, d);
            sparse_sum<float> v = sv::whole_numbers<float>(sv::shape::apart, d, k / 8, comm.rank(), 8);
            if (k == d) v.assign_in_full(on, sparse_sum<float>(v), 0, d);
            sum(on, comm, v);
            last = std::max(last, clocked.clock());
            if (comm.rank() == 0) why = sum.why();
        });
        double const count = 7 * (1e-3 + 16 * 8e-6) + 1e-3 + 7 * 8e-6;
        CHECK((last - count) / why->options[why->best].seconds == doctest::Approx(1).epsilon(0.05));
    }
}

TEST_CASE("numbers that an automatic sum refuses") {
    for (auto const& bad : {automatic{{-1, 0, 0}}, automatic{{}, {-1, 0}}, automatic{{}, {}, 0}}) {
        CHECK_THROWS_AS(make_sum<float>(bad, 4), argument_error);
        CHECK_THROWS_AS(bad.check(4), argument_error);
    }
}

network const gigabit{4.5e-5, 1e-9, 5e-6};

std::string best(network const& net, double d, double k, int ranks) {
    return detail::collective_choice(net, {d, k, ranks}).name();
}

TEST_CASE("the quickest is chosen, where the literature recommends it") {
    double const d = 25557032;  // of ResNet-50
    // Of a few terms as few messages as can be, of many terms of few ranks and of many ranks as few terms as can be; of
    // all numbers, the fewest that must be sent, and where parts are short the fewest messages.
    CHECK(best(gigabit, d, 100, 7) == "gathered_sum");
    CHECK(best(gigabit, d, 0.01 * d, 8) == "recursive_doubling");
    CHECK(best(gigabit, d, 0.01 * d, 256) == "split_all_gather(sparse)");
    CHECK(best({5e-5, 1e-9}, d, d, 1024) == "ring");
    CHECK(best(gigabit, d, d, 4096) == "halving_doubling");
    CHECK(best(gigabit, d, d, 1) == "gathered_sum");
    // Where blocks are all there is, they need no coordinates.
    cost_formulas::load blocks{d, 0.01 * d, 64, 32, position_code::smallest, 0.01 * d / 256};
    CHECK(detail::collective_choice(gigabit, blocks).name() == "omni_reduce(256)");
    blocks.blocks = -1;  // 1 % spread evenly leaves hardly a block out
    CHECK(detail::collective_choice(gigabit, blocks).name() == "split_all_gather(sparse)");
    // Where lists are slow to read the long ones go in full, and then the short ones, too.
    CHECK(detail::collective_choice(gigabit, {d, 0.01 * d, 256}, {1e-6, 1e-9}).name() == "split_all_gather(dense)");
    CHECK(detail::collective_choice(gigabit, {d, 0.01 * d, 256}, {1e-5, 1e-9}).name() == "omni_reduce(256)");
}

TEST_CASE("its text lists the choice and all others with their seconds") {
    detail::collective_choice const c({1, 0, 0}, {1000, 10, 4});
    CHECK(to_string(c) ==
          "gathered_sum: 4 ranks, 10 of 1000 numbers each, 2 s; next recursive_doubling 2 s, omni_reduce(256) 2 s, "
          "split_all_gather(sparse) 3 s, split_all_gather(dense) 3 s, halving_doubling 4 s, ring 6 s");
    for (auto const& each : c.options) CHECK(each.seconds >= c.options[c.best].seconds);
    CHECK(c.options.size() == 7);
}
