// SPDX-License-Identifier: Apache-2.0
// `reducer` weights, shares, votes, probes and compares layers in steps as its options state.
#include <chrono>
#include <thread>

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/passed_on.hpp"
#include "support/reducing.hpp"

using reducing::error_of_all;

constexpr std::size_t d = 50;

template <class T = double>
std::vector<T> gradient(int rank, int step, std::size_t size = d) {
    std::vector<T> g(size);
    auto const k = key{31}.child(std::uint64_t(rank)).child(std::uint64_t(step));
    for (std::size_t i = 0; i < size; ++i) g[i] = static_cast<T>(std::round(64 * (2 * k.uniform(i) - 1)) / 8);
    return g;
}

// Counts its rank's all-gathers.
struct counting : passed_on<fibers::member> {
    int* count;
    void all_gather(payload mine) {
        ++*count;
        inner->all_gather(mine);
    }
};

TEST_CASE("vectors of 16 bits: what a reducer of floats makes of the same numbers, rounded to 16 bits") {
    auto const same = [](auto number, auto const& how) {
        using E = decltype(number);
        fibers::run(3, [&](fibers::member& comm) {
            std::vector<E> like(d);
            reducer reduce(how, comm, like, {.seed = 0});
            reducer in_floats(how, comm, d, {.seed = 0});
            static_assert(std::is_same_v<decltype(reduce), decltype(in_floats)>);
            for (int k = 0; k < 10; ++k) {
                auto const g = gradient<float>(comm.rank(), k);
                std::vector<E> x(d);
                std::vector<float> y(d);
                for (std::size_t i = 0; i < d; ++i) y[i] = static_cast<float>(x[i] = static_cast<E>(g[i]));
                reduce(x);
                in_floats(y);
                for (std::size_t i = 0; i < d; ++i) CHECK(static_cast<float>(x[i]) == static_cast<float>(E(y[i])));
            }
            std::vector<E> x(d, static_cast<E>(comm.rank() == 1 ? std::numeric_limits<float>::infinity() : 1.0f));
            CHECK_THROWS_AS(reduce(x), non_finite_error);
            CHECK(static_cast<float>(x[0]) == (comm.rank() == 1 ? std::numeric_limits<float>::infinity() : 1.0f));
        });
    };
    same(Eigen::bfloat16(), error_feedback{top_k{7}});
    same(Eigen::half(), shifted{rand_k{20} | natural{}});
}

TEST_CASE("a matrix of Eigen's, or a temporary view, is reduced as the vector of its numbers") {
    fibers::run(2, [](fibers::member& comm) {
        Eigen::MatrixXf x = Eigen::MatrixXf::Random(5, 4) * static_cast<float>(comm.rank() + 1);
        std::vector<float> y(x.data(), x.data() + x.size());
        reducer reduce(error_feedback{top_k{3}}, comm, x);
        reducer of_vectors(error_feedback{top_k{3}}, comm, y);
        static_assert(std::is_same_v<decltype(reduce), decltype(of_vectors)>);
        for (int k = 0; k < 4; ++k) {
            if (k % 2 == 0)
                reduce(x);
            else
                reduce(Eigen::Map<Eigen::MatrixXf>(x.data(), 4, 5));
            of_vectors(std::span(y));
            CHECK(std::equal(y.begin(), y.end(), x.data()));
            CHECK(x.norm() > 0);
        }
    });
}

