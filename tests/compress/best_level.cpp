// SPDX-License-Identifier: Apache-2.0
// best_level takes the level that keeps most per cost, or 99 % of that without a sort, on both backends.
#include "laconic/compress/best_level.hpp"

#include <numbers>

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

static_assert(Compressor<best_level<top_k<>>> && Compressor<best_level<top_k<>>, float>);
static_assert(Contractive<best_level<top_k<>>>);

template <class T, class C>
std::size_t level_of(C const& c, std::vector<T> const& x) {
    host on;
    typename C::template memory_for<T> work;
    return c.level_for(on, std::span<T const>(x), work);
}
std::vector<float> const descending{4, 3, 2, 1};

// 1024 numbers j^-0.7.
std::vector<float> power_law() {
    std::vector<float> x;
    for (int j = 1; j <= 1024; ++j) x.push_back(static_cast<float>(std::pow(j, -0.7)) * (j % 3 ? 1.f : -1.f));
    return x;
}

using laws::kept_by_levels;
using laws::share_kept;

// What a level is worth, for the best of all: of C, and where it is found by the histogram.
template <class C, class Cost, class T>
double found_of_best(C const& c, Cost const& cost, std::vector<T> const& x, std::vector<double> const& q) {
    auto const worth = [&](std::size_t k) { return q[k - 1] / cost(levels<C>::template bits<T>(c, k, x.size())); };
    double most = 0;
    for (std::size_t k = 1; k <= q.size(); ++k) most = std::max(most, worth(k));
    return worth(level_of(best_level{c, cost, formula_sizes{}, 0}, x)) / most;
}
// The least of that for many costs.
template <class C, class T>
void is_found(C const& c, std::vector<T> const& x) {
    auto const q = kept_by_levels(c, x);
    for (auto const& cost : {message_cost{}, affine_cost(1, 640), affine_cost(1, 1e6), affine_cost(0, 1),
                             packet_cost(512, 64, 64), packet_cost(1460, 40, 60), packet_cost(20, 4, 1)}) {
        CAPTURE(to_string(best_level{c, cost}));
        double const found = found_of_best(c, cost, x, q);
        CHECK(found >= 0.99);
        CHECK(found <= 1);
    }
}
template <class T>
std::vector<std::vector<T>> long_vectors(std::size_t d) {
    auto const made = [d](auto f) {
        std::vector<T> x;
        for (std::size_t i = 0; i < d; ++i) x.push_back(static_cast<T>(f(i)));
        return x;
    };
    auto const u = [](std::size_t i) { return key{7}.uniform(2 * i) + 0x1p-33; };
    auto const v = [](std::size_t i) { return key{7}.uniform(2 * i + 1); };
    auto const gaussian = [&](std::size_t i) {
        return std::sqrt(-2 * std::log(u(i))) * std::cos(2 * std::numbers::pi * v(i));
    };
    return {made(gaussian),
            made([](std::size_t i) { return std::pow(double(i + 1), -0.7); }),
            made([&](std::size_t i) { return std::tan(std::numbers::pi * (v(i) - 0.5)); }),
            made([&](std::size_t i) { return std::exp(3 * gaussian(i)); }),
            made([&](std::size_t i) { return i % 10 == 0 ? gaussian(i) : 0; }),
            made([&](std::size_t i) { return i % 100 == 0 ? gaussian(i) : 0; }),
            made([](std::size_t) { return -1.5; }),
            made([](std::size_t i) { return i == 5 ? 1 : 0x1p-20; }),
            made([](std::size_t i) { return i == 5 ? 1 : 0x1p-7; }),
            made([](std::size_t i) { return (i < 3 ? 1 : 0x1p-12) * std::numeric_limits<T>::max(); }),
            made([](std::size_t i) { return double(std::numeric_limits<T>::denorm_min()) * double(i % 9); })};
}

TEST_CASE("as much of the largest as pays: the known answers for (4, 3, 2, 1)") {
    auto const level = [](double per_bit, double fixed) {
        return level_of(best_level{top_k{1}, affine_cost(per_bit, fixed)}, descending);
    };
    CHECK(level(1, 0) == 1);
    CHECK(level(1, 64) == 2);
    CHECK(level(1, 640) == 3);
    CHECK(level(0, 1) == 4);
    CHECK(level_of(best_level{top_k{1} | scaled_sign{}}, descending) == 3);
}

