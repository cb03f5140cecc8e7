// SPDX-License-Identifier: Apache-2.0
// A residual that is stored compressed is the average by hand, rounded by its compressor, and is saved and merged.
#include "laconic/feedback/stored_residual.hpp"

#include "laconic/compress/block_float.hpp"
#include "laconic/compress/short_float.hpp"
#include "laconic/compress/top_k.hpp"
#include "support/everything.hpp"
#include "support/states.hpp"

using vec = std::vector<double>;
using in_8_bits = stored_residual<block_float>;

static_assert(Feedback<in_8_bits> && Feedback<stored_residual<block_float, float>, float>);
static_assert(detail::AddsUp<in_8_bits, double, host> && !detail::KeepsLeftover<in_8_bits>);

// One round of g, of which the first number is sent; returns what was worth sending.
vec round_of(auto& f, vec g, bool moved = false) {
    host on;
    f.compensate(on, round_context{}, std::span(g));
    auto delta = g;
    messages::full_vector<double, host> sent;
    sent.values.assign(g.size(), 0);
    sent.values[0] = g[0];
    if (moved)
        f.update(on, std::move(delta), sent);
    else
        f.update(on, std::span<double const>(delta), sent);
    return g;
}

TEST_CASE("two rounds by hand, stored exactly and in steps of 1/127 of the largest, whichever way it is updated") {
    for (bool const moved : {false, true}) {
        stored_residual<identity> exact(identity{}, .75);
        exact.start(3);
        CHECK(round_of(exact, {4, 2, 1}, moved) == vec{4, 2, 1});
        CHECK(round_of(exact, {4, 2, 1}, moved) == vec{4, 2.5, 1.25});  // a fourth of (0, 2, 1)
        CHECK(round_of(exact, {0, 0, 0}, moved) == vec{0, 1, .5});      // 3/4 of (0, .5, .25) and 1/4 of (0, 2.5, 1.25)
        in_8_bits rounded(block_float{block_format::int8}, .75);
        rounded.start(3);
        round_of(rounded, {0, 127, 3}, moved);
        auto const e = round_of(rounded, {0, 0, 0}, moved);  // of (0, 31.75, 0.75), in steps of a fourth
        CHECK(e == vec{0, 31.75, .75});
        round_of(rounded, {0, 127 - 31.75, .3}, moved);
        CHECK(round_of(rounded, {0, 0, 0}, moved)[2] != e[2]);
    }
}

TEST_CASE("what is beyond the largest number that is stored becomes it, and no round fails") {
    stored_residual<fp16::random> f(fp16::random{}, .5);
    f.start(3);
    round_of(f, {1, 4e5, -6});
    CHECK(round_of(f, {0, 0, 0}) == vec{0, 65504, -3});
    round_of(f, {0, 0, 4e5});
    CHECK(round_of(f, {0, 0, 0})[2] == 65504);
}

TEST_CASE("its bytes are those of the residual as it is stored") {
    in_8_bits f(block_float{block_format::int8});
    CHECK(f.stored_bytes() == 0);
    f.start(64);
    CHECK(f.stored_bytes() >= 64);
    CHECK(f.stored_bytes() <= 64 + 2 * sizeof(double));
    stored_residual<identity, float> exact;
    exact.start(9);
    CHECK(exact.stored_bytes() == 9 * sizeof(float));
}

TEST_CASE("it begins anew every so many rounds, also after a restore") {
    stored_residual<identity> f(identity{}, .5, 2), same(identity{}, .5, 2);
    f.start(2), same.start(2);
    round_of(f, {0, 4});
    restore_from(f, same);
    for (auto* one : {&f, &same}) {
        CHECK(round_of(*one, {0, 0}) == vec{0, 2});
        CHECK(round_of(*one, {0, 4}) == vec{0, 4});
        CHECK(round_of(*one, {0, 0}) == vec{0, 2});
    }
}

TEST_CASE("its state is what is stored, bit for bit, and the states of ranks add up") {
    in_8_bits f(block_float{block_format::int8}), same = f, sum = f;
    f.start(3), same.start(3), sum.start(3);
    round_of(f, {1, .37, -2.2});
    round_of(f, {1, .11, 7});
    restore_from(f, same);
    CHECK(round_of(same, {0, 0, 0}) == round_of(f, {0, 0, 0}));
    host on;
    auto const e = [&](in_8_bits const& of) {
        vec x(3);
        of.compensate(on, round_context{}, std::span(x));
        return x;
    };
    sum.add(on, 1, f), sum.add(on, 1, same), sum.scale(on, .5);
    CHECK(e(sum) == e(f));
}

TEST_CASE("a store that draws is restored with what it drew") {
    using store = decltype(hadamard<>{4} | block_float{block_format::int8});
    stored_residual<store> f({hadamard<>{4} | block_float{block_format::int8}}), same = f, sum = f;
    f.start(8), same.start(8), sum.start(8);
    for (int i = 0; i < 3; ++i) round_of(f, {1, .37, -2.2, 3, 4, -1, .5, 7});
    restore_from(f, same);
    CHECK(round_of(same, vec(8)) == round_of(f, vec(8)));
    host on;
    sum.add(on, 1, f);
    restore_from(sum, same);
    CHECK(round_of(same, vec(8)) == round_of(sum, vec(8)));
}

struct two_parts {
    double first = 0;
    in_8_bits then{block_float{block_format::int8}};
    void state(auto& archive) { archive(first, then); }
};
TEST_CASE("a forged state is refused before anything of it is taken, also what stands before the residual") {
    two_parts one, other;
    one.first = 5, one.then.start(3), other.then.start(3);
    round_of(one.then, {1, .37, -2.2});
    auto forged = unsealed(saved(std::move(one)));
    forged.resize(forged.size() - 1);                              // of the encoded bytes, which end the state
    auto const at = 8 + 8 + std::string("a part").size() + 8 + 8;  // their length
    put(forged, word_at(forged, at) - 1, at);
    CHECK_THROWS_AS(restore(other, sealed(forged)), wire_error);
    CHECK(other.first == 0);
    CHECK(round_of(other.then, {0, 0, 0}) == vec{0, 0, 0});
}

TEST_CASE("its text, and what it refuses") {
    CHECK(to_string(in_8_bits(block_float{block_format::int8})) ==
          "stored_residual(block_float(int8), beta=0.8, reset=1024)");
    for (double const beta : {-.1, 1., double(NAN)})
        CHECK_THROWS_AS((stored_residual<identity>(identity{}, beta)), argument_error);
    stored_residual<top_k<>> too_short(top_k{4});
    CHECK_THROWS_AS(too_short.start(3), argument_error);
}
