// SPDX-License-Identifier: Apache-2.0
// `reducer` does with a method's gradients what the method does, and goes on from saved states. That its estimates are
// the equation's, by plain loops, is in reducer_absent.cpp.
#include "laconic/reducer.hpp"

#include <new>

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/passed_on.hpp"
#include "support/reducing.hpp"

template <class T>
using table = std::vector<std::vector<T>>;

constexpr std::size_t d = 37;

// Rank r's gradient in that step.
template <class T = double>
std::vector<T> brought(int rank, int step, std::size_t dimension = d) {
    std::vector<T> g(dimension);
    auto const k = key{5}.child(std::uint64_t(rank)).child(std::uint64_t(step));
    for (std::size_t i = 0; i < dimension; ++i) g[i] = static_cast<T>(4 * k.uniform(i) - 2 + 0.1 * double(i));
    return g;
}

// What n ranks have after each call of body(reduce, rank, step): rows are rank by rank, step by step.
template <class T, class How, class Body>
table<T> estimates(int n, How const& how, int steps, Body body, reducer_options const& options = {.seed = 0}) {
    table<T> all(std::size_t(n * steps));
    fibers::run(n, [&](fibers::member& comm) {
        reducer<How, fibers::member, T> reduce(how, comm, d, options);
        for (int k = 0; k < steps; ++k) all[std::size_t(comm.rank() * steps + k)] = body(reduce, comm.rank(), k);
    });
    return all;
}
template <class T, class How>
table<T> estimates(int n, How const& how, int steps) {
    return estimates<T>(n, how, steps, [](auto& reduce, int rank, int k) {
        auto g = brought<T>(rank, k);
        reduce(g);
        return g;
    });
}

TEST_CASE("plain{} is the mean in full, and plain of an unbiased compressor is it in the mean of many steps") {
    auto const all = estimates<double>(4, plain{}, 3);
    for (int k = 0; k < 3; ++k)
        for (std::size_t i = 0; i < d; ++i) {
            double sum = 0;
            for (int r = 0; r < 4; ++r) sum += brought(r, k)[i];
            CHECK(all[std::size_t(k)][i] == doctest::Approx(sum / 4).epsilon(1e-14));
        }
    int const steps = 4000;
    auto const many = estimates<double>(2, plain{rand_k{9}}, steps, [](auto& reduce, int rank, int) {
        auto g = brought(rank, 0);
        reduce(g);
        return g;
    });
    double off = 0, size = 0;
    for (std::size_t i = 0; i < d; ++i) {
        double mean = 0;
        for (int k = 0; k < steps; ++k) mean += many[std::size_t(k)][i] / steps;
        double const right = (brought(0, 0)[i] + brought(1, 0)[i]) / 2;
        off += (mean - right) * (mean - right);
        size += (brought(0, 0)[i] * brought(0, 0)[i] + brought(1, 0)[i] * brought(1, 0)[i]) / 2;
    }
    double const variance = (double(d) / 9 - 1) / 2 * size / steps;  // omega / n mean |g_i|^2, attained
    CHECK(off < 2 * variance);
    CHECK(off > variance / 2);
}

