// SPDX-License-Identifier: Apache-2.0
// Each rank gets its part of the mean, all get the whole back, and an error of one is an error of all.
#include "laconic/transport/parts_of_mean.hpp"

#include "support/everything.hpp"
#include "support/passed_on.hpp"

TEST_CASE("parts_of_mean: parts of the mean of two vectors, and the way back, for more and fewer ranks than numbers") {
    for (int const ranks : {1, 2, 3, 7})
        threads::run(ranks, [&](threads::member& comm) {
            CAPTURE(ranks);
            constexpr std::size_t d = 5;
            metered wire(comm);
            host on;
            parts_of_mean<double> parts(d, 2);
            std::vector<double> x(2 * d);
            parts.scatter(on, wire, {}, std::span<double>(x), [&](detail::failure&) {
                for (std::size_t i = 0; i < x.size(); ++i) x[i] = double(i) + comm.rank();
            });
            parts.raise();
            double const mid = (ranks - 1) / 2.;
            for (std::size_t j = 0; j < 2; ++j) {
                auto const mine = parts.part(wire, std::span<double>(x).subspan(j * d, d));
                for (double const& v : mine) CHECK(v == doctest::Approx(double(&v - x.data()) + mid).epsilon(1e-15));
            }
            auto const own = parts.part(wire, std::span<double>(x).first(d)).size();
            CHECK(wire.bytes_sent() == 16 * (d - own));
            std::vector<double> first(x.begin(), x.begin() + d);
            parts.gather(wire, std::span<double>(first));
            for (std::size_t i = 0; i < d; ++i) CHECK(first[i] == doctest::Approx(double(i) + mid).epsilon(1e-15));
            CHECK(wire.bytes_sent() == 16 * (d - own) + 8 * own);
        });
}

TEST_CASE("parts_of_mean: what a rank cannot bring all ranks throw, and go on") {
    for (int kind = 0; kind < 3; ++kind)
        threads::run(3, [&](threads::member& comm) {
            host on;
            parts_of_mean<float> parts(4, 2);
            std::vector<float> x(8);
            round_context now;
            now.round = 2;
            auto const once = [&](bool fails) {
                parts.scatter(on, comm, now, std::span<float>(x), [&](detail::failure& own) {
                    x.assign(8, 1);
                    if (!fails || comm.rank() != 2) return;
                    if (kind == 0) x[6] = std::nanf("");
                    if (kind == 1) throw error("no luck");
                    if (kind == 2) own = detail::failure::not_finite(3);
                });
            };
            char const* const expected[] = {"rank 2, round 2: the gradient is not finite at coordinate 2",
                                            "rank 2, round 2: no luck",
                                            "rank 2, round 2: the gradient is not finite at coordinate 3"};
            CHECK_THROWS_WITH_AS(once(true), expected[kind], error);
            once(false);
            parts.raise();
            for (float const v : parts.part(comm, std::span<float>(x).first(4))) CHECK(v == doctest::Approx(1));
        });
}

TEST_CASE("parts_of_mean: damaged bytes are one rank's to tell") {
    struct damaged : passed_on<threads::member> {
        std::vector<std::byte> nan = std::vector<std::byte>(16, std::byte{0xff});
        void gather(int root, payload mine) { inner->gather(root, rank() == 1 && root == 0 ? payload{nan} : mine); }
    };
    threads::run(2, [&](threads::member& comm) {
        damaged wire{{&comm}};
        host on;
        parts_of_mean<double> parts(4, 1);
        std::vector<double> x(4, 1.);
        parts.scatter(on, wire, {}, std::span<double>(x), [](detail::failure&) {});
        if (comm.rank() == 0)
            CHECK_THROWS_WITH_AS(parts.raise(), doctest::Contains("from rank 1"), wire_error);
        else
            CHECK_NOTHROW(parts.raise());
    });
}
