// SPDX-License-Identifier: Apache-2.0
// The exact mean counts absent ranks as zeros, and the deviation of an estimate from it is that by hand.
#include "laconic/reduction/exact_mean.hpp"

#include <thread>

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

TEST_CASE("the exact mean of the ranks' vectors, and how far an estimate is from it") {
    fibers::run(2, [](fibers::member& comm) {
        host on;
        detail::exact_mean<double, host> exact(2);
        std::vector<double> x{comm.rank() == 0 ? 8.0 : 16.0, 0};
        exact.gather(on, comm, 0, 0.25, detail::caller_vector(std::span(x)));  // 2 and 4: the mean is (3, 0)
        detail::deviation far;
        std::vector<double> const estimate{3, 4};
        exact.compare(on, std::span<double const>(estimate), far);
        CHECK(far.mean_squared == 9);
        CHECK(far.estimate_squared == 25);
        CHECK(far.difference_squared == 16);
        CHECK(far.cosine() == doctest::Approx(0.6));
        CHECK(far.relative_error() == doctest::Approx(4.0 / 3));
        // A rank without numbers, or of weight 0, counts as zeros.
        auto const absent = comm.rank() == 0 ? detail::caller_vector() : detail::caller_vector(std::span(x));
        exact.gather(on, comm, 1, 0.5, absent);
        detail::deviation other;
        std::vector<double> const right{4, 0};
        exact.compare(on, std::span<double const>(right), other);
        CHECK(other.difference_squared == 0);
    });
    CHECK(detail::deviation{}.cosine() == 0);
    CHECK(detail::deviation{0, 4, 4}.relative_error() == 2);
}

TEST_CASE("a timer adds the seconds of its life to a sum") {
    double seconds = 10;
    {
        detail::timed const time(seconds);
        CHECK(seconds == 10);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    CHECK(seconds >= 10.002);
}