// The same composition as a method's recursion, with the same seed: the same x, to the bit.
TEST_CASE("shifted and ef21_shift are what diana and ef21 do with their gradients") {
    struct bowl {
        int rank;
        std::size_t dimension() const { return d; }
        double value(std::span<double const>) const { return 0; }
        void gradient(std::span<double const> x, std::span<double> g) const {
            auto const c = brought(rank, 0);
            for (std::size_t i = 0; i < d; ++i) g[i] = (1 + double(i % 3)) * (x[i] - c[i]);
        }
        double smoothness() const { return 3; }
        double strong_convexity() const { return 1; }
    };
    auto const same = [](auto const& method, auto const& how) {
        double const step = 0.125;
        int wrong = 0;
        fibers::run(3, [&](fibers::member& comm) {
            bowl const f{comm.rank()};
            std::vector<double> x(d), y(d), g(d);
            descend(method, f, x, comm, {.rounds = 50, .seed = 7});
            laconic::reducer reduce(how, comm, y, {.seed = 7});
            for (int k = 0; k < 50; ++k) {
                f.gradient(y, g);
                reduce(g);
                for (std::size_t i = 0; i < d; ++i) y[i] -= step * g[i];
            }
            wrong += x != y;
            wrong += reduce.steps() != 50;
        });
        CHECK(wrong == 0);
    };
    overrides const given{.step = step_size{0.125}};
    same(diana{rand_k{5} | natural{}, given}, shifted{rand_k{5} | natural{}});
    same(ef21{top_k{5}, given}, ef21_shift{top_k{5}});
}

TEST_CASE("where the step size changes, the residual is applied at the rate of its own steps") {
    // x - mean_i(step size x e_i) takes uncompressed steps, whatever the step sizes are.
    int const n = 3, steps = 30;
    table<double> x(n, std::vector<double>(d)), full(1, std::vector<double>(d));
    auto const step_size = [](int k) { return k < 7 ? 0.5 : k < 15 ? 0.125 : 0.2; };
    for (int k = 0; k < steps; ++k)
        for (std::size_t i = 0; i < d; ++i)
            for (int r = 0; r < n; ++r) full[0][i] -= step_size(k) * brought(r, k)[i] / n;
    table<double> waits(n);
    fibers::run(n, [&](fibers::member& comm) {
        auto const r = std::size_t(comm.rank());
        reducer reduce(error_feedback{top_k{4}}, comm, x[r]);
        for (int k = 0; k < steps; ++k) {
            auto g = brought(comm.rank(), k);
            if (k == 14) {  // no size given: the last one stays, for the next to be compared with
                reduce(g);
            } else {
                reduce(g, {.step_size = step_size(k)});
            }
            if (k == 13) {  // saved and restored, it is not forgotten
                auto const state = reduce.save();
                reducer again(error_feedback{top_k{4}}, comm, x[r]);
                again.restore(state);
                auto one = brought(comm.rank(), 100), other = one;
                reduce(one, {.step_size = 0.25}), again(other, {.step_size = 0.25});
                CHECK(one == other);
                reduce.restore(state);
            }
            for (std::size_t i = 0; i < d; ++i) x[r][i] -= step_size(k) * g[i];
        }
        waits[r].assign(reduce.layers()[0].feedback().residual().begin(),
                        reduce.layers()[0].feedback().residual().end());
    });
    for (std::size_t i = 0; i < d; ++i) {
        double virtual_x = x[0][i];
        for (auto const& e : waits) virtual_x -= step_size(steps - 1) * e[i] / n;
        CHECK(virtual_x == doctest::Approx(full[0][i]).epsilon(1e-12));
    }
}

TEST_CASE("what is saved goes on bit for bit, in a fresh reducer and in one that was used") {
    int const n = 3, steps = 40;
    auto const check = [&](auto const& how) {
        CAPTURE(to_string(how));
        auto const right = estimates<double>(n, how, steps);
        for (int const used : {0, 3}) {
            std::vector<std::vector<std::byte>> states(n);
            estimates<double>(n, how, 15, [&](auto& reduce, int rank, int k) {
                auto g = brought(rank, k);
                reduce(g);
                if (k == 14) states[std::size_t(rank)] = reduce.save();
                return g;
            });
            auto const on = estimates<double>(n, how, steps - 15 + used, [&](auto& reduce, int rank, int k) {
                if (k == used) reduce.restore(states[std::size_t(rank)]);
                auto g = brought(rank, k < used ? 500 + k : k - used + 15);
                reduce(g);
                return g;
            });
            for (int r = 0; r < n; ++r)
                for (int k = 15; k < steps; ++k)
                    CHECK(on[std::size_t(r * (steps - 15 + used) + k - 15 + used)] ==
                          right[std::size_t(r * steps + k)]);
        }
    };
    check(error_feedback{top_k{4}, 0.75});
    check(shifted{rand_k{4} | natural{}});
    check(plain{quantize{4}});
    fibers::run(2, [](fibers::member& comm) {
        reducer a(error_feedback{top_k{4}}, comm, d), b(error_feedback{top_k{5}}, comm, d);
        CHECK_THROWS_AS(b.restore(a.save()), shape_error);
        auto damaged = a.save();
        damaged[damaged.size() / 2] ^= std::byte{1};
        CHECK_THROWS_AS(a.restore(damaged), wire_error);
    });
}

