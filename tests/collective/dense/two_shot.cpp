// SPDX-License-Identifier: Apache-2.0
// `two_shot` rounds what travels twice, as a plain loop does; gives back both errors; sends 2 (P - 1) / P d codes; and
// reports on all ranks what it cannot round.
#include "laconic/collective/dense/two_shot.hpp"

#include "laconic/any/parse_reduction.hpp"
#include "laconic/backend/reference.hpp"
#include "laconic/optim/adam.hpp"
#include "named_reductions.hpp"
#include "support/collective_sums.hpp"
#include "support/error_of.hpp"
#include "support/everything.hpp"

using namespace collective_sums;

static_assert(Collective<two_shot<>> && Collective<two_shot<quantize>, float> &&
              Collective<two_shot<any_compressor<>>>);

// rint(x q / max) max / q with q = 2^(bits - 1) - 1 and max = |x|_inf: the quantizer of the known answers.
struct symmetric {
    int bits = 4;

    template <Scalar T, class B>
    using message = messages::full_vector<T, B>;
    void check(std::size_t) const {}
    void blank(auto&, std::size_t d, key, auto& m) const { messages::begin_message(m, d); }
    void operator()(auto& on, auto x, key from, auto& m) const {
        blank(on, x.size(), from, m);
        double const q = (1 << (bits - 1)) - 1;
        double most = 0;
        for (auto const v : x) most = std::max(most, std::abs(v));
        for (std::size_t i = 0; i < x.size(); ++i) m.values[i] = most == 0 ? 0 : std::rint(x[i] * q / most) * most / q;
    }
    bool operator==(symmetric const&) const = default;
    friend std::string to_string(symmetric const& s) { return "symmetric(" + std::to_string(s.bits) + ")"; }
};

// The bowls f_i = 1/2 sum_j a_ij (x_j - b_ij)^2 of four ranks and eight numbers.
double slope(std::size_t i, std::size_t j) { return double(2 + (i + 2 * j) % 5) / 4; }
double centre(std::size_t i, std::size_t j) {
    return (double((3 * i + 5 * j + i * j) % 11) - 5) / 2 + double((i + 1) * (j + 1)) / 64;
}
using vec = std::vector<double>;
void check_answer(vec const& x, double first, double last, double squares) {
    CHECK(x[0] == doctest::Approx(first).epsilon(1e-11));
    CHECK(x[7] == doctest::Approx(last).epsilon(1e-11));
    double sum = 0;
    for (auto const v : x) sum += v * v;
    CHECK(sum == doctest::Approx(squares).epsilon(1e-11));
}

TEST_CASE_TEMPLATE(
    "known answers: the mean of four ranks' vectors in 8 and 4 bits, by way of the owners and around a ring", B, host,
    reference) {
    for (auto const& [bits, ring] : {std::pair{8, false}, {4, false}, {8, true}, {4, true}}) {
        two_shot const how{symmetric{bits}, 0, ring};
        vec result;
        fibers::run(4, [&](auto& comm) {
            B on;
            auto sum = make_sum<double, B>(how, 8);
            vec x;
            for (std::size_t j = 0; j < 8; ++j) x.push_back(centre(std::size_t(comm.rank()), j));
            sum(on, comm, std::span(x));
            for (auto& v : x) v /= 4;
            if (comm.rank() == 2) result = x;
        });
        if (bits == 8 && !ring) check_answer(result, -.214443897638, -.564068651575, 1.69380308386);
        if (bits == 4 && !ring) check_answer(result, -.177933673469, -.563616071429, 1.63386477177);
        if (bits == 8 && ring) check_answer(result, -.211701360903, -.563723049321, 1.69284291415);
        if (bits == 4 && ring) check_answer(result, -.222895408163, -.581792091837, 1.67808455143);
    }
}

TEST_CASE_TEMPLATE("known answers: error feedback over 4 bits keeps both residuals, and reaches the optimum", B, host,
                   reference) {
    std::map<int, vec> at;
    fibers::run(4, [&](auto& comm) {
        auto const i = std::size_t(comm.rank());
        vec x(8, 1), g(8);
        reducer reduce(unproved{error_feedback{identity{}, 1, two_shot{symmetric{4}}}}, comm, g, {}, B{});
        for (int round = 1; round <= 300; ++round) {
            for (std::size_t j = 0; j < 8; ++j) g[j] = .1 * slope(i, j) * (x[j] - centre(i, j));
            reduce(g);
            for (std::size_t j = 0; j < 8; ++j) x[j] -= g[j];
            if (i == 1) at[round] = x;
        }
    });
    check_answer(at[1], .93698182398, .86796875, 6.89662450927);
    check_answer(at[10], .596361354498, .117908845594, 3.14983919482);
    check_answer(at[300], .328070171291, -.408287701255, 2.57101169566);
}

