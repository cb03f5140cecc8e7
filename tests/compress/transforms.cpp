// SPDX-License-Identifier: Apache-2.0
// dct turns pieces and squares by orthonormal cosines, hadamard rotates blocks at random, alike on all backends, and
// their constants are the rest's; dct with top_k, residuals that decay and a step of signs is DeMo, which comes to
// known answers.
#include "laconic/compress/transforms.hpp"

#include "laconic/comm/fibers.hpp"
#include "laconic/compress/centroids.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/encode.hpp"
#include "laconic/reducer.hpp"
#include "laconic/transport/robust.hpp"
#include "named.hpp"
#include "support/apart.hpp"
#include "support/everything.hpp"

using vec = std::vector<double>;

static_assert(Compressor<dct<>> && Compressor<dct<top_k<>>, float> && Contractive<dct<top_k<>>>);
static_assert(Unbiased<dct<natural>> && !Unbiased<dct<top_k<>>>);
static_assert(Compressor<hadamard<>> && Compressor<hadamard<top_k<>>, float> && Contractive<hadamard<top_k<>>>);
static_assert(Unbiased<hadamard<natural>> && !Unbiased<hadamard<top_k<>>>);

// Numbers of several ranks' transforms may be put together where these are the same.
template <class C>
concept TurnsBack = requires(laconic::detail::message_of<C, double, host> m, host& on, std::span<double> y) {
    m.turn_back(on, y);
};
static_assert(TurnsBack<dct<top_k<>>> && !TurnsBack<hadamard<top_k<>>>);

template <class T>
std::vector<T> noise(std::size_t d) {
    std::vector<T> x(d);
    for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<T>(key{d}.uniform(i) - 0.5);
    return x;
}
template <class T, class C>
std::vector<T> sent(C const& c, std::vector<T> const& x) {
    std::vector<T> y(x.size());
    decode(c, encode(c, x, key{1}), y, key{1});
    return y;
}
template <class T>
double energy(std::vector<T> const& x) {
    double sum = 0;
    for (T const v : x) sum += double(v) * double(v);
    return sum;
}

TEST_CASE("cosines are those of the library") {
    for (std::uint64_t n = 1; n <= 130; ++n)
        for (std::uint64_t m = 0; m <= 9 * n; ++m) {
            double const exact = std::cos(3.14159265358979323846 / 2 * double(m) / double(n));
            CHECK(std::abs(laconic::detail::cosine(m, n) - exact) <= 4e-15);
        }
    CHECK(laconic::detail::cosine(0, 3) == 1);
    CHECK(laconic::detail::cosine(6, 3) == -1);
    CHECK(laconic::detail::cosine(3, 3) == 0);
}

TEST_CASE("a square of 4 x 4, column by column, and a piece") {
    vec x(16);
    for (std::size_t t = 0; t < 16; ++t) x[t] = (double(5 * t % 11) - 5) / 2;
    vec const known{.375,           -.92868723534,   1.375,           -1.915408577541,
                    .371076610993,  -.972271824132,  -2.848903515709, -.402728175868,
                    -1.375,         -1.796524076705, -1.375,          -.744144637701,
                    1.875780410596, 2.347271824132,  -3.284813352107, .972271824132};
    auto const cosines = compress(dct<>{4, 4}, x, key{1}).inside.values;
    for (std::size_t j = 0; j < 16; ++j) CHECK(cosines[j] == doctest::Approx(known[j]).epsilon(1e-11));
    // Of (1, 3): 4 / sqrt 2, and -2 / sqrt 2.
    auto const two = compress(dct<>{2}, vec{1, 3}, key{1}).inside.values;
    CHECK(two[0] == doctest::Approx(std::sqrt(8)));
    CHECK(two[1] == doctest::Approx(-std::sqrt(2)));
}

TEST_CASE_TEMPLATE("lengths are kept, and numbers come back, in matrices of any shape", T, float, double) {
    double const exact = sizeof(T) == 4 ? 1e-5 : 1e-13;
    struct shape {
        std::size_t rows, columns, side;
    };
    for (shape const s : {shape{1, 1, 64},
                          {1, 128, 64},
                          {1, 97, 64},
                          {1, 0, 64},
                          {2, 3, 64},
                          {64, 64, 64},
                          {8, 12, 4},
                          {12, 8, 4},
                          {6, 35, 7},
                          {5, 7, 1},
                          {48, 130, 64},
                          {7, 1, 7}}) {
        auto const x = noise<T>(s.rows * s.columns);
        dct<> const c{s.side, s.rows};
        auto const m = compress(c, x, key{1});
        CHECK(energy(m.inside.values) == doctest::Approx(energy(x)).epsilon(exact));
        auto const y = sent(c, x);
        for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::abs(double(y[i]) - double(x[i])) <= 4 * exact);
        if (s.side > 1 && x.size() > 1 && s.columns != 97) CHECK(m.inside.values != x);
    }
    CHECK(compress(dct<>{}, noise<T>(97), key{1}).inside.values == noise<T>(97));  // 97 has no divisor below 64
}

