// SPDX-License-Identifier: Apache-2.0
// A user's terms become lists that ascend, equal indices added up, and come back as they were; what is wrong is named.
#include "laconic/collective/terms/addend_lists.hpp"

#include "support/everything.hpp"

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
