// SPDX-License-Identifier: Apache-2.0
// The device rounds buckets to levels, halvings, ranges and signs as the reference does, to the bit.
#include "laconic/backend/device/buckets.hpp"

#include "support/both.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace laconic::kernels;
using both::here;
using both::in;

namespace {

// use(x, bucket) for vectors of all kinds and buckets of several lengths.
template <class T, class Use>
void each_bucketing(Use use) {
    both::each_vector<T>([&](std::vector<T> const& x) {
        for (std::size_t const bucket : {1u, 7u, 64u, 500u, 100000u}) {
            CAPTURE(bucket);
            use(x, bucket);
        }
    });
}

template <class T, class Code, class Round>
void same_codes(std::vector<T> const& x, std::size_t bucket, Round round) {
    static device on;
    reference plain;
    std::size_t const buckets = detail::on_device::buckets_of(x.size(), bucket);
    auto const a = both::there(on, x);
    device::array<T> first(buckets), second(buckets);
    device::array<Code> codes(x.size());
    std::vector<T> wanted_first(buckets), wanted_second(buckets);
    std::vector<Code> wanted(x.size());
    bool const fine = round(on, in(a), std::span<T>(first), std::span<T>(second), std::span<Code>(codes));
    REQUIRE(fine ==
            round(plain, in(x), std::span<T>(wanted_first), std::span<T>(wanted_second), std::span<Code>(wanted)));
    if (!fine) return;
    CHECK(both::same_bits(here(on, first), wanted_first));
    CHECK(both::same_bits(here(on, second), wanted_second));
    CHECK(here(on, codes) == wanted);
}

}  // namespace

TEST_CASE_TEMPLATE("buckets on a grid of levels", T, float, double) {
    each_bucketing<T>([](std::vector<T> const& x, std::size_t bucket) {
        for (auto const p : {p_norm::one, p_norm::two, p_norm::largest})
            for (int const levels : {1, 4, 127, 32767}) {
                auto const round = [&](auto& on, auto v, auto steps, auto, auto codes) {
                    return round_buckets_to_levels(on, v, bucket, p, levels, key{2}, steps, codes);
                };
                if (levels <= most_levels<std::int8_t>) same_codes<T, std::int8_t>(x, bucket, round);
                if (levels != 127) same_codes<T, std::int16_t>(x, bucket, round);
            }
    });
}

TEST_CASE_TEMPLATE("buckets on halvings", T, float, double) {
    each_bucketing<T>([](std::vector<T> const& x, std::size_t bucket) {
        for (auto const p : {p_norm::two, p_norm::largest})
            for (int const levels : {1, 3, 9, 1000})
                same_codes<T, std::int16_t>(x, bucket, [&](auto& on, auto v, auto norms, auto, auto codes) {
                    return round_buckets_to_halvings(on, v, bucket, p, levels, key{2}, norms, codes);
                });
    });
}

TEST_CASE_TEMPLATE("buckets on their range, at random and to the nearest", T, float, double) {
    each_bucketing<T>([](std::vector<T> const& x, std::size_t bucket) {
        for (auto const how : {rounding::random, rounding::nearest})
            for (int const most : {1, 7, 255})
                same_codes<T, std::uint8_t>(x, bucket, [&](auto& on, auto v, auto least, auto steps, auto codes) {
                    return round_buckets_to_range(on, v, bucket, how, most, key{2}, least, steps, codes);
                });
    });
}

TEST_CASE_TEMPLATE("signs with one mean for a bucket, or two", T, float, double) {
    each_bucketing<T>([](std::vector<T> const& x, std::size_t bucket) {
        std::size_t const words = (x.size() + 63) / 64;
        same_codes<T, std::uint64_t>(x, bucket, [&](auto& on, auto v, auto means, auto, auto codes) {
            return pack_signs_and_means(on, v, bucket, means, codes.first(words));
        });
        same_codes<T, std::uint64_t>(x, bucket, [&](auto& on, auto v, auto below, auto above, auto codes) {
            return pack_signs_and_two_means(on, v, bucket, below, above, codes.first(words));
        });
    });
}

TEST_CASE_TEMPLATE("steps are damped, and what rounding adds", T, float, double) {
    device on;
    reference plain;
    both::each_finite_vector<T>([&](std::vector<T> const& x) {
        auto const a = both::there(on, x);
        for (T const step : {T(0.125), T(3)})
            CHECK(both::same_bits(rounding_variance(on, in(a), step), rounding_variance(plain, in(x), step)));
        for (std::size_t const bucket : {7u, 128u, 100000u})
            for (auto const p : {p_norm::two, p_norm::largest}) {
                std::size_t const buckets = detail::on_device::buckets_of(x.size(), bucket);
                std::vector<T> steps(buckets);
                std::vector<std::int16_t> codes(x.size());
                if (!round_buckets_to_levels(plain, in(x), bucket, p, 4, key{2}, std::span(steps), std::span(codes)))
                    continue;
                auto damped = both::there(on, steps);
                damp_steps(on, in(a), bucket, std::span<T>(damped));
                damp_steps(plain, in(x), bucket, std::span<T>(steps));
                CHECK(both::same_bits(here(on, damped), steps));
            }
    });
}