TEST_CASE("and for 1024 numbers that fall like a power") {
    auto const x = power_law();
    auto const small = packet_cost(512, 64, 64), large = packet_cost(1460, 40, 60);
    CHECK(level_of(best_level{top_k{1}, small}, x) == 97);  // what fits into one packet
    CHECK(level_of(best_level{top_k{1}, large}, x) == 278);
    CHECK(level_of(best_level{top_k{1} | scaled_sign{}, small}, x) == 8);
    CHECK(level_of(best_level{top_k{1} | scaled_sign{}, large}, x) == 8);
    CHECK(level_of(best_level{top_k{1}}, x) == 1);
    CHECK(level_of(best_level{top_k{1} | scaled_sign{}}, x) == 2);
    CHECK(share_kept(top_k{97}, x) == doctest::Approx(.917257).epsilon(1e-5));
    CHECK(share_kept(top_k{8} | scaled_sign{}, x) == doctest::Approx(.536163).epsilon(1e-5));
}

TEST_CASE("what signs keep is not unimodal: all of (10, 1, ..., 1) are sent where the level costs next to nothing") {
    std::vector<double> x(200, 1.0);
    x[0] = 10;
    CHECK(level_of(best_level{top_k{1} | scaled_sign{}, affine_cost(1, 1e4)}, x) == 200);
    CHECK(level_of(best_level{top_k{1} | scaled_sign{}}, x) == 1);
}

TEST_CASE_TEMPLATE("the level is the best of all, and is sent", T, float, double) {
    auto const cost = packet_cost(16, 8, 4);
    for (auto const& x : laws::theory_vectors<T>()) {
        best_level const c{top_k{1}, cost};
        auto const m = compress(c, x, key{3});
        auto const worth = [&](std::size_t k) {
            return share_kept(top_k{k}, x) / cost(levels<top_k<>>::bits<T>({}, k, x.size()));
        };
        for (std::size_t k = 1; k <= x.size(); ++k) CHECK(worth(m.level) >= worth(k) * (1 - 1e-6));
        CHECK(m.inside == compress(top_k{m.level}, x, key{3}));
        CHECK(bits(m) <= 8 * ((bits(m.inside) + detail::width_of(x.size()) + 7) / 8));
    }
}

TEST_CASE("its delta is that of the lowest level, holds, and is reached") {
    for (auto const& x : laws::theory_vectors<double>()) {
        best_level const c{top_k{1}, affine_cost(1, 100)};
        CHECK(c.delta(x.size()) == 1. / double(x.size()));
        CHECK(share_kept(c, x) >= c.delta(x.size()) * (1 - 1e-12));
    }
    CHECK(share_kept(best_level{top_k{1}}, std::vector<double>(16, -1.5)) == 1. / 16);
    best_level const b{top_blocks{9, 4}};
    CHECK(b.delta(15) == 1. / 4);
    CHECK(b.delta(0) == 1);
    CHECK(share_kept(b, std::vector<double>(16, -1.5)) == 1. / 4);
}

TEST_CASE("nothing to choose: no numbers, one number, zeros, a cost that is the same whatever is sent") {
    best_level const c{top_k{1}};
    CHECK(level_of(c, std::vector<double>{}) == 0);
    CHECK(level_of(c, std::vector<double>{5}) == 1);
    CHECK(level_of(c, std::vector<double>(7)) == 1);
    CHECK(bits(compress(c, std::vector<double>{}, key{1})) == 0);
    CHECK(level_of(best_level{top_k{1}, affine_cost(0, 0)}, descending) == 1);  // each is worth as much: the lowest
    CHECK(level_of(best_level{top_k{1}, affine_cost(0, 1)}, std::vector<double>{0, 4, 0, -2, 0}) == 2);
    CHECK(level_of(best_level{top_blocks{1, 256}}, descending) == 1);
}

