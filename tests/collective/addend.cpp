// SPDX-License-Identifier: Apache-2.0
// Sums of the words of numbers mean the sums of the numbers, and what is outside their range is refused.
// Which vectors sum() takes; what the compiler says of the rest is in tests/must_not_compile/sum.cpp.
#include "laconic/collective/addend.hpp"

#include "support/everything.hpp"

TEST_CASE("views show the caller's arrays, whatever the type of the indices") {
    std::vector<std::int64_t> const indices{4, 1};
    Eigen::VectorXd const values = Eigen::VectorXd::Constant(2, 0.5);
    sparse_view const seen(10, indices, values);
    static_assert(std::same_as<decltype(seen), sparse_view<double, std::int64_t> const>);
    CHECK(seen.dimension == 10);
    CHECK(seen.indices.data() == indices.data());
    CHECK(seen.values.data() == values.data());

    sparse_vector<float> const own{7, {2, 3}, {1.0f, -1.0f}};
    sparse_view const of_own = own;
    static_assert(std::same_as<decltype(of_own), sparse_view<float> const>);
    CHECK(of_own.dimension == 7);
    CHECK(of_own.values.data() == own.values.data());
    CHECK(sparse_vector<float>{7, {2, 3}, {1.0f, -1.0f}} == own);
}

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

template <class E>
sparse_vector<E> there_and_back(sparse_vector<E> const& x, int divisor = 1) {
    detail::addend_lists<E> lists;
    host on;
    CHECK(lists.load(on, sparse_view(x)) == "");
    sparse_vector<E> back;
    CHECK(!lists.store(back, divisor));
    return back;
}

TEST_CASE("terms in any order, with equal indices and zeros, come back sorted, added up, and without zeros") {
    CHECK(there_and_back<float>({9, {8, 2, 8, 0, 5}, {1, 2, 3, 0, -1}}) ==
          sparse_vector<float>{9, {2, 5, 8}, {2, -1, 4}});
    CHECK(there_and_back<double>({3, {0, 1, 2}, {1, 2, 3}}, 2) == sparse_vector<double>{3, {0, 1, 2}, {0.5, 1, 1.5}});
    CHECK(there_and_back<double>({3, {1, 1}, {1, -1}}) == sparse_vector<double>{3, {}, {}});
    CHECK(there_and_back<double>({0, {}, {}}) == sparse_vector<double>{0, {}, {}});
    std::int64_t const big = std::int64_t{1} << 40;
    CHECK(there_and_back<std::int64_t>({9, {7, 1, 7, 3, 2, 2}, {big, -big, 1, -1, big, -big}}) ==
          sparse_vector<std::int64_t>{9, {1, 3, 7}, {-big, -1, big + 1}});
    CHECK(there_and_back<std::int64_t>({9, {1}, {big << 1}}) == sparse_vector<std::int64_t>{9, {1}, {2 * big}});
    using half = Eigen::half;
    CHECK(there_and_back<half>({2, {1, 0}, {half(2.0f), half(1.0f)}}).values ==
          std::vector<half>{half(1.0f), half(2.0f)});
}

TEST_CASE("what is wrong with a sparse vector is named") {
    detail::addend_lists<float> lists;
    host on;
    std::vector<float> const values{1, 2};
    auto const wrong = [&](std::size_t d, auto const& indices) {
        return lists.load(on, sparse_view(d, indices, values));
    };
    CHECK(wrong(10, std::vector{3, 10}) == "index 10 in a sparse vector of 10 numbers");
    CHECK(wrong(10, std::vector{3, -1}) == "index -1 in a sparse vector of 10 numbers");
    CHECK(wrong(10, std::vector{std::int64_t{1} << 32, std::int64_t{0}}) ==
          "index 4294967296 in a sparse vector of 10 numbers");
    CHECK(wrong(10, std::vector{3}) == "a sparse vector has 1 indices and 2 values");
    CHECK(wrong(0, std::vector{0, 0}) == "index 0 in a sparse vector of 0 numbers");
    CHECK(wrong(std::size_t{1} << 32, std::vector{0, 1}) ==
          "a sparse vector of 4294967296 numbers, of at most 2^32 - 1");
    CHECK(wrong(10, std::vector{9, 0}) == "");

    detail::addend_lists<std::int8_t> small;
    CHECK(small.load(on, sparse_view(sparse_vector<std::int8_t>{5, {3, 3}, {100, 100}})) == "");
    sparse_vector<std::int8_t> back;
    CHECK(small.store(back, 1) == 3u);
}
