// SPDX-License-Identifier: Apache-2.0
// A sum learns why a rank brings nothing to it; one that takes a round's number alone refuses that rank's vector.
#include "laconic/collective/sum_round.hpp"

#include "support/everything.hpp"

using namespace laconic;

namespace {

struct told {
    std::string heard;
    void operator()(host&, int&, std::span<float>, sum_round const& round) { hear(round); }
    void operator()(host&, int&, sparse_sum<float, host>&, sum_round round = {}) { hear(round); }
    void hear(sum_round const& round) {
        heard = std::to_string(round.number) + " " + (round.own == nullptr ? "nothing" : round.own->why);
    }
};
struct untold {
    std::uint64_t number = 0;
    std::vector<float> brought;
    void operator()(host&, int&, std::span<float> x, std::uint64_t round) {
        number = round;
        brought.assign(x.begin(), x.end());
    }
    void operator()(host&, int&, sparse_sum<float, host>& v, std::uint64_t round = 0) {
        number = round;
        brought.assign(v.values().begin(), v.values().end());
    }
};

}  // namespace

TEST_CASE("sum_round: a sum that takes one learns why a rank brings nothing") {
    host on;
    int comm = 0;
    told sum;
    auto const why = detail::failure::no_message("no paper").by(2, 7);
    std::vector<float> x{1, 2};
    detail::call_sum(sum, on, comm, std::span(x), {7, &why});
    CHECK(sum.heard == "7 no paper");
    CHECK(x == std::vector<float>{1, 2});
    detail::call_sum(sum, on, comm, std::span(x), 8);
    CHECK(sum.heard == "8 nothing");
    sparse_sum<float, host> v(4);
    detail::call_sum(sum, on, comm, v, {9, &why});
    CHECK(sum.heard == "9 no paper");
    CHECK(v.size() == 0);
}

TEST_CASE("sum_round: to a sum that takes the number alone a rank that brings nothing brings what all refuse") {
    host on;
    int comm = 0;
    untold sum;
    auto const why = detail::failure::no_message("no paper").by(2, 7);
    std::vector<float> x{1, 2};
    detail::call_sum(sum, on, comm, std::span(x), 6);
    CHECK(sum.number == 6);
    CHECK(sum.brought == x);
    detail::call_sum(sum, on, comm, std::span(x), {7, &why});
    CHECK(sum.number == 7);
    CHECK(sum.brought.size() == 2);
    CHECK(std::isnan(sum.brought[0]));
    detail::call_sum(sum, on, comm, std::span<float>(), {7, &why});
    CHECK(sum.brought.size() == 1);  // of another length than that of no numbers
    sparse_sum<float, host> v(4);
    detail::call_sum(sum, on, comm, v, 6);
    CHECK(sum.brought.empty());
    detail::call_sum(sum, on, comm, v, {7, &why});
    CHECK(sum.brought.size() == 1);
    CHECK(std::isnan(sum.brought[0]));
}