TEST_CASE_TEMPLATE("all backends make the same message, and the same numbers of it", B, reference,
                   laconic_test::apart) {
    auto const check = [](auto const& c) {
        auto const x = noise<float>(240);
        auto const here = compress(c, x, key{1});
        host on;
        std::vector<float> expected(x.size());
        add_message(on, std::span(expected), 0.5f, here);
        B there;
        typename B::template array<float> given(x.size()), out(x.size());
        copy_from_host(there, std::span<float const>(x), std::span<float>(given));
        fill(there, std::span<float>(out), 0.f);
        laconic::detail::message_of<std::remove_cvref_t<decltype(c)>, float, B> m;
        c(there, std::span<float const>(given), key{1}, m);
        laconic::detail::message_of<std::remove_cvref_t<decltype(c)>, float, host> back;
        copy_message(there, m, on, back);
        CHECK(back == here);
        add_message(there, std::span<float>(out), 0.5f, m);
        std::vector<float> seen(x.size());
        copy_to_host(there, std::span<float const>(out), std::span<float>(seen));
        CHECK(seen == expected);
    };
    check(dct<>{5} | top_k{3, 16});
    check(dct<>{5, 12} | top_k{3, 16});
    check(hadamard<>{64} | quantize{7, 64});
    check(hadamard<>{32} | top_k{3, 16});
    check(hadamard<>{32} | centroids{2, 32});
}

// What the definition says: D, then H / sqrt n, of n numbers from number `from` on.
void rotate(std::vector<double>& x, key signs, std::size_t first, std::size_t from, std::size_t n) {
    vec const was = x;
    for (std::size_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < n; ++k) {
            bool const negative = (signs.word((first + k) / 32) >> (first + k) % 32 & 1) != 0;
            sum += (std::popcount(j & k) % 2 == 0) != negative ? was[from + k] : -was[from + k];
        }
        x[from + j] = sum / std::sqrt(double(n));
    }
}

TEST_CASE("a rotation is that of the definition, and what is behind the last block is rotated with numbers before it") {
    for (std::size_t const d : {1u, 2u, 3u, 4u, 7u, 12u, 16u, 40u, 100u, 300u})
        for (std::size_t const block : {1u, 2u, 8u, 64u, 4096u}) {
            key const from{d};
            auto x = noise<double>(d);
            auto const y = compress(hadamard<>{block}, x, from).inside.values;
            std::size_t n = 1;
            while (2 * n <= std::min(block, d)) n *= 2;
            for (std::size_t at = 0; at + n <= d; at += n) rotate(x, from, at, at, n);
            if (d % n != 0) rotate(x, from, d, d - n, n);
            REQUIRE(y.size() == d);
            for (std::size_t j = 0; j < d; ++j) CHECK(y[j] == doctest::Approx(x[j]).epsilon(1e-13).scale(1));
        }
    // Signs differ from message to message, and from the rest's draws.
    vec const ones(64, 1);
    CHECK(compress(hadamard<>{}, ones, key{1}).inside.values != compress(hadamard<>{}, ones, key{2}).inside.values);
}

TEST_CASE_TEMPLATE("rotated vectors keep their length, and come back", T, float, double) {
    double const exact = sizeof(T) == 4 ? 1e-6 : 1e-14;
    for (std::size_t const d : {0u, 1u, 2u, 5u, 1000u, 4096u, 4097u, 10000u, 40000u})
        for (std::size_t const block : {1u, 64u, 4096u, 1u << 30}) {
            auto const x = noise<T>(d);
            auto const m = compress(hadamard<>{block}, x, key{1});
            CHECK(m.inside.values.size() == d);
            CHECK(energy(m.inside.values) == doctest::Approx(energy(x)).epsilon(10 * exact));
            auto const y = sent(hadamard<>{block}, x);
            for (std::size_t i = 0; i < d; ++i) REQUIRE(std::abs(double(y[i]) - double(x[i])) <= 10 * exact);
        }
}