// Of a rank's message one scale for all, of the mean one for each part; m is common to all ranks.
auto const one_bit = two_shot{scaled_sign{}, 0, false, true};

TEST_CASE_TEMPLATE(
    "known answers: 1-bit Adam, whose owners keep what their means leave out, also from a saved state on", B, host,
    reference) {
    std::map<int, vec> at;
    fibers::run(4, [&](auto& comm) {
        auto const i = std::size_t(comm.rank());
        vec x(8, 1), g(8);
        auto const make = [&] {
            return reducer(error_feedback{scaled_sign{}, 1, one_bit, .9, true, true}, comm, g,
                           {.seed = 0, .dense_rounds = 10}, B{});
        };
        auto reduce = make();
        adam<double, B> step({.rate = .05, .bias_correction = false, .freeze_after = 10});
        B on;
        for (int round = 1; round <= 60; ++round) {
            for (std::size_t j = 0; j < 8; ++j) g[j] = slope(i, j) * (x[j] - centre(i, j));
            reduce(g);
            step(on, std::span(x), std::span(g));
            if (i == 1) at[round] = x;
            if (round % 25 == 0) {
                auto const saved = reduce.save();
                auto again = make();
                again.restore(saved);
                reduce = std::move(again);
            }
        }
    });
    check_answer(at[10], .161429619582, -1.04900926905, 4.29376435428);
    check_answer(at[11], .225106908564, -1.11595236719, 4.6551109153);
    check_answer(at[60], .456166974866, -.449236444, 5.64964271811);
    CHECK_THROWS_AS((two_shot{bf16{}, 0, true, true}.check(8)), argument_error);
    two_shot const kept{bf16::random{}, 0, false, true};
    CHECK(two_shot{bf16::random{}}.rounding().unbiased);
    CHECK_FALSE(kept.rounding().unbiased);
    CHECK_THROWS_AS((plain{identity{}, kept}.check_proof(8)), theory_error);
}

TEST_CASE_TEMPLATE("known answers: 0/1 Adam, local steps of a frozen v between sums of their moves", B, host,
                   reference) {
    std::vector<vec> models(4);
    auto const mean = [&] {
        vec sum(8);
        for (auto const& x : models)
            for (std::size_t j = 0; j < 8; ++j) sum[j] += x[j] / 4;
        return sum;
    };
    fibers::run(4, [&](auto& comm) {
        constexpr double rate = .01;
        constexpr int warm = 10, every = 4;
        auto const i = std::size_t(comm.rank());
        vec x(8, 1), g(8), m(8), v(8), u(8), agreed;
        reducer dense(plain{}, comm, g, {}, B{});
        reducer sums(error_feedback{scaled_sign{}, 1, one_bit}, comm, u, {.seed = 0}, B{});
        for (int t = 1; t <= 50; ++t) {
            for (std::size_t j = 0; j < 8; ++j) g[j] = slope(i, j) * (x[j] - centre(i, j));
            if (t <= warm) dense(g);
            for (std::size_t j = 0; j < 8; ++j) {
                m[j] = .9 * m[j] + .1 * g[j];
                if (t <= warm) v[j] = .999 * v[j] + .001 * g[j] * g[j];
                x[j] -= rate * m[j] / (std::sqrt(v[j]) + 1e-8);
                if (t > warm) u[j] += rate * m[j];
            }
            if (t == warm) agreed = x;
            if (t > warm && (t - warm) % every == 0) {
                sums(u);
                for (std::size_t j = 0; j < 8; ++j) {
                    x[j] = agreed[j] -= u[j] / (std::sqrt(v[j]) + 1e-8);
                    m[j] = u[j] / (rate * every), u[j] = 0;
                }
            }
            models[i] = x;
            comm.all_gather({});  // until all have stepped
            if (t == 10) check_answer(mean(), .476806757398, .457259196281, 3.46239435207);
            if (t == 14) check_answer(mean(), .260903363944, .391107956815, 8.30100786053);
            if (t == 50) check_answer(mean(), .600524575264, -.50253264921, 1.74484864097);
            comm.all_gather({});
        }
    });
}

