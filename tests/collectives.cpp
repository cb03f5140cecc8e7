// SPDX-License-Identifier: Apache-2.0
// No collective allocates after its first rounds, holds more than docs/scaling.md states, or is late on a network.
#include "laconic/collective/dense/halving_doubling.hpp"
#include "laconic/collective/dense/omni_reduce.hpp"
#include "laconic/collective/dense/ring.hpp"
#include "laconic/collective/dense/switch_ml.hpp"
#include "laconic/collective/select/gtop_k.hpp"
#include "laconic/collective/select/ok_top_k.hpp"
#include "laconic/collective/select/spar_reduce_scatter.hpp"
#include "laconic/collective/sparse/compressed_split_all_gather.hpp"
#include "laconic/collective/sparse/gathered_sum.hpp"
#include "laconic/collective/sparse/recursive_doubling.hpp"
#include "laconic/collective/sparse/split_all_gather.hpp"
#include "laconic/collective/sparse/sum_by_server.hpp"
#include "laconic/comm/delayed.hpp"
#include "support/allocations.hpp"
#include "support/sparse_vectors.hpp"
#include "support/test.hpp"

using namespace laconic;

namespace tests_of_collectives {

namespace sv = sparse_vectors;

namespace {

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
template <class C>
struct unmeasured {
    C* inner;
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

// Rounds in which each rank brings the largest of other numbers each time, all numbers, or a few. The allocations of
// the rounds from `first` on: where memory goes with the terms, when as many were there in each shape.
template <class Make, class Bring>
std::vector<std::size_t> allocations_after_the_first(Make make, Bring bring, int first = 1) {
    std::vector<std::size_t> later(6, 99);
    fibers::run(6, [&](fibers::member& inner) {
        use_of_memory engine;
        unmeasured<fibers::member> comm{&inner, &engine};
        host on;
        auto collective = make(comm);
        auto brought = bring(comm.rank(), 0);
        std::size_t sum = 0;
        for (int round = 0; round < 12; ++round) {
            auto const next = bring(comm.rank(), round);
            auto const before = use_of_memory::now(), before_engine = engine;
            brought(collective, on, comm, next);
            if (round >= first) sum += (use_of_memory::now() - before - (engine - before_engine)).times;
        }
        later[std::size_t(comm.rank())] = sum;
    });
    return later;
}

// What is brought stays where the collective leaves it, as in the loop of a method.
struct sparse_bringer {
    sparse_sum<float> v, kept;

    template <class X, class C>
    void operator()(X& collective, host& on, C& comm, sparse_bringer const& next) {
        v.reset(d);
        v.append(next.v, 0);
        collective(on, comm, v);
    }
};
struct dense_bringer {
    std::vector<float> x;