TEST_CASE("a memory that would lose what a lossy collective gives back, and what no theorem covers, are refused") {
    fibers::run(2, [](fibers::member& comm) {
        CHECK_THROWS_WITH_AS(
            reducer(plain{identity{}, gtop_k{4}}, comm, d),
            doctest::Contains(
                "gtop_k(4) gives back what it leaves out, which plain(identity, over=gtop_k(4)) would lose"),
            argument_error);
        CHECK_THROWS_AS(reducer(error_feedback{top_k{38}}, comm, d), argument_error);
        CHECK_THROWS_AS(reducer(plain{any_compressor<float>(top_k{2})}, comm, d), theory_error);
    });
}

TEST_CASE("the type and the count come from the vector, and other contiguous ranges can be reduced") {
    fibers::run(2, [](fibers::member& comm) {
        std::vector<float> floats(5, float(comm.rank()));
        std::array<double, 3> doubles{1.0, 2.0, double(comm.rank())};
        reducer of_floats(plain{}, comm, floats), of_five(plain{}, comm, 5);
        reducer of_doubles(plain{}, comm, doubles);
        static_assert(std::same_as<decltype(of_floats), decltype(of_five)>);
        of_floats(floats);
        CHECK(floats == std::vector<float>(5, 0.5f));
        of_five(std::span(floats));
        of_doubles(doubles);
        CHECK(doubles == std::array{1.0, 2.0, 0.5});
        CHECK(of_doubles.layers()[0].size() == 3);
    });
}

TEST_CASE("edges: equal magnitudes, and k that is 0 or too many") {
    for (int const n : {1, 7})
        fibers::run(n, [&](fibers::member& comm) {
            std::vector<double> equal(5, 2.0);
            reducer of_five(error_feedback{top_k{2}}, comm, equal);
            of_five(equal);
            CHECK(std::count_if(equal.begin(), equal.end(), [](double v) { return std::abs(v - 2) < 1e-12; }) == 2);
            CHECK(std::count(equal.begin(), equal.end(), 0.0) == 3);
            for (int const k : {0, 6}) {
                CHECK_THROWS_AS(reducer(plain{rand_k{k}}, comm, 5), argument_error);
                CHECK_THROWS_AS(reducer(shifted{rand_k{k}}, comm, 5), argument_error);
            }
            CHECK_THROWS_AS(reducer(error_feedback{top_k{6}}, comm, 5), argument_error);
            CHECK_THROWS_AS(reducer(ef21_shift{top_k{6}}, comm, 5), argument_error);
            CHECK_THROWS_AS(reducer(error_feedback{top_k{0}}, comm, 5), theory_error);  // whose delta is 0
            CHECK_THROWS_AS(reducer(ef21_shift{top_k{0}}, comm, 5), theory_error);
        });
}