TEST_CASE("an estimate that the caller's numbers cannot hold fails the step on all ranks, and nothing has changed") {
    using half = Eigen::half;
    auto const check = [](auto const& how, double base) {
        int fits = 0, fails = 0;
        fibers::run(3, [&](fibers::member& comm) {
            std::vector<half> x(d);
            std::vector<float> y(d);
            reducer reduce(how, comm, x, {.seed = 0}), in_floats(how, comm, y, {.seed = 0});
            for (int k = 0; k < 24; ++k) {
                double const scale = base * std::vector<double>{1, 0.25, 0.25, 8}[std::size_t(k % 4)];
                auto const g = gradient<float>(comm.rank(), k);
                for (std::size_t i = 0; i < d; ++i) y[i] = float(x[i] = half(1000 * g[i]));
                auto const before = x;
                auto const state = reduce.save(), state_in_floats = in_floats.save();
                in_floats(y, {.loss_scale = scale});
                auto const beyond = [](float v) { return std::isinf(float(half(v))); };
                auto const first = std::size_t(std::find_if(y.begin(), y.end(), beyond) - y.begin());
                if (first == d) {
                    reduce(x, {.loss_scale = scale});
                    for (std::size_t i = 0; i < d; ++i) CHECK(float(x[i]) == float(half(y[i])));
                    ++fits;
                    continue;
                }
                ++fails;
                in_floats.restore(state_in_floats);
                try {
                    reduce(x, {.loss_scale = scale});
                    CHECK(false);
                } catch (non_finite_error const& e) {
                    CHECK(e.rank == -1);
                    CHECK(e.coordinate == first);
                }
                CHECK(std::equal(x.begin(), x.end(), before.begin(), [](half a, half b) { return a == b; }));
                CHECK(reduce.save() == state);
            }
            CHECK(reduce.statistics().bytes_in_full == 2 * d * reduce.steps());
        });
        CAPTURE(to_string(how));
        CHECK(fits > 0);
        CHECK(fails > 0);
    };
    check(error_feedback{top_k{7}}, 4);
    check(ef21_shift{top_k{7}}, 4);
    check(shifted{rand_k{20}}, 4);
    check(majority_vote{}, 16384);
}

TEST_CASE(
    "a collective's sum that overflows is a non_finite_error, or NaN, on all ranks, and the step has not counted") {
    float const most = std::numeric_limits<float>::max();
    for (auto const then : {on_non_finite::raise, on_non_finite::propagate})
        fibers::run(3, [&](fibers::member& comm) {
            std::vector<float> x{1, 2, 3};
            reducer reduce(plain{identity{}, ring{}}, comm, x, {.non_finite = then});
            reduce(x);
            x = {1, most, 3};
            if (then == on_non_finite::raise)
                CHECK_THROWS_WITH_AS(reduce(x), "round 1: the ranks' sum is not finite at coordinate 1",
                                     non_finite_error);
            else
                reduce(x);
            CHECK(std::isnan(x[0]) == (then == on_non_finite::propagate));
            CHECK(std::isnan(x[1]) == (then == on_non_finite::propagate));
            CHECK(reduce.steps() == 1);
            x = {1, 2, 3};
            reduce(x);
            CHECK(x == std::vector<float>{1, 2, 3});
        });
}
TEST_CASE(
    "where NaN is asked for, an estimate that cannot be written is NaN on all ranks, and the step has not counted") {
    fibers::run(2, [](fibers::member& comm) {
        std::vector<Eigen::half> x(3, Eigen::half(60000));
        reducer reduce(error_feedback{top_k{1}}, comm, x, {.non_finite = on_non_finite::propagate});
        reduce(x);
        for (auto& v : x) v = Eigen::half(60000);
        reduce(x);  // 120000 with what waits
        for (auto const v : x) CHECK(std::isnan(float(v)));
        CHECK(reduce.steps() == 1);
        CHECK(reduce.layers()[0].feedback().residual()[2] == 60000);
    });
    CHECK(error_of_all(2, [](fibers::member& comm) {
              reducer reduce(plain{}, comm, std::vector<layer>{{"a", 2}, {"b", 3}});
              std::vector<float> a(2, 1), b(3, 1);
              b[2] = 4;
              reduce.start(0, a), reduce.start(1, b, {.loss_scale = 1});
              reduce.finish();
              a = {1, 1}, b = {1, 1, 1e8f};
              reduce.start(0, a, {.loss_scale = 1e30}), reduce.start(1, b, {.loss_scale = 1e30});
              reduce.finish();
              std::vector<Eigen::half> c(2, Eigen::half(1)), e(3, Eigen::half(1));
              e[1] = Eigen::half(40000);
              reduce.start(0, c, {.loss_scale = 2}), reduce.start(1, e, {.loss_scale = 2});
              reduce.finish();
              for (auto& v : e) v = Eigen::half(1);
              e[1] = Eigen::half(comm.rank() == 0 ? 60000 : 65000);
              reduce.start(0, c, {.loss_scale = 1}), reduce.start(1, e, {.loss_scale = 1});
              reduce.finish();
              CHECK(float(e[1]) == 62496);
              reduce.start(0, c, {.loss_scale = 0.5}), reduce.start(1, e, {.loss_scale = 0.5});
              reduce.finish();
              throw error("all written");
          }) == "all written");
}

