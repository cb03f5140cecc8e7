// SPDX-License-Identifier: Apache-2.0
// clip keeps vectors up to its limit, and shortens others to it, of any size, alike on all backends.
#include "laconic/compress/clip.hpp"

#include "laconic/compress/top_k.hpp"
#include "laconic/wire/message.hpp"
#include "support/apart.hpp"
#include "support/everything.hpp"

using vec = std::vector<double>;

static_assert(Compressor<clip> && Compressor<clip, float> && !Unbiased<clip> && !Contractive<clip>);

template <class T>
std::vector<T> sent(clip const& c, std::vector<T> const& x) {
    auto const m = compress(c, x, key{1});
    return {m.values.begin(), m.values.end()};
}

TEST_CASE("vectors up to the limit are sent as they are, longer ones at that length") {
    vec const x{3, -4, 0, 12};  // |x| = 13
    CHECK(sent(clip{13}, x) == x);
    CHECK(sent(clip{1e300}, x) == x);
    CHECK(sent(clip{13, .5}, x) == vec{1.5, -2, 0, 6});
    CHECK(sent(clip{6.5}, x) == vec{1.5, -2, 0, 6});
    CHECK(sent(clip{6.5, .25}, x) == vec{.375, -.5, 0, 1.5});
    CHECK(sent(clip{1}, vec(5)) == vec(5));
    CHECK(sent(clip{1}, vec{}).empty());
    CHECK(compress(top_k{1} | clip{6}, x, key{1}).payload.values[0] == 6);
    CHECK(account(compress(clip{1}, x, key{1})).bits() == 4 * 64);
}

TEST_CASE_TEMPLATE("norms of any size are clipped", T, float, double) {
    using limits = std::numeric_limits<T>;
    for (T const size : {T(sizeof(T) == 4 ? 1e38 : 1e299), T(1), 1024 * limits::min()})
        for (double const share : {.5, 1e-3}) {
            std::vector<T> const x{size, -size, size, size};  // twice as long as one of them
            auto const y = sent(clip{2 * share * double(size)}, x);
            for (std::size_t j = 0; j < 4; ++j)
                CHECK(double(y[j]) == doctest::Approx(share * double(x[j])).epsilon(4 * limits::epsilon()).scale(0));
        }
}

TEST_CASE_TEMPLATE("all backends make the same message", B, reference, laconic_test::apart) {
    std::vector<float> x(100);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(key{7}.uniform(i) - 0.5);
    for (clip const c : {clip{1, .5}, clip{100, .5}}) {
        host on;
        B there;
        typename B::template array<float> given(x.size());
        copy_from_host(there, std::span<float const>(x), std::span<float>(given));
        laconic::detail::message_of<clip, float, B> m;
        c(there, std::span<float const>(given), key{1}, m);
        laconic::detail::message_of<clip, float, host> back;
        copy_message(there, m, on, back);
        CHECK(back == compress(c, x, key{1}));
    }
}

TEST_CASE("limits and factors that are none are refused") {
    for (double const bad : {0., -1., double(NAN), double(HUGE_VAL)}) {
        CHECK_THROWS_AS(clip{bad}.check(3), argument_error);
        CHECK_THROWS_AS((clip{1, bad}.check(3)), argument_error);
    }
    CHECK_THROWS_AS((clip{1, 1.5}.check(3)), argument_error);
    CHECK_THROWS_WITH_AS(clip{0}.check(3), "clip: limit = 0 is not above 0", argument_error);
    CHECK_THROWS_WITH_AS((clip{1, 0}.check(3)), "clip: factor = 0 is not above 0", argument_error);
    CHECK(to_string(clip{0.5}) == "clip(limit=0.5)");
    CHECK(to_string(clip{1, 0.25}) == "clip(factor=0.25)");
}
