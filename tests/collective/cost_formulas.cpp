// SPDX-License-Identifier: Apache-2.0
// The formulas predict within 5 % how long each collective takes by its log of messages on four kinds of network.
// Expected unions and lengths of encoded lists are those of lists that are drawn and written.
#include "laconic/collective/cost_formulas.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/collective_sums.hpp"
#include "support/everything.hpp"

constexpr std::size_t d = 20000, block = 16;

struct named_network {
    std::string name;
    network net;
};
// In this order: the latency alone, the bandwidth alone, a cluster, a sensor's radio.
named_network const networks[] = {{"latency", {1e-3, 0, 1e-4}},
                                  {"bandwidth", {0, 1e-9, 0}},
                                  {"both", {2e-5, 1e-9, 1e-6}},
                                  {"radio", {5e-3, 4e-6, 1e-3, true}}};

// k values of d, drawn evenly, on each rank.
std::vector<sparse_sum<float>> lists(int ranks, std::size_t k) {
    std::vector<sparse_sum<float>> all;
    for (int r = 0; r < ranks; ++r) {
        std::vector<float> x(d);
        auto const from = key{5}.child(std::uint64_t(r));
        for (std::uint64_t i = 0, n = 0; n < k; ++i)
            if (auto& v = x[from.below(2 * i, d)]; v == 0) {
                v = float(1 + from.below(2 * i + 1, 1000));
                ++n;
            }
        all.emplace_back(d);
        for (std::size_t i = 0; i < d; ++i)
            if (x[i] != 0) all.back().append(i, x[i]);
    }
    return all;
}

// What the ranks do in a collective of these.
std::vector<std::vector<log_entry>> logs_of(std::string const& text, std::vector<sparse_sum<float>> brought) {
    std::vector<std::vector<log_entry>> logs(brought.size());
    fibers::run(int(brought.size()), [&](fibers::member& inner) {
        recorded log(inner);
        any_communicator engine(inner), comm(log);
        auto& mine = brought[std::size_t(comm.rank())];
        collective_sums::summing<float> sum(engine, collective_sums::by_text<float>(text), mine.dimension());
        if (text.starts_with("ok_top_k")) {  // its threshold is found in a first round
            auto v = mine;
            sum(comm, v);
            log.take_log();
        }
        sum(comm, mine);
        logs[std::size_t(comm.rank())] = log.take_log();
    });
    return logs;
}

// The collective make(k) takes as long as the formulas predict, to 5 %, over each network; with at_most, as long or
// less where P is no power of two.
template <class Make>
void takes(Make make, std::vector<double> const& densities = {0.002, 0.02, 0.3, 1}, bool at_most = false) {
    for (double const density : densities)
        for (int const ranks : {1, 2, 3, 7, 8, 20}) {
            auto const k = std::size_t(density * d);
            auto const logs = logs_of(to_string(make(k)), lists(ranks, k));
            cost_formulas::load const what{d, double(k), ranks, 32, position_code::smallest, -1, block};
            for (auto const& over : networks) {
                auto const ends = replay({over.net}, logs);
                double const predicted = cost_formulas(over.net, what)(make(k));
                double const took = *std::max_element(ends.begin(), ends.end());
                CAPTURE(to_string(make(k)));
                CAPTURE(over.name);
                CAPTURE(density);
                CAPTURE(ranks);
                if (ranks == 1)
                    CHECK((took == 0 && predicted == 0));
                else if (at_most && (ranks & (ranks - 1)) != 0)
                    CHECK((took / predicted > 0.4 && took / predicted < 1.01));
                else
                    CHECK(took / predicted == doctest::Approx(1).epsilon(0.05));
            }
        }
}

