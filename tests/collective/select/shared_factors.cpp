// SPDX-License-Identifier: Apache-2.0
// `arc_top_k` and `shared_factors` agree on a support or on factors before they add up: known answers, what remains,
// what travels, what is refused, and that error feedback over them is exact on data that differ from rank to rank.
// Also tests arc_top_k.hpp.
#include "laconic/collective/select/shared_factors.hpp"

#include "laconic/backend/reference.hpp"
#include "laconic/collective/select/arc_top_k.hpp"
#include "laconic/comm/fibers.hpp"
#include "support/error_of.hpp"
#include "support/everything.hpp"

static_assert(Collective<arc_top_k> && Collective<arc_top_k, float> && Collective<shared_factors> &&
              Collective<shared_factors, float>);

using vec = std::vector<double>;

// Matrices of 4 x 4 on four ranks: f_i(W) = 1/2 sum A (W - T_i)^2.
double curvature(std::size_t at) { return 1 + double((at / 4 + at % 4) % 3) / 2; }
double target(std::size_t i, std::size_t at) {
    auto const r = at / 4, c = at % 4;
    return (double((3 * r + 5 * c) % 7) - 3) / 2 + double((r + 1) * (c + 1)) / 16 +
           (double(i) - 1.5) * (double((r + 2 * c) % 3) - 1) / 4;
}
vec best() {
    vec all(16);
    for (std::size_t at = 0; at < 16; ++at)
        for (std::size_t i = 0; i < 4; ++i) all[at] += target(i, at) / 4;
    return all;
}
double distance(vec const& x, vec const& y) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
    return std::sqrt(sum);
}
// Number (j, t) of the known answers' V, or of their Q less 1/4.
double entry(std::size_t j, std::size_t t) { return (double((3 * j + 5 * t) % 7) - 3) / 2; }

// The collectives, started with the known answers' matrices.
struct known_rows : arc_top_k {
    template <Scalar T, OnHost B>
    struct adder : arc_top_k::adder<T, B> {
        using arc_top_k::adder<T, B>::adder;
        void operator()(B& on, PointToPoint auto& comm, std::span<T> x, sum_round const& round) {
            vec v;  // rolled by as many rows as there were rounds; within [-1, 1]
            for (std::size_t t = 0; t < 2; ++t)
                for (std::size_t j = 0; j < 4; ++j) v.push_back(entry((j + 4 - (round.number + 1) % 4) % 4, t) / 2);
            this->sum_with(on, comm, x, v, round);
        }
    };
    friend std::string to_string(known_rows const&) { return "known_rows"; }
};
struct known_factors : shared_factors {
    template <Scalar T, OnHost B>
    struct adder : shared_factors::adder<T, B> {
        adder(known_factors const& how, std::size_t d, position_code p) : shared_factors::adder<T, B>(how, d, p) {
            vec q;
            for (std::size_t t = 0; t < how.rank; ++t)
                for (std::size_t j = 0; j < 4; ++j) q.push_back(entry(j, t) + .25);
            this->start_from(q);
        }
    };
    friend std::string to_string(known_factors const&) { return "known_factors"; }
};

// W after each round on each rank, from a reducer with this reduction that is given `step` times the gradients; and the
// mean residual's distance to that of the sums.
template <class B = host, class How>
std::vector<vec> iterates(How const& how, double step, int rounds, bool step_is_in_gradient) {
    std::vector<vec> at(std::size_t(rounds) + 1);
    std::array<vec, 4> last;
    fibers::run(4, [&](auto& comm) {
        auto const i = std::size_t(comm.rank());
        vec x(16), g(16);
        reducer reduce(how, comm, g, {}, B{});
        for (int round = 1; round <= rounds; ++round) {
            for (std::size_t j = 0; j < 16; ++j)
                g[j] = (step_is_in_gradient ? step : 1) * curvature(j) * (x[j] - target(i, j));
            reduce(g);
            for (std::size_t j = 0; j < 16; ++j) x[j] -= (step_is_in_gradient ? 1 : step) * g[j];
            if (i == 0) at[std::size_t(round)] = x;
        }
        last[i] = x;
    });
    for (auto const& x : last) CHECK(x == last[0]);
    return at;
}
void check_answer(vec const& x, double first, double last, double squares, double relative = 1e-11) {
    CHECK(x[0] == doctest::Approx(first).epsilon(relative));
    CHECK(x.back() == doctest::Approx(last).epsilon(relative));
    double sum = 0;
    for (auto const v : x) sum += v * v;
    CHECK(sum == doctest::Approx(squares).epsilon(relative));
}

