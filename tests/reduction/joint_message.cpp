// SPDX-License-Identifier: Apache-2.0
// Small layers that are next to each other share a message, up to 16 times the limit.
#include "laconic/reduction/joint_message.hpp"

#include <deque>

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

// How many layers each message of these sizes has, in this order.
std::vector<std::size_t> joined(std::vector<std::size_t> const& sizes, std::vector<std::size_t> const& order,
                                reducer_options const& options) {
    detail::step_resources<fibers::member, host> with;
    std::deque<detail::reduced_layer<plain<>, fibers::member, float, host>> layers;
    std::vector<detail::step_layer*> list;
    for (auto const& l : layers_of(sizes)) list.push_back(&layers.emplace_back(with, plain{}, l, options));
    std::vector<std::size_t> counts;
    for (auto const& m : detail::joined(list, order, options, false)) counts.push_back(m.layers().size());
    return counts;
}

TEST_CASE("layers below the limit that are next to each other share a message, up to 16 times the limit") {
    using counts = std::vector<std::size_t>;
    CHECK(joined({5, 6, 7, 50, 8}, {0, 1, 2, 3, 4}, {.share_below = 50}) == counts{3, 1, 1});
    CHECK(joined({5, 6, 7, 50, 8}, {3, 0, 4, 1, 2}, {.share_below = 50}) == counts{1, 4});
    CHECK(joined({5, 6}, {0, 1}, {.share_below = 0}) == counts{1, 1});
    CHECK(joined({5, 6}, {0, 1}, {.missing_layer = on_missing_layer::skip}) == counts{1, 1});
    CHECK(joined(counts(40, 9),
                 [] {
                     counts order(40);
                     for (std::size_t l = 0; l < 40; ++l) order[l] = l;
                     return order;
                 }(),
                 {.share_below = 10}) == counts{17, 17, 6});  // 17 x 9 <= 160
}