// The nearest number of bf16, the even one of two.
float rounded(float x) {
    auto const b = std::bit_cast<std::uint32_t>(x), up = b + 0x7fff + (b >> 16 & 1);
    return std::bit_cast<float>(up & 0xffff0000u);
}
// What two_shot{bf16{}} makes of the ranks' vectors, in one loop.
std::vector<float> by_one_loop(vectors<float> const& all) {
    auto const n = float(all.size());
    std::vector<float> sums(all[0].size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
        float sum = 0;
        for (auto const& x : all) sum += rounded(x[i]);
        sums[i] = n * rounded(sum / n);
    }
    return sums;
}
vectors<float> fractions(std::size_t d, int ranks) { return whole_numbers<float>(d, ranks, 7); }
// The same around a ring: part p is rounded by rank p, then by each after it that has added its own.
std::vector<float> around_by_one_loop(vectors<float> const& all) {
    std::size_t const n = all.size();
    detail::partition const parts{all[0].size(), n};
    std::vector<float> sums(all[0].size());
    for (std::size_t p = 0; p < n; ++p)
        for (std::size_t i = parts.first(p); i < parts.first(p) + parts.length(p); ++i) {
            sums[i] = rounded(all[p][i]);
            for (std::size_t step = 1; step < n; ++step) sums[i] = rounded(all[(p + step) % n][i] + sums[i]);
        }
    return sums;
}
recipe<float> const around_in_bf16 = [](std::size_t) { return two_shot{bf16{}, 0, true}; };
recipe<float> const in_bf16 = [](std::size_t) { return two_shot{bf16{}}; };

TEST_CASE("the same bits as one loop, on all ranks and over threads, for any ranks and lengths, long ones in pieces") {
    for (int const n : {1, 2, 3, 4, 7, 9})
        for (std::size_t const d : {0u, 1u, 3u, 8u, 61u, 100003u}) {
            CAPTURE(n);
            CAPTURE(d);
            auto const all = fractions(d, n);
            auto const expected = by_one_loop(all);
            for (auto run : {sv::rank_runner(sv::run_over<fibers>), sv::rank_runner(sv::run_over<threads>)})
                for (auto const& x : after(all, in_bf16, nullptr, run)) CHECK(x == expected);
            for (auto const& x : after(all, around_in_bf16, nullptr, sv::run_over<threads>))
                CHECK(x == around_by_one_loop(all));
        }
    std::size_t const d = 2 * 21 * detail::in_pieces<float>::longest + 3;  // more pieces than are under way at once
    auto const all = fractions(d, 2);
    for (auto const& x : after(all, in_bf16, nullptr, sv::run_over<threads>)) CHECK(x == by_one_loop(all));
}

TEST_CASE("a rank sends the other parts once, and the sum of its own to all others, in 16 bits a number") {
    for (std::size_t const n : {1u, 2u, 3u, 4u, 7u})
        for (std::size_t const d : {0u, 5u, 84u, 85u, 84000u}) {
            detail::partition const parts{d, n};
            auto const sent = bytes_sent_by(fractions(d, int(n)), "two_shot(bf16)");
            for (std::size_t r = 0; r < n; ++r) {
                CHECK(sent[r] == 2 * ((d - parts.length(r)) + (n - 1) * parts.length(r)));
                if (d % n == 0) CHECK(sent[r] == 2 * 2 * (n - 1) * d / n);
            }
            auto const around = bytes_sent_by(fractions(d, int(n)), "two_shot(bf16, ring=yes)");
            for (std::size_t r = 0; r < n; ++r)  // all parts but the next one's, and all but the one after that
                CHECK(around[r] == 2 * (2 * d - parts.length((r + 1) % n) - parts.length((r + 2) % n)) * (n > 1));
        }
    // By a reducer: and nothing else but what the ranks agree on beforehand.
    for (std::size_t const n : {2u, 4u}) {
        std::vector<std::uint64_t> sent(n);
        threads::run(int(n), [&](auto& comm) {
            std::vector<float> x(84000, 1);
            reducer reduce(parse_reduction("unproved(plain(over=two_shot(bf16)))"), comm, x);
            reduce(x);
            auto const before = reduce.statistics().bytes_sent;
            reduce(x);
            sent[std::size_t(comm.rank())] = reduce.statistics().bytes_sent - before;
        });
        CHECK(sent == std::vector<std::uint64_t>(n, 2 * 2 * (n - 1) * 84000 / n));
    }
}

