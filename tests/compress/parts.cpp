// SPDX-License-Identifier: Apache-2.0
// Each part is compressed alone under its own key, and omega and delta are those of the worst part.
// scaled_down makes an unbiased compressor contractive with delta 1 / (1 + omega), which rand_k attains.
#include "laconic/compress/parts.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"
#include "support/laws/pipelines.hpp"

using vec = std::vector<double>;
using any = any_compressor<>;

static_assert(Compressor<parts<identity>> && Compressor<parts<identity>, float>);
static_assert(Unbiased<parts<identity>> && Contractive<parts<identity>>);

static_assert(Compressor<parts<any>> && Compressor<parts<low_rank<std::span<float const>>>, float>);
static_assert(Unbiased<parts<natural>> && !Contractive<parts<natural>>);
static_assert(Contractive<parts<top_k<>>> && !Unbiased<parts<top_k<>>>);

template <class T>
std::vector<std::vector<T>> sevens() {
    T const tiny = std::numeric_limits<T>::denorm_min(), huge = std::numeric_limits<T>::max() / 256;
    return {laws::noise<T>(7, 3),           laws::noise<T>(7, 4, 12), std::vector<T>(7, 0),
            std::vector<T>(7, T(-2.5)),     {0, 0, 0, 1, 0, 0, 0},    {tiny, -tiny, 0, 5 * tiny, 0, tiny, 3},
            {huge, 0, -huge, 1, 2, 3, huge}};
}

TEST_CASE_TEMPLATE("parts keep the laws on both backends, whatever they are", T, float, double) {
    std::size_t passed = 0;
    for (auto const& text : laws::in_parts()) {
        auto const c = parse_compressor<T>(text);
        CHECK(to_string(c) == text);
        auto const all = sevens<T>();
        for (std::size_t i = 0; i < all.size(); ++i) laws::obeys_the_laws(c, all[i], all[(i + 1) % all.size()], key{i});
        passed += laws::survives_small_changes(c, all[0], key{9});
        passed += laws::survives_small_changes(c, all[2], key{9});
    }
    CHECK(passed > 500);
    laws::obeys_the_laws(parts<any_compressor<T>>{}, std::vector<T>{}, std::vector<T>{}, key{1});
}

TEST_CASE("part i says what its compressor says alone, under child i of the key") {
    auto const x = laws::noise<double>(12, 5);
    parts<any> const c{{4, rand_k{2}}, {0, natural{}}, {5, quantize{3}}, {3, rand_k{2} | natural{}}};
    for (std::uint64_t k = 0; k < 20; ++k) {
        auto const m = compress(c, x, key{k});
        std::size_t begin = 0;
        for (std::size_t i = 0; i < c.pieces.size(); ++i) {
            vec const own(x.begin() + long(begin), x.begin() + long(begin + c.pieces[i].length));
            auto const alone = compress(c.pieces[i].compressor, own, key{k}.child(i));
            CHECK(m.each[i] == alone);
            begin += own.size();
        }
    }
    // One part: the same bytes as without.
    CHECK(laws::written(compress(parts<rand_k<>>{{12, rand_k{3}}}, x, key{2})) ==
          laws::written(compress(rand_k{3}, x, key{2}.child(0))));
}

TEST_CASE("omega is the largest, reached where everything is in that part") {
    parts<rand_k<>> const c{{4, rand_k{2}}, {0, rand_k{1}}, {5, rand_k{1}}};
    CHECK(c.omega(9) == 4);
    CHECK(parts<rand_k<>>{}.omega(0) == 0);
    vec worst(9, 0.0), best(9, 0.0);
    for (std::size_t i = 0; i < 9; ++i) (i < 4 ? best : worst)[i] = 1.0 + double(i);
    int const n = laws::trials;
    laws::is_unbiased_about<double>(c, worst, key{3}, n);
    laws::is_unbiased_about<double>(c, laws::noise<double>(9, 8), key{4}, n);
    auto const reached = laws::moments_of<double>(c, worst, n, key{5}),
               elsewhere = laws::moments_of<double>(c, best, n, key{6});
    CHECK(std::abs(reached.error - 4 * laws::energy(worst)) <= 5 * std::sqrt(reached.error_variance / n));
    CHECK(std::abs(elsewhere.error - laws::energy(best)) <= 5 * std::sqrt(elsewhere.error_variance / n) + 1e-9);
}

TEST_CASE("delta is the least, reached where everything is in that part") {
    parts<any> const c{{4, top_k{2}}, {6, top_k{1}}, {2, identity{}}};
    CHECK(c.delta(12) == doctest::Approx(1.0 / 6));
    CHECK(parts<any>{}.delta(0) == 1);
    vec worst(12, 0.0);
    for (std::size_t i = 4; i < 10; ++i) worst[i] = i % 2 ? 3 : -3;
    CHECK(laws::moments_of<double>(c, worst, 1, key{1}).error == doctest::Approx(5.0 / 6 * laws::energy(worst)));
    for (std::uint64_t k = 0; k < 50; ++k) {
        auto const x = laws::noise<double>(12, k, 2);
        CHECK(laws::moments_of<double>(c, x, 1, key{1}).error <= (1 - c.delta(12)) * laws::energy(x) * (1 + 1e-15));
    }
    CHECK(parts<low_rank<>>{{12, low_rank{3, 1}}, {4, low_rank{1, 1}}}.delta(16) == doctest::Approx(1.0 / 3));
    // An unbiased part loses omega |x|^2.
    CHECK(parts<any>{{4, top_k{3}}, {6, natural{}}}.delta(10) == 0.75);
    CHECK(parts<any>{{4, identity{}}, {6, natural{}}}.delta(10) == doctest::Approx(0.875));
}