TEST_CASE("where a rank alone fails once all messages are there, it goes on from a saved state only") {
    // No memory while the messages are read: the others have taken the step.
    struct without_memory : passed_on<fibers::member> {
        bool* fails;
        payload from(int r) const {
            if (*fails) throw std::bad_alloc();
            return inner->from(r);
        }
    };
    fibers::run(2, [](fibers::member& inner) {
        bool fails = false;
        without_memory comm{{&inner}, &fails};
        reducer<error_feedback<top_k<>>, without_memory, double> reduce(error_feedback{top_k{4}}, comm, d);
        auto g = brought(inner.rank(), 0);
        reduce(g);
        auto const state = reduce.save();
        g = brought(inner.rank(), 1);
        auto const before = g;
        fails = inner.rank() == 1;
        if (fails) {
            CHECK_THROWS_AS(reduce(g), std::bad_alloc);
            CHECK(g == before);
            CHECK_THROWS_AS(reduce(g), comm_error);
            CHECK_THROWS_AS(static_cast<void>(reduce.save()), comm_error);
        } else {
            reduce(g);
        }
        fails = false;
        reduce.restore(state);
        reduce(g = brought(inner.rank(), 1));
        CHECK(reduce.steps() == 2);
    });
}

TEST_CASE("over threads the estimates are the same, and only messages cross") {
    int const n = 4, steps = 20;
    auto const right = estimates<float>(n, error_feedback{top_k{4}}, steps);
    table<float> received(std::size_t(n * steps));
    std::vector<std::uint64_t> bytes(n);
    threads::run(n, [&](threads::member& comm) {
        metered wire(comm);
        std::vector<float> g(d);
        reducer reduce(error_feedback{top_k{4}}, wire, g);
        auto const before = wire.bytes_sent();
        for (int k = 0; k < steps; ++k) {
            g = brought<float>(comm.rank(), k);
            reduce(g);
            received[std::size_t(comm.rank() * steps + k)] = g;
        }
        bytes[std::size_t(comm.rank())] = (wire.bytes_sent() - before) / steps;
    });
    CHECK(received == right);
    for (auto const b : bytes) CHECK(b <= 4 * 4 + 4 + 4);  // 4 floats, their places among 37, a tag
}

TEST_CASE("reducers stand in a vector, are returned by a function that chooses, and are moved in mid-step") {
    auto const check = [](auto& over, fibers::member& comm) {
        using reducer_type = reducer<error_feedback<top_k<>>, std::remove_cvref_t<decltype(over)>>;
        static_assert(std::is_nothrow_move_constructible_v<reducer_type>);
        static_assert(std::is_nothrow_move_assignable_v<reducer_type>);
        auto const make = [&](bool long_one) {
            reducer_type few(error_feedback{top_k{2}}, over, layers_of({d, 9}), {.seed = 1});
            reducer_type many(error_feedback{top_k{3}}, over, layers_of({d, 9}), {.seed = 1});
            return long_one ? std::move(many) : std::move(few);
        };
        std::vector<reducer_type> all;
        for (bool const long_one : {true, false, true, true}) all.push_back(make(long_one));
        auto& still = all[3];
        for (int k = 0; k < 5; ++k) {
            auto a = brought<float>(comm.rank(), k), b = brought<float>(comm.rank(), k, 9), c = a, e = b;
            all[0].start(0, a);
            reducer_type moved = std::move(all[0]);
            moved.start(1, b);
            all[0] = std::move(moved);
            all[0].finish();
            still.start(0, c), still.start(1, e), still.finish();
            CHECK(a == c);
            CHECK(b == e);
        }
        CHECK(all[0].save() == still.save());
        all.erase(all.begin());
        CHECK(all[2].steps() == 5);
    };
    reducing::on_ranks_and_nodes(check);
}

