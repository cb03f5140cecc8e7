// SPDX-License-Identifier: Apache-2.0
// rand_k keeps every set of k coordinates equally often, scaled by d / k, with its exact mean and variance.
// rand_block keeps every set of blocks equally often, at no cost for positions, with its exact variance.
// bernoulli keeps each coordinate, lazy all of them, with probability p: unbiased, with an omega of p and the rest.
#include "laconic/compress/rand_k.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using vec = std::vector<double>;

static_assert(Compressor<rand_k<>> && Compressor<rand_k<>, float> && Unbiased<rand_k<>> && !Contractive<rand_k<>>);

static_assert(Unbiased<rand_k<quantize>> && !Contractive<rand_k<quantize>>);

// Two of four: what is kept is doubled, and the wire carries two numbers and nothing else.
TEST_CASE("by hand") {
    vec const x{1, 2, 3, 4};
    auto const m = laws::compress(rand_k{2}, x, key{1});
    REQUIRE(m.support.size() == 2);
    for (std::size_t j = 0; j < 2; ++j) CHECK(m.payload.values[j] == 2 * x[m.support[j]]);
    CHECK(bits(m) == 128);

    host on;
    detail::message_of<rand_k<>> theirs;
    rand_k{2}.blank(on, 4, key{1}, theirs);
    CHECK(theirs.support == m.support);
    CHECK(laws::received(rand_k{4}, x, key{1}) == x);
    CHECK(laws::compress(rand_k{0.5}, vec{}, key{1}).dimension() == 0);
}

// Every set of k coordinates turns up; the mean over all of them, each once, is x, and the mean error (d / k - 1)
// |x|^2.
TEST_CASE("mean and variance over every set, exactly; every set equally often") {
    vec const x{3, -1, 0.5, 2, -7, 0.25};
    double const sets[] = {6, 15, 20, 15, 6};
    for (std::size_t k = 1; k < 6; ++k) {
        CAPTURE(k);
        int const n = 6000;
        std::map<std::vector<coordinate>, int> count;
        vec mean(6);
        double error = 0;
        for (std::uint64_t t = 0; t < n; ++t) {
            auto const m = laws::compress(rand_k{k}, x, key{9}.child(t));
            if (++count[m.support] > 1) continue;
            auto const v = laws::decoded<decltype(m), double>(m);
            for (std::size_t i = 0; i < 6; ++i) {
                mean[i] += v[i] / sets[k - 1];
                error += (v[i] - x[i]) * (v[i] - x[i]) / sets[k - 1];
            }
        }
        REQUIRE(static_cast<double>(count.size()) == sets[k - 1]);
        for (std::size_t i = 0; i < 6; ++i) CHECK(mean[i] == doctest::Approx(x[i]).epsilon(1e-14));
        double const omega = 6.0 / static_cast<double>(k) - 1;
        CHECK(error == doctest::Approx(omega * laws::energy(x)).epsilon(1e-13));
        CHECK(rand_k{k}.omega(6) == doctest::Approx(omega).epsilon(1e-14));
        double chi = 0, expected = n / sets[k - 1];
        for (auto const& [set, c] : count) chi += (c - expected) * (c - expected) / expected;
        CHECK(std::abs(chi - (sets[k - 1] - 1)) < 5 * std::sqrt(2 * (sets[k - 1] - 1)));
    }
}

TEST_CASE("the variance is an equality for every vector, to 5 sigma") {
    for (auto const& x : laws::theory_vectors<double>()) {
        if (x.size() < 2) continue;
        auto const m = laws::moments_of(rand_k{0.25}, x, laws::trials, key{10});
        double const expected = rand_k{0.25}.omega(x.size()) * laws::energy(x);
        CHECK(std::abs(m.error - expected) <= 5 * std::sqrt(m.error_variance / laws::trials) + 1e-12 * laws::energy(x));
    }
}

TEST_CASE("omegas multiply: (1 + w1)(1 + w2) - 1") {
    CHECK((rand_k{10} | natural{}).omega(100) == doctest::Approx(10 * 1.125 - 1));  // (9/8)(d/k) - 1
    CHECK((rand_k{16} | quantize{1}).omega(64) == doctest::Approx(4 * 4.0 - 1));    // sqrt 16 - 1 of the chosen 16
    CHECK((rand_k{50} | rand_k{10}).omega(100) == doctest::Approx(2 * 5.0 - 1));
    CHECK((rand_k{0.5} | rand_k{0.5} | natural{}).omega(100) == doctest::Approx(2 * 2 * 1.125 - 1));
    CHECK(rand_k{1}.omega(0) == 0);
}

