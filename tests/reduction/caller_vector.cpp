// SPDX-License-Identifier: Apache-2.0
// A caller's numbers are used where they are, those of 16 bits are converted both ways, and NaN is written.
#include "laconic/reduction/caller_vector.hpp"

#include "support/everything.hpp"

using laconic::detail::caller_vector;

TEST_CASE("numbers of the reducer's type are read and written where they are") {
    host on;
    std::vector<double> x{1, 2, 3}, room(3);
    caller_vector const v{std::span(x)};
    CHECK(v.size() == 3);
    CHECK(v.is_there());
    CHECK(v.as_numbers(std::span(room)).data() == x.data());
    std::vector<double> const estimate{4, 5, 6};
    v.assign(on, std::span<double const>(estimate));
    CHECK(x == estimate);
    v.assign_nan(on, std::span(room));
    for (double const e : x) CHECK(std::isnan(e));
    CHECK_FALSE(caller_vector{}.is_there());
}

TEST_CASE("numbers of 16 bits are converted both ways, and what is too large for them becomes infinite") {
    host on;
    std::vector<Eigen::half> x{Eigen::half(1.5f), Eigen::half(-2.0f)};
    caller_vector const v{std::span(x)};
    std::vector<float> room(2);
    auto const there = v.as_numbers(std::span(room));
    CHECK(there.data() == room.data());
    CHECK(there[0] == 1.5f);
    CHECK(there[1] == -2.0f);
    std::vector<float> const estimate{1.0f / 3, 1e6f};
    v.assign(on, std::span<float const>(estimate));
    CHECK(float(x[0]) == float(Eigen::half(1.0f / 3)));
    CHECK(std::isinf(float(x[1])));
}

TEST_CASE("what a vector can hold: the largest finite number of its type, before a factor too") {
    host on;
    std::vector<float> x(1);
    CHECK(caller_vector(std::span(x)).largest() == std::numeric_limits<float>::max());
    auto const check = [&](auto zero, std::size_t bytes) {
        std::vector<decltype(zero)> of_16(1);
        caller_vector const v{std::span(of_16)};
        CHECK(v.size_bytes() == bytes);
        for (float const factor : {1.0f, 3.0f, 0.3f, 65536.0f}) {
            auto const early = caller_vector(std::span(x)).on_the_way_to(v, factor);
            CHECK(early.size_bytes() == bytes);
            auto const largest = static_cast<float>(early.largest());
            auto const is_written = [&](float estimate) {
                float const scaled = estimate * factor;
                v.assign(on, std::span(&scaled, 1));
                return std::isfinite(float(of_16[0]));
            };
            CHECK(is_written(largest));
            float const next = std::nextafter(largest, INFINITY);
            CHECK((!std::isfinite(next) || !is_written(next)));
        }
    };
    check(Eigen::half(), 2);
    check(Eigen::bfloat16(), 2);
}

TEST_CASE("a step has the vector that it starts, else the one that is bound, whose numbers are not read") {
    std::vector<double> x{1, 2, 3}, y(3), longer(4);
    laconic::detail::layer_vector v;
    CHECK_FALSE(v.held().is_there());
    CHECK_THROWS_AS(v.require(3), laconic::argument_error);
    CHECK_THROWS_AS(v.bind(caller_vector{std::span(longer)}, 3), laconic::shape_error);
    v.bind(caller_vector{std::span(y)}, 3);
    CHECK_FALSE(v.held().is_there());
    v.start(caller_vector{std::span(x)});
    v.hold_bound();
    CHECK(v.is_started());
    CHECK(v.held().as_numbers(std::span(y)).data() == x.data());
    v.end_step();
    CHECK_FALSE(v.held().is_there());
    v.hold_bound();
    CHECK_FALSE(v.is_started());
    CHECK(v.held().as_numbers(std::span(x)).data() == y.data());
    CHECK_NOTHROW(v.require(3));
    v.start(caller_vector{std::span(longer)});
    CHECK_THROWS_AS(v.require(3), laconic::shape_error);
}