    template <class X, class C>
    void operator()(X& collective, host& on, C& comm, dense_bringer const& next) {
        x = next.x;
        collective(on, comm, std::span(x));
    }
};

auto const few_terms = [](int rank, int round) {
    // First the fewest, so that later messages and sums are longer than any before.
    auto const how = round % 3 == 0 ? sv::shape::same : round % 3 == 1 ? sv::shape::spread : sv::shape::apart;
    sparse_bringer b;
    host on;
    b.v.reserve(on, k);
    auto const all = sv::whole_numbers<float>(how, d, round == 0 ? k / 4 : k, rank, 6, std::uint64_t(round));
    b.v.reset(d);
    for (std::size_t j = 0; j < std::min(all.size(), k); ++j) b.v.append(all.support()[j], all.values()[j]);
    return b;
};
auto const all_numbers = [](int rank, int round) {
    dense_bringer b;
    for (std::size_t i = 0; i < d; ++i)
        b.x.push_back(float(key{std::uint64_t(round)}.child(std::uint64_t(rank)).below(i, 9)));
    return b;
};
// First none but zeros, later ever more that are none.
auto const more_blocks = [](int rank, int round) {
    auto b = all_numbers(rank, round);
    for (std::size_t i = 0; i < d; ++i)
        if (key{7}.child(std::uint64_t(rank)).below(i / 8, 12) > std::uint64_t(round)) b.x[i] = 0;
    if (round == 0) b.x.assign(d, 0);
    return b;
};

void none_after_the_first(auto make, auto bring, int first = 1) {
    auto const later = allocations_after_the_first(make, bring, first);
    CAPTURE(*std::max_element(later.begin(), later.end()));
    CHECK(later == std::vector<std::size_t>(6, 0));
}

}  // namespace

TEST_CASE("no collective allocates after the first round that brings as many terms") {
    none_after_the_first([](auto& comm) { return make_sum<float>(gtop_k{k}, comm, d); }, few_terms);
    none_after_the_first([](auto& comm) { return make_sum<float>(gtop_k{k, true}, comm, d); }, few_terms);
    none_after_the_first([](auto& comm) { return make_sum<float>(recursive_doubling{}, comm, d); }, few_terms, 4);
    none_after_the_first([](auto& comm) { return make_sum<float>(split_all_gather{}, comm, d); }, few_terms, 4);
    none_after_the_first([](auto& comm) { return make_sum<float>(split_all_gather{second_stage::dense}, comm, d); },
                         few_terms, 4);
    none_after_the_first([](auto& comm) { return make_sum<float>(spar_reduce_scatter{k, true}, comm, d); }, few_terms);
    none_after_the_first(
        [](auto& comm) {
            return make_sum<float>(spar_reduce_scatter{k, false, 1}, comm, d);
        },
        few_terms);
    none_after_the_first([](auto& comm) { return make_sum<float>(sum_by_server{}, comm, d); }, few_terms, 4);
    none_after_the_first(
        [](auto& comm) {
            return make_sum<float>(compressed_split_all_gather{quantize{7, 64}}, comm, d);
        },
        few_terms, 4);
    none_after_the_first([](auto& comm) { return make_sum<float>(gathered_sum{}, comm, d); }, few_terms, 4);
    none_after_the_first([](auto& comm) { return make_sum<float>(ring{}, comm, d); }, all_numbers);
    none_after_the_first([](auto& comm) { return make_sum<float>(halving_doubling{}, comm, d); }, all_numbers);
    none_after_the_first([](auto& comm) { return make_sum<float>(switch_ml{}, comm, d); }, all_numbers);
    none_after_the_first([](auto& comm) { return make_sum<float>(omni_reduce{8}, comm, d); }, more_blocks);
}

namespace {

// The most bytes that a collective and the list that it adds up hold on any rank, after rounds of so many terms each,
// none of which two ranks have in common.
template <class Make>
double bytes_of_a_rank(int ranks, std::size_t dimension, std::size_t terms, Make make) {
    double most = 0;
    fibers::run(ranks,
                [&](fibers::member& inner) {
                    use_of_memory engine;
                    unmeasured<fibers::member> comm{&inner, &engine};
                    host on;
                    auto const before = use_of_memory::now();
                    auto collective = make(dimension);
                    sparse_sum<double> v;
                    auto const each = dimension / (terms * std::size_t(ranks));
                    for (std::uint64_t round = 0; round < 3; ++round) {
                        v.reset(dimension);
                        for (std::size_t j = 0; j < terms; ++j)
                            v.append(each * (j * std::size_t(ranks) + std::size_t(comm.rank())) + round % each, 1);
                        collective(on, comm, v, round);
                    }
                    most = std::max(most, double((use_of_memory::now() - before - engine).held));
                },
                {std::size_t{1} << 17});
    return most;
}

}  // namespace

TEST_CASE("what a collective of lists holds goes with the terms it receives, not with the vector or a block per rank" *
          doctest::test_suite("slow")) {
    // As docs/scaling.md has it: multiples of all terms that the ranks bring, of 12 bytes each.
    auto const holds = [](char const* name, double multiple, auto make) {
        INFO(name);
        for (std::size_t const dimension : {std::size_t{1} << 20, largest_dimension}) {
            CHECK(bytes_of_a_rank(8, dimension, 1000, make) <= multiple * 8 * 1000 * 12);
            CHECK(bytes_of_a_rank(8, dimension, 3, make) <= multiple * 8 * 3 * 12 + 16384);
            // What goes with the ranks alone is small, too: 96 bytes for each.
            CHECK(bytes_of_a_rank(200, dimension, 4, make) <= multiple * 200 * 4 * 12 + 200 * 96 + 16384);
        }
    };
    holds("gathered_sum", 6, [](std::size_t n) { return make_sum<double>(gathered_sum{}, n); });
    holds("recursive_doubling", 6, [](std::size_t n) { return make_sum<double>(recursive_doubling{}, n); });
    holds("split_all_gather", 10, [](std::size_t n) { return make_sum<double>(split_all_gather{}, n); });
    holds("sum_by_server", 4, [](std::size_t n) { return make_sum<double>(sum_by_server{}, n); });
    for (std::size_t const dimension : {std::size_t{1} << 20, largest_dimension}) {
        auto const terms_of_k = [&](auto make) { return bytes_of_a_rank(8, dimension, 1000, make) / (1000 * 12); };
        CHECK(terms_of_k([](std::size_t n) { return make_sum<double>(gtop_k{1000}, n); }) <= 12 + 2 * 3);
        CHECK(terms_of_k([](std::size_t n) { return make_sum<double>(spar_reduce_scatter{1000, true}, n); }) <= 4 * 8);
        CHECK(terms_of_k([](std::size_t n) { return make_sum<double>(ok_top_k{1000}, n); }) <= 13 * 8);
    }
}

TEST_CASE("what a collective of vectors in full holds is a multiple of the vector") {
    std::size_t const length = 100000;
    auto const in_vectors = [&](auto make) {
        double most = 0;
        fibers::run(8, [&](fibers::member& inner) {
            use_of_memory engine;
            unmeasured<fibers::member> comm{&inner, &engine};
            host on;
            std::vector<double> x(length, 1);
            auto const before = use_of_memory::now();
            auto collective = make(length);
            for (std::uint64_t round = 0; round < 3; ++round) collective(on, comm, std::span(x), round);
            most = std::max(most, double((use_of_memory::now() - before - engine).held));
        });
        return most / double(8 * length);
    };
    CHECK(in_vectors([](std::size_t n) { return make_sum<double>(ring{}, n); }) <= 0.01);
    CHECK(in_vectors([](std::size_t n) { return make_sum<double>(halving_doubling{}, n); }) <= 0.01);
    CHECK(in_vectors([](std::size_t n) { return make_sum<double>(omni_reduce{}, n); }) <= 2.1 / 8);  // of 8 ranks
    CHECK(in_vectors([](std::size_t n) { return make_sum<double>(sum_by_server{}, n); }) <= 13.1 / 8);
    CHECK(in_vectors([](std::size_t n) { return make_sum<double>(switch_ml{}, n); }) <= 2e6 / (8 * length));
    auto const quantized = [](std::size_t n) {
        return make_sum<double>(compressed_split_all_gather{quantize{7, 64}}, n);
    };
    CHECK(bytes_of_a_rank(8, 1 << 20, 1000, quantized) <= 2 * (8 << 20) + 10 * 8 * 1000 * 12);
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
        auto const ranks = std::size_t(n), length = 10 * ranks;
        auto const last_of = [&](auto make, auto brought) {
            double last = 0;
            fibers::run(n, [&](auto& engine) {
                delayed comm(engine, net);
                host on;
                auto collective = make(comm.inner());
                if constexpr (requires { brought.dimension(); }) {
                    collective(on, comm, brought);
                } else {
                    collective(on, comm, std::span(brought));
                }
                last = std::max(last, comm.clock());
            });
            return last;
        };
        auto const list = sv::whole_numbers<float>(sv::shape::all, length, 0, 0, 1);
        std::vector<float> const numbers(length, 1);
        double const steps = detail::width_of(ranks), others = double(ranks) - 1,
                     whole = alpha + a_byte * bytes(1, length);
        double doubling = 0;  // of messages of 1, 2, 4, .. parts
        for (std::size_t parts = 1; parts < ranks; parts *= 2) doubling += alpha + a_byte * bytes(parts, 10);

        CHECK(last_of([&](auto& comm) { return make_sum<float>(ring{}, comm, length); }, numbers) ==
              2 * others * (alpha + 40 * a_byte));
        CHECK(last_of([&](auto& comm) { return make_sum<float>(halving_doubling{}, comm, length); }, numbers) ==
              2 * steps * alpha + 2 * others * 40 * a_byte);
        CHECK(last_of([&](auto& comm) { return make_sum<float>(gtop_k{length}, comm, length); }, list) ==
              2 * steps * whole);
        CHECK(last_of([&](auto& comm) { return make_sum<float>(recursive_doubling{}, comm, length); }, list) ==
              steps * whole);
        // All parts are under way at once, one after another through the port: the latency is there once.
        CHECK(last_of([&](auto& comm) { return make_sum<float>(split_all_gather{}, comm, length); }, list) ==
              (n > 1 ? net.latency : 0) + others * (busy + a_byte * bytes(1, 10)) + doubling);
        CHECK(last_of(
                  [&](auto& comm) {
                      return make_sum<float>(spar_reduce_scatter{length, true}, comm, length);
                  },
                  list) == 2 * doubling);
    }
    // 7 ranks after 4: two more messages one after another where ranks hand in before, else at most as for 8.
    auto const extra = [&](auto make) {
        std::vector<double> last(2);
        for (int const n : {4, 7})
            fibers::run(n, [&](auto& engine) {
                delayed comm(engine, network{1, 0, 0});
                host on;
                auto collective = make(comm.inner());
                auto v = sv::of<float>(9, {{4, 1}});
                collective(on, comm, v);
                last[n == 7] = std::max(last[n == 7], comm.clock());
            });
        return last;
    };
    CHECK(extra([](auto& comm) { return make_sum<float>(recursive_doubling{}, comm, 9); }) ==
          std::vector<double>{2, 4});
    CHECK(extra([](auto& comm) { return make_sum<float>(gtop_k{1}, comm, 9); }) ==
          std::vector<double>{4, 4});  // 5 to 4 to 0
    CHECK(extra([](auto& comm) {
              return make_sum<float>(spar_reduce_scatter{1, true}, comm, 9);
          }) == std::vector<double>{4, 6});
    CHECK(extra([](auto& comm) { return make_sum<float>(split_all_gather{}, comm, 9); }) == std::vector<double>{3, 4});
}

}  // namespace tests_of_collectives
