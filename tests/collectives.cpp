// SPDX-License-Identifier: Apache-2.0
// No collective allocates after its first rounds, holds more than docs/scaling.md states, or is late on a network.
#include "laconic/comm/delayed.hpp"
#include "support/allocations.hpp"
#include "support/collective_sums.hpp"

using namespace collective_sums;

constexpr std::size_t d = 400, k = 20;

// What was allocated, how often and how many bytes are held of it.
struct use_of_memory {
    std::size_t times = 0;
    std::ptrdiff_t held = 0;

    static use_of_memory now() { return {allocations(), bytes_held()}; }
    use_of_memory operator-(use_of_memory const& other) const { return {times - other.times, held - other.held}; }
    void operator+=(use_of_memory const& other) {
        times += other.times;
        held += other.held;
    }
};

// An engine that is not counted, as its queues grow with the longest message: what it allocates, others account for.
struct unmeasured {
    fibers::member* inner;
    use_of_memory* engine;

    int rank() const { return inner->rank(); }
    int size() const { return inner->size(); }
    void all_gather(payload mine) {
        count([&] { inner->all_gather(mine); });
    }
    void gather(int root, payload mine) {
        count([&] { inner->gather(root, mine); });
    }
    void broadcast(int root, payload mine) {
        count([&] { inner->broadcast(root, mine); });
    }
    payload from(int r) const { return inner->from(r); }
    payload exchange(int to, payload mine, int from) {
        payload received;
        count([&] { received = inner->exchange(to, mine, from); });
        return received;
    }

  private:
    // Meanwhile other ranks run in this thread.
    template <class F>
    void count(F f) {
        auto const before = use_of_memory::now();
        f();
        *engine += use_of_memory::now() - before;
    }
};

constexpr int ranks = 6;
// What a rank brings in a round: first the fewest terms, so that later messages and sums are longer than any before;
// all numbers; or first none but zeros, later ever more that are none.
sparse_sum<float> few_terms(int rank, int round) {
    auto const how = round % 3 == 0 ? sv::shape::same : round % 3 == 1 ? sv::shape::spread : sv::shape::apart;
    auto const all = sv::whole_numbers<float>(how, d, round == 0 ? k / 4 : k, rank, ranks, std::uint64_t(round));
    sparse_sum<float> v(d);
    for (std::size_t j = 0; j < std::min(all.size(), k); ++j) v.append(all.support()[j], all.values()[j]);
    return v;
}
sparse_sum<float> all_numbers(int rank, int round) {
    sparse_sum<float> v(d);
    for (std::size_t i = 0; i < d; ++i)
        v.append(i, float(key{std::uint64_t(round)}.child(std::uint64_t(rank)).below(i, 9)));
    return v;
}
sparse_sum<float> more_blocks(int rank, int round) {
    auto const all = all_numbers(rank, round);
    sparse_sum<float> v(d);
    for (std::size_t i = 0; i < d; ++i)
        if (round > 0 && key{7}.child(std::uint64_t(rank)).below(i / 8, 12) <= std::uint64_t(round))
            v.append(i, all.values()[i]);
    return v;
}

// The allocations of the rounds from `first` on: where memory goes with the terms, when as many were there in each
// shape. What is brought stays where the collective leaves it, as in the loop of a method.
std::size_t allocations_after_the_first(std::string const& text, sparse_sum<float> (*bring)(int, int), int first) {
    std::size_t later = 0;
    fibers::run(ranks, [&](fibers::member& inner) {
        use_of_memory engine;
        unmeasured line{&inner, &engine};
        any_communicator comm(line);
        host on;
        auto sum = make_sum<float>(by_text<float>(text)(d), comm, d);
        sparse_sum<float> v;
        std::vector<float> x;
        for (int round = 0; round < 12; ++round) {
            auto const next = bring(comm.rank(), round);
            auto const before = use_of_memory::now(), before_engine = engine;
            if (sum.wants_terms()) {
                v.reset(d);
                v.append(next, 0);
                sum(on, comm, v);
            } else {
                x.resize(d);
                next.write_out(on, std::span(x));
                sum(on, comm, std::span(x));
            }
            if (round >= first) later += (use_of_memory::now() - before - (engine - before_engine)).times;
        }
    });
    return later;
}

