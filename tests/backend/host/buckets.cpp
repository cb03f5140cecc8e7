// SPDX-License-Identifier: Apache-2.0
// The host rounds bucket by bucket as the reference does, and reports what is not finite, wherever it is.
#include "laconic/backend/host/buckets.hpp"

#include "support/everything.hpp"
#include "support/laws/messages.hpp"

using namespace laconic;
using namespace laconic::kernels;

namespace {

// What a kernel makes of x, and whether it finds all of it finite.
template <class T, class Code>
struct made {
    bool finite;
    std::vector<T> scales, more;
    std::vector<Code> codes;

    // Where it is not finite, what was written is of no use.
    friend bool operator==(made const& a, made const& b) {
        return a.finite == b.finite && (!a.finite || (a.scales == b.scales && a.more == b.more && a.codes == b.codes));
    }
};
template <class T, class Code, class F>
made<T, Code> make(std::size_t buckets, std::size_t codes, F kernel) {
    made<T, Code> m{false, std::vector<T>(buckets, T(7)), std::vector<T>(buckets, T(7)), std::vector<Code>(codes, 7)};
    m.finite = kernel(std::span(m.scales), std::span(m.more), std::span(m.codes));
    return m;
}

// All kernels on both backends. Returns how many found something that is not finite.
template <class T>
int agree(std::vector<T> const& x, std::size_t bucket, key from) {
    host on;
    reference by_definition;
    std::span<T const> const v(x);
    std::size_t const d = x.size(), buckets = (d + bucket - 1) / bucket;
    CAPTURE(d);
    CAPTURE(bucket);
    int refused = 0;
    auto const same = [&]<class Code>(Code, std::size_t codes, auto kernel) {
        auto const here = make<T, Code>(buckets, codes, [&](auto... out) { return kernel(on, out...); });
        CHECK(here == make<T, Code>(buckets, codes, [&](auto... out) { return kernel(by_definition, out...); }));
        refused += !here.finite;
    };
    for (p_norm const p : {p_norm::one, p_norm::two, p_norm::largest})
        for (int const levels : {1, 3, 127, 1000}) {
            auto const to_levels = [&](auto& b, auto steps, auto damped, auto codes) {
                bool const finite = round_buckets_to_levels(b, v, bucket, p, levels, from, steps, codes);
                std::copy(steps.begin(), steps.end(), damped.begin());
                if (finite) damp_steps(b, v, bucket, damped);
                return finite;
            };
            same(std::int16_t{}, d, to_levels);
            if (levels <= most_levels<std::int8_t>) same(std::int8_t{}, d, to_levels);
            same(std::int16_t{}, d, [&](auto& b, auto norms, auto, auto codes) {
                return round_buckets_to_halvings(b, v, bucket, p, levels, from, norms, codes);
            });
        }
    for (rounding const how : {rounding::random, rounding::nearest})
        for (int const most : {1, 7, 255})
            same(std::uint8_t{}, d, [&](auto& b, auto least, auto steps, auto codes) {
                return round_buckets_to_range(b, v, bucket, how, most, from, least, steps, codes);
            });
    same(std::uint64_t{}, (d + 63) / 64,
         [&](auto& b, auto scales, auto, auto words) { return pack_signs_and_means(b, v, bucket, scales, words); });
    same(std::uint64_t{}, (d + 63) / 64, [&](auto& b, auto below, auto above, auto words) {
        return pack_signs_and_two_means(b, v, bucket, below, above, words);
    });
    return refused;
}

}  // namespace

TEST_CASE_TEMPLATE("bucket by bucket the host rounds as the definition does", T, float, double) {
    for (auto const& x : laws::vectors<T>())
        for (std::size_t const bucket : {1u, 3u, 16u, 64u, 65u, 1000u}) CHECK(agree(x, bucket, key{bucket}) == 0);
}

TEST_CASE_TEMPLATE("long buckets, whose random numbers are drawn before they begin", T, float, double) {
    for (std::size_t const bucket : {448u, 500u, 512u, 520u, 1537u})
        CHECK(agree(laws::noise<T>(3300, bucket), bucket, key{bucket}) == 0);
}

TEST_CASE_TEMPLATE("what is not finite is found wherever it is", T, float, double) {
    using limits = std::numeric_limits<T>;
    for (T const bad : {limits::infinity(), -limits::infinity(), limits::quiet_NaN()})
        for (std::size_t const bucket : {1u, 16u, 64u, 100u, 200u})
            for (std::size_t const i : {0u, 15u, 16u, 99u, 100u, 140u}) {
                auto x = laws::noise<T>(141, i);
                x[i] = bad;
                CHECK(agree(x, bucket, key{i}) == 41);
            }
    // The numbers are finite, but not their 1-norm, their range, or the sum of doubles.
    CHECK(agree<T>({limits::max(), -limits::max(), 0}, 3, key{1}) > 5);
    CHECK(agree<T>({limits::max() / 2, -limits::max() / 2, 0}, 1, key{1}) == 0);
}

TEST_CASE("an empty vector has no bucket, and is finite") { CHECK(agree<double>({}, 1, key{1}) == 0); }
