// SPDX-License-Identifier: Apache-2.0
// A compressor behind any_compressor gives the same messages and constants, keeps the laws and nests in pipes.
#include "laconic/any/compressor.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"
#include "support/laws/pipelines.hpp"

static_assert(Compressor<any_compressor<>> && Compressor<any_compressor<float>, float>);
static_assert(!std::is_constructible_v<any_compressor<>, int> && !std::is_convertible_v<int, any_compressor<>>);
static_assert(std::is_nothrow_move_constructible_v<any_message<double, host>>);
static_assert(!std::is_copy_constructible_v<any_message<double, host>>);

void says_the_same_as(auto const& c) {
    using T = float;
    any_compressor<T> const any = c;
    CAPTURE(to_string(c));
    CHECK(to_string(any) == to_string(c));
    host on, elsewhere;
    detail::message_of<std::remove_cvref_t<decltype(c)>, T> m;
    any_message<T, host> n;
    for (auto const& x : laws::vectors<T>()) {
        c(on, std::span<T const>(x), key{4}, m);
        any(elsewhere, std::span<T const>(x), key{4}, n);
        CHECK(laws::written(n) == laws::written(m));
        CHECK(wire::bits(n) == wire::bits(m));
        CHECK(laws::decoded<any_message<T, host>, T>(n) == laws::decoded<decltype(m), T>(m));
    }
    for (std::size_t d : {1u, 8u, 100u}) {
        if constexpr (requires { c.omega(d); }) {
            CHECK(any.unbiased());
            CHECK(any.omega(d) == c.omega(d));
        } else {
            CHECK_FALSE(any.unbiased());
            CHECK_THROWS_AS(any.omega(d), theory_error);
        }
        if constexpr (requires { c.delta(d); }) {
            CHECK(any.contractive());
            auto const delta_or_0 = [&](auto const& which) {
                try {
                    return which.delta(d);
                } catch (theory_error const&) {
                    return 0.0;
                }
            };
            CHECK(delta_or_0(any) == delta_or_0(c));
        } else {
            CHECK_FALSE(any.contractive());
            CHECK_THROWS_AS(any.delta(d), theory_error);
        }
    }
}

TEST_CASE("types and their pipes give the same messages and constants behind any_compressor") {
    says_the_same_as(identity{});
    says_the_same_as(quantize{8, 4, p_norm::largest});
    says_the_same_as(natural{});
    says_the_same_as(scaled_sign{5});
    says_the_same_as(dense{} | natural{});
    says_the_same_as(top_k{3} | quantize{1});
    says_the_same_as(top_k{0.25} | scaled_sign{});
    says_the_same_as(rand_k{0.5} | natural{});
    says_the_same_as(bernoulli{0.5} | quantize{4});
    says_the_same_as(lazy{0.5});
    says_the_same_as(threshold{0.25} | top_k{2} | quantize{4});
}

TEST_CASE("any_compressor keeps the laws, at the end of a pipe too") {
    auto const run = []<class T = double>(auto const& c, T = {}) {
        auto const all = laws::vectors<T>();
        for (std::size_t i = 0; i < all.size(); ++i) laws::obeys_the_laws(c, all[i], all[(i + 1) % all.size()], key{i});
        std::size_t const passed = laws::survives_small_changes(c, laws::noise<T>(9, 1), key{1});
        CHECK(passed > 10);
    };
    run(any_compressor<float>(threshold{0.5} | quantize{4}), 0.0f);
    run(any_compressor<>(top_k{0.5} | natural{}));
    run(any_compressor<>(top_k{0.5} | any_compressor<>(quantize{4})));
    run(any_compressor<>(threshold{0.25} | any_compressor<>(rand_k{0.5} | any_compressor<>(quantize{4}))));
    run(any_compressor<>(rand_k{0.5} | any_compressor<>(threshold{0.25} | natural{})));
}

TEST_CASE("constants that are not there: the error names the piece that lacks them") {
    using any = any_compressor<>;
    CHECK_THROWS_WITH_AS(any(top_k{3}).omega(10), "top_k(3) is biased: it has no omega", theory_error);
    CHECK_THROWS_WITH_AS(any(natural{}).delta(10), "natural is not known to be contractive: it has no delta",
                         theory_error);
    CHECK_THROWS_WITH_AS(any(threshold{1}).delta(10), doctest::Contains("threshold(1)"), theory_error);
    // Inside a pipe the rest is asked, through the pieces before it.
    CHECK_THROWS_WITH_AS((rand_k{3} | any(top_k{2})).omega(10), doctest::Contains("top_k(2) is biased"), theory_error);
    CHECK_THROWS_WITH_AS((top_k{3} | any(threshold{1})).delta(10), doctest::Contains("threshold(1)"), theory_error);
    CHECK_THROWS_WITH_AS((top_k{16} | any(quantize{1})).delta(64), doctest::Contains("quantize(1) has omega = 3"),
                         theory_error);
    CHECK_FALSE(any(rand_k{3} | any(top_k{2})).unbiased());
    CHECK_FALSE(any(top_k{3} | any(threshold{1})).contractive());
    CHECK_FALSE(any(dense{} | any(natural{})).contractive());
    CHECK(any(dense{} | any(natural{})).unbiased());
    CHECK(any(dense{} | any(top_k{3})).contractive());
    CHECK(any(top_k{3} | any(natural{})).delta(10) == (top_k{3} | natural{}).delta(10));
}

TEST_CASE("a value: copies are equal, equality is that of the text") {
    any_compressor<> const a = top_k{3} | natural{};
    any_compressor<> b = a;
    CHECK(a == b);
    b = quantize{4};
    CHECK(a != b);
    CHECK(to_string(b) == "quantize(4)");
    CHECK(any_compressor<>() == any_compressor<>(identity{}));
    CHECK_THROWS_AS(a.check(2), argument_error);
    any_compressor<> tuned = top_k{3}, other = tuned;
    tuned.own<top_k<>>().k = 5;  // as a level tunes it: its copies stay as they are
    CHECK(tuned == any_compressor<>(top_k{5}));
    CHECK(other == any_compressor<>(top_k{3}));
}

TEST_CASE("the message: nothing at first, then whatever it was last asked to be") {
    any_message<double, host> m, other;
    CHECK(m == other);
    CHECK(m.dimension() == 0);
    CHECK(wire::bits(m) == 0);
    auto& p = m.as<messages::full_vector<double, host>>();
    p.values = {1, 2};
    CHECK(&m.as<messages::full_vector<double, host>>() == &p);  // the memory is kept
    CHECK(m != other);
    other.as<messages::powers<double, host>>().codes = {0, 0};
    CHECK(m != other);
    other.as<messages::full_vector<double, host>>().values = {1, 2};
    CHECK(m == other);
    CHECK(m.as<messages::powers<double, host>>().codes.empty());
    any_message<double, host> const moved = std::move(other);
    CHECK(moved.dimension() == 2);
}