TEST_CASE_TEMPLATE("what is brought = what is applied + what returns to who rounded", T, float, double) {
    for (std::string const text :
         {"two_shot(bf16)", "two_shot(fp16(random=yes))", "two_shot(quantize(3, bucket=8), seed=5)",
          "two_shot(uniform(4))", "two_shot(uniform(4), ring=yes)", "two_shot(block_float(mxfp4), ring=yes)",
          "two_shot(block_float(int8, 128, rounding=random))", "two_shot(natural)", "two_shot(float8_e5m2)",
          "two_shot(scaled_sign)"})
        for (int const n : {1, 2, 3, 7})
            for (std::size_t const d : {1u, 5u, 600u}) {
                CAPTURE(text);
                CAPTURE(n);
                auto const brought = whole_numbers<T>(d, n, 7);
                vectors<T> applied(brought), returned(brought);
                sv::run_over<fibers>(n, [&](any_communicator& comm) {
                    host on;
                    auto const me = std::size_t(comm.rank());
                    auto sum = make_sum<T>(parse_collective<T>(text), d);
                    sum(on, comm, std::span(applied[me]), 3);
                    returned[me].assign(d, 0);
                    sum.add_leftover(on, std::span(returned[me]));
                });
                double apart = 0;
                for (std::size_t i = 0; i < d; ++i) {
                    double difference = -double(applied[0][i]), size = std::abs(difference);
                    for (std::size_t r = 0; r < brought.size(); ++r) {
                        difference += double(brought[r][i]) - double(returned[r][i]);
                        size += std::abs(double(brought[r][i])) + std::abs(double(returned[r][i]));
                    }
                    apart = std::max(apart, std::abs(difference) / size);
                }
                CHECK(apart < (sizeof(T) == 4 ? 1e-6 : 1e-15));
                for (auto const& x : applied) CHECK(x == applied[0]);
            }
}

TEST_CASE("a rank's part of the sum takes the first messages alone, and its own numbers as they are") {
    for (std::size_t const n : {1u, 2u, 3u, 7u})
        for (std::size_t const d : {0u, 1u, 5u, 600u, 100003u}) {
            CAPTURE(n);
            CAPTURE(d);
            auto const brought = fractions(d, int(n));
            detail::partition const parts{d, n};
            vectors<float> left(n);
            std::vector<std::uint64_t> sent(n);
            fibers::run(int(n), [&](auto& inner) {
                metered comm(inner);
                host on;
                auto const me = std::size_t(comm.rank()), first = parts.first(me);
                auto x = brought[me];
                auto sum = make_sum<float>(two_shot{bf16{}}, d);
                sum.reduce_scatter(on, comm, std::span(x));
                sent[me] = comm.bytes_sent();
                left[me].assign(sum.leftover().begin(), sum.leftover().end());
                for (std::size_t i = 0; i < d; ++i) {
                    float whole = 0;
                    for (std::size_t r = 0; r < n; ++r) whole += r == me ? brought[r][i] : rounded(brought[r][i]);
                    bool const own = i >= first && i < first + parts.length(me);
                    if (own) REQUIRE(x[i] == whole);
                    REQUIRE(left[me][i] == (own ? 0 : brought[me][i] - rounded(brought[me][i])));
                }
                // By the call, whose other numbers stay; over a ring it is a part of the whole sum.
                auto y = brought[me], around = brought[me];
                auto const mine = reduce_scatter(comm, y, two_shot{bf16{}});
                if (mine.first != first || mine.values.size() != parts.length(me)) throw error("another part");
                for (std::size_t i = 0; i < d; ++i) {
                    bool const own = i >= first && i < first + parts.length(me);
                    REQUIRE(y[i] == (own ? x[i] : brought[me][i]));
                }
                reduce_scatter(comm, around, two_shot{bf16{}, 0, true});
                auto const by_ring = around_by_one_loop(brought);
                for (std::size_t i = first; i < first + parts.length(me); ++i) REQUIRE(around[i] == by_ring[i]);
            });
            for (std::size_t r = 0; r < n; ++r) CHECK(sent[r] == 2 * (d - parts.length(r)));
        }
    std::string said[3];
    threads::run(3, [&](auto& comm) {
        std::vector<float> x(30, comm.rank() == 1 ? NAN : 1.0f);
        said[comm.rank()] = error_of<non_finite_error>([&] { reduce_scatter(comm, x, two_shot<>{}); });
        x.assign(30, 2);
        auto const part = reduce_scatter(comm, x, two_shot<>{});
        for (float const v : part.values)
            if (v != 6) throw error("not the sum");
    });
    for (auto const& text : said) CHECK(text == said[0]);
    CHECK(said[0].find("rank 1") != std::string::npos);
}