TEST_CASE("loss scales that the gradient's numbers do not hold are refused on all ranks") {
    auto const with = [](auto zero, double scale) {
        return error_of_all(2, [&](fibers::member& comm) {
            std::vector<decltype(zero)> x(3, zero + 1);
            reducer reduce(plain{}, comm, x);
            reduce(x, {.loss_scale = scale});
            CHECK(x[0] == doctest::Approx(1));
        });
    };
    for (double const scale : {1e39, 1e300, 1e-39, 1e-300})
        CHECK(with(0.0f, scale).find(", which numbers of 4 bytes do not hold with its reciprocal") !=
              std::string::npos);
    for (double const scale : {0x1p126, 0x1p-126, 3.0, 0.3}) CHECK(with(0.0f, scale) == "nothing");
    for (double const scale : {1e39, 1e300, 1e-300}) CHECK(with(0.0, scale) == "nothing");
}

TEST_CASE("vectors of no numbers and of one, all zeros, and numbers of one magnitude, on 1 and 7 ranks") {
    auto const check = [](auto const& how) {
        for (int const n : {1, 7})
            for (std::size_t const size : {0u, 1u, 6u})
                for (double const value : {0.0, -2.0})
                    fibers::run(n, [&](fibers::member& comm) {
                        std::vector<double> x(size, value), applied(size);
                        reducer reduce(how, comm, x, {.seed = 0});
                        for (int k = 0; k < 12; ++k) {
                            std::fill(x.begin(), x.end(), value);
                            reduce(x);
                            for (std::size_t i = 0; i < size; ++i) applied[i] += x[i];
                        }
                        auto const e = reduce.layers()[0].feedback().residual();
                        for (std::size_t i = 0; i < size; ++i)
                            CHECK(applied[i] + (e.empty() ? 0 : e[i]) == doctest::Approx(12 * value).epsilon(1e-12));
                    });
    };
    check(plain{});
    check(error_feedback{top_k{0.5}});
    check(error_feedback{top_k{0.5} | natural{}});
}

TEST_CASE("weights that cannot be: refused on all ranks, by name, and nothing has changed") {
    auto const with = [](auto const& how, bool vary, std::vector<double> const& weights) {
        return error_of_all(2, [&](fibers::member& comm) {
            reducer reduce(how, comm, std::vector<double>(d), {.steps_vary = vary});
            auto x = gradient(comm.rank(), 0);
            auto const before = x;
            struct unchanged {
                std::vector<double> const &x, &before;
                ~unchanged() { CHECK(x == before); }
            } const check{x, before};
            reduce(x, {.weight = weights[std::size_t(comm.rank())]});
        });
    };
    CHECK(with(plain{}, false, {1, 2}) ==
          "rank 1, round 0: a weight other than 1, or .dense, which reducer_options::steps_vary must allow");
    CHECK(with(plain{}, true, {1, -2}) == "rank 1, round 0: a weight of -2, which must be finite and at least 0");
    CHECK(with(plain{}, true, {0, 0}) == "rank 0, round 0: the ranks' weights add up to 0");
    CHECK(with(ef21_shift{top_k{5}}, true, {1, 2}) ==
          "rank 0, round 0: a weight other than the other ranks' cannot be combined with a shift");
    CHECK(error_of_all(2, [](fibers::member& comm) {
              std::vector<double> a(4, 1), b(4, 1);
              reducer<plain<>, fibers::member, double> reduce(plain{}, comm, std::vector<std::size_t>{4, 4},
                                                              {.steps_vary = true});
              reduce.start(0, a, {.weight = 2});
              reduce.start(1, b, {.weight = comm.rank() == 1 ? 3.0 : 2.0});
              reduce.finish();
          }).find("the layers of one step have different weights") != std::string::npos);
}

