// SPDX-License-Identifier: Apache-2.0
// A layer's memory rescales its residual by step sizes, averages states of ranks, and digests what it holds.
#include "laconic/reduction/layer_memory.hpp"

#include "support/everything.hpp"

using one = detail::layer_memory<memory<double>, double, host>;

// The memory after a delta of these numbers of which nothing was sent.
one with_residual(std::vector<double> const& e, memory<double> how) {
    host on;
    one m(how, e.size());
    messages::full_vector<double, host> nothing;
    nothing.values.assign(e.size(), 0);
    m.feedback().update(on, std::span<double const>(e), nothing);
    return m;
}

TEST_CASE("the residual is multiplied by the step size that it was made at over that of now, where both are given") {
    host on;
    auto m = with_residual({8, 4}, {0, 0.5});
    std::vector<double> const x{1, 1};
    std::vector<double> out(2);
    auto const delta = [&](std::optional<double> step_size) {
        auto const sum = [&](auto const& s) { return kernels::compensate(on, s); };
        CHECK(m.with_delta(on, {}, 1.0, std::span<double const>(x), step_size, std::span(out), sum));
        return out;
    };
    CHECK(delta(0.25) == std::vector<double>{5, 3});
    m.set_step_size(0.5);
    CHECK(delta(0.25) == std::vector<double>{9, 5});
    CHECK(delta({}) == std::vector<double>{5, 3});
    m.set_step_size({});  // none was given: the last one stays
    CHECK(delta(0.25) == std::vector<double>{9, 5});
}

TEST_CASE("the states of several ranks become their mean") {
    host on;
    one m(memory<double>{0, 1}, 2);
    for (auto const& e : {std::vector<double>{1, 2}, std::vector<double>{3, 6}}) {
        m.feedback() = with_residual(e, {0, 1}).feedback();
        m.add_state(on);
    }
    m.take_mean_state(on, 2);
    auto const e = m.feedback().residual();
    CHECK(std::vector<double>(e.begin(), e.end()) == std::vector<double>{2, 4});
    CHECK(m.bytes() == 16);
    CHECK(m.residual_squared(on) == 20);
}

TEST_CASE("what cannot be combined with such a feedback is refused") {
    host on;
    one shift(memory<double>{0.5, 0}, 2);
    CHECK_THROWS_AS(shift.check_share(2), argument_error);
    shift.check_share(1);
    one(memory<double>{0, 1}, 2).check_share(2);
}

TEST_CASE("the digest is of the estimate and the mean shift") {
    host on;
    one a(memory<double>{1, 0}, 2), b(memory<double>{1, 0}, 2);
    std::vector<double> const x{1, 2}, y{1, 3};
    CHECK(a.digest_with(on, std::span<double const>(x)) == b.digest_with(on, std::span<double const>(x)));
    CHECK(a.digest_with(on, std::span<double const>(x)) != a.digest_with(on, std::span<double const>(y)));
    auto mean = y;
    a.feedback().reconstruct(on, {}, std::span(mean));
    CHECK(a.digest_with(on, std::span<double const>(x)) != b.digest_with(on, std::span<double const>(x)));
}

// An estimate that cannot be written is found before any state changes, by its first number.

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