TEST_CASE_TEMPLATE("known answers: error feedback over two of four rows", B, host, reference) {
    known_rows over;
    over.rows = 4, over.k = 2, over.sketch = 2;
    auto const at = iterates<B>(error_feedback{identity{}, 1, over}, .3, 100, true);
    check_answer(at[1], 0, .3, 2.69797851563);
    check_answer(at[10], -1.42278, .98208, 18.129940521);
    check_answer(at[100], -1.4375, 1, 18.328125);
}

TEST_CASE_TEMPLATE("known answers: PowerSGD", B, host, reference) {
    known_factors over;
    over.rows = 4;
    auto const one = iterates<B>(error_feedback{identity{}, 1, over}, .5, 100, false);
    check_answer(one[1], -.433527126888, .584558812387, 4.92284129778);
    check_answer(one[10], -1.14409457838, .974925252831, 19.6349190933);
    // Roundings grow: by round 100 doubles and numbers of 80 digits have three digits in common. These are of 80.
    check_answer(one[20], -1.4076311311882337, .98237042936895983, 18.823651602938007, 1e-10);
    check_answer(one[40], -1.4214911934410803, 1.0096773138529054, 18.050992826744157, 1e-8);
    CHECK(distance(one[100], best()) < 2e-3);
    over.rank = 2;
    auto const two = iterates<B>(error_feedback{identity{}, 1, over}, .5, 10, false);
    check_answer(two[1], -.754266673839, .528032603665, 8.4149862163);
    check_answer(two[10], -1.4426708474, 1.00312149813, 18.385509045);
}

TEST_CASE_TEMPLATE("known answers: PowerSGD+, whose Q are singular vectors of the sum in every fifth round", B, host,
                   reference) {
    auto const at = iterates<B>(error_feedback{identity{}, 1, shared_factors{4, 1, 5, true}}, .5, 100, false);
    check_answer(at[1], .0641212538147, .821950652335, 6.19948900076);
    check_answer(at[10], -1.41846199783, .566803934766, 19.855662292);
    check_answer(at[100], -1.43713135, 1.000198699, 18.329716, 1e-6);
}

TEST_CASE("on unlike data error feedback over one support ends in the optimum, and over own supports apart from it") {
    auto const mean_distance = [](auto const& how) {
        auto const at = iterates(how, .3, 600, true);
        double sum = 0;
        for (std::size_t round = 301; round <= 600; ++round) sum += distance(at[round], best()) / 300;
        return sum;
    };
    for (std::uint64_t const seed : {0u, 1u, 2u}) {
        CHECK(mean_distance(error_feedback{identity{}, 1, arc_top_k{4, 2, 4, seed}}) < 1e-8);
        CHECK(mean_distance(error_feedback{identity{}, 1, shared_factors{4, 2, 1, false, seed}}) < 1e-8);
    }
    CHECK(mean_distance(error_feedback{top_k{8}}) > .05);  // as many numbers of each
}

