// SPDX-License-Identifier: Apache-2.0
// one_of sends what the chosen compressor would, and best_level chooses the better of both families.
#include "laconic/compress/one_of.hpp"

#include "support/bits.hpp"
#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using vec = std::vector<double>;

static_assert(Compressor<one_of<top_k<>, top_k<scaled_sign>>>);
static_assert(Contractive<one_of<top_k<>, top_k<scaled_sign>>> && !Unbiased<one_of<top_k<>, top_k<scaled_sign>>>);
static_assert(Unbiased<one_of<rand_k<>, identity>> && !Contractive<one_of<rand_k<>, top_k<>>>);
static_assert(Levelled<one_of<top_k<>, top_k<scaled_sign>>> &&
              Levelled<one_of<top_blocks<>, one_of<top_k<>, top_k<scaled_sign>>>>);
static_assert(detail::has_curve<one_of<top_k<>, top_k<scaled_sign>>> &&
              !detail::has_curve<one_of<top_k<>, top_blocks<>>>);

// Magnitudes j^-power, of either sign.
vec power_law(std::size_t d, double power) {
    vec x;
    for (std::size_t j = 1; j <= d; ++j) x.push_back(std::pow(double(j), -power) * (j % 3 ? 1 : -1));
    return x;
}

// What the levels of C are worth for x, one after the other.
template <class C, class Cost>
vec worths(C const& c, Cost const& cost, vec const& x) {
    auto q = laws::kept_by_levels(c, x);
    for (std::size_t level = 1; level <= q.size(); ++level)
        q[level - 1] /= cost(levels<C>::template bits<double>(c, level, x.size()));
    return q;
}
std::size_t lowest_best(vec const& worth) {
    return static_cast<std::size_t>(std::max_element(worth.begin(), worth.end()) - worth.begin()) + 1;
}
template <class C>
std::size_t level_of(C const& c, vec const& x) {
    host on;
    typename C::template memory_for<double> work;
    return c.level_for(on, std::span<double const>(x), work);
}

one_of const by_value_or_sign{top_k{1}, top_k{1} | scaled_sign{}};

TEST_CASE("it says what the one says that it is") {
    host on;
    vec const x{4, -3, 2, 1};
    detail::message_of<one_of<top_k<>, top_k<scaled_sign>>> sent, received;
    for (bool const is_first : {true, false, false, true}) {
        one_of c{top_k{3}, top_k{2} | scaled_sign{}, is_first};
        c(on, std::span<double const>(x), key{1}, sent);
        CHECK(bits(sent) ==
              (is_first ? bits(compress(top_k{3}, x, key{1})) : bits(compress(top_k{2} | scaled_sign{}, x, key{1}))));
        vec out(4);
        add_message(on, std::span<double>(out), 1.0, sent);
        CHECK(out == (is_first ? vec{4, -3, 2, 0} : vec{3.5, -3.5, 0, 0}));
        c.blank(on, 4, key{1}, received);
        received = by_hand::read_into(received, by_hand::written(sent), c);
        CHECK(received == sent);
    }
}

TEST_CASE("its constants are those of the worse one, whichever it is now") {
    for (bool const is_first : {true, false}) {
        CHECK(one_of{top_k{3}, top_k{1}, is_first}.delta(10) == doctest::Approx(.1));
        CHECK(one_of{rand_k{5}, identity{}, is_first}.omega(10) == 1);
        CHECK_THROWS_AS((one_of{top_k{3}, top_k{11}, is_first}.check(10)), argument_error);
        CHECK_THROWS_AS((one_of{top_k{11}, top_k{3}, is_first}.check(10)), argument_error);
    }
    CHECK(to_string(one_of{top_k{3}, top_k{1} | scaled_sign{}}) == "one_of(top_k(3), top_k(1) | scaled_sign, first)");
    CHECK(one_of{top_k{3}, top_k{1}} != one_of{top_k{3}, top_k{1}, false});
}

TEST_CASE("its levels are those of the first, then of the second") {
    using both = levels<one_of<top_k<>, top_k<scaled_sign>>>;
    CHECK(both::count(by_value_or_sign, 7) == 14);
    CHECK(both::at(by_value_or_sign, 7, 7) == one_of{top_k{7}, top_k{1} | scaled_sign{}});
    CHECK(both::at(by_value_or_sign, 8, 7) == one_of{top_k{7}, top_k{1} | scaled_sign{}, false});
    CHECK(both::at(by_value_or_sign, 14, 7) == one_of{top_k{7}, top_k{7} | scaled_sign{}, false});
    CHECK(both::at(by_value_or_sign, 0, 0) == one_of{top_k{0}, top_k{0} | scaled_sign{}});
    CHECK(both::bits<double>(by_value_or_sign, 7, 7) == 7 * (64 + 3));
    CHECK(both::bits<double>(by_value_or_sign, 14, 7) == 64 + 7 * (1 + 3));
    CHECK(both::family(by_value_or_sign) == "top_k, top_k | scaled_sign");
    CHECK(to_string(best_level{by_value_or_sign}) == "best_level(top_k, top_k | scaled_sign)");
    CHECK(best_level{by_value_or_sign}.delta(9) == doctest::Approx(1. / 9));
}