TEST_CASE("dense sums take as long as the formulas predict") {
    takes([](std::size_t) { return ring{}; }, {1});
    takes([](std::size_t) { return halving_doubling{}; }, {1});
}
TEST_CASE("sums of lists take as long as the formulas predict" * doctest::test_suite("slow")) {
    takes([](std::size_t) { return gathered_sum{}; });
    takes([](std::size_t) { return recursive_doubling{}; });
}
// Of two terms in a part some ranks have five: their messages are not as long as the average.
TEST_CASE("sums by parts take as long as the formulas predict, where parts have enough terms" *
          doctest::test_suite("slow")) {
    takes([](std::size_t) { return split_all_gather{}; }, {0.02, 0.3, 1});
    takes([](std::size_t) { return split_all_gather{split_all_gather::second_stage::dense}; }, {0.02});
    takes([](std::size_t) { return omni_reduce{block}; }, {0.02, 0.3, 1});
}
// 5 us to hand over each message.
TEST_CASE("long vectors, in chunks or in pieces, take as long as the formulas predict" * doctest::test_suite("slow")) {
    constexpr std::size_t length = std::size_t{3} << 20, terms = 2000;
    auto const takes_as_long = [](int ranks, auto const& made) {
        std::vector<sparse_sum<float>> brought;
        for (int r = 0; r < ranks; ++r) {
            std::vector<float> x(length);
            for (std::size_t j = 0; j < terms; ++j) x[key{9}.child(std::uint64_t(r)).below(j, length)] = 1;
            host on;
            brought.emplace_back().assign_nonzero(on, x);
        }
        auto const logs = logs_of(to_string(made), std::move(brought));
        for (network const& net :
             {network{1e-3, 0, 5e-6}, network{5e-6, 1e-9, 5e-6}, network{1e-5, 1e-11, 5e-6}, network{1e-3, 1e-9, 0}}) {
            auto const ends = replay({net}, logs);
            double const took = *std::max_element(ends.begin(), ends.end());
            CAPTURE(to_string(made));
            CAPTURE(ranks);
            CAPTURE(net.latency);
            CAPTURE(net.seconds_per_bit);
            cost_formulas::load const what{double(length), double(terms), ranks, 32, position_code::smallest, -1,
                                           block};
            CHECK(took / cost_formulas(net, what)(made) == doctest::Approx(1).epsilon(0.05));
        }
    };
    for (int const ranks : {2, 5}) {
        takes_as_long(ranks, laconic::omni_reduce{block});
        takes_as_long(ranks, ring{});
        takes_as_long(ranks, halving_doubling{});
        takes_as_long(ranks, split_all_gather{split_all_gather::second_stage::dense});
    }
}
TEST_CASE("what is cut to k takes as long as the formulas predict" * doctest::test_suite("slow")) {
    takes([](std::size_t k) { return laconic::gtop_k{k}; }, {0.002, 0.02, 0.3}, true);
    takes([](std::size_t k) { return spar_reduce_scatter{k, true}; }, {0.02, 0.3, 1});
    takes([](std::size_t k) { return laconic::ok_top_k{k}; }, {0.3});
}

TEST_CASE("by hand: two ranks, lists in full") {
    // 4 numbers: 3 bits of a count and 128, in 17 bytes; half a second a bit.
    network const net{8, 0.5, 1};
    cost_formulas::load const what{4, 4, 2, 32, position_code::smallest, -1, 2};
    cost_formulas::reading_cost const reading{100, 10};
    cost_formulas const bare(net, what), read(net, what, reading);
    CHECK(bare(recursive_doubling{}) == 8 + 1 + 68);
    CHECK(read(recursive_doubling{}) == 8 + 1 + 68 + 400);
    CHECK(bare(gathered_sum{}) == bare(recursive_doubling{}));
    CHECK(bare(gather_all{}) == bare(recursive_doubling{}));
    CHECK(read(gtop_k{}) == 2 * (8 + 1 + 68 + 400));
    // Halves: 2 numbers, with 2 bits of a count in 9 bytes, without in 8.
    CHECK(read(split_all_gather{}) == 2 * (8 + 1 + 36 + 200));
    CHECK(read(split_all_gather{split_all_gather::second_stage::dense}) == (8 + 1 + 36 + 200) + (8 + 1 + 32 + 20));
    CHECK(read(ring{}) == 2 * (8 + 1 + 32 + 20));
    CHECK(read(halving_doubling{}) == read(ring{}));
    // A byte more for how many blocks there are.
    CHECK(read(omni_reduce{2}) == doctest::Approx(2 * (8 + 1 + 36 + 20)));
    network const radio{8, 0.5, 1, true};
    CHECK(cost_formulas(radio, what)(ring{}) == 2 * 2 * (1 + 32));
    // 3 ranks, 1 and 2 in lists of one rank: rank 2's list is received by 0, whose sum goes to 2 when 1's has come.
    CHECK(cost_formulas(net, {4, 4, 3})(recursive_doubling{}) == 2 * (8 + 1 + 68) + 69);
}

