// SPDX-License-Identifier: Apache-2.0
// Pairs that are shared are those of the mean Hessian, on all ranks, and the searches in them agree; directions that
// arrive damaged are an error on all ranks.
#include "laconic/second_order/shared_pairs.hpp"

#include "support/det6.hpp"
#include "support/everything.hpp"

TEST_CASE("shared_pairs: pairs, accepted ones and steps are those of the mean, by each way") {
    auto const parts = det6::parts();
    std::array<std::vector<double>, 4> steps;
    for (std::size_t which = 0; which < 4; ++which)
        threads::run(int(det6::workers), [&](threads::member& comm) {
            auto const how = static_cast<curvature_transport>(which);
            auto const mine = det6::objective::of(parts[std::size_t(comm.rank())]);
            host on;
            detail::shared_pairs<gather_all, double> pairs({}, how, 4, 3, 0);
            std::size_t sums = 0;
            pairs.each_mean([&](auto& mean) { mean.start(comm), ++sums; });
            CHECK(sums == (how == curvature_transport::ship_m ? 3 : 1));
            auto const at = round_context::of(key{1}, 0, comm.rank(), comm.size());
            std::vector<double> const g{1, -1, 2, .5};
            pairs.share(on, comm, at, g,
                        [&](std::span<double const> s, std::span<double> out) { mine.hessian_times({}, s, out); });
            CHECK(pairs.pairs().accepted().size() == 3);
            std::vector<double> step(4);
            auto const found = pairs.search(on, comm, at, g, 100, 1e-6, std::span<double>(step));
            CHECK(found.decrease > 0);
            sr1<double> whole(4, 3, 0);
            whole.draw(on, at.shared);
            auto const f = det6::objective::of_all();
            whole.multiply(on, [&](std::span<double const> s, std::span<double> out) {
                f.hessian_times({}, s, out);
                for (double& v : out) v /= double(det6::workers);
            });
            std::vector<double> inner(9);
            whole.inner(on, std::span<double>(inner));
            whole.accept(on, std::span<double const>(inner));
            for (std::size_t j = 0; j < 3; ++j)
                CHECK(pairs.pairs().pivots()[j] == doctest::Approx(whole.pivots()[j]).epsilon(1e-11));
            if (comm.rank() == 2) steps[which] = step;
        });
    for (auto const& step : steps)
        for (std::size_t i = 0; i < 4; ++i) CHECK(step[i] == doctest::Approx(steps[0][i]).epsilon(1e-6));
}

TEST_CASE("shared_pairs: the search ends at min(forcing, sqrt |g|) |g|, or after 2 min(d, m + 1) products") {
    constexpr std::size_t d = 12;
    constexpr double size = 1e-3;
    threads::run(1, [&](threads::member& comm) {
        host on;
        auto const at = round_context::of(key{1}, 0, 0, 1);
        std::vector<double> const g(d, size / std::sqrt(double(d)));
        std::vector<double> step(d), expected(d);
        for (double const decades : {2., 6.}) {
            auto const times = [&](std::span<double const> s, std::span<double> out) {
                for (std::size_t i = 0; i < d; ++i) out[i] = s[i] * std::pow(10., -double(i) / (d - 1) * decades);
            };
            detail::shared_pairs<gather_all, double> pairs({}, curvature_transport::ship_y, d, d, 0);
            pairs.share(on, comm, at, g, times);
            CHECK(pairs.pairs().accepted().size() == d);
            if (decades == 2) {
                steihaug<double> whole;
                for (double const forcing : {.5, 1e-3}) {
                    auto const found = pairs.search(on, comm, at, g, 1e9, forcing, std::span<double>(step));
                    double const tolerance = std::min(forcing, std::sqrt(size)) * size;
                    auto const same = whole(on, std::span<double const>(g), std::span<double>(expected),
                                            {1e9, tolerance, 100}, times);
                    CHECK(found.products == same.products);
                    CHECK(found.why == steihaug_end::converged);
                }
            } else {
                auto const found = pairs.search(on, comm, at, g, 1e9, 1e-15, std::span<double>(step));
                CHECK(found.why == steihaug_end::products);
                CHECK(found.products == 2 * d);
            }
        }
    });
}

TEST_CASE("shared_pairs: directions that arrive damaged are an error on all ranks") {
    struct damaged {
        threads::member* inner;
        std::vector<std::byte> few = std::vector<std::byte>(3);
        bool done = false;
        int rank() const { return inner->rank(); }
        int size() const { return inner->size(); }
        void all_gather(payload mine) { done = true, inner->all_gather(mine); }
        void gather(int root, payload mine) { inner->gather(root, mine); }
        void broadcast(int root, payload mine) { inner->broadcast(root, mine); }
        payload from(int r) const { return rank() == 1 && !done ? payload{few} : inner->from(r); }
    };
    threads::run(3, [&](threads::member& comm) {
        damaged wire{&comm};
        host on;
        detail::shared_pairs<gather_all, double> pairs({}, curvature_transport::ship_s_and_y, 4, 2, 0);
        pairs.each_mean([&](auto& mean) { mean.start(wire); });
        auto const at = round_context::of(key{1}, 7, comm.rank(), comm.size());
        std::vector<double> const g(4, 1.);
        auto const share = [&] {
            pairs.share(on, wire, at, g, [](std::span<double const> s, std::span<double> out) {
                std::copy(s.begin(), s.end(), out.begin());
            });
        };
        CHECK_THROWS_WITH_AS(share(), doctest::Contains("rank 1, round 7: at bit"), compression_error);
        share();  // as `done` now
        CHECK(pairs.pairs().accepted().size() == 2);
    });
    CHECK(std::string(words_of(curvature_transport::gram)[3]) == "gram");
}