// What `rounds` sums of random matrices make of them on all ranks.
template <class T>
struct sums_of {
    std::vector<std::vector<T>> brought, applied, left;
    std::vector<std::uint64_t> bytes;
};
template <class T, class Over>
sums_of<T> summed(Over const& over, int ranks, std::size_t d, T largest = 1) {
    auto const n = std::size_t(ranks);
    sums_of<T> all{
        std::vector(n, std::vector<T>(d)), {}, std::vector(n, std::vector<T>(d)), std::vector<std::uint64_t>(n)};
    for (std::size_t r = 0; r < n; ++r)
        for (std::size_t i = 0; i < d; ++i)
            all.brought[r][i] = largest * ((T(key{3}.child(r).below(i, 2001)) - T(1000)) / T(1000));
    all.applied = all.brought;
    fibers::run(ranks, [&](auto& inner) {
        auto const me = std::size_t(inner.rank());
        metered comm(inner);
        host on;
        auto sum = make_sum<T>(over, d);
        sum(on, comm, std::span(all.applied[me]), 7);
        detail::add_leftover(on, sum, std::span(all.left[me]));
        all.bytes[me] = comm.bytes_sent();
    });
    return all;
}
template <class T, class Over>
void loses_nothing(Over const& over, std::size_t d, T largest = 1) {
    for (int const n : {1, 2, 3, 4, 5}) {
        CAPTURE(n);
        CAPTURE(d);
        CAPTURE(to_string(over));
        auto const all = summed<T>(over, n, d, largest);
        for (auto const& x : all.applied) CHECK(x == all.applied[0]);
        double apart = 0;
        for (std::size_t i = 0; i < d; ++i) {
            double difference = -double(all.applied[0][i]), size = std::abs(difference);
            for (std::size_t r = 0; r < std::size_t(n); ++r) {
                difference += double(all.brought[r][i]) - double(all.left[r][i]);
                size += std::abs(double(all.brought[r][i])) + std::abs(double(all.left[r][i]));
            }
            if (size > 0) apart = std::max(apart, std::abs(difference) / size);
        }
        CHECK(apart < (sizeof(T) == 4 ? 1e-6 : 1e-15));
    }
}

TEST_CASE_TEMPLATE("what is brought = what is applied + what remains, the same bits on all ranks", T, float, double) {
    for (std::size_t const rows : {1u, 2u, 5u, 7u})
        for (std::size_t const cols : {0u, 1u, 3u, 7u, 20u}) {
            loses_nothing<T>(arc_top_k{rows, .4}, rows * cols);
            for (std::size_t const rank : {1u, 2u, 9u})
                for (bool const in_full : {false, true})
                    loses_nothing<T>(shared_factors{rows, rank, 0, in_full}, rows * cols);
        }
    T const most = std::numeric_limits<T>::max() / 8, least = std::numeric_limits<T>::min() * T(1e12);
    for (T const largest : {most, least}) {  // no sum of the schedule leaves the range
        loses_nothing<T>(arc_top_k{5, 2}, 35, largest);
        loses_nothing<T>(shared_factors{5, 2}, 35, largest);
        loses_nothing<T>(shared_factors{5, 2, 0, true}, 35, largest);
    }
    std::size_t const d = 3 * 4001;
    fibers::run(5, [&](auto& comm) {
        host on;
        std::vector<T> x(d, most), y = x;
        auto rows = make_sum<T>(arc_top_k{3, 2}, d);
        rows(on, comm, std::span(x));
        CHECK(x[0] == 5 * most);
        auto factors = make_sum<T>(shared_factors{3}, d);
        factors(on, comm, std::span(y));
        CHECK(double(y[0] / most) == doctest::Approx(5));
        std::fill(y.begin(), y.end(), 2 * most);  // their sum is beyond it
        CHECK(error_of<error>([&] { factors(on, comm, std::span(y), 3); }) ==
              "round 3: the ranks' sum is not finite at coordinate 0");
    });
}

TEST_CASE("the rows that are applied are those of largest norm in the sketch, whole, and the first of equal ones") {
    double worst = 0;
    int wrong = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        vec x(6 * 50), brought;
        for (std::size_t i = 0; i < x.size(); ++i)  // row 4 is twice as long as others
            x[i] = (i / 50 == 4 ? 2. : 1.) * (double(key{seed}.below(i, 2001)) - 1000) / 1000;
        brought = x;
        fibers::run(1, [&](auto& comm) {
            host on;
            auto sum = make_sum<double>(arc_top_k{6, 1, 4, seed}, x.size());
            sum(on, comm, std::span(x), seed);
        });
        for (std::size_t i = 0; i < x.size(); ++i)
            if (x[i] != 0) worst = std::max(worst, std::abs(x[i] - brought[i]));
        wrong += std::any_of(x.begin() + 200, x.begin() + 250, [](double v) { return v != 0; }) ? 0 : 1;
    }
    CHECK(worst == 0);
    // In a sketch of four columns the longest row is among the longest in most of the draws, and not in all.
    CHECK(wrong > 20);
    CHECK(wrong < 160);
    std::set<std::size_t> selected;  // each round draws anew
    fibers::run(1, [&](auto& comm) {
        host on;
        auto sum = make_sum<double>(arc_top_k{6, 1}, 300);
        for (std::uint64_t round = 0; round < 20; ++round) {
            vec x(300);
            for (std::size_t i = 0; i < x.size(); ++i) x[i] = double(key{1}.below(i, 9)) + 1;
            sum(on, comm, std::span(x), round);
            selected.insert(std::size_t(std::find_if(x.begin(), x.end(), [](double v) { return v != 0; }) - x.begin()));
        }
    });
    CHECK(selected.size() > 1);
    auto const equal = summed<double>(arc_top_k{4, 2}, 2, 4, 0.);
    CHECK(equal.applied[0] == vec(4));
    vec ones(8, 1);
    fibers::run(1, [&](auto& comm) {
        host on;
        auto sum = make_sum<double>(arc_top_k{4, 2}, 8);
        sum(on, comm, std::span(ones));
    });
    CHECK(ones == vec{1, 1, 1, 1, 0, 0, 0, 0});
}

