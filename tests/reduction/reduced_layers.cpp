// SPDX-License-Identifier: Apache-2.0
// Layers refuse what does not suit them, and no forged state makes them longer.
#include "laconic/reduction/reduced_layers.hpp"

#include "laconic/collective/dense/ring.hpp"
#include "laconic/comm/fibers.hpp"
#include "laconic/compress/top_k.hpp"
#include "support/states.hpp"
#include "support/test.hpp"

using namespace laconic;

namespace {

using top_k_with_errors = error_feedback<top_k<>>;
using layers = detail::reduced_layers<top_k_with_errors, fibers::member, float, host>;

// The same reduction for all layers.
template <class R>
auto always(R r) {
    return [r](layer const&) { return r; };
}

}  // namespace

TEST_CASE("what does not suit a layer is refused") {
    CHECK_THROWS_WITH_AS(layers({}, always(top_k_with_errors{top_k{1}}), {}, {}), "a reducer of no layers",
                         argument_error);
    CHECK_THROWS_WITH_AS(layers({}, always(top_k_with_errors{top_k{1}}), {{"a", 2}, {"b", 2}, {"a", 2}}, {}),
                         "two layers are named \"a\"", argument_error);
    CHECK_THROWS_WITH_AS(layers({}, always(top_k_with_errors{top_k{3}}), {{"a", 3}, {"b", 2}}, {}),
                         "layer b: top_k(3): k = 3 is above the dimension d = 2", argument_error);
    CHECK_THROWS_WITH_AS(layers({}, always(top_k_with_errors{top_k{3}}), {{"", 2}}, {}),
                         "top_k(3): k = 3 is above the dimension d = 2", argument_error);
    layers({}, always(top_k_with_errors{top_k{3}}), {{"a", 3}, {"b", 2}}, {.dense_below = 3});  // sent in full
    using around = detail::reduced_layers<plain<identity, ring>, fibers::member, float, host>;
    CHECK_THROWS_AS(around({}, always(plain<identity, ring>{}), {{"a", 3}}, {.not_started = absent::skip}),
                    argument_error);
}

TEST_CASE("a layer of more numbers than a coordinate counts is refused before there is memory for it") {
    auto const many = std::size_t{1} << 32;
    CHECK_THROWS_WITH_AS(layers({}, always(top_k_with_errors{top_k{1}}), {{"a", 2}, {"b", many}}, {}),
                         doctest::Contains("layer b: "), argument_error);
    auto const most = std::numeric_limits<std::size_t>::max();
    CHECK_THROWS_AS(layers({}, always(top_k_with_errors{top_k{1}}), {{"", most}}, {}), argument_error);
}

TEST_CASE("no state, forged with its checksum, makes a vector longer than its layer") {
    using shifts = detail::reduced_layers<ef21_shift<top_k<>>, fibers::member, float, host>;
    auto const by_top_1 = always(ef21_shift{top_k{1}});
    shifts longer({}, by_top_1, {{"a", 2}, {"b", 4}}, {}), restored({}, by_top_1, {{"a", 2}, {"b", 3}}, {});
    struct all_of {  // layers stay where they are, and this may be copied
        shifts* layers;
        void state(wire::state_writer& archive) { layers->state(archive); }
    };
    CHECK_THROWS_AS(restore(restored, ::saved(all_of{&longer})), wire_error);
    restore(restored, ::saved(all_of{&restored}));
    // The mean shift is empty before the first step, and as long as the layer after it.
    struct forged {
        std::size_t long_one;
        void state(wire::state_writer& archive) const {
            for (std::size_t const d : {2u, 3u}) {
                double step_size = 0;
                std::vector<float> h(d), mean_h(d == 3 ? long_one : d), e;
                archive(step_size, h);
                archive.vectors(mean_h);
                archive(e);
            }
        }
    };
    restore(restored, ::saved(forged{3}));
    restore(restored, ::saved(forged{0}));
    for (std::size_t const d : {2u, 4u}) CHECK_THROWS_AS(restore(restored, ::saved(forged{d})), wire_error);
}