TEST_CASE("with an unbiased compressor the sum is unbiased, and each round and each rank draws anew") {
    double const count = 4000;
    vec mean(2);
    std::set<double> seen;
    fibers::run(2, [&](auto& comm) {
        host on;
        auto sum = make_sum<double>(two_shot{quantize{1, 0, p_norm::largest}, 9}, 4);
        for (std::uint64_t t = 0; t < 4000; ++t) {
            vec x{1, 4, -1, 4};  // of 4: a quarter of the times
            sum(on, comm, std::span(x), t);
            if (comm.rank() != 0) continue;
            seen.insert(x[0]);
            mean[0] += x[0] / count;
            mean[1] += x[2] / count;
        }
    });
    // The mean of two such numbers is 0, 2 or 4, and 2 becomes 0 or 4: of a sum of 0 or 8 the variance is 12.
    CHECK(std::abs(mean[0] - 2) < 4 * std::sqrt(12 / count));
    CHECK(std::abs(mean[1] + 2) < 4 * std::sqrt(12 / count));
    CHECK(seen == std::set<double>{0, 8});
}

// Where rounding loses omega of a vector's square, the sum of vectors that are apart loses 2 omega by way of the
// owners, and (P + 1) / 2 omega around a ring. Of equal vectors each sum lies on the same grid, times the number of
// ranks: what is rounded twice was rounded in part before, and the sum loses omega alone.
TEST_CASE("the variance of sums, by way of the owners and around a ring, of vectors that are apart or equal") {
    for (auto const& [ranks, same] : {std::pair{2, false}, {8, false}, {16, false}, {2, true}, {8, true}}) {
        int const n = ranks;  // as clang++ 14 captures no structured binding
        bool const alike = same;
        two_shot<quantize> how{quantize{127, 0, p_norm::largest}, 3};
        double total = 0, omega = 0;
        std::vector<double> squares(2);
        for (std::size_t const ring : {0u, 1u})
            fibers::run(n, [&](auto& comm) {
                host on;
                how.ring = ring == 1;
                auto sum = make_sum<double>(how, 512 * std::size_t(n));
                for (std::uint64_t t = 0; t < 10; ++t) {
                    vec x, exact(512 * std::size_t(n));
                    for (int r = 0; r < n; ++r)
                        for (std::size_t i = 0; i < exact.size(); ++i) {
                            auto const k = key{t}.child(alike ? 0 : std::uint64_t(r));
                            double const v = std::sqrt(-2 * std::log1p(-k.uniform(2 * i))) *
                                             std::cos(2 * std::numbers::pi * k.uniform(2 * i + 1));
                            exact[i] += v;
                            if (r == comm.rank()) x.push_back(v);
                        }
                    if (comm.rank() == 0 && ring == 0) {
                        vec rounded(512);
                        add_message(on, std::span(rounded), 1.,
                                    compress(how.compressor, vec(x.begin(), x.begin() + 512), key{t}));
                        double lost = 0, whole = 0;
                        for (std::size_t i = 0; i < 512; ++i)
                            lost += (rounded[i] - x[i]) * (rounded[i] - x[i]), whole += x[i] * x[i];
                        omega += lost / whole / 10;
                        for (double const v : exact) total += v * v;
                    }
                    sum(on, comm, std::span(x), t);
                    if (comm.rank() == 0)
                        for (std::size_t i = 0; i < x.size(); ++i)
                            squares[ring] += (x[i] - exact[i]) * (x[i] - exact[i]);
                }
            });
        CAPTURE(n);
        CAPTURE(alike);
        double const owners = squares[0] / total / omega, around = squares[1] / total / omega;
        CAPTURE(owners);
        CAPTURE(around);
        CHECK(std::abs(owners / (alike ? 1 : 2) - 1) < .1);
        CHECK(std::abs(around / (alike ? 1 : (n + 1) / 2.) - 1) < .1);
    }
}

TEST_CASE("sent in full, it is a sum, and refuses what sums do") {
    recipe<float> const in_full = [](std::size_t) { return two_shot{identity{}}; };
    sums_are_right<float>(in_full, {1, 2, 3, 4, 5, 8, 9, 33}, {sv::shape::spread, sv::shape::all});
    refuses(in_full, true);
    recipe<float> const around = [](std::size_t) { return two_shot{identity{}, 0, true}; };
    sums_are_right<float>(around, {1, 2, 3, 4, 5, 8, 9, 33}, {sv::shape::spread, sv::shape::all});
    refuses(around, true);
}