TEST_CASE("small layers share one message, and the estimates are those of messages of their own") {
    std::vector<std::size_t> const sizes{10, 6, 8, 12, 3, 9};
    auto const run = [&](auto const& how, std::size_t share_below, int& messages) {
        std::vector<std::vector<float>> all;
        fibers::run(2, [&](fibers::member& inner) {
            int count = 0;
            counting comm{{&inner}, &count};
            reducer reduce(how, comm, sizes, {.seed = 0, .dense_below = 7, .share_below = share_below});
            for (int k = 0; k < 12; ++k) {
                std::vector<std::vector<float>> g;
                for (std::size_t l = 0; l < sizes.size(); ++l)
                    g.push_back(gradient<float>(inner.rank(), 10 * k + int(l), sizes[l]));
                int const before = count;
                for (auto l = sizes.size(); l-- > 0;) reduce.start(l, g[l]);
                reduce.finish();
                if (k > 0) messages = count - before;
                if (inner.rank() == 0) all.insert(all.end(), g.begin(), g.end());
            }
        });
        return all;
    };
    auto const check = [&](auto const& how) {
        int each = 0, shared = 0, two = 0;
        auto const alone = run(how, 0, each);
        CHECK(run(how, 4096, shared) == alone);
        CHECK(run(how, 10, two) == alone);  // not those of 10 numbers and more: 9 + 3, 12, 8 + 6, 10
        CHECK(each == 6);
        CHECK(shared == 1);
        CHECK(two == 4);
    };
    check(error_feedback{top_k{3}});
    check(shifted{rand_k{3} | natural{}});
    check(plain{quantize{4}});
}

TEST_CASE("each layer its own reduction, by a rule") {
    std::vector<layer> const layers{{"embedding", 60}, {"head", 20}};
    fibers::run(2, [&](fibers::member& comm) {
        reducer reduce([](layer const& l) { return error_feedback{top_k{l.name == "head" ? 10.0 : 2.0}}; }, comm,
                       layers);
        std::vector<float> a = gradient<float>(comm.rank(), 0, 60), b = gradient<float>(comm.rank(), 1, 20);
        reduce.start(0, a), reduce.start(1, b);
        reduce.finish();
        auto const waits = [&](std::size_t l) {
            std::size_t n = 0;
            for (auto const e : reduce.layers()[l].feedback().residual()) n += e != 0;
            return n;
        };
        CHECK(waits(0) >= 50);
        CHECK(waits(0) <= 58);
        CHECK(waits(1) <= 10);
    });
}

TEST_CASE("a level follows the steps: top-k that sends fewer and fewer, and a step that fails is no step") {
    auto const level = [](top_k<> c, std::uint64_t step) {
        c.k = step < 2 ? 20 : 5;
        return c;
    };
    fibers::run(2, [&](fibers::member& comm) {
        reducer<scheduled<error_feedback<top_k<>>, decltype(level)>, fibers::member> reduce(
            {error_feedback{top_k{5}}, "20 and then 5", level}, comm, d);
        auto const sent = [&](int k) {
            auto const before = reduce.statistics().bytes_sent;
            auto x = gradient<float>(comm.rank(), k);
            if (k == 1) x[0] = std::nanf("");
            try {
                reduce(x);
            } catch (non_finite_error const&) {
            }
            return reduce.statistics().bytes_sent - before;
        };
        std::uint64_t const many = sent(0), none = sent(1), again = sent(2), few = sent(3);
        CHECK(none <= 33 + 4);  // a coordinate and a tag
        CHECK(many > 80);
        CHECK(again > 80);
        CHECK(few < 40);
    });
    CHECK(to_string(scheduled{plain{}, "x", level}) == "scheduled(plain(identity), x)");
}