TEST_CASE("one large number is spread over its block, so that a quantizer loses less") {
    vec x(8192, 0.0);
    x[5000] = 64;
    auto const y = compress(hadamard{}, x, key{3}).inside.values;
    for (std::size_t j = 0; j < x.size(); ++j) CHECK(std::abs(y[j]) == (j < 4096 ? 0 : 1));
    auto spiky = noise<double>(1 << 16);
    for (double& v : spiky) v = std::pow(2 * v, 9);
    auto const lost = [&](auto const& c) {
        auto error = sent(c, spiky);
        for (std::size_t i = 0; i < error.size(); ++i) error[i] -= spiky[i];
        return energy(error) / energy(spiky);
    };
    CHECK(lost(hadamard<>{} | uniform<>{4, 4096}) < .6 * lost(uniform<>{4, 4096}));
    CHECK((hadamard{} | quantize{7, 64}).omega(1000) == quantize{7, 64}.omega(1000));
    CHECK((hadamard{} | top_k{3}).delta(12) == .25);
}

TEST_CASE("constants are the rest's, and texts are read") {
    CHECK((dct{} | top_k{32, 4096}).delta(8192) == 32. / 4096);
    CHECK((dct{} | natural{}).omega(100) == 1. / 8);
    auto const c = parse_compressor<float>("dct(8, rows=16) | top_k(4, chunk=64) | natural");
    CHECK(to_string(c) == "dct(side=8, rows=16) | top_k(4, chunk=64) | natural");
    CHECK(to_string(parse_compressor("dct")) == "dct");
    auto const x = noise<float>(16 * 24);
    CHECK(sent(c, x) == sent(dct<>{8, 16} | top_k{4, 64} | natural{}, x));
    CHECK_THROWS_WITH_AS((dct<>{8, 5}.check(12)), "dct: d = 12 numbers are no matrix of 5 rows", argument_error);
    CHECK_THROWS_AS((dct<>{0}.check(12)), argument_error);
    CHECK(to_string(parse_compressor("hadamard(64) | quantize(7, bucket=64)")) ==
          "hadamard(block=64) | quantize(7, bucket=64)");
    CHECK(to_string(parse_compressor("hadamard")) == "hadamard");
    CHECK_THROWS_WITH_AS((hadamard<>{96}.check(12)), "hadamard: a block of 96 is no power of two", argument_error);
    CHECK_THROWS_AS((hadamard<>{0}.check(12)), argument_error);
    auto of_layer = dct{} | top_k{4, 64};
    of_layer.shape(48, 6);
    CHECK(of_layer.rows == 6);
}

TEST_CASE("what is not finite is refused at both ends") {
    double const inf = std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::max();
    host on;
    laconic::detail::message_of<dct<>> m;
    for (vec const& x : {vec{1, inf}, vec{most, most}})
        CHECK_THROWS_AS(dct<>{2}(on, std::span<double const>(x), key{1}, m), argument_error);
    for (vec const& x : {vec{1, inf}, vec{most, most, most, most}}) {
        laconic::detail::message_of<hadamard<>> rotated;
        CHECK_THROWS_AS(hadamard<>{}(on, std::span<double const>(x), key{1}, rotated), argument_error);
    }
    vec y(2);
    CHECK_THROWS_AS(decode(dct<>{2}, encode(identity{}, vec{most, most}, key{1}), y, key{1}), wire_error);
    decode(dct<>{2}, encode(identity{}, vec{most / 2, most / 4}, key{1}), y, key{1});  // large, but their sums are not
    CHECK(std::isfinite(y[0]));
}