TEST_CASE("a constant that a part lacks, and which part it is") {
    parts<any> const c{{2, threshold{1}}, {3, top_k{1}}};
    CHECK_THROWS_WITH_AS(static_cast<void>(c.omega(5)), doctest::Contains("threshold(1) is biased"), theory_error);
    CHECK_THROWS_AS(static_cast<void>(c.delta(5)), theory_error);
    CHECK_THROWS_WITH_AS(static_cast<void>((parts<any>{{5, rand_k{1}}}.delta(5))), doctest::Contains("omega = 4 >= 1"),
                         theory_error);
}

TEST_CASE("lengths that do not add up, and parts that do not suit theirs") {
    parts<any> const c{{4, top_k{3}}, {6, low_rank{4, 1}}};
    char const* const why = "parts: 2 of 10 numbers in all, where the vector has d = 11";
    CHECK_THROWS_WITH_AS(c.check(11), why, argument_error);
    CHECK_THROWS_WITH_AS(static_cast<void>(c.delta(11)), why, argument_error);
    CHECK_THROWS_WITH_AS(compress(parts<any>{{4, identity{}}}, vec(3), key{1}),
                         "parts: 1 of 4 numbers in all, where the vector has d = 3", argument_error);
    CHECK_THROWS_WITH_AS(c.check(10), "low_rank: d = 6 numbers are no matrix of 4 rows", argument_error);
    CHECK_THROWS_AS(parts<any>{}.check(1), argument_error);
    std::size_t const most = std::numeric_limits<std::size_t>::max();
    CHECK_THROWS_AS((parts<identity>{{most, {}}, {3, {}}}.check(2)), argument_error);  // no sum goes round
    CHECK_NOTHROW((parts<identity>{{1, {}}, {1, {}}}.check(2)));
    host on;
    detail::message_of<parts<identity>, double> m;
    vec const x(3, 1.0);
    CHECK_THROWS_AS((parts<identity>{{2, {}}}(on, std::span<double const>(x), key{1}, m)), argument_error);
}

TEST_CASE("written as a list, compared by all of it") {
    parts<any> const c{{6, low_rank{2, 1}}, {3, top_k{1} | natural{}}, {0, identity{}}};
    CHECK(to_string(c) == "parts(6, low_rank(rows=2, rank=1), 3, top_k(1) | natural, 0, identity)");
    CHECK(to_string(parts<identity>{}) == "parts");
    laws::as_written<double>(to_string(c));
    laws::as_written<double>("parts");
    CHECK(c == parts<any>(c.pieces));
    CHECK(c != parts<any>{{6, low_rank{2, 1}}, {3, top_k{1}}, {0, identity{}}});
    CHECK(c != parts<any>{{6, low_rank{2, 1}}, {3, top_k{1} | natural{}}});
}

static_assert(Compressor<scaled_down<natural>> && Contractive<scaled_down<natural>> && !Unbiased<scaled_down<natural>>);

TEST_CASE("its delta is 1 / (1 + omega)") {
    CHECK(scaled_down{rand_k{1}}.delta(4) == 0.25);
    CHECK(scaled_down{natural{}}.delta(10) == doctest::Approx(8.0 / 9));
}

// E|C / (1 + w) - x|^2 = (1 - 1 / (1 + w)) |x|^2 where E|C - x|^2 = w |x|^2 exactly, as for rand_k.
TEST_CASE("delta is attained by rand_k, and a factor undoes its scale") {
    vec const x{1, -2, 3, 4};
    std::set<vec> sent;  // each of the four messages is as probable
    for (std::uint64_t t = 0; t < 400; ++t) {
        auto const m = laws::compress(scaled_down{rand_k{1}}, x, key{t});
        auto const y = laws::decoded<decltype(m), double>(m);
        for (std::size_t i = 0; i < 4; ++i) CHECK((y[i] == 0 || y[i] == x[i]));
        sent.insert(y);
    }
    REQUIRE(sent.size() == 4);
    double error = 0;
    for (auto const& y : sent)
        for (std::size_t i = 0; i < 4; ++i) error += (y[i] - x[i]) * (y[i] - x[i]) / 4;
    CHECK(error == doctest::Approx((1 - scaled_down{rand_k{1}}.delta(4)) * laws::energy(x)));
}

// top_k{16} | quantize{1} has omega = 3 inside, and no delta; scaled down it has one.
TEST_CASE("what was refused for its omega is contractive") {
    CHECK_THROWS_AS((top_k{16} | quantize{1}).delta(64), theory_error);
    CHECK((top_k{16} | scaled_down{quantize{1}}).delta(64) == doctest::Approx(0.25 * 0.25));
}

TEST_CASE("one without omega is refused by name") {
    CHECK(any(scaled_down<any>{any(natural{})}).contractive());
    CHECK_FALSE(any(scaled_down<any>{any(natural{})}).unbiased());
    CHECK_FALSE(any(scaled_down<any>{any(top_k{2})}).contractive());
    CHECK_THROWS_WITH_AS(scaled_down<any>{any(top_k{2})}.check(4), doctest::Contains("top_k(2) is biased"),
                         theory_error);
}

TEST_CASE("hostile bytes") { CHECK(laws::survives_small_changes(scaled_down{quantize{4}}, vec{1, 2, 3}, key{1}) > 10); }
