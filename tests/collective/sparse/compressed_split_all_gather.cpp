// SPDX-License-Identifier: Apache-2.0
// Sums by compressed parts are the same bits on all ranks, unbiased, and return what the compressor left out.
#include "laconic/collective/sparse/compressed_split_all_gather.hpp"

#include "support/collective_sums.hpp"
#include "support/everything.hpp"

using namespace collective_sums;

static_assert(Collective<compressed_split_all_gather<quantize>>);

constexpr auto coarse = "split_all_gather(quantize(3, bucket=8), seed=5)";

// What is applied in each of many rounds in which the ranks bring the same.
std::vector<sv::list<double>> rounds_of(sv::lists<double> const& brought, quantize c, std::size_t count) {
    std::vector<sv::list<double>> applied(count);
    sv::run_over<fibers>(int(brought.size()), [&](any_communicator& comm) {
        host on;
        auto const me = std::size_t(comm.rank());
        auto collective = make_sum<double>(compressed_split_all_gather{c, 9}, brought[0].dimension());
        for (std::size_t t = 0; t < count; ++t) {
            auto v = brought[me];
            collective(on, comm, v, t);
            if (me == 0) applied[t] = v;
        }
    });
    return applied;
}

TEST_CASE("sent in full, they are sums, and refuse what sums do") {
    recipe<float> const in_full = [](std::size_t) { return compressed_split_all_gather{identity{}}; };
    sums_are_right<float>(in_full, {1, 2, 7}, {sv::shape::spread});
    refuses(in_full, true);
}

TEST_CASE("two ranks, by hand") {
    // Sums 2, 2 and 0 in the first part and 0, -6 in the second: what is 0 or the largest of its part stays.
    sv::lists<double> const brought{sv::of<double>(5, {{0, 2}, {1, -1}, {4, -2}}),
                                    sv::of<double>(5, {{1, 3}, {4, -4}})};
    auto const [applied, returned] = sv::after(brought, [](auto& comm) {
        return make_sum<double>(compressed_split_all_gather{quantize{1, 0, p_norm::largest}}, comm, 5);
    });
    for (auto const& v : applied) CHECK(v == sv::of<double>(5, {{0, 2}, {1, 2}, {4, -6}}));
    for (auto const& v : returned) CHECK(v.size() == 0);
}

TEST_CASE("what is sent is unbiased, and drawn anew in each round") {
    // 1 and -3 beside a largest number of 4, with one level: 4 a quarter of the times, -4 three quarters.
    double const count = 4000;
    std::vector<double> mean(3);
    std::vector<std::size_t> terms(4);
    for (auto const& v : rounds_of(sv::lists<double>{sv::of<double>(3, {{0, 1}, {1, -3}, {2, 4}})},
                                   quantize{1, 0, p_norm::largest}, 4000)) {
        auto const x = sv::dense(v);
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK((x[i] == 0 || std::abs(x[i]) == 4));
            mean[i] += x[i] / count;
        }
        ++terms[v.size()];
    }
    // Standard deviations sqrt(1 x 3 / count): within four of them.
    CHECK(std::abs(mean[0] - 1) < 4 * std::sqrt(3 / count));
    CHECK(std::abs(mean[1] + 3) < 4 * std::sqrt(3 / count));
    CHECK(mean[2] == doctest::Approx(4));
    CHECK(terms[1] > 0);
    CHECK(terms[2] > terms[1]);
}

TEST_CASE_TEMPLATE("any number of ranks: equal bits, and what is not sent returns to who added up", T, float, double) {
    for (int const n : {1, 2, 3, 8, 33})
        for (auto const how : sv::shapes) {
            std::size_t const d = 61;
            auto const brought = sv::all_whole_numbers<T>(how, d, 12, n);
            auto const make = [&](auto& comm) {
                return make_sum<T>(compressed_split_all_gather{quantize{3, 8}, 5}, comm, d);
            };
            auto const [applied, returned] = sv::after(brought, make);
            for (auto const& v : applied) CHECK(v == applied[0]);
            auto everything = returned;
            everything.push_back(applied[0]);
            auto const kept = sv::sum_of(everything), sum = sv::sum_of(brought);
            for (std::size_t i = 0; i < d; ++i) CHECK(kept[i] == doctest::Approx(sum[i]).epsilon(1e-5));
            detail::partition const ranges{d, std::size_t(n)};
            for (std::size_t r = 0; r < std::size_t(n); ++r)
                for (auto const i : returned[r].support()) {
                    CHECK(i >= ranges.first(r));
                    CHECK(i < ranges.first(r + 1));
                }
            if (n > 8) continue;
            CHECK(sv::after(brought, make, sv::run_over<threads>).first == applied);
        }
}

TEST_CASE("each rank sends what others add up, and then what it and others send of their parts") {
    std::size_t const d = 300;
    for (int const n : {1, 2, 3, 5, 8}) {
        auto const all = std::size_t(n);
        auto const brought = sv::all_whole_numbers<float>(sv::shape::spread, d, 20, n);
        detail::partition const ranges{d, all};
        std::vector<float> sum(d);
        for (auto const& v : brought)
            for (std::size_t j = 0; j < v.size(); ++j) sum[v.support()[j]] += v.values()[j];
        sparse_sum<float> part;
        std::vector<std::uint64_t> expected(all);
        for (std::size_t r = 0; r < all; ++r) {
            for (std::size_t p = 0; p < all; ++p)
                if (p != r) {
                    part.assign_part(brought[r], ranges.first(p), ranges.length(p));
                    expected[r] += bits(part.message()) / 8;
                }
            for (std::size_t distance = 1; distance < all; distance *= 2) {
                wire::ledger books;
                for (std::size_t j = 0; j < std::min(distance, all - distance); ++j) {
                    auto const p = (r + j) % all;
                    auto const numbers = ranges.of(std::span<float const>(sum), p);
                    write(books, compress(quantize{3, 8}, numbers, key{5}.child(0).child(p)));
                }
                expected[r] += books.bits() / 8;
            }
        }
        CHECK(bytes_sent_by(brought, coarse) == expected);
    }
}

TEST_CASE("a sum that the compressor has no message for is refused on all ranks, and the next round is held") {
    std::vector<std::string> errors(3);
    sv::run_over<threads>(3, [&](any_communicator& comm) {
        host on;
        auto collective = make_sum<float>(compressed_split_all_gather{quantize{4}}, comm, 9);
        auto v = sv::of<float>(9, {{1, 1}});
        if (comm.rank() == 2) v = sv::of<float>(9, {{4, 3e38f}, {5, 3e38f}});  // the norm of rank 1's part overflows
        try {
            collective(on, comm, v, 4);
        } catch (compression_error const& e) {
            errors[std::size_t(comm.rank())] = e.what();
        }
        v = sv::of<float>(9, {{1, 1}});
        collective(on, comm, v, 5);
        CHECK(v == sv::of<float>(9, {{1, 3}}));
    });
    CHECK(errors == std::vector<std::string>(3, "rank 1, round 4: quantize: the norm of a bucket is not finite"));
}

TEST_CASE("a compressor that does not suit is refused") {
    CHECK_THROWS_WITH_AS((compressed_split_all_gather{quantize{0}}.check(9)),
                         "quantize: levels = 0 is outside 1 .. 32767", argument_error);
}