TEST_CASE(
    "cosines of all ranks are added up and turned back once, also in parts and behind one type; by any transport") {
    std::size_t const d = 240, ranks = 3;
    auto const of_rank = [&](int r) {
        auto x = noise<float>(d + std::size_t(r));
        x.resize(d);
        return x;
    };
    auto const squares = dct<>{5, 12} | top_k{9, 60};
    auto const check = [&](auto const& c) {
        using message = laconic::detail::message_of<std::remove_cvref_t<decltype(c)>, float, host>;
        host on;
        message m;
        std::vector<float> expected(d), one_by_one(d);
        for (int r = 0; r < int(ranks); ++r) {
            c(on, std::span<float const>(of_rank(r)), key{1}, m);
            laconic::messages::add_unturned(on, std::span(expected), 1.f / ranks, m);
            add_message(on, std::span(one_by_one), 1.f / ranks, m);
        }
        laconic::messages::turn_back(on, std::span(expected), m);
        CHECK(expected != one_by_one);  // by rounding
        for (std::size_t i = 0; i < d; ++i) CHECK(std::abs(expected[i] - one_by_one[i]) < 1e-6f);
        fibers::run(ranks, [&](fibers::member& comm) {
            auto x = of_rank(comm.rank());
            reducer reduce(unproved{plain{c}}, comm, x);
            reduce(x);
            CHECK(x == expected);
            laconic::detail::gathered<message, float> transport({}, d, position_code::smallest);
            host mine;
            message own;
            c(mine, std::span<float const>(of_rank(comm.rank())), key{1}, own);
            transport.send(mine, comm, {}, own, {});
            auto const blank = [&](host & there, int, auto& theirs) -> auto const& {
                return c.blank(there, d, key{1}, theirs), c;
            };
            transport.receive(mine, comm, {}, own, {}, blank, nullptr, std::span(x));
            CHECK(x == expected);
        });
        fibers::run(1, [&](fibers::member& comm) {
            auto x = of_rank(0);
            c(on, std::span<float const>(x), key{1}, m);
            reducer reduce(unproved{plain{c}}, comm, x);
            reduce(x);
            std::vector<float> alone(d);
            add_message(on, std::span(alone), 1.f, m);
            CHECK(x == alone);
        });
    };
    check(squares);
    check(any_compressor<float>(squares));
    check(parts<any_compressor<float>>{{120, squares}, {20, top_k{3}}, {100, dct<>{5} | top_k{4, 25}}});
}

// Four ranks, each with a matrix W and weights of its own, that take the largest four cosines of a square.
struct known_demo {
    int round;
    double first, last, energy;
};
template <class B>
void demo_comes_to(auto const& how, std::initializer_list<known_demo> all) {
    fibers::run(4, [&](fibers::member& comm) {
        vec w(16), g(16);
        reducer reduce(how, comm, g, {}, B{});
        int round = 0;
        for (auto const& k : all) {
            for (; round < k.round; ++round) {
                for (int r = 0; r < 4; ++r)
                    for (int c = 0; c < 4; ++c) {
                        double const t = ((3 * r + 5 * c) % 7 - 3) / 2. + (r + 1) * (c + 1) / 16. +
                                         (comm.rank() - 1.5) * ((r + 2 * c) % 3 - 1) / 4.;
                        auto const at = std::size_t(4 * r + c);
                        g[at] = (1 + (r + c) % 3 / 2.) * (w[at] - t);
                    }
                reduce(g);
                for (std::size_t j = 0; j < 16; ++j) w[j] -= .01 * (g[j] > 0 ? 1 : g[j] < 0 ? -1 : 0);
            }
            CAPTURE(round);
            CHECK(w.front() == doctest::Approx(k.first).epsilon(1e-12));
            CHECK(w.back() == doctest::Approx(k.last).epsilon(1e-12));
            CHECK(energy(w) == doctest::Approx(k.energy).epsilon(1e-12));
        }
    });
}
TEST_CASE_TEMPLATE(
    "DeMo comes to known answers, with the mean over all ranks, and with that over the ranks that sent a cosine", B,
    host, reference) {
    auto const largest = dct<>{4, 4} | top_k{4, 16};
    demo_comes_to<B>(error_feedback{largest, .999},
                     {{1, -.01, .01, .0016}, {10, -.08, .04, .0832}, {100, -.88, .6, 7.1704}});
    demo_comes_to<B>(error_feedback{largest, .999, robust{robust_rules::mean_over_senders{}, true}},
                     {{1, -.01, -.01, .0016}, {10, -.1, .06, .0976}, {100, -.98, .58, 7.1452}});
}
TEST_CASE_TEMPLATE("DisTrO, whose signs take all of the largest cosines off its momentum, comes to known answers", B,
                   host, reference) {
    auto const signs = dct<>{4, 4} | top_k{6, 16} | vote{};
    robust const by_senders{robust_rules::mean_over_senders{}};
    std::initializer_list<known_demo> const known{{1, -.01, .01, .0016}, {10, -.1, .1, .1224}, {60, -.6, .54, 3.3528}};
    demo_comes_to<B>(unproved{error_feedback{signs, 0, by_senders, .999}}, known);
    if constexpr (!std::is_same_v<B, host>) return;
    demo_comes_to<host>(unproved{error_feedback{any_compressor<>(signs), 0, by_senders, .999}}, known);
    demo_comes_to<host>(unproved{error_feedback{parts<any_compressor<>>{{16, signs}}, 0, by_senders, .999}}, known);
}
