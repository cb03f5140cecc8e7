// SPDX-License-Identifier: Apache-2.0
// An estimate that cannot be written is found before any state changes, by its first number.
#include "laconic/reduction/writable_estimate.hpp"

#include "support/everything.hpp"

constexpr float most = std::numeric_limits<float>::max();

template <class R, class F>
std::size_t first(R const& reduction, F const& feedback, std::vector<float> const& mean, float scale, float largest,
                  bool in_full = false) {
    host on;
    detail::writable_estimate<R, float, host> check;
    std::span<float const> const x(mean);
    return check.first_beyond(on, reduction, {}, 2, feedback, x, in_full, scale, largest);
}

TEST_CASE("the first number that is too large once it is scaled, or not finite") {
    plain<> const all;
    memory<float> const none;
    float const nan = std::numeric_limits<float>::quiet_NaN();
    CHECK(first(all, none, {1, -5, 9}, 2, 10) == 2);
    CHECK(first(all, none, {1, -5.5f, 9}, 2, 10) == 1);
    CHECK(first(all, none, {1, -5, 5}, 2, 10) == 3);
    CHECK(first(all, none, {1, nan, 5}, 2, 10) == 1);
    CHECK(first(all, none, {1, most}, 2, most) == 1);
    CHECK(first(all, none, {1, most}, 0.5f, most) == 2);
    CHECK(first(all, none, {1, most, nan}, 1, most) == 3);  // not looked at: any number of T can be written
    CHECK(first(all, none, {}, 2, 10) == 0);
}

TEST_CASE("of a reduction with a shift it is the estimate that counts, and nothing changes") {
    host on;
    memory<float> shifted_by(1, 0);
    shifted_by.start(2);
    std::vector<float> mean{4, 8};
    shifted_by.reconstruct(on, {}, std::span(mean));  // the mean shift is 4, 8
    CHECK(first(plain<>{}, shifted_by, {2, 2}, 1, 9) == 1);
    CHECK(first(plain<>{}, shifted_by, {2, 1}, 1, 9) == 2);
    CHECK(shifted_by.mean_shift()[1] == 8);
}

TEST_CASE("of a vote it is the vote that counts, unless it is sent in full") {
    memory<float> const none;
    CHECK(first(majority_vote<>{}, none, {0.5f, -0.5f}, 8, 7) == 0);
    CHECK(first(majority_vote<>{}, none, {0.5f, -0.5f}, 8, 8) == 2);
    CHECK(first(majority_vote<>{}, none, {0.5f, -0.5f}, 8, 7, true) == 2);
}