TEST_CASE("huge and tiny numbers have levels, and what is not finite is refused") {
    double const largest = std::numeric_limits<double>::max(), tiny = std::numeric_limits<double>::denorm_min();
    best_level const c{top_k{1}, affine_cost(1, 640)};
    CHECK(level_of(c, std::vector<double>{largest, -largest / 2, largest / 4, 1}) == 2);
    CHECK(level_of(c, std::vector<double>{8 * tiny, -4 * tiny, 2 * tiny, 0}) == 2);
    CHECK(level_of(best_level{top_blocks{1, 1}, affine_cost(1, 640)},
                   std::vector<double>{8 * tiny, -4 * tiny, 2 * tiny, 0}) == 2);
    for (double const bad : {std::nan(""), HUGE_VAL, -HUGE_VAL})
        CHECK_THROWS_AS(laws::unchecked(c, std::vector<double>{1, bad, 2}), argument_error);
}

TEST_CASE_TEMPLATE("without a sort, the level is worth 99 % of the best", T, float, double) {
    for (auto const& x : long_vectors<T>(5000)) {
        is_found(top_k{1}, x);
        is_found(top_k{1} | scaled_sign{}, x);
        is_found(top_k{1} | scaled_sign{64}, x);
        is_found(proportional<identity, true>{}, x);
    }
    for (auto const& x : laws::theory_vectors<T>()) is_found(top_k{1} | scaled_sign{}, x);
}

// One price up to so many bits, and another above.
struct two_prices {
    double bits = 0, more = 1;
    double operator()(double b) const { return b <= bits ? 1 : more; }
    bool operator==(two_prices const&) const = default;
    friend std::string to_string(two_prices const&) { return "two_prices"; }
};

TEST_CASE("and no more than 99.3 % in the worst case: at the ends of two bins") {
    // Eight numbers at the lower end of their bin count for too much, all others at the upper end of theirs for too
    // little, so that the eight seem to be worth (1 + 2^-8)^2 too much.
    std::vector<double> x(100000, 0.5 * (1 + 0x1p-8) * (1 - 0x1p-40));
    for (std::size_t i = 0; i < 8; ++i) x[i * 1000] = 1;
    double const bits = levels<top_k<>>::bits<double>({}, 8, x.size());
    auto const q = kept_by_levels(top_k{1}, x);
    double least = 1;
    for (double r = 0.988; r < 1.005; r += 0.0005) {
        two_prices const cost{bits, r * q.back() / q[7]};
        CAPTURE(to_string(cost));
        double const found = found_of_best(top_k{1}, cost, x, q);
        CHECK(found >= best_level{top_k{1}, cost}.worth(x.size()));
        least = std::min(least, found);
    }
    CHECK(least < 0.993);
}

TEST_CASE("many numbers that are next to nothing are worth something together") {
    std::vector<float> x(1 << 17, 0x1p-20f);  // an eighth of the largest
    x[77] = 1;
    using C = proportional<identity, true>;
    auto const q = kept_by_levels(C{}, x);
    CHECK(q[0] == doctest::Approx(1 / 1.125 / 1.125).epsilon(1e-4));
    for (double const fixed : {0., 1e3, 1e6, 1e9}) CHECK(found_of_best(C{}, affine_cost(1, fixed), x, q) >= 0.99);
}

TEST_CASE("long vectors are not sorted") {
    host on;
    best_level<top_k<>>::memory_for<float> work;
    best_level const c{top_k{1}, affine_cost(1, 640), formula_sizes{}, 3};
    CHECK(c.level_for(on, std::span<float const>(std::vector<float>(4)), work) == 1);
    auto const* const counts = work.magnitudes.counts.data();
    CHECK(c.level_for(on, std::span<float const>(descending), work) == 3);
    CHECK(work.magnitudes.counts.data() == counts);  // room was there with the zeros
    CHECK(work.room.capacity() == 0);
    CHECK((c.worth(3) == 1 && c.worth(4) == 0.99));
    CHECK(best_level{top_blocks{1, 4}, message_cost{}, formula_sizes{}, 0}.worth(100) == 1);  // is sorted
    CHECK(c.level_for(on, std::span<float const>(descending).first(3), work) == 3);
    CHECK(work.room.size() == 3);
    std::vector<float> const bad{1, 2, NAN, 3};
    CHECK_THROWS_AS(c.level_for(on, std::span<float const>(bad), work), argument_error);
}

