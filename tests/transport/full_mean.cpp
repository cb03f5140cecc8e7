// SPDX-License-Identifier: Apache-2.0
// A mean in full is the same bits on all ranks by each transport, sends what it should, and ends together on an error.
#include "laconic/transport/full_mean.hpp"

#include "laconic/transport/robust.hpp"
#include "support/everything.hpp"
#include "support/passed_on.hpp"

// What each of three ranks gets, or what it throws, of which rank 1 brings `change` to its part; and the bytes it sent.
struct mean_outcome {
    std::vector<double> x;
    std::string error;
    std::uint64_t sent = 0, received = 0;
};
template <class X, class Change>
std::vector<mean_outcome> means_of_three(X over, std::size_t d, Change change) {
    std::vector<mean_outcome> all(3);
    threads::run(3, [&](threads::member& comm) {
        metered wire(comm);
        host on;
        detail::full_mean<X, double> mean(over, d);
        mean.start(wire);
        auto& mine = all[std::size_t(comm.rank())];
        round_context now;
        now.round = 4;
        for (int repeat = 0; repeat < 2; ++repeat) {  // the first may fail, the second does not
            mine.x.assign(d, 0.);
            auto const sent = wire.bytes_sent() + wire.bytes_broadcast(), received = wire.bytes_received();
            try {
                mean(on, wire, now, std::span<double>(mine.x), [&](detail::failure& own) {
                    for (std::size_t i = 0; i < d; ++i) mine.x[i] = double(i) + 3 * comm.rank();
                    if (comm.rank() == 1 && repeat == 0) change(mine.x, own);
                });
            } catch (error const& e) {
                mine.error = e.what();
            }
            mean.require_consistent();
            mine.sent = wire.bytes_sent() + wire.bytes_broadcast() - sent;
            mine.received = wire.bytes_received() - received;
        }
        CHECK(mean.dimension() == d);
    });
    return all;
}

template <class X>
void mean_is_right(X over) {
    CAPTURE(to_string(over));
    auto const all = means_of_three(over, 5, [](auto&, detail::failure&) {});
    for (auto const& rank : all) {
        CHECK(rank.error == "");
        CHECK(rank.x == all[0].x);
        for (std::size_t i = 0; i < 5; ++i) CHECK(rank.x[i] == doctest::Approx(double(i) + 3).epsilon(1e-15));
    }
    auto const bad = means_of_three(over, 5, [](auto& x, detail::failure&) { x[2] = std::nan(""); });
    auto const worse =
        means_of_three(over, 5, [](auto&, detail::failure&) { throw std::runtime_error("out of luck"); });
    auto const far = means_of_three(over, 2, [](auto&, detail::failure& own) { own = detail::failure::not_finite(9); });
    for (std::size_t r = 0; r < 3; ++r) {
        CHECK(bad[r].error == "rank 1, round 4: the gradient is not finite at coordinate 2");
        CHECK(worse[r].error == "rank 1, round 4: out of luck");
        CHECK(far[r].error == "rank 1, round 4: the gradient is not finite at coordinate 9");
        CHECK(bad[r].x == all[0].x);  // the next time
        CHECK(worse[r].x == all[0].x);
    }
}

TEST_CASE("full_mean: by each transport, and when a rank has none") {
    mean_is_right(gather_all{});
    mean_is_right(served<identity>{});
    mean_is_right(ring{});
    mean_is_right(halving_doubling{});
    mean_is_right(gathered_sum{});
}

TEST_CASE("full_mean: what travels is d numbers, to all or by the server") {
    auto const gathered = means_of_three(gather_all{}, 5, [](auto&, detail::failure&) {});
    auto const star = means_of_three(served<identity>{}, 5, [](auto&, detail::failure&) {});
    for (std::size_t r = 0; r < 3; ++r) {
        CHECK(gathered[r].sent == 40);
        CHECK(gathered[r].received == 80);
        CHECK(star[r].sent == (r == 0 ? 80 : 40));  // rank 0 also broadcasts
        CHECK(star[r].received == (r == 0 ? 0 : 40));
    }
}

TEST_CASE("full_mean: a collective that leaves something out is refused") {
    CHECK_THROWS_WITH_AS((detail::full_mean<gtop_k, double>(gtop_k{2}, 5)), doctest::Contains("gives back"),
                         argument_error);
}

TEST_CASE("parts_of_mean: parts of the mean of two vectors, and the way back, for more and fewer ranks than numbers") {
    for (int const ranks : {1, 2, 3, 7})
        threads::run(ranks, [&](threads::member& comm) {
            CAPTURE(ranks);
            constexpr std::size_t d = 5;
            metered wire(comm);
            host on;
            detail::parts_of_mean<double> parts(d, 2);
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
            detail::parts_of_mean<float> parts(4, 2);
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
        detail::parts_of_mean<double> parts(4, 1);
        std::vector<double> x(4, 1.);
        parts.scatter(on, wire, {}, std::span<double>(x), [](detail::failure&) {});
        if (comm.rank() == 0)
            CHECK_THROWS_WITH_AS(parts.raise(), doctest::Contains("from rank 1"), wire_error);
        else
            CHECK_NOTHROW(parts.raise());
    });
}

TEST_CASE("a transport that makes something else than a mean is refused") {
    using by_median = robust<robust_rules::coordinate_median>;
    CHECK_THROWS_WITH_AS(detail::full_mean<by_median>(by_median{}, 3),
                         doctest::Contains("not made by robust(coordinate_median)"), argument_error);
}