TEST_CASE("no collective allocates after the first round that brings as many terms") {
    struct row {
        char const* text;
        sparse_sum<float> (*bring)(int rank, int round);
        int first = 1;
    };
    for (row const& each : {row{"gtop_k(20)", few_terms},
                            {"gtop_k(20, as_published=yes)", few_terms},
                            {"recursive_doubling", few_terms, 4},
                            {"split_all_gather(sparse)", few_terms, 4},
                            {"split_all_gather(dense)", few_terms, 4},
                            {"spar_reduce_scatter(20, as_published=yes)", few_terms},
                            {"spar_reduce_scatter(20, seed=1)", few_terms},
                            {"sum_by_server", few_terms, 4},
                            {"split_all_gather(quantize(7, bucket=64))", few_terms, 4},
                            {"gathered_sum", few_terms, 4},
                            {"ring", all_numbers},
                            {"halving_doubling", all_numbers},
                            {"switch_ml", all_numbers},
                            {"omni_reduce(8)", more_blocks}}) {
        std::string const text = each.text;
        CAPTURE(text);
        CHECK(allocations_after_the_first(text, each.bring, each.first) == 0);
    }
}

// The most bytes that a collective and what it adds up hold on any rank, after rounds of so many terms each, none of
// which two ranks have in common.
double bytes_of_a_rank(int n, std::size_t dimension, std::size_t terms, std::string const& text) {
    double most = 0;
    fibers::run(n,
                [&](fibers::member& inner) {
                    use_of_memory engine;
                    unmeasured line{&inner, &engine};
                    any_communicator comm(line);
                    host on;
                    auto const how = by_text<double>(text)(dimension);
                    auto const before = use_of_memory::now();
                    auto sum = make_sum<double>(how, dimension);
                    sparse_sum<double> v;
                    std::vector<double> x(sum.wants_terms() ? 0 : dimension, 1);
                    auto const of_x = sum.wants_terms() ? 0. : 8. * double(dimension);
                    auto const each = dimension / (terms * std::size_t(n));
                    for (std::uint64_t round = 0; round < 3; ++round) {
                        v.reset(dimension);
                        for (std::size_t j = 0; j < terms; ++j)
                            v.append(each * (j * std::size_t(n) + std::size_t(comm.rank())) + round % each, 1);
                        sum.wants_terms() ? sum(on, comm, v, round) : sum(on, comm, std::span(x), round);
                    }
                    most = std::max(most, double((use_of_memory::now() - before - engine).held) - of_x);
                },
                {std::size_t{1} << 17});
    return most;
}

TEST_CASE("what a collective of lists holds goes with the terms it receives, not with the vector or a block per rank" *
          doctest::test_suite("slow")) {
    // As docs/scaling.md has it: multiples of all terms that the ranks bring, of 12 bytes each.
    struct row {
        char const* text;
        double multiple;
    };
    for (std::size_t const dimension : {std::size_t{1} << 20, detail::largest_dimension}) {
        for (row const& each : {row{"gathered_sum", 6},
                                {"recursive_doubling", 6},
                                {"split_all_gather(sparse)", 10},
                                {"sum_by_server", 4}}) {
            std::string const text = each.text;
            double const multiple = each.multiple;
            CAPTURE(text);
            CHECK(bytes_of_a_rank(8, dimension, 1000, text) <= multiple * 8 * 1000 * 12);
            CHECK(bytes_of_a_rank(8, dimension, 3, text) <= multiple * 8 * 3 * 12 + 16384);
            // What goes with the ranks alone is small, too: 96 bytes for each.
            CHECK(bytes_of_a_rank(200, dimension, 4, text) <= multiple * 200 * 4 * 12 + 200 * 96 + 16384);
        }
        for (row const& each : {row{"gtop_k(1000)", 12 + 2 * 3},
                                {"spar_reduce_scatter(1000, as_published=yes)", 4 * 8},
                                {"ok_top_k(1000)", 13 * 8}}) {
            std::string const text = each.text;
            CAPTURE(text);
            CHECK(bytes_of_a_rank(8, dimension, 1000, text) <= each.multiple * 1000 * 12);
        }
    }
}