TEST_CASE("parameters that suit no vector are refused before anything is counted") {
    for (std::size_t const d : {0u, 1u, 7u}) {
        CHECK_NOTHROW(best_level{top_k{1}}.check(d));
        CHECK_NOTHROW((best_level{top_blocks{1, 4}}.check(d)));
        CHECK_THROWS_AS((best_level{top_blocks{1, 0}}.check(d)), argument_error);
    }
    CHECK_THROWS_AS((compress(best_level{top_blocks{1, 0}}, descending, key{1})), argument_error);
}

TEST_CASE("two are equal where their family and their cost are") {
    CHECK(best_level{top_k{1}} == best_level{top_k{7}});
    CHECK(best_level{top_k{1}} != best_level{top_k{1}, affine_cost(1, 1)});
    CHECK(best_level{top_k{1}, message_cost{}, formula_sizes{}, 3} != best_level{top_k{1}});
    CHECK(to_string(best_level{top_k{1}, message_cost{}, formula_sizes{}, 3}) == "best_level(top_k, sort_up_to=3)");
    CHECK(to_string(best_level{top_blocks{3, 64}, packet_cost(512, 64, 60)}) ==
          "best_level(top_blocks(block=64), cost=packets(512, 64, 60))");
}

static_assert(!formula_sizes::are_dear());

TEST_CASE("what papers count, without a message") {
    CHECK(formula_sizes{}([] { return 7.5; }, []() -> int { throw argument_error("written"); }) == 7.5);
    CHECK(best_level{top_k{1}, message_cost{}, formula_sizes{}} == best_level{top_k{1}});
}

// As if each message took 100 bits more than it does by the formula.
struct with_a_header {
    template <class Formula, class Said>
    double operator()(Formula formula, Said) const {
        return formula() + 100;
    }
    static constexpr bool are_dear() { return false; }
    bool operator==(with_a_header const&) const = default;
    friend std::string to_string(with_a_header) { return "with_a_header"; }
};

TEST_CASE("sizes of one's own") {
    std::vector<float> const x{4, 3, 2, 1};
    best_level const mine{top_k{1}, message_cost{}, with_a_header{}};
    CHECK(compress(mine, x, key{1}).level == 2);
    CHECK(compress(best_level{top_k{1}, affine_cost(1, 100)}, x, key{1}).level == 2);
    CHECK(compress(best_level{top_k{1}}, x, key{1}).level == 1);
    CHECK(to_string(mine) == "best_level(top_k, sizes=with_a_header)");
}

// As papers count, as if that took a compression, and how often it is asked.
struct dear_formula {
    static inline int asked = 0;
    template <class Formula, class Said>
    double operator()(Formula formula, Said) const {
        return ++asked, formula();
    }
    static constexpr bool are_dear() { return true; }
    bool operator==(dear_formula const&) const = default;
    friend std::string to_string(dear_formula) { return "dear"; }
};

TEST_CASE("where they are dear, few levels are looked at, sorted or not, and the best is missed by 1 / 128 at most") {
    std::vector<double> x;
    for (int i = 1; i <= 20000; ++i) x.push_back(std::pow(i, -0.6));
    auto const q = laws::kept_by_levels(top_k{1}, x);
    for (auto const& cost : {message_cost{}, affine_cost(1, 640), affine_cost(1, 1e5), packet_cost(512, 64, 60)})
        for (std::size_t const sort_up_to : {0, 20000}) {
            best_level const chosen{top_k{1}, cost, dear_formula{}, sort_up_to};
            CAPTURE(to_string(chosen));
            dear_formula::asked = 0;
            auto const level = compress(chosen, x, key{1}).level;
            CHECK(dear_formula::asked <= 100);
            CHECK(dear_formula::asked >= 5);
            auto const worth = [&](std::size_t k) {
                return q[k - 1] / cost(levels<top_k<>>::bits<double>({}, k, 20000));
            };
            double most = 0;
            for (std::size_t k = 1; k <= x.size(); ++k) most = std::max(most, worth(k));
            CHECK(worth(level) >= most / (1 + 0x1p-7) / (sort_up_to == 0 ? 1.0079 : 1));
        }
}