TEST_CASE("what it did: bytes as a meter counts them, bytes in full, state, and no more without a probe") {
    fibers::run(3, [](fibers::member& inner) {
        metered comm(inner);
        std::vector<float> x(d);
        reducer reduce(shifted{rand_k{5}}, comm, x, {.seed = 0});
        auto const before = comm.bytes_sent();
        auto const received_before = comm.bytes_received();
        CHECK(reduce.statistics().bytes_sent == before);  // what the ranks compared
        for (int k = 0; k < 4; ++k) reduce(x = gradient<float>(inner.rank(), k));
        auto const did = reduce.statistics();
        CHECK(did.steps == 4);
        CHECK(did.bytes_sent == comm.bytes_sent());
        CHECK(did.bytes_received == comm.bytes_received());
        CHECK(did.bytes_received - received_before == 2 * (did.bytes_sent - before));
        CHECK(did.bytes_in_full == 4 * 4 * d);
        CHECK(did.bytes_of_state == 2 * 4 * d);
        CHECK(did.bytes_watching == 0);
        CHECK(did.last_probe.step == 0);
        CHECK(did.seconds_compressing > 0);
        CHECK(did.seconds_waiting > 0);
        CHECK(did.seconds_adding > 0);
        CHECK(did.seconds_committing > 0);
        CHECK(did.seconds_inside == 0);
        CHECK(did.bytes_on_link == did.bytes_received);  // the ranks' messages are as long
    });
}

TEST_CASE("by the bytes on a rank's link a sum in full is cheaper by a ring, and a short message by a gather") {
    auto const on_link = [](auto const& how) {
        std::uint64_t found = 0;
        threads::run(4, [&](threads::member& comm) {
            std::vector<float> x(1000, float(comm.rank() + 1));
            reducer reduce(how, comm, x, {.seed = 0});
            auto const before = reduce.statistics();
            reduce(x);
            auto const did = reduce.statistics();
            CHECK(did.bytes_on_link - before.bytes_on_link == did.bytes_received - before.bytes_received);
            if (comm.rank() == 1) found = did.bytes_on_link - before.bytes_on_link;
        });
        return found;
    };
    auto const gathered = on_link(plain{}), by_ring = on_link(plain<identity, ring>{}),
               few = on_link(error_feedback{top_k{10}});
    CHECK(gathered >= 3 * 4000);
    CHECK(gathered < 3 * 4100);
    CHECK(by_ring >= 6000);
    CHECK(by_ring < 6200);
    CHECK(few < 3 * 100);
}

TEST_CASE("a rank that sends more than it receives has on its link what it sends to all, one after another") {
    fibers::run(3, [](fibers::member& comm) {
        reducer reduce(plain{}, comm, std::vector<std::size_t>{1000, 100},
                       {.missing_layer = on_missing_layer::skip, .share_below = 0});
        auto const before = reduce.statistics();
        std::vector<float> x(1000, 1.0f);
        if (comm.rank() == 1) reduce.start(0, x);  // which the others skip: an error, after the messages have travelled
        CHECK(error_of([&] { reduce.finish(); }) != "nothing");
        auto const did = reduce.statistics();
        auto const out = did.bytes_on_link - before.bytes_on_link;
        if (comm.rank() == 1) CHECK(out == 2 * (did.bytes_sent - before.bytes_sent));
        if (comm.rank() != 1) CHECK(out == did.bytes_received - before.bytes_received);
        CHECK(out > 4000);
    });
}

TEST_CASE("the time to wait is that of finish(), and of a collective all; the time within a node has its own sum") {
    using namespace std::chrono_literals;
    struct slow : passed_on<fibers::member> {
        void start_all_gather(payload mine, int lane = 0) { inner->start_all_gather(mine, lane); }
        void finish(int lane = 0) {
            std::this_thread::sleep_for(5ms);
            inner->finish(lane);
        }
    };
    fibers::run(2, [](fibers::member& inner) {
        slow comm{{&inner}};
        std::vector<float> x(d, 1.0f);
        reducer reduce(plain{}, comm, x);
        auto const before = reduce.statistics().seconds_waiting;
        reduce(x);
        CHECK(reduce.statistics().seconds_waiting - before >= 0.005);
        reducer by_ring(plain<identity, ring>{}, inner, x);
        by_ring(x);
        CHECK(by_ring.statistics().seconds_waiting > 0);
        CHECK(by_ring.statistics().seconds_adding == 0);
    });
    reducing::on_nodes(2, 2, [](auto& nodes, auto&) {
        std::vector<float> x(d, 1.0f);
        reducer reduce(plain{}, nodes, x);
        CHECK(reduce.statistics().seconds_inside == 0);
        reduce(x);
        CHECK(reduce.statistics().seconds_inside > 0);
    });
}