TEST_CASE("with a Q that is drawn the sum is contractive on the mean with rank / n, and with in_full it is the best") {
    // An orthogonal matrix attains rank / n for every Q.
    vec x{3, 4, 0, -4, 3, 0, 0, 0, 5};
    auto const error_of_sum = [&](shared_factors const& over) {
        double left = 0;
        fibers::run(2, [&](auto& comm) {
            host on;
            auto sum = make_sum<double>(over, 9);
            vec mine;
            for (std::size_t i = 0; i < 9; ++i) mine.push_back(x[i] / 2 + (comm.rank() == 0 ? 1. : -1.) * double(i));
            sum(on, comm, std::span(mine));
            if (comm.rank() == 0) left = distance(mine, x);
        });
        return left * left / 75;
    };
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CHECK(error_of_sum({3, 1, 0, false, seed}) == doctest::Approx(2. / 3));
        CHECK(error_of_sum({3, 2, 0, false, seed}) == doctest::Approx(1. / 3));
    }
    x = {2, 0, 0, 0, 5, 0, 0, 0, 3};
    CHECK(error_of_sum({3, 1, 0, true}) == doctest::Approx((4 + 9) / 75.));
    CHECK(error_of_sum({3, 2, 0, true}) == doctest::Approx(4 / 75.));
}

TEST_CASE("what travels: a sketch and k rows, two factors, or the matrix in full") {
    for (int const n : {1, 2, 4}) {
        auto const share = 2 * std::uint64_t(n - 1) * 8;  // bytes of a number added up by n = 2^m ranks, times n
        auto const each = std::uint64_t(n);
        CHECK(summed<double>(arc_top_k{16, 4}, n, 16 * 32).bytes ==
              std::vector(std::size_t(n), share * (4 * 16 + 4 * 32) / each));
        CHECK(summed<double>(shared_factors{16, 3}, n, 16 * 32).bytes ==
              std::vector(std::size_t(n), share * 4 * 12 * 3 / each));
        CHECK(summed<double>(shared_factors{16, 3, 0, true}, n, 16 * 32).bytes ==
              std::vector(std::size_t(n), share * 16 * 32 / each));
    }
}

TEST_CASE("zeros, and matrices of lower rank: no number is NaN, and columns that are 0 are drawn anew") {
    for (bool const in_full : {false, true}) {
        std::array<vec, 3> last;
        fibers::run(3, [&](auto& comm) {
            auto const me = std::size_t(comm.rank());
            vec g(20);
            reducer reduce(error_feedback{identity{}, 1, shared_factors{4, 2, 3, in_full}}, comm, g);
            for (int round = 0; round < 5; ++round) reduce(g);
            CHECK(g == vec(20));
            for (std::size_t i = 0; i < 20; ++i) g[i] = double(i % 5) * double(1 + i / 5);  // of rank 1
            vec const x = g;
            reduce(g);
            CHECK(distance(g, x) < 1e-13 * distance(x, vec(20)));
            g = vec(20);
            g[7] = 1;  // something else, in a column that was 0
            for (int round = 0; round < 4; ++round) {
                reduce(g);
                last[me].insert(last[me].end(), g.begin(), g.end());
                g.assign(20, 0);
            }
        });
        vec sum(20);
        for (std::size_t i = 0; i < last[0].size(); ++i) sum[i % 20] += last[0][i];
        vec expected(20);
        expected[7] = 1;
        CHECK(distance(sum, expected) < 1e-9);
        CHECK(last[1] == last[0]);
        CHECK(last[2] == last[0]);
    }
}

