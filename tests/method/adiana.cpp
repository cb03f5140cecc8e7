// SPDX-License-Identifier: Apache-2.0
// ADIANA: beside diana it takes more steps or fewer, as the condition number is small or large. methods_known.cpp has
// its known answers.
#include "laconic/method/adiana.hpp"

#include "laconic/compress/rand_k.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/transport/served.hpp"
#include "support/bowl_runs.hpp"
#include "support/everything.hpp"

namespace {

using bowls::vec;

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
