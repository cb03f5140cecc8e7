// SPDX-License-Identifier: Apache-2.0
// Pipes are values that associate, every sparsifier with every quantizer, and none hides a number that is not finite.
#include "laconic/compress/pipe.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

static_assert(std::same_as<decltype(top_k{3} | quantize{8}), top_k<quantize>>);
static_assert(std::same_as<decltype(top_k{3} | rand_k{2} | natural{}), top_k<rand_k<natural>>>);
static_assert(std::same_as<decltype(top_k{3} | (rand_k{2} | natural{})), top_k<rand_k<natural>>>);
static_assert(std::same_as<decltype(top_k{3} | identity{}), top_k<>>);
static_assert(std::same_as<decltype(threshold{1} | dense{} | top_k{1}), threshold<dense<top_k<>>>>);
static_assert(detail::Sparsifier<top_k<>> && detail::Sparsifier<dense<natural>> && !detail::Sparsifier<quantize> &&
              !detail::Sparsifier<identity>);

template <class... All>
struct list {};

template <class S, class... Q>
consteval bool pipes_into_all(S, list<Q...>) {
    return ((Compressor<decltype(S{} | Q{}), float> && Compressor<decltype(S{} | Q{}), double> &&
             Compressor<decltype(S{} | Q{}), double, reference>)&&...);
}
template <class... S, class Q>
consteval bool all_pipe_into_all(list<S...>, Q quantizers) {
    return (pipes_into_all(S{}, quantizers) && ...);
}

static_assert(all_pipe_into_all(list<dense<>, top_k<>, about_top_k<>, rand_k<>, bernoulli<>, lazy<>, threshold<>,
                                     zero_blocks<>, top_blocks<>, rand_block<>>{},
                                list<identity, fp16, bf16, float8_e4m3, float8_e5m2, quantize, natural,
                                     natural_dithering, uniform<>, uniform<rounding::nearest>, block_float, scaled_sign,
                                     two_means, low_rank<>, scaled_down<natural>, top_k<natural>>{}));

TEST_CASE("a pipe is the same value however it is bracketed") {
    CHECK((top_k{3} | rand_k{2} | natural{}) == (top_k{3} | (rand_k{2} | natural{})));
    CHECK((top_k{3} | quantize{8}) == top_k<quantize>{3, 0, quantize{8}});
    CHECK((top_k{3} | quantize{8}) != (top_k{3} | quantize{9}));
    CHECK((top_k{3} | quantize{8}) != (top_k{4} | quantize{8}));
    constexpr auto c = top_k{3} | natural{};
    static_assert(c.k.value == 3);
}

TEST_CASE("and is written as it is in C++") {
    CHECK(to_string(top_k{3} | quantize{8}) == "top_k(3) | quantize(8)");
    CHECK(to_string(top_k{100} | rand_k{0.5} | natural{}) == "top_k(100) | rand_k(0.5) | natural");
    CHECK(to_string(top_k{3} | identity{}) == "top_k(3)");
}

// Of (1, 8, -4, 2), top_k{2} leaves (8, -4) to the grid of two levels up to the largest, 8: both are on it.
TEST_CASE("by hand") {
    std::vector<double> const x{1, 8, -4, 2};
    auto const m = laws::compress(top_k{2} | quantize{2, 0, p_norm::largest}, x, key{1});
    CHECK(laws::decoded<decltype(m), double>(m) == std::vector<double>{0, 8, -4, 0});
    // Then the top one of these two, at coordinate 1 of the vector, 0 of the two.
    auto const n = laws::compress(top_k{2} | top_k{1} | natural{}, x, key{1});
    CHECK(n.payload.support == std::vector<coordinate>{0});
    CHECK(laws::decoded<decltype(n), double>(n) == std::vector<double>{0, 8, 0, 0});
}

// Peers drop a NaN for ever (|x| > threshold is false for it) or send it on as a large finite number.
TEST_CASE_TEMPLATE("a number that is not finite is not hidden, in any pipeline", T, float, double) {
    T const inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    int refused = 0, agreed = 0;
    for (auto const& text : laws::pipelines()) {
        CAPTURE(text);
        auto const c = parse_compressor<T>(text);
        for (T const bad : {nan, inf, -inf, -nan})
            for (std::size_t at : {0u, 5u, 18u}) {
                auto x = laws::noise<T>(19, at);
                x[at] = bad;
                CHECK_THROWS_AS(laws::compress(c, x, key{1}), argument_error);
                host on;
                any_message<T, host> m, theirs;
                try {
                    c(on, std::span<T const>(x), key{2}, m);
                    c.blank(on, x.size(), key{2}, theirs);
                    auto const encoded = laws::written(m);
                    wire::bit_reader source(encoded);
                    read(on, source, theirs, c);
                    source.finish();
                } catch (argument_error const&) {
                    ++refused;
                    continue;
                } catch (wire_error const&) {
                    ++refused;
                    continue;
                }
                bool const drawn =
                    text.find("rand_") != std::string::npos || text.find("bernoulli") == 0 || text.find("lazy") == 0;
                CHECK(drawn);
                ++agreed;
            }
    }
    CHECK(refused > 500);
    CHECK(agreed > 10);
}

// A sparsifier and a quantizer outside of the library, with nothing but a description.
namespace elsewhere {

struct zip {
    int level = 3;
    static constexpr void description(auto&& describe) {
        describe("zip", "nothing", "", laconic::field("level", &zip::level).written());
    }
    bool operator==(zip const&) const = default;
};
template <class Rest = laconic::identity>
struct first_few {
    laconic::portion k = 1;
    Rest rest{};
    static constexpr void description(auto&& describe) {
        describe("first_few", "nothing", "", laconic::field("k", &first_few::k).needed());
    }
    template <class R>
    first_few<R> with(R const& r) const {
        return {k, r};
    }
    bool operator==(first_few const&) const = default;
};

}  // namespace elsewhere

TEST_CASE("the text of a sparsifier has its rest, wherever both are defined") {
    elsewhere::first_few<elsewhere::zip> const pipe{3, {5}};
    CHECK(laconic::to_string(pipe) == "first_few(3) | zip(5)");
    CHECK(laconic::to_string(elsewhere::first_few<>{3, {}}) == "first_few(3)");
    CHECK(to_string(top_k<elsewhere::zip>{2, 0, {7}}) == "top_k(2) | zip(7)");
}

// dense sends what its rest alone would send, to the byte, with the same constants.
static_assert(Compressor<dense<>> && Unbiased<dense<>> && Contractive<dense<>>);

static_assert(Unbiased<dense<natural>> && !Contractive<dense<natural>>);
static_assert(Contractive<dense<top_k<>>> && !Unbiased<dense<top_k<>>>);

TEST_CASE("dense | c says what c says") {
    auto const same = [](auto const& c) {
        for (auto const& x : laws::vectors<double>())
            CHECK(laws::written(laws::compress(dense{} | c, x, key{3})) == laws::written(laws::compress(c, x, key{3})));
    };
    same(identity{});
    same(quantize{4});
    same(natural{});
    CHECK((dense{} | quantize{4}).omega(100) == quantize{4}.omega(100));
    CHECK(to_string(dense{} | dense{} | natural{}) == "dense | dense | natural");
    CHECK_THROWS_AS((dense{} | top_k{5}).check(4), argument_error);
}