TEST_CASE("loads and prices that make no sense are refused") {
    network const net;
    for (auto const& bad : {cost_formulas::load{4, 5, 2},
                            {4, -1, 2},
                            {-1, 0, 2},
                            {4, 4, 0},
                            {INFINITY, 1, 1},
                            {4, NAN, 1},
                            {4, 4, 2, 0},
                            {4, 4, 2, 32, position_code::smallest, 3, 2},
                            {4, 4, 2, 32, position_code::smallest, 1, 0.5}})
        CHECK_THROWS_AS(cost_formulas(net, bad), argument_error);
    CHECK_THROWS_AS(cost_formulas(network{-1}, {}), argument_error);
    CHECK_THROWS_AS(cost_formulas(net, {}, {-1, 0}), argument_error);
    CHECK_THROWS_AS(cost_formulas(net, {}, {0, INFINITY}), argument_error);
    CHECK(cost_formulas(net, {})(ring{}) == 0);
}

// k of length coordinates, drawn evenly.
sparse_sum<float> drawn(std::size_t length, std::size_t k, std::uint64_t seed) {
    std::vector<bool> here(length);
    key const from{seed};
    for (std::uint64_t i = 0, n = 0; n < k; ++i)
        if (auto const at = from.below(i, length); !here[at]) {
            here[at] = true;
            ++n;
        }
    sparse_sum<float> v(length);
    for (std::size_t i = 0; i < length; ++i)
        if (here[i]) v.append(i, 1);
    return v;
}
double written(sparse_sum<float> const& v, position_code how) {
    wire::ledger sink(how);
    write(sink, v);
    return double(sink.unpadded());
}

TEST_CASE("the union of lists by hand") {
    CHECK(detail::expected_union(10, 10, 1) == 10);
    CHECK(detail::expected_union(10, 10, 7) == 10);
    CHECK(detail::expected_union(10, 0, 7) == 0);
    CHECK(detail::expected_union(0, 0, 7) == 0);
    CHECK(detail::expected_union(4, 2, 2) == doctest::Approx(3));
    CHECK(detail::expected_union(1e5, 1000, 64) ==
          doctest::Approx(47440.4).epsilon(1e-5));  // of the literature's simulation
    CHECK(detail::expected_union(1e10, 1, 3) == doctest::Approx(3).epsilon(1e-9));
}

TEST_CASE("what is kept of a part, against all outcomes") {
    // Each of 12 coordinates has a term with probability 1 / 2, of which at most 6 are kept.
    double mean = 0;
    for (int n = 0; n <= 12; ++n)
        mean +=
            std::min(n, 6) * std::exp(std::lgamma(13) - std::lgamma(n + 1) - std::lgamma(13 - n) - 12 * std::log(2));
    CHECK(detail::expected_kept(1e9, 5e8, 12, 6) == doctest::Approx(mean).epsilon(5e-3));
    CHECK(detail::expected_kept(100, 20, 50, 50) == doctest::Approx(10));
    CHECK(detail::expected_kept(100, 100, 50, 20) == 20);
    CHECK(detail::expected_kept(100, 100, 50, 50) == 50);
    CHECK(detail::expected_kept(100, 0, 50, 50) == 0);
}

TEST_CASE("lists are as long as is expected of them, at every density" * doctest::test_suite("slow")) {
    for (auto const how : {position_code::smallest, position_code::fastest})
        for (std::size_t const length : {1000, 40000})
            for (double const density : {0.001, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99, 1.0}) {
                auto const k = std::max<std::size_t>(5, std::size_t(density * double(length)));
                double mean = 0;
                for (std::uint64_t seed = 0; seed < 8; ++seed) mean += written(drawn(length, k, seed), how) / 8;
                CAPTURE(length);
                CAPTURE(k);
                CHECK(detail::expected_list_bits(double(length), double(k), 32, how) ==
                      doctest::Approx(mean).epsilon(k < 100 ? 0.02 : 0.01));
                double const values = 32 * double(k);
                if (k == length) CHECK(detail::expected_list_bits(double(length), double(k), 32, how) == mean);
                CHECK(detail::expected_list_bits(double(length), double(k), 0, how) ==
                      doctest::Approx(mean - values).epsilon(k < 100 || length - k < 100 ? 0.08 : 0.04));
            }
    CHECK(detail::expected_list_bits(1000, 0) == 10);
    CHECK(detail::expected_list_bits(0, 0) == 0);
}
