// SPDX-License-Identifier: Apache-2.0
// The guaranteed share bounds what the best level keeps, and worst vectors reach it for affine costs.
#include "laconic/compress/guaranteed_share.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

// The share that the best level for the cost keeps of x.
template <class C, class T>
double share_of_best(C const& c, message_cost const& cost, std::vector<T> const& x) {
    host on;
    typename best_level<C>::template memory_for<T> work;
    auto const level = best_level{c, cost}.level_for(on, std::span<T const>(x), work);
    return laws::kept_by_levels(c, x)[level - 1];
}

// What vectors of many shapes keep, at least: equal, falling like a power or geometrically, a few large ones.
template <class C>
double least_of_many(C const& c, message_cost const& cost, std::size_t d) {
    double least = 1;
    for (double const power : {0., .25, .5, .6, .75, 1., 2.})
        for (double const factor : {1., .999, .9})
            for (double const first : {1., 3., 10.})
                for (std::uint64_t noise = 0; noise < 2; ++noise) {
                    std::vector<double> x(d);
                    for (std::size_t j = 0; j < d; ++j)
                        x[j] = std::pow(double(j + 1), -power) * std::pow(factor, double(j)) *
                               (noise ? key{noise}.uniform(j) : 1);
                    x[0] *= first;
                    least = std::min(least, share_of_best(c, cost, x));
                }
    return least;
}

// 66 bits a number of four, and 330 for the message: 1, 2, 3 and 4 cost 6, 7, 8 and 9 of 66 bits.
TEST_CASE("by hand: four numbers") {
    CHECK(detail::guaranteed_share<double>(top_k{1}, affine_cost(1, 330), 4) == doctest::Approx(6. / 9));
    CHECK(detail::guaranteed_share<double>(top_k{1}, affine_cost(1, 330), 4, .5) == doctest::Approx(3. / 9));
    CHECK(detail::guaranteed_share<double>(top_k{1}, message_cost{}, 4) == doctest::Approx(1. / 4));
    CHECK(detail::guaranteed_share<double>(top_k{1}, affine_cost(0, 1), 4) == 1);
    CHECK(detail::guaranteed_share<double>(top_k{1}, affine_cost(0, 0), 4) == 1. / 4);  // the lowest level is chosen
    CHECK(detail::guaranteed_share<double>(top_blocks{1, 2}, affine_cost(1, 129), 4) == doctest::Approx(258. / 387));
    CHECK(detail::guaranteed_share<double>(top_k{1}, message_cost{}, 0) == 1);
    // A packet for each number; a packet for two of the four.
    CHECK(detail::guaranteed_share<double>(top_k{1}, packet_cost(8.25, 0, 0), 4) == doctest::Approx(1. / 4));
    CHECK(detail::guaranteed_share<double>(top_k{1}, packet_cost(16.5, 0, 0), 4) == doctest::Approx(1. / 2));
}

// Constant costs: U_k = sqrt k, whose increments have the squares sum (sqrt k - sqrt(k - 1))^2.
TEST_CASE("signs by hand: two numbers, and how slowly the share of many goes down") {
    double const two = 1 + (std::sqrt(2.) - 1) * (std::sqrt(2.) - 1);
    CHECK(detail::guaranteed_share<double>(top_k{1} | scaled_sign{}, affine_cost(0, 1), 2) == doctest::Approx(1 / two));
    CHECK(detail::guaranteed_share<double>(top_k{1} | scaled_sign{}, affine_cost(0, 1), 1) == doctest::Approx(1));
    CHECK(detail::guaranteed_share<double>(top_k{1} | scaled_sign{}, affine_cost(0, 0), 8) == 1. / 8);
    double const many = detail::guaranteed_share<double>(top_k{1} | scaled_sign{}, affine_cost(0, 1), 100000);
    CHECK(many == doctest::Approx(1 / (1.1 + std::log(1e5) / 4)).epsilon(.05).scale(0));
}

TEST_CASE("it is reached for affine costs, up to rounding, and none keeps less") {
    for (std::size_t const d : {2u, 7u, 64u, 300u})
        for (double const fixed : {0., 100., 1e4, 1e7}) {
            CAPTURE(d);
            CAPTURE(fixed);
            auto const cost = affine_cost(1, fixed);
            double const share = detail::guaranteed_share<double>(top_k{1}, cost, d);
            CHECK(least_of_many(top_k{1}, cost, d) >= share * (1 - 1e-9));
            // One that is worth a little more alone than with any of the others, which are equal.
            std::vector<double> x(d, std::sqrt((1 - share) / double(d - 1)));
            x[0] = std::sqrt(share * (1 + 1e-9));
            CHECK(share_of_best(top_k{1}, cost, x) == doctest::Approx(share).epsilon(1e-8));

            auto const signs = top_k{1} | scaled_sign{};
            double const kept = detail::guaranteed_share<double>(signs, cost, d);
            CHECK(kept >= 1. / double(d));
            CHECK(least_of_many(signs, cost, d) >= kept * (1 - 1e-9));
            // The increments of U, the first a little larger.
            double const first = cost(levels<top_k<scaled_sign>>::bits<double>(signs, 1, d));
            for (std::size_t k = 1; k <= d; ++k) {
                auto const u = [&](double n) {
                    return n == 0 ? 0 : std::sqrt(n * (first + (n - 1) * (double(detail::width_of(d)) + 1)));
                };
                x[k - 1] = (u(double(k)) - u(double(k - 1))) * (k == 1 ? 1 + 1e-9 : 1);
            }
            CHECK(share_of_best(signs, cost, x) == doctest::Approx(kept).epsilon(1e-6));
        }
}

TEST_CASE("packets and buckets: a bound, far above that of the lowest level") {
    for (auto const& cost : {packet_cost(512, 64, 64), packet_cost(20, 4, 10), packet_cost(100, 0, 0)})
        for (std::size_t const d : {50u, 400u}) {
            auto const holds = [&](auto const& c) {
                double const share = detail::guaranteed_share<double>(c, cost, d);
                CHECK(least_of_many(c, cost, d) >= share * (1 - 1e-9));
                return share * double(d);
            };
            CHECK(holds(top_k{1}) > 1.4);
            CHECK(holds(top_k{1} | scaled_sign{}) > 2);
            CHECK(holds(top_k{1} | scaled_sign{16}) > 1);
            holds(top_blocks{1, 8});
            holds(proportional<identity, true>{1});
            holds(damped_quantize{1, 16});
        }
    // Ten packets hold 975 of 42 bits each, and cost 5824 bytes where one costs 640.
    CHECK(detail::guaranteed_share<float>(top_k{1}, packet_cost(512, 64, 64), 1024) ==
          doctest::Approx(975. / 1024 * 640 / 5824));
}
