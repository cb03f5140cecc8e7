// SPDX-License-Identifier: Apache-2.0
// Terms are added, cleared, gathered and scattered at the coordinates that they name, in buckets and units too.
#include "laconic/backend/host/terms.hpp"

#include "support/everything.hpp"

using namespace laconic;

namespace {

// Term j is values_j e_{at_j}.
struct term_row {
    coordinate const* at;
    double const* values;
    std::size_t count;
    [[maybe_unused]] static constexpr bool in_order = false;
    constexpr std::size_t size() const { return count; }
    constexpr term<double> operator[](std::size_t j) const { return {at[j], values[j]}; }
};

// Buckets of `bucket` coordinates, whose number is the value: looked up in each term, or known from the bucket.
struct known {
    double value;
    std::size_t count;
    [[maybe_unused]] static constexpr bool in_order = true;
    constexpr std::size_t size() const { return count; }
    constexpr term<double> operator[](std::size_t j) const { return {static_cast<coordinate>(j), value}; }
};
struct in_buckets {
    std::size_t bucket, count;
    [[maybe_unused]] static constexpr bool in_order = true;
    constexpr std::size_t size() const { return count; }
    constexpr term<double> operator[](std::size_t j) const {
        return {static_cast<coordinate>(j), static_cast<double>(j / bucket)};
    }
    constexpr known from(std::size_t first) const {
        return {static_cast<double>(first / bucket), std::min(bucket - first % bucket, count - first)};
    }
};

}  // namespace

TEST_CASE("terms in buckets are added bucket by bucket, to the same sum") {
    host on;
    reference by_definition;
    for (std::size_t const d : {0u, 1u, 7u, 64u, 100u})
        for (std::size_t const bucket : {1u, 3u, 16u, 1000u}) {
            std::vector<double> sum(d, 0.5), wanted(sum);
            add_terms(on, std::span<double>(sum), 2.0, in_buckets{bucket, d});
            add_terms(by_definition, std::span<double>(wanted), 2.0, in_buckets{bucket, d});
            CHECK(sum == wanted);
            if (d > bucket) CHECK(sum[bucket] == 2.5);
        }
}

TEST_CASE("what terms name is cleared, except for those that are 0 as the vector's numbers") {
    std::vector<coordinate> const at{4, 0, 2, 1};
    std::vector<double> const values{1, -2, 0, 1e-300};
    auto const clear = [&](auto on, auto x) {
        using T = typename decltype(x)::value_type;
        clear_terms(on, std::span<T>(x), term_row{at.data(), values.data(), at.size()});
        return x;
    };
    CHECK(clear(host{}, std::vector<double>(6, 9)) == std::vector<double>{0, 0, 9, 9, 0, 9});
    CHECK(clear(host{}, std::vector<float>(6, 9)) == std::vector<float>{0, 9, 9, 9, 0, 9});
    CHECK(clear(reference{}, std::vector<float>(6, 9)) == std::vector<float>{0, 9, 9, 9, 0, 9});
}

TEST_CASE_TEMPLATE("what is gathered is scattered back, by units of which the last may be shorter", B, host,
                   reference) {
    B on;
    for (std::size_t const unit : {1u, 2u, 3u, 10u}) {
        std::vector<double> x(10), found;
        std::iota(x.begin(), x.end(), 1.0);
        std::size_t const units = (x.size() + unit - 1) / unit;
        std::vector<coordinate> const at{0, static_cast<coordinate>(units - 1)};
        auto const places = std::span<coordinate const>(at).last(units > 1 ? 2 : 1);
        gather(on, std::span<double const>(x), places, unit, 1.0, found);
        std::vector<double> y(10, -1.0);
        scatter(on, std::span<double const>(found), places, unit, std::span<double>(y));
        for (std::size_t i = 0; i < x.size(); ++i)
            CHECK(y[i] == (i / unit == 0 || i / unit == units - 1 ? x[i] : -1.0));
    }
}
