// SPDX-License-Identifier: Apache-2.0
// ADIANA comes to known answers; beside diana it takes more steps or fewer, as the condition number is small or large.
#include "laconic/method/adiana.hpp"

#include "laconic/compress/rand_k.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/transport/served.hpp"
#include "support/bowl_runs.hpp"
#include "support/everything.hpp"

namespace {

using bowls::vec;

// The draws of a round, even or odd, in which w moves, or not, to y.
auto of_round(bool odd, bool w_moves, double p, int n) {
    std::uint64_t round = odd;
    while ((round_context::of(key{1}, round, 0, n).shared.child(2).uniform(0) < p) != w_moves) round += 2;
    return [=](int rank) { return round_context::of(key{1}, round, rank, n); };
}

// Of whose calls two in turn keep the same coordinates, as the two messages of a step do.
struct twice_cyclic {
    int rank = 0;
    mutable std::size_t calls = 0;

    template <Scalar T, class B>
    using message = messages::full_vector<T, B>;
    void check(std::size_t) const {}
    void blank(auto&, std::size_t size, key, auto& m) const { messages::begin_message(m, size); }
    void operator()(auto& on, auto x, key from, auto& m) const { bowls::cyclic{2, rank, calls++ / 2}(on, x, from, m); }
    double omega(std::size_t d) const { return double(d) / 2 - 1; }
    bool operator==(twice_cyclic const&) const = default;
    friend std::string to_string(twice_cyclic const&) { return "twice_cyclic"; }
};

void comes_to(overrides const& given, std::initializer_list<bowls::known> all) {
    problem const p{bowls::d, bowls::ranks, 0, .5, 1.5};
    using method = adiana<twice_cyclic>;
    std::vector<decltype(method{}.compose<double, host>(p))> r;
    std::vector<bowls::bowl> f;
    for (int i = 0; i < bowls::ranks; ++i) {
        r.push_back(method{{i}, given}.compose<double, host>(p));
        r.back().feedback.start(bowls::d);
        f.push_back({i});
    }
    CHECK(to_string(r[0].estimator).ends_with("p=0.125)"));
    std::vector<vec> y(bowls::ranks, vec(bowls::d, 1));
    std::size_t step = 0;
    for (auto const& k : all) {
        for (; step < k.round; ++step) {
            bowls::round_by_hand(r, f, y, of_round(false, false, .125, bowls::ranks));
            bowls::round_by_hand(r, f, y, of_round(true, step % 8 == 7, .125, bowls::ranks));
        }
        CAPTURE(step);
        bowls::check(y[0], k.x);
        CHECK(y[3] == y[0]);
    }
}

// sum_j c_j (x_j - b_j)^2 / 2 with curvatures from 1 / kappa to 1, and a b that differs among ranks.
struct valley {
    double kappa;
    std::uint64_t rank;
    static constexpr std::size_t d = 10;

    double b(std::size_t j) const { return 4 * key{5}.child(rank).uniform(j) - 2; }
    std::size_t dimension() const { return d; }
    double value(std::span<double const>) const { return 0; }
    void gradient(std::span<double const> x, std::span<double> g) const {
        for (std::size_t j = 0; j < d; ++j) g[j] = std::pow(kappa, double(j) / 9 - 1) * (x[j] - b(j));
    }
};
// The steps until |x - x*| is a thousandth of |x*|, of so many rounds each, from 0 on.
template <class M>
int steps_to_optimum(M const& method, double kappa, std::uint64_t rounds_of_a_step) {
    constexpr int n = 10;
    problem const p{valley::d, n, 1, 1 / kappa, 1, 1, 1 / kappa};
    std::vector r(n, method.template compose<double, host>(p));
    std::vector<valley> f;
    vec best(valley::d);
    for (std::size_t i = 0; i < n; ++i) {
        r[i].feedback.start(valley::d);
        f.push_back({kappa, i});
        for (std::size_t j = 0; j < valley::d; ++j) best[j] += f[i].b(j) / n;
    }
    std::vector<vec> x(n, vec(valley::d));
    for (std::uint64_t round = 0; round < 200000; ++round) {
        bowls::round_by_hand(r, f, x, [&](int rank) { return round_context::of(key{2}, round, rank, n); });
        double off = 0, size = 0;
        for (std::size_t j = 0; j < valley::d; ++j) off += std::pow(x[0][j] - best[j], 2), size += best[j] * best[j];
        if (off < 1e-6 * size) return int((round + rounds_of_a_step) / rounds_of_a_step);
    }
    return -1;
}

}  // namespace

TEST_CASE("ADIANA comes to known answers, by its theorem's step and by one that is given") {
    comes_to({}, {{1, {.993950737847, 1, 7.95524098641}},
                  {10, {.970980902843, .943721244519, 7.4892615159}},
                  {400, {.331471774136, -.408650157536, 2.57899015501}}});
    comes_to({.step = .2}, {{10, {.366056121141, -.41702838505, 2.84462626207}},
                            {400, {.330357142857, -.408333333333, 2.57869293823}}});
}

TEST_CASE("over a server that answers in full ADIANA takes the same course") {
    auto const r = adiana{rand_k{2}, {.step = .2}}.compose<double, host>(problem{bowls::d, bowls::ranks, 0, .5, 1.5});
    auto const direct = bowls::course(r, 40, 3), served_in_full = bowls::course(r.with_over(served<identity>{}), 40, 3);
    for (std::size_t k = 0; k < direct.size(); ++k)
        for (std::size_t j = 0; j < bowls::d; ++j)
            REQUIRE(served_in_full[k][j] == doctest::Approx(direct[k][j]).epsilon(1e-9));
}

TEST_CASE("beside diana ADIANA takes more steps, but for functions of a large condition number" *
          doctest::test_suite("slow")) {
    adiana const accelerated{rand_k{2}};
    diana const plain{rand_k{2}};
    for (double const kappa : {100., 1000., 10000.}) {
        CAPTURE(kappa);
        int const one = steps_to_optimum(accelerated, kappa, 2), other = steps_to_optimum(plain, kappa, 1);
        CAPTURE(one);
        CAPTURE(other);
        CHECK(one > 0);
        CHECK(other > 0);
        CHECK((one < other) == (kappa > 5000));
    }
}