TEST_CASE("different keys draw different sets, and the payload's randomness is not the support's") {
    vec const x(1000, 1.0);
    auto const a = laws::compress(rand_k{10}, x, key{1}), b = laws::compress(rand_k{10}, x, key{2});
    CHECK(a.support != b.support);
    CHECK(laws::compress(rand_k{10} | natural{}, x, key{1}).support == a.support);
    CHECK(laws::compress(rand_k{500} | rand_k{10}, x, key{1}).payload.support !=
          laws::compress(rand_k{10}, vec(500, 1.0), key{1}).support);
}

TEST_CASE("parameters are checked, the rest's against k") {
    CHECK_THROWS_AS(rand_k{0}.check(5), argument_error);
    CHECK_THROWS_AS(rand_k{6}.check(5), argument_error);
    CHECK_THROWS_AS((rand_k{3} | rand_k{4}).check(5), argument_error);
    CHECK_NOTHROW((rand_k{3} | rand_k{3}).check(5));
}

TEST_CASE("a finite vector gives a message that its receiver takes, or an error here") {
    double const max = std::numeric_limits<double>::max();
    bool refused = false;
    try {
        auto const m = laws::compress(rand_k{1}, vec{max, max, max, max}, key{1});
        for (double v : m.payload.values) CHECK(std::isfinite(v));
    } catch (argument_error const&) {
        refused = true;
    }
    CHECK(refused);
}

static_assert(Compressor<rand_block<>> && Compressor<rand_block<>, float>);
static_assert(Unbiased<rand_block<>> && !Contractive<rand_block<>>);

// Seven numbers in blocks of three: the last block is a single number. Each pair of blocks turns up; over all pairs the
// mean is x and the mean error (3 / 2 - 1) |x|^2, whatever the blocks' lengths.
TEST_CASE("mean and variance over every set, exactly; the positions cost nothing") {
    vec const x{3, -1, 0.5, 2, -7, 0.25, 4};
    std::map<std::vector<coordinate>, int> count;
    vec mean(7);
    double error = 0;
    for (std::uint64_t t = 0; t < 3000; ++t) {
        auto const m = laws::compress(rand_block{2, 3}, x, key{5}.child(t));
        CHECK(bits(m) == 64 * m.payload.values.size());
        if (count[m.support]++ > 0) continue;
        auto const sent = laws::decoded<decltype(m), double>(m);
        for (std::size_t i = 0; i < 7; ++i) {
            mean[i] += sent[i] / 3;
            error += (sent[i] - x[i]) * (sent[i] - x[i]) / 3;
        }
    }
    REQUIRE(count.size() == 3);
    for (auto const& [support, n] : count) CHECK(std::abs(n - 1000) < 5 * std::sqrt(3000 * 2. / 9));
    for (std::size_t i = 0; i < 7; ++i) CHECK(mean[i] == doctest::Approx(x[i]));
    CHECK(error == doctest::Approx(laws::energy(x) / 2));
    CHECK(rand_block{2, 3}.omega(7) == doctest::Approx(0.5));
    CHECK((rand_block{1, 2} | natural{}).omega(8) == doctest::Approx(3.5));
}

TEST_CASE("a block of everything says everything; nothing is refused") {
    vec const x{1, 2, 3};
    CHECK(laws::received(rand_block{1, 100}, x, key{1}) == x);
    CHECK(laws::compress(rand_block{0.5, 2}, vec{}, key{1}).dimension() == 0);
    CHECK_THROWS_AS((rand_block{0, 2}.check(4)), argument_error);
    CHECK_THROWS_WITH_AS((rand_block{3, 2}.check(4)),
                         "k = 3 is above the 2 blocks of 2 numbers into which d = 4 numbers are cut", argument_error);
    CHECK_THROWS_WITH_AS((rand_block{2.5, 2}.check(4)), "k = 2.5 is neither a count nor a fraction below 1",
                         argument_error);
    CHECK_THROWS_AS((rand_block{1, 0}.check(4)), argument_error);
}

TEST_CASE("scaled down, it is the block as it is: what IBCD says") {
    vec const x{1, 2, 3, 4};
    auto const m = laws::compress(scaled_down{rand_block{1, 2}}, x, key{3});
    auto const sent = laws::decoded<decltype(m), double>(m);
    CHECK((sent == vec{1, 2, 0, 0} || sent == vec{0, 0, 3, 4}));
}

template <template <class> class C>
constexpr bool is_unbiased_with_such_rests =
    Compressor<C<identity>>&& Compressor<C<identity>, float>&& Unbiased<C<identity>>&& Unbiased<C<quantize>> &&
    !Contractive<C<identity>> && !Contractive<C<quantize>> && !Unbiased<C<top_k<>>>;