TEST_CASE("where a sum in a piece of a long part overflows is known to all") {
    std::size_t const d = 21 * detail::in_pieces<float>::longest + 3;
    for (int const n : {2, 3}) {
        auto bad = whole_numbers<float>(d, n);
        for (auto& x : bad) x[d - 2] = x[70] = 3e38f;
        for (auto const& thrown : sv::errors_on(n, [&](any_communicator& comm) {
                 summing<float> collective(comm, in_bf16, d);
                 collective(comm, bad[std::size_t(comm.rank())], 2);
             }))
            CHECK(thrown == "round 2: the ranks' sum is not finite at coordinate 70");
    }
}

TEST_CASE("beyond the largest number of a format: refused on all ranks, and the next round is held") {
    for (auto const& [format, most, beyond] :
         {std::tuple{"fp16", 65504.f, 65520.f}, {"float8_e4m3", 448.f, 449.f}, {"bf16", 3.3895314e38f, 3.396e38f}}) {
        auto const text = std::string("two_shot(") + format + ")";
        std::vector<std::string> errors(3);
        sv::run_over<threads>(3, [&, most = most, beyond = beyond](any_communicator& comm) {
            host on;
            auto sum = make_sum<float>(parse_collective<float>(text), 9);
            std::vector<float> x(9, 1);
            if (comm.rank() == 1) x[8] = -beyond;
            errors[std::size_t(comm.rank())] = error_of<compression_error>([&] { sum(on, comm, std::span(x), 4); });
            x.assign(9, comm.rank() == 1 ? most : 0);
            sum(on, comm, std::span(x), 5);
            CHECK(x[0] > most / 2);
            // The mean of the largest numbers is one of the format, whatever their sum.
            if (most < 1e38f) {
                x.assign(9, most);
                sum(on, comm, std::span(x), 6);
                CHECK(x == std::vector<float>(9, 3 * most));
            }
        });
        CHECK(errors == std::vector<std::string>(3, errors[0]));
        CHECK(errors[0].find(std::string("rank 1, round 4: ") + format + ": coordinate 8 is beyond ") == 0);
    }
}

TEST_CASE("beside which reductions it may stand") {
    auto const why = [](std::string const& text) {
        std::string thrown;
        threads::run(2, [&](auto& comm) {
            std::string const mine = error_of<error>([&] {
                std::vector<float> x(4, 1);
                reducer reduce(parse_reduction(text), comm, x);
                reduce(x);
                if (x != std::vector<float>(4, 1)) throw error("not the mean");
            });
            if (comm.rank() == 0) thrown = mine;
        });
        return thrown;
    };
    for (auto const* const text :
         {"plain(over=two_shot)", "unproved(plain(over=two_shot(bf16)))", "plain(over=two_shot(quantize(1, p=inf)))",
          "error_feedback(identity, over=two_shot(scaled_sign))", "unproved(error_feedback(identity, over=two_shot))",
          "unproved(plain(bf16, over=two_shot))"})
        CHECK(why(text) == "nothing");
    CHECK(why("plain(over=two_shot(bf16))") ==
          "plain{..., two_shot(bf16)}: its rounding is biased: take another, or unproved{...}");
    CHECK(why("error_feedback(identity, over=two_shot(quantize(1)))").find("not known to be contractive") !=
          std::string::npos);
    for (auto const* const text :
         {"shifted(quantize(7), over=two_shot(quantize(7)))", "ef21_shift(top_k(2), over=two_shot)"})
        CHECK(why(text).find("gives back what it leaves out") != std::string::npos);
}

TEST_CASE("sums and means in one call") {
    threads::run(3, [](auto& comm) {
        std::vector<double> x{1.0, 2.00001, 3.0};
        mean(comm, x, two_shot{bf16{}});
        if (x != std::vector<double>{1, 2, 3}) throw error("not the mean");
        sum(comm, x, two_shot<>{});
        std::vector<int> whole{1, 1000};
        auto const refused = error_of<argument_error>([&] { sum(comm, whole, two_shot{bf16{}}); });
        if (refused != "the collective two_shot(bf16) rounds, and integers are added up exactly") throw error(refused);
        sum(comm, x, any_collective<double>(two_shot<>{}));
        if (x != std::vector<double>{9, 18, 27}) throw error("not the sum");
    });
}