TEST_CASE("broadcast(): the root's numbers on all ranks, of any length, and no state or message changes") {
    reducing::on_ranks_and_nodes([](auto& over, fibers::member& comm) {
        reducer reduce(error_feedback{top_k{2}}, over, d);
        for (int root = 0; root < 4; ++root)
            for (std::size_t const n : {std::size_t{0}, std::size_t{1}, d, std::size_t{1000}}) {
                auto const state = reduce.save();
                auto const sent = reduce.statistics().bytes_sent;
                auto x = brought<float>(comm.rank(), root, n);
                x.empty() ? void() : void(x[0] = std::numeric_limits<float>::infinity() * float(comm.rank() - 2));
                std::vector<Eigen::half> y(n, Eigen::half(float(comm.rank())));
                root == 0 ? reduce.broadcast(x) : reduce.broadcast(x, root);
                reduce.broadcast(std::span(y), root);
                auto right = brought<float>(root, root, n);
                if (n > 0) right[0] = std::numeric_limits<float>::infinity() * float(root - 2);
                CHECK((n == 0 || std::memcmp(x.data(), right.data(), 4 * n) == 0));
                CHECK(y == std::vector<Eigen::half>(n, Eigen::half(float(root))));
                CHECK(reduce.save() == state);
                CHECK(reduce.statistics().bytes_sent == sent);
                auto g = brought<float>(comm.rank(), root);
                reduce(g);
            }
    });
}

TEST_CASE(
    "broadcast(): other lengths, numbers or roots, and no such root, are errors on all ranks, and nothing changes") {
    reducing::on_ranks_and_nodes([](auto& over, fibers::member& comm) {
        reducer reduce(error_feedback{top_k{2}}, over, d);
        auto const mine = float(comm.rank());
        for (int const culprit : {1, 3}) {
            bool const here = comm.rank() == culprit;
            auto const differs = [&](std::string const& of_0, std::string const& of_it) {
                return "ranks disagree: rank 0 has \"" + of_0 + "\", rank " + std::to_string(culprit) + " has \"" +
                       of_it + "\"";
            };
            std::string const floats = "numbers up to 3.4028234663852886e+38";
            std::vector<float> x(here ? 9 : 8, mine), y(8, mine);
            std::vector<Eigen::half> z(8, Eigen::half(mine));
            CHECK(error_of<agreement_error>([&] { reduce.broadcast(x); }) ==
                  differs("the vector: 8 " + floats, "the vector: 9 " + floats));
            CHECK(error_of<agreement_error>([&] { here ? reduce.broadcast(z) : reduce.broadcast(y); }) ==
                  differs("the vector: 8 " + floats, "the vector: 8 numbers up to 65519.99609375"));
            CHECK(error_of<agreement_error>([&] { reduce.broadcast(y, here ? 2 : 0); }) ==
                  differs("the root: 0", "the root: 2"));
            for (int const root : {-1, 4})
                CHECK(error_of<argument_error>([&] { reduce.broadcast(y, root); }) ==
                      "the root is rank " + std::to_string(root) + " of 4");
            CHECK(x == std::vector<float>(x.size(), mine));
            CHECK(y == std::vector<float>(8, mine));
            CHECK(z == std::vector<Eigen::half>(8, Eigen::half(mine)));
            auto g = brought<float>(comm.rank(), 0);
            reduce.start(0, g);
            CHECK_THROWS_WITH_AS(reduce.broadcast(y),
                                 "a step is under way: finish() or drop() comes before broadcast()", argument_error);
            reduce.finish();
            reduce.broadcast(y, 3);
            CHECK(y == std::vector<float>(8, 3.0f));
        }
    });
}

TEST_CASE("broadcast(): bytes of another length from the root are a comm_error, and nothing is half written") {
    struct cut : passed_on<fibers::member> {
        payload from(int r) const {
            auto p = inner->from(r);
            return p.bytes.size() == 32 ? payload{p.bytes.first(31)} : p;
        }
    };
    fibers::run(2, [](fibers::member& inner) {
        cut comm{{&inner}};
        reducer reduce(plain{}, comm, d);
        std::vector<float> x(8, float(inner.rank()));
        CHECK(
            error_of<comm_error>([&] { reduce.broadcast(x); }) ==
            "rank 0 sent 31 bytes in place of its vector, of 32 bytes: all ranks must make the same calls in the same "
            "order");
        CHECK(x == std::vector<float>(8, float(inner.rank())));
    });
}