// (4, 3, 2, 1): in full they keep (16, 25, 29, 30) / 30, by sign (16, 24.5, 27, 25) / 30. A message of no price but its
// own is worth most where it says all; where bits are dear, three signs beat one number.
TEST_CASE("of both families best_level takes the better one") {
    vec const x{4, 3, 2, 1};
    auto const level = [&](double per_bit, double fixed) {
        return level_of(best_level{by_value_or_sign, affine_cost(per_bit, fixed)}, x);
    };
    CHECK(level(1, 0) == 4 + 3);
    CHECK(level(0, 1) == 4);
    CHECK(level(1, 1e4) == 4);
    CHECK(level(1, 500) == 4 + 3);
    for (double const power : {0., .3, .7, 2.})
        for (auto const& cost : {message_cost{}, affine_cost(1, 300), affine_cost(1, 1e4), affine_cost(1, 1e6),
                                 packet_cost(16, 16, 0), packet_cost(128, 40, 20)}) {
            auto const v = power_law(200, power);
            CAPTURE(power);
            CAPTURE(to_string(cost));
            CHECK(level_of(best_level{by_value_or_sign, cost}, v) == lowest_best(worths(by_value_or_sign, cost, v)));
            // Three families, of which one has blocks.
            one_of const three{top_blocks{1, 16}, by_value_or_sign};
            CHECK(level_of(best_level{three, cost}, v) == lowest_best(worths(three, cost, v)));
        }
}

TEST_CASE("and without a sort one that is worth 99 % of the best") {
    bool by_value = false, by_draw = false, by_sign = false;
    for (double const power : {0., .3, .7, 2.})
        for (auto const& cost : {message_cost{}, affine_cost(1, 3000), affine_cost(1, 1e7), packet_cost(512, 64, 64)}) {
            auto const v = power_law(3000, power);
            CAPTURE(power);
            CAPTURE(to_string(cost));
            auto const chosen = [&](auto const& c) {
                auto const worth = worths(c, cost, v);
                auto const level = level_of(best_level{c, cost, formula_sizes{}, 0}, v);
                CHECK(worth[level - 1] >= .99 * *std::max_element(worth.begin(), worth.end()));
                return level;
            };
            by_value |= chosen(by_value_or_sign) <= 3000;
            auto const level = chosen(one_of{proportional<identity, true>{1}, top_k{1} | scaled_sign{}});
            by_draw |= level <= 3000;
            by_sign |= level > 3000;
        }
    CHECK(by_value);
    CHECK(by_draw);
    CHECK(by_sign);
}

TEST_CASE("the memory of a shorter vector is none of a longer one's") {
    host on;
    best_level const c{by_value_or_sign, affine_cost(1, 3000), formula_sizes{}, 100};
    decltype(c)::memory_for<double> work;
    for (std::size_t const d : {60u, 3000u, 50u, 200u}) {
        auto const x = power_law(d, .3);
        CHECK(c.level_for(on, std::span<double const>(x), work) == level_of(c, x));
    }
}

TEST_CASE("sizes as written are those of both families") {
    auto const x = power_law(60, .4);
    for (std::size_t const sort_up_to : {std::size_t{0}, std::size_t{100}})
        for (auto const& cost : {message_cost{}, affine_cost(1, 200), affine_cost(1, 1e5), packet_cost(16, 8, 0)}) {
            best_level const c{by_value_or_sign, cost, message_sizes{}, sort_up_to};
            auto const m = compress(c, x, key{1});
            auto const q = laws::kept_by_levels(by_value_or_sign, x);
            auto const worth = [&](std::size_t level) {
                host on;
                auto forced = m;
                forced.level = level;
                levels<one_of<top_k<>, top_k<scaled_sign>>>::at(by_value_or_sign, level, 60)(
                    on, std::span<double const>(x), key{1}, forced.inside);
                return q[level - 1] / cost(double(bits(forced)));
            };
            double most = 0;
            for (std::size_t level = 1; level <= 120; ++level) most = std::max(most, worth(level));
            CHECK(worth(m.level) >= .98 * most);
        }
}

TEST_CASE("what it keeps at least is what its parts do") {
    for (auto const& cost : {message_cost{}, affine_cost(1, 640), packet_cost(16, 16, 0)})
        for (std::size_t const d : {1u, 2u, 30u}) {
            double const share = detail::guaranteed_share<double>(by_value_or_sign, cost, d);
            CHECK(share >= std::min(detail::guaranteed_share<double>(top_k{1}, cost, d),
                                    detail::guaranteed_share<double>(top_k{1} | scaled_sign{}, cost, d)) *
                               (1 - 1e-12));
            for (double const power : {0., .2, .5, 1., 3.}) {
                auto const x = power_law(d, power);
                auto const sent = compress(best_level{by_value_or_sign, cost}, x, key{1});
                vec error = x;
                host on;
                add_message(on, std::span<double>(error), -1.0, sent);
                double left = 0, all = 0;
                for (std::size_t i = 0; i < d; ++i) left += error[i] * error[i], all += x[i] * x[i];
                CHECK(1 - left / all >= share * (1 - 1e-12));
            }
        }
    CHECK(detail::guaranteed_share<double>(by_value_or_sign, message_cost{}, 0) == 1);
}
