// SPDX-License-Identifier: Apache-2.0
// Sums of the words of numbers mean the sums of the numbers, and what is outside their range is refused.
// Which vectors sum() takes; what the compiler says of the rest is in tests/must_not_compile/sum.cpp.
#include "laconic/collective/addend.hpp"

#include "support/everything.hpp"

using detail::can_be_summed, detail::is_sparse, detail::number_of;

static_assert(detail::Addend<float> && detail::Addend<double> && detail::Addend<Eigen::half> &&
              detail::Addend<Eigen::bfloat16>);
static_assert(detail::Addend<char> && detail::Addend<std::int8_t> && detail::Addend<std::uint32_t> &&
              detail::Addend<std::int64_t>);
static_assert(!detail::Addend<bool> && !detail::Addend<long double> && !detail::Addend<void*>);

// The numbers' sum by their words.
template <class E>
std::optional<E> sum_of_words(std::vector<E> const& numbers) {
    typename detail::addend<E>::all sum{};
    for (auto const x : numbers) {
        auto const words = detail::addend<E>::split(x);
        for (std::size_t w = 0; w < words.size(); ++w) sum[w] += words[w];
    }
    E x;
    if (!detail::addend<E>::join(sum, x)) return {};
    return x;
}

TEST_CASE_TEMPLATE("sums of integers are exact up to both ends of their range, and refused beyond", E, std::int8_t,
                   std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t) {
    E const least = std::numeric_limits<E>::min(), most = std::numeric_limits<E>::max(), one = 1;
    for (E const x : {least, most, E(most - 1), E(most / 2), E(most / 2 + 1), E(0), one, E(least / 2), E(least + 1)})
        CHECK(sum_of_words<E>({x}) == x);
    CHECK(sum_of_words<E>({E(most - 1), one}) == most);
    CHECK(sum_of_words<E>({most, one}) == std::nullopt);
    CHECK(sum_of_words<E>({most, most}) == std::nullopt);
    if constexpr (std::numeric_limits<E>::is_signed) {
        CHECK(sum_of_words<E>({E(least + 1), E(-1)}) == least);
        CHECK(sum_of_words<E>({least, E(-1)}) == std::nullopt);
        CHECK(sum_of_words<E>({least, most, one}) == E(0));
        CHECK(sum_of_words<E>({E(-5), E(3)}) == E(-2));
    }
}

TEST_CASE("low halves of 64 bits that add up to more than 32 are carried, and of small numbers the high half is 0") {
    std::int64_t const x = 0x7fffffff;
    CHECK(sum_of_words<std::int64_t>({x, x, x, x, x}) == 5 * x);
    CHECK(sum_of_words<std::int64_t>({-x, -x, -x, -x, -x}) == -5 * x);
    CHECK(sum_of_words<std::uint64_t>({0xfffffffffffffff0u, 0xf}) == 0xffffffffffffffffu);
    for (std::int64_t const small : {-2147483648LL, -1LL, 0LL, 2147483647LL})
        CHECK(detail::addend<std::int64_t>::split(small)[1] == 0);
    CHECK(detail::addend<std::int64_t>::split(2147483648LL)[1] == 1);
}

TEST_CASE("numbers of 16 bits are added up in float and rounded once") {
    Eigen::half const most(65504.0f);
    CHECK(sum_of_words<Eigen::half>({most, most, Eigen::half(-65504.0f)}) == most);
    CHECK(sum_of_words<Eigen::half>({most, most}) == std::nullopt);
    CHECK(sum_of_words<Eigen::bfloat16>({Eigen::bfloat16(256.0f), Eigen::bfloat16(1.0f), Eigen::bfloat16(1.0f)}) ==
          Eigen::bfloat16(258.0f));  // 256 + 1 rounds to 256 in 16 bits
    CHECK(detail::addend<Eigen::half>::name() == "half");
    CHECK(detail::addend<Eigen::bfloat16>::name() == "bfloat16");
}

static_assert(can_be_summed<std::vector<float>&>() && can_be_summed<std::array<std::int32_t, 3>&>());
static_assert(can_be_summed<std::span<double>>() && can_be_summed<std::vector<Eigen::half>&>());
static_assert(can_be_summed<Eigen::Map<Eigen::VectorXf>>() && can_be_summed<Eigen::MatrixXf&>());
static_assert(can_be_summed<sparse_vector<float>>() && can_be_summed<sparse_vector<std::int64_t> const&>());
static_assert(can_be_summed<sparse_view<double, std::int64_t>>());
static_assert(is_sparse<sparse_view<double, int> const&> && !is_sparse<std::vector<double>&>);
static_assert(std::same_as<number_of<Eigen::VectorXf const&>, float>);
static_assert(std::same_as<number_of<sparse_view<double, int>>, double>);