static_assert(is_unbiased_with_such_rests<bernoulli> && is_unbiased_with_such_rests<lazy>);

TEST_CASE("bernoulli by hand: what is kept is doubled, where it stands costs nothing") {
    vec const x{1, 2, 3, 4};
    bool some = false;
    for (std::uint64_t k = 0; k < 50; ++k) {
        auto const m = laws::compress(bernoulli{0.5}, x, key{k});
        for (std::size_t j = 0; j < m.support.size(); ++j) CHECK(m.payload.values[j] == 2 * x[m.support[j]]);
        CHECK(bits(m) == 64 * m.support.size());
        some = some || (m.support.size() != 0 && m.support.size() != 4);
    }
    CHECK(some);
    CHECK(laws::received(bernoulli{1}, x, key{1}) == x);
}

// Each set of three coordinates has probability 1/4^s 3/4^(3 - s); all counts within 5 sigma.
TEST_CASE("coordinates are kept independently, each with probability p") {
    vec const x{1, 1, 1};
    int const n = 8000;
    int count[8] = {};
    for (std::uint64_t k = 0; k < n; ++k) {
        int set = 0;
        for (coordinate const i : laws::compress(bernoulli{0.25}, x, key{7}.child(k)).support) set |= 1 << i;
        ++count[set];
    }
    for (int set = 0; set < 8; ++set) {
        int const s = (set & 1) + (set >> 1 & 1) + (set >> 2);
        double const q = std::pow(0.25, s) * std::pow(0.75, 3 - s);
        CHECK(std::abs(count[set] - n * q) < 5 * std::sqrt(n * q * (1 - q)));
    }
}

TEST_CASE("lazy by hand: all, doubled, or nothing") {
    vec const x{1, -2, 3};
    int all = 0;
    for (std::uint64_t k = 0; k < 4000; ++k) {
        auto const m = laws::compress(lazy{0.5}, x, key{k});
        auto const sent = laws::decoded<detail::message_of<lazy<>>, double>(m);
        bool const sends_all = sent == vec{2, -4, 6};
        CHECK((sends_all || sent == vec{0, 0, 0}));
        CHECK(bits(m) == (sends_all ? 192 : 0));
        all += sends_all;
    }
    CHECK(std::abs(all - 2000) < 5 * std::sqrt(1000.));
    CHECK(laws::received(lazy{1}, x, key{1}) == x);
}

TEST_CASE("omega: 1 / p - 1; of the rest, bernoulli has the worst length, and lazy the one that there is") {
    CHECK(bernoulli{0.25}.omega(10) == 3);
    CHECK(lazy{0.25}.omega(10) == 3);
    CHECK((bernoulli{0.5} | natural{}).omega(10) == doctest::Approx(1.25));
    CHECK((lazy{0.5} | natural{}).omega(10) == doctest::Approx(1.25));
    // rand_k{0.1} keeps one of up to 14 values, and two of 15: omega 13 at 14 is the worst up to 20.
    CHECK((bernoulli{0.5} | rand_k{0.1}).omega(20) == doctest::Approx(27));
    CHECK((lazy{0.5} | rand_k{2}).omega(8) == doctest::Approx(7));
}

TEST_CASE_TEMPLATE(
    "a probability that counts no 2^-32 is drawn as the next lower one that does, and the scale is its inverse", C,
    bernoulli<>, lazy<>) {
    // 0.3 2^32 = 1288490188.8; three halves of 2^-32 are drawn as one.
    double const drawn = 1288490188;
    CHECK(C{0.3}.scale(4) == 0x1p32 / drawn);
    CHECK(C{0.3}.omega(4) == 0x1p32 / drawn - 1);
    CHECK(C{0x1.8p-32}.scale(4) == 0x1p32);
    CHECK(C{0x1.8p-32}.omega(4) == 0x1p32 - 1);
    vec const x{1, 2, 3, 4};
    std::size_t seen = 0;
    for (std::uint64_t k = 0; k < 50; ++k) {
        auto const m = laws::compress(C{0.3}, x, key{k});
        seen += m.support.size();
        for (std::size_t j = 0; j < m.support.size(); ++j)
            CHECK(m.payload.values[j] == x[m.support[j]] * (0x1p32 / drawn));
    }
    CHECK(seen > 0);
}

TEST_CASE_TEMPLATE("probabilities that are none, or too small to draw, are refused", C, bernoulli<>, lazy<>) {
    for (double const p : {0.0, -0.5, 1.5, 1e-10, std::numeric_limits<double>::quiet_NaN()})
        CHECK_THROWS_AS(C{p}.check(4), argument_error);
    CHECK_NOTHROW(C{1}.check(0));
    CHECK_NOTHROW(C{0x1p-32}.check(4));
}