TEST_CASE("what a collective of vectors in full holds is a multiple of the vector" * doctest::test_suite("slow")) {
    struct row {
        char const* text;
        double multiple;
    };
    std::size_t const length = 100000;
    for (row const& each : {row{"ring", 0.01},
                            {"halving_doubling", 0.01},
                            {"omni_reduce", 2.1 / 8},  // of 8 ranks
                            {"switch_ml", 2e6 / (8 * length)}}) {
        std::string const text = each.text;
        CAPTURE(text);
        CHECK(bytes_of_a_rank(8, length, 1, text) <= each.multiple * 8 * double(length));
    }
    CHECK(bytes_of_a_rank(8, 1 << 20, 1000, "split_all_gather(quantize(7, bucket=64))") <=
          2 * (8 << 20) + 10 * 8 * 1000 * 12);
    fibers::run(8, [&](fibers::member& inner) {  // a server, which adds up lists where it may
        use_of_memory engine;
        unmeasured line{&inner, &engine};
        any_communicator comm(line);
        host on;
        std::vector<double> x(length, 1);
        auto const before = use_of_memory::now();
        auto sum = make_sum<double>(sum_by_server{}, length);
        for (std::uint64_t round = 0; round < 3; ++round) sum(on, comm, std::span(x), round);
        CHECK(double((use_of_memory::now() - before - engine).held) <= 13.1 * double(length));
    });
}

// When the last rank has the sum.
double last_clock(int n, network const& net, std::string const& text, sparse_sum<float> const& brought) {
    double last = 0;
    fibers::run(n, [&](fibers::member& inner) {
        delayed clocked(inner, net);
        any_communicator engine(inner), comm(clocked);
        auto v = brought;
        summing<float> sum(engine, by_text<float>(text), v.dimension());
        sum(comm, v);
        last = std::max(last, clocked.clock());
    });
    return last;
}

// alpha is 1 + 1/4 seconds, a byte takes 1/16; in powers of two, so that formulas hold to the last bit. All numbers are
// there, so that messages are as long as they can be: of n numbers a count and 32 n bits.
TEST_CASE("over a network the last rank is done when the formulas predict") {
    network const net{1, 0x1p-7, 0.25};
    double const alpha = 1.25, busy = 0.25, a_byte = 0x1p-4;
    auto const bytes = [](std::size_t n, std::size_t of) {
        return double((n * (detail::width_of(of + 1) + 32 * of) + 7) / 8);
    };
    for (int const n : {1, 2, 4, 8, 16}) {
        auto const parts = std::size_t(n), length = 10 * parts;
        auto const last_of = [&](char const* text) {
            auto v = sv::whole_numbers<float>(sv::shape::all, length, 0, 0, 1);
            return last_clock(n, net, text, v);
        };
        double const steps = detail::width_of(parts), others = double(parts) - 1,
                     whole = alpha + a_byte * bytes(1, length);
        double doubling = 0;  // of messages of 1, 2, 4, .. parts
        for (std::size_t p = 1; p < parts; p *= 2) doubling += alpha + a_byte * bytes(p, 10);

        CHECK(last_of("ring") == 2 * others * (alpha + 40 * a_byte));
        CHECK(last_of("halving_doubling") == 2 * steps * alpha + 2 * others * 40 * a_byte);
        CHECK(last_of("gtop_k(all)") == 2 * steps * whole);
        CHECK(last_of("recursive_doubling") == steps * whole);
        // All parts are under way at once, one after another through the port: the latency is there once.
        CHECK(last_of("split_all_gather") ==
              (n > 1 ? net.latency : 0) + others * (busy + a_byte * bytes(1, 10)) + doubling);
        CHECK(last_of("spar_reduce_scatter(all, as_published=yes)") == 2 * doubling);
    }
    // 7 ranks after 4: two more messages one after another where ranks hand in before, else at most as for 8.
    auto const extra = [&](char const* text) {
        std::vector<double> last;
        for (int const n : {4, 7}) last.push_back(last_clock(n, {1, 0, 0}, text, sv::of<float>(9, {{4, 1}})));
        return last;
    };
    CHECK(extra("recursive_doubling") == std::vector<double>{2, 4});
    CHECK(extra("gtop_k(1)") == std::vector<double>{4, 4});  // 5 to 4 to 0
    CHECK(extra("spar_reduce_scatter(1, as_published=yes)") == std::vector<double>{4, 6});
    CHECK(extra("split_all_gather") == std::vector<double>{3, 4});
}