TEST_CASE("a step that fails changes nothing on any rank, of layers that were summed before it either") {
    std::array<bool, 3> right{};
    threads::run(3, [&](auto& comm) {
        auto const me = std::size_t(comm.rank());
        std::vector<float> a(20), b(12);
        auto const fill_in = [&](int round) {
            for (std::size_t i = 0; i < a.size(); ++i) a[i] = float(key{me}.child(std::uint64_t(round)).below(i, 100));
            for (std::size_t i = 0; i < b.size(); ++i) b[i] = a[i] - 50;
        };
        reducer reduce(
            [](layer const& l) {
                return error_feedback{identity{}, 1, shared_factors{l.size / 4, 1}};
            },
            comm, layers_of({20, 12}));
        auto const step = [&](int round, bool fails) {
            fill_in(round);
            if (fails && comm.rank() == 1) b[3] = NAN;
            reduce.start(0, a), reduce.start(1, b);
            reduce.finish();
        };
        step(0, false), step(1, false);
        auto const before = reduce.save();
        auto const text = error_of<non_finite_error>([&] { step(2, true); });
        right[me] = text.find("rank 1") != text.npos && reduce.save() == before;
        step(2, false);
        auto const x = a;
        reduce.restore(before);
        step(2, false);
        right[me] = right[me] && a == x;
    });
    CHECK(right == std::array<bool, 3>{true, true, true});
}

TEST_CASE("a layer's rows become those of the matrix where fewer numbers travel so") {
    auto const shaped = [](auto over, std::size_t d, std::size_t rows) { return over.shape(d, rows), over.rows; };
    CHECK(shaped(shared_factors{}, 32 * 8, 32) == 32);
    CHECK(shaped(shared_factors{1, 6}, 32 * 8, 32) == 32);  // 240 numbers in place of 256
    CHECK(shaped(shared_factors{1, 7}, 32 * 8, 32) == 1);
    CHECK(shaped(shared_factors{4}, 32 * 8, 32) == 4);
    CHECK(shaped(shared_factors{}, 32, 1) == 1);
    CHECK(shaped(arc_top_k{}, 32 * 8, 32) == 32);
    CHECK(shaped(arc_top_k{}, 32 * 4, 32) == 1);
    CHECK(shaped(arc_top_k{}, 32, 0) == 1);
    for (bool const chosen_at_run_time : {false, true}) {
        std::uint64_t sent = 0;
        fibers::run(2, [&](auto& comm) {
            error_feedback const how{identity{}, 1, shared_factors{}};
            auto const in = [&](auto const& reduction) {
                std::vector<float> x(32 * 8, 1);
                reducer reduce(reduction, comm, std::vector{layer("", 32 * 8, 32)});
                reduce(x);
                auto const before = reduce.statistics().bytes_sent;
                reduce(x);
                if (comm.rank() == 0) sent = reduce.statistics().bytes_sent - before;
            };
            if (chosen_at_run_time)
                in(any_reduction<float>(how));
            else
                in(how);
        });
        CHECK(sent == 4 * (32 + 8));
    }
}

TEST_CASE("what they refuse") {
    CHECK(error_of<argument_error>([] { make_sum<double>(arc_top_k{3}, 10); }) ==
          "arc_top_k: d = 10 numbers are no matrix of 3 rows");
    CHECK(error_of<argument_error>([] { make_sum<double>(shared_factors{3}, 10); }) ==
          "shared_factors: d = 10 numbers are no matrix of 3 rows");
    CHECK(error_of<argument_error>([] { make_sum<double>(shared_factors{1, 0}, 10); }) != "nothing");
    CHECK(error_of<argument_error>([] { make_sum<double>(arc_top_k{2, 3}, 10); }) != "nothing");
    threads::run(2, [](auto& comm) {
        std::vector<float> x(8);
        auto const why = error_of<argument_error>([&] { reducer(plain{identity{}, shared_factors{2}}, comm, x); });
        if (why.find("gives back what it leaves out") == why.npos) throw error(why);
    });
}
