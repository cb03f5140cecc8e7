// SPDX-License-Identifier: Apache-2.0
// The real problem is that of optima.json, and gradient descent has the gaps that are known of it.
#include "laconic/method/dcgd.hpp"

#include <map>

#include "support/data.hpp"
#include "support/everything.hpp"
#include "support/tasks.hpp"
#include "support/toys.hpp"

using namespace toys;

TEST_CASE("real data: the gap of gradient descent is the known one after 1, 10, 100 and 1000 rounds") {
    auto const all = tasks(10);
    if (all.size() == 1) return;
    auto const& t = all[1];
    any_run run(named("gd", t.p), t.f, t.start, 1);
    CHECK(t.best.value == doctest::Approx(.3638029611412475).epsilon(1e-13));
    std::size_t done = 0;
    for (auto const& [k, known] : std::map<std::size_t, double>{{1, .1204351623613697},
                                                                {10, .013976037099615701},
                                                                {100, 8.751733665329775e-05},
                                                                {1000, 4.440892098500626e-16}}) {
        run.rounds(k - std::exchange(done, k));
        CHECK(std::abs(t.gap(run.x()) - known) <= 1e-12 * t.best.value);
    }
}

// DCGD takes parts that are unbiased, or of one worker contractive; QSGD's quantizer keeps the counts of its paper.

TEST_CASE("one worker may use parts that are contractive, chosen at run time or not; of mixed parts each is asked") {
    auto const step_of = [](auto const& c) {
        return dcgd{c}.template compose<double, host>(problem{3, 1, 4, 1, 4, 4}).step.rate;
    };
    parts<top_k<>> const typed{{1, top_k{1}}, {2, top_k{1}}};
    CHECK(step_of(typed) == 1. / 4);
    CHECK(step_of(any_compressor<>(typed)) == 1. / 4);
    using any = any_compressor<>;
    auto const of = [](any a, any b) { return any(parts<any>{{1, std::move(a)}, {2, std::move(b)}}); };
    CHECK(step_of(of(top_k{1}, natural{})) == 1. / 4);
    CHECK((is_contractive(of(top_k{1}, top_k{1})) && !is_unbiased(of(top_k{1}, natural{}))));
    CHECK(is_unbiased(of(rand_k{1}, natural{})));
    CHECK(step_of(of(identity{}, natural{})) == doctest::Approx(1 / (4 + 2 * .125 * 4)));
}

TEST_CASE("the paper's numbers: at most s (s + sqrt d) numbers are not 0 on average, and what sqrt d levels cost") {
    host on;
    detail::message_of<quantize> m;
    for (int const s : {1, 2, 4}) {
        vec x(100);
        for (std::size_t j = 0; j < 100; ++j) x[j] = 2 * key{3}.uniform(j) - 1;
        estimate const nonzero(200, [&](std::size_t seed) {
            quantize{s}(on, std::span<double const>(x), key{seed}, m);
            return double(std::count_if(m.codes.begin(), m.codes.end(), [](auto code) { return code != 0; }));
        });
        double sum = 0;  // sum_j min(1, s |x_j| / |x|), where no |x_j| is above |x| / s
        for (double const v : x) sum += std::min(1., s * std::abs(v) / std::sqrt(norm2(x)));
        CHECK(std::abs(nonzero.mean - sum) <= 5 * nonzero.error);
        CHECK(nonzero.mean <= s * (s + 10));
        CHECK(nonzero.mean > s * 10 / 2);
    }
    CHECK(quantize{10}.omega(100) <= 1);                             // E|Q|^2 <= 2 |x|^2
    CHECK(quantize{16, 512}.omega(1000000) <= std::sqrt(512) / 16);  // 1.41: buckets of 512, 4 bits
}
