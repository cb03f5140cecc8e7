// SPDX-License-Identifier: Apache-2.0
// A memory that may be a stored residual does what the one inside does, is copied, saved and merged; its state is
// restored as it is, and not taken for that of a memory.
#include "laconic/any/memory.hpp"

#include "laconic/compress/block_float.hpp"
#include "support/everything.hpp"
#include "support/states.hpp"

using vec = std::vector<double>;
using memory_type = any_memory<double, host>;
using in_8_bits = stored_residual<block_float>;

static_assert(Feedback<memory_type> && detail::AddsUp<memory_type, double, host>);

// One round of g times the scale, of which the first number is sent, with the residual at `waited`; returns delta.
vec round_of(auto& f, vec const& g, double scale = 1, double waited = 1) {
    host on;
    vec delta(g.size());
    auto const make = [&](kernels::compensation<double> const& sum) { return kernels::compensate(on, sum); };
    if constexpr (requires { f.with_delta(on, scale, std::span(g), waited, std::span(delta), make); }) {
        CHECK(f.with_delta(on, scale, std::span(g), waited, std::span(delta), make));
    } else {
        delta = g;
        CHECK(detail::make_delta(f, on, {}, scale, std::span(delta)));
    }
    messages::full_vector<double, host> sent;
    sent.values.assign(g.size(), 0);
    sent.values[0] = delta[0];
    auto const copied = delta;
    f.update(on, std::move(delta), sent);
    return copied;
}

void same_rounds(auto one, memory_type any) {
    one.start(3), any.start(3);
    CHECK(to_string(any) == to_string(one));
    for (double const scale : {1., 2., .5}) CHECK(round_of(any, {4, 2, -1}, scale) == round_of(one, {4, 2, -1}, scale));
    auto copied = any;
    memory_type saved_and_back = any, sum = any;
    round_of(saved_and_back, {1, 1, 1});
    restore_from(any, saved_and_back);
    host on;
    sum.add(on, 1, any), sum.scale(on, .5);
    vec const next = round_of(one, {0, 1, 1});
    CHECK(round_of(any, {0, 1, 1}) == next);
    CHECK(round_of(copied, {0, 1, 1}) == next);
    CHECK(round_of(saved_and_back, {0, 1, 1}) == next);
    CHECK(round_of(sum, {0, 1, 1}) == next);
}

TEST_CASE("it is the memory or the stored residual inside") {
    same_rounds(memory<>(0, .9), memory<>(0, .9));
    in_8_bits const stored(block_float{block_format::int8}, .75);
    same_rounds(stored, stored);
    CHECK(memory_type(stored).keeps_residual());
    CHECK(memory_type(memory<>(0, 1)).keeps_residual());
    CHECK_FALSE(memory_type().keeps_residual());
    memory_type f = stored;
    CHECK(memory_type(memory<>(0, 1)).stored_bytes() == 0);
    f.start(3);
    CHECK(f.stored_bytes() > 3);
    CHECK_THROWS_WITH_AS(round_of(f, {1, 2, 3}, 1, 2), doctest::Contains("a step size that changes"), argument_error);
}

struct of_any {
    memory_type* inside;
    void state(auto& archive) { inside->any_state(archive); }
};
TEST_CASE("the state of a stored residual is none of a memory, nor the other way round") {
    memory_type stored = in_8_bits(block_float{block_format::int8}), plain, vectors = memory<>(0, 1);
    stored.start(3), vectors.start(3);
    round_of(vectors, {1, 2, 3});
    of_any there{&plain};
    wire::state_writer archive("a part");
    archive(stored);
    auto const bytes = archive.finish();
    CHECK_THROWS_WITH_AS(restore(there, bytes), doctest::Contains("not by resume()"), shape_error);
    CHECK_THROWS_AS(restore(vectors, bytes, "a part", 3), wire_error);
    CHECK_THROWS_AS(restore(stored, saved(vectors), "a part", 3), wire_error);
    restore(there, saved(vectors));
    CHECK(vec(plain.residual().begin(), plain.residual().end()) == vec{0, 2, 3});
}
