// SPDX-License-Identifier: Apache-2.0
// Sizes by the formula need no message; where sizes are dear, few are asked for and the level is near the best.
#include "laconic/compress/formula_sizes.hpp"

#include "support/everything.hpp"

using namespace laconic;

static_assert(!formula_sizes::are_dear());

TEST_CASE("what papers count, without a message") {
    CHECK(formula_sizes{}([] { return 7.5; }, []() -> int { throw argument_error("written"); }) == 7.5);
    CHECK(best_level{top_k{1}, message_cost{}, formula_sizes{}} == best_level{top_k{1}});
}

namespace {

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

}  // namespace

TEST_CASE("sizes of one's own") {
    std::vector<float> const x{4, 3, 2, 1};
    best_level const mine{top_k{1}, message_cost{}, with_a_header{}};
    CHECK(compress(mine, x, key{1}).level == 2);
    CHECK(compress(best_level{top_k{1}, affine_cost(1, 100)}, x, key{1}).level == 2);
    CHECK(compress(best_level{top_k{1}}, x, key{1}).level == 1);
    CHECK(to_string(mine) == "best_level(top_k, sizes=with_a_header)");
}

namespace {

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

}  // namespace

TEST_CASE("where they are dear, few levels are looked at, sorted or not, and the best is missed by 1 / 128 at most") {
    std::vector<double> x;
    for (int i = 1; i <= 20000; ++i) x.push_back(std::pow(i, -0.6));
    host on;
    std::vector<double> room, q(x.size());
    levels<top_k<>>::kept(on, top_k{1}, std::span<double const>(x), room, std::span<double>(q));
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