TEST_CASE("probes compare the estimate with the mean in full, every so many steps, and change nothing") {
    std::vector<std::size_t> const sizes{30, 20};
    fibers::run(3, [&](fibers::member& comm) {
        reducer<error_feedback<top_k<>>, fibers::member, double> probed(error_feedback{top_k{4}}, comm, sizes,
                                                                        {.probe_every = 3});
        reducer<error_feedback<top_k<>>, fibers::member, double> other(error_feedback{top_k{4}}, comm, sizes);
        for (int k = 0; k < 8; ++k) {
            auto a = gradient(comm.rank(), k, 30), b = gradient(comm.rank(), 50 + k, 20), a2 = a, b2 = b;
            for (auto* x : {&a, &b})
                for (auto& v : *x) v *= 4;
            probed.start(0, a, {.loss_scale = 4}), probed.start(1, b, {.loss_scale = 4}), probed.finish();
            other.start(0, a2), other.start(1, b2), other.finish();
            for (std::size_t i = 0; i < 30; ++i) CHECK(a[i] == 4 * a2[i]);
            for (std::size_t i = 0; i < 20; ++i) CHECK(b[i] == 4 * b2[i]);
            auto const p = probed.statistics().last_probe;
            CHECK(p.step == std::uint64_t((k + 1) / 3 * 3));
            if (p.step != std::uint64_t(k + 1)) continue;
            double dot = 0, mm = 0, ee = 0, off = 0, waits = 0;
            auto const add = [&](std::vector<double> const& estimate, int base) {
                for (std::size_t i = 0; i < estimate.size(); ++i) {
                    double mean = 0;
                    for (int r = 0; r < 3; ++r) mean += gradient(r, base + k, estimate.size())[i] / 3;
                    dot += mean * estimate[i];
                    mm += mean * mean;
                    ee += estimate[i] * estimate[i];
                    off += (estimate[i] - mean) * (estimate[i] - mean);
                }
            };
            add(a2, 0), add(b2, 50);
            for (auto const& l : other.layers())
                for (double const e : l.feedback().residual()) waits += e * e;
            CHECK(p.cosine == doctest::Approx(dot / std::sqrt(mm * ee)).epsilon(1e-9));
            CHECK(p.relative_error == doctest::Approx(std::sqrt(off / mm)).epsilon(1e-9));
            CHECK(p.gradient_norm == doctest::Approx(std::sqrt(mm)).epsilon(1e-9));
            CHECK(p.residual_norm == doctest::Approx(std::sqrt(waits)).epsilon(1e-9));
        }
        CHECK(probed.statistics().bytes_sent == other.statistics().bytes_sent);
        CHECK(probed.statistics().bytes_watching >= 2 * 50 * sizeof(double));
        CHECK(other.statistics().bytes_watching == 0);
    });
}

TEST_CASE("comparisons find the rank and the layer whose estimate is another, before anything has changed") {
    // Damages one number of a dense message as rank 2 gets it: too little to be noticed otherwise.
    struct damaging : passed_on<fibers::member> {
        bool* damages;
        std::vector<std::byte>* damaged;
        payload from(int r) const {
            auto const right = inner->from(r);
            if (!*damages || inner->rank() != 2 || r != 0 || right.bytes.size() != 4 * d + 4) return right;
            damaged->assign(right.bytes.begin(), right.bytes.end());
            (*damaged)[40] ^= std::byte{1};
            return {*damaged, false};
        }
    };
    auto const text = error_of_all(3, [](fibers::member& inner) {
        bool damages = false;
        std::vector<std::byte> damaged;
        damaging comm{{&inner}, &damages, &damaged};
        reducer<plain<>, damaging> reduce(plain{}, comm, std::vector<layer>{{"small", 3}, {"large", d}},
                                          {.share_below = 0, .verify_every = 2});
        for (int k = 0; k < 4; ++k) {
            auto a = gradient<float>(inner.rank(), k, 3), b = gradient<float>(inner.rank(), k);
            auto const before = b;
            damages = k == 3;
            reduce.start(0, a), reduce.start(1, b);
            try {
                reduce.finish();
            } catch (comm_error const&) {
                CHECK(k == 3);
                CHECK(b == before);
                CHECK(reduce.steps() == 3);
                throw;
            }
        }
    });
    CHECK(text == "rank 2 has another estimate or mean shift than rank 0: layer large in step 3");
}
