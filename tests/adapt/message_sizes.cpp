// SPDX-License-Identifier: Apache-2.0
// Sizes as written fill packets better than the formula, and choose levels worth at least 97 % of the best.
#include "laconic/adapt/message_sizes.hpp"

#include "support/data.hpp"
#include "support/everything.hpp"
#include "support/laws/messages.hpp"

static_assert(Compressor<best_level<top_k<>, message_cost, message_sizes>>);

// The bits of x at each level, with those of the level itself.
template <class C, class T>
std::vector<double> written_sizes(C const& c, std::vector<T> const& x) {
    best_level const at_any{c};
    detail::message_of<decltype(at_any), T> m;
    host on;
    at_any.blank(on, x.size(), key{1}, m);
    std::vector<double> sizes;
    for (m.level = 1; m.level <= x.size(); ++m.level) {
        auto chosen = c;
        chosen.k = m.level;
        chosen(on, std::span<T const>(x), key{1}, m.inside);
        sizes.push_back(static_cast<double>(bits(m)));
        if (m.level % 50 == 1) CHECK(sizes.back() == 8. * double(laws::written(m).size()));
    }
    return sizes;
}
template <class C, class T>
std::vector<double> kept(C const& c, std::vector<T> const& x) {
    host on;
    std::vector<T> room;
    std::vector<double> q(x.size());
    levels<C>::kept(on, c, std::span<T const>(x), room, std::span<double>(q));
    return q;
}
std::vector<float> drawn(std::size_t d, double tail) {
    std::vector<float> x;
    for (std::size_t i = 0; i < d; ++i) {
        double const u = key{3}.uniform(i);
        x.push_back(static_cast<float>(std::copysign(std::pow(std::abs(2 * u - 1) + 1e-3, -tail), u - 0.5)));
    }
    return x;
}
std::vector<message_cost> const costs{
    {}, affine_cost(1, 640), affine_cost(1, 1e5), affine_cost(0, 1), packet_cost(512, 64, 60), packet_cost(40, 8, 4)};

TEST_CASE("what is written of (8, 4, 2, 1), against the formula") {
    message_sizes const written{}, formula{false};
    CHECK((written.are_dear() && !formula.are_dear()));
    auto const m = compress(top_k{2}, std::vector<float>{8, 4, 2, 1}, key{1});
    auto const of = [&](message_sizes s) { return s([] { return 68.; }, [&]() -> auto const& { return m; }); };
    CHECK(of(formula) == 68);
    CHECK(of(written) == 72);  // 2 x 32 bits, and a byte for which two of four
    CHECK(to_string(best_level{top_k{1}, affine_cost(1, 2), written}) ==
          "best_level(top_k, cost=affine(1, 2), sizes=written)");
    CHECK(to_string(best_level{top_k{1}, affine_cost(1, 2), formula}) == "best_level(top_k, cost=affine(1, 2))");
}

TEST_CASE("a packet is filled with what is written, where the formula leaves room") {
    std::vector<float> x;
    for (int j = 1; j <= 1024; ++j) x.push_back(static_cast<float>(std::pow(j, -0.7)) * (j % 3 ? 1.f : -1.f));
    auto const cost = packet_cost(512, 64, 64);
    auto const by_formula = compress(best_level{top_k{1}, cost}, x, key{1});
    auto const as_written = compress(best_level{top_k{1}, cost, message_sizes{}}, x, key{1});
    CHECK(by_formula.level == 97);
    CHECK(as_written.level > 105);
    CHECK(bits(by_formula) < 8 * 512 - 300);
    CHECK(bits(as_written) <= 8 * 512);
    CHECK(bits(as_written) > 8 * 512 - 100);
    CHECK(as_written.inside == compress(top_k{as_written.level}, x, key{1}));
}

// What levels are worth that are chosen by what is written, for the best of all: at least; and those by the formula.
struct least_of_best {
    double sorted = 1, by_histogram = 1, by_formula = 1;
    template <class C>
    void of(C const& c, std::vector<float> const& x) {
        auto const q = kept(c, x), sizes = written_sizes(c, x);
        for (auto const& cost : costs) {
            auto const worth = [&](std::size_t k) { return q[k - 1] / cost(sizes[k - 1]); };
            double most = 0;
            for (std::size_t k = 1; k <= x.size(); ++k) most = std::max(most, worth(k));
            auto const include = [&](double& least, auto const& chosen) {
                least = std::min(least, worth(compress(chosen, x, key{1}).level) / most);
            };
            include(sorted, best_level{c, cost, message_sizes{}});
            include(by_histogram, best_level{c, cost, message_sizes{}, 0});
            include(by_formula, best_level{c, cost});
        }
    }
};

TEST_CASE_TEMPLATE("the chosen level is worth 98.5 % of the best of all, or 97 % by the histogram", C, top_k<>,
                   top_k<scaled_sign>) {
    least_of_best least;
    for (double const tail : {0., 0.5, 1., 2.}) least.of(C{}, drawn(400, tail));
    CHECK(least.sorted > 0.985);
    CHECK(least.by_histogram > 0.97);
    CHECK(least.by_formula < 0.9);
}

TEST_CASE_TEMPLATE("so it is for a gradient: that of logistic regression, at 0, on two thousand genes", C, top_k<>,
                   top_k<scaled_sign>, proportional<identity, true>) {
    auto const data = test_data("colon_norm");
    if (!data) return;
    std::vector<float> gradient(data->features());
    for (std::size_t r = 0; r < data->samples(); ++r)
        for (dataset<double>::matrix::InnerIterator i(data->rows, static_cast<std::ptrdiff_t>(r)); i; ++i)
            gradient[static_cast<std::size_t>(i.col())] -= static_cast<float>(data->labels[r] * i.value());
    least_of_best least;
    least.of(C{}, gradient);
    CHECK(least.sorted > 0.985);
    CHECK(least.by_histogram > 0.97);
    CHECK(least.by_formula < 0.95);
    MESSAGE("of the best of all levels: " << least.sorted << " sorted, " << least.by_histogram << " by the histogram, "
                                          << least.by_formula << " by the formula");
}
