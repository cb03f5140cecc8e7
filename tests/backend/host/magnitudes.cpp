// SPDX-License-Identifier: Apache-2.0
// The host's thresholding and clipping are the reference's, NaN and infinity included.
#include "laconic/backend/host/magnitudes.hpp"

#include "support/everything.hpp"
#include "support/laws/messages.hpp"

using namespace laconic;

TEST_CASE_TEMPLATE("thresholding and clipping as the definition does them, NaN and infinity among them", T, float,
                   double) {
    using limits = std::numeric_limits<T>;
    host on;
    reference by_definition;
    auto vectors = laws::vectors<T>();
    vectors.push_back({limits::infinity(), -limits::infinity(), limits::quiet_NaN(), T(0.25), T(-0.25), -0.0});
    for (auto const& x : vectors)
        for (T const by : {T(0), T(0.25), T(3), limits::max()}) {
            auto here = x, wanted = x;
            soft_threshold(on, by, std::span<T>(here));
            soft_threshold(by_definition, by, std::span<T>(wanted));
            CHECK(here == wanted);
            here = wanted = x;
            clip_magnitudes(on, by, std::span<T>(here));
            clip_magnitudes(by_definition, by, std::span<T>(wanted));
            for (std::size_t i = 0; i < x.size(); ++i)
                CHECK((here[i] == wanted[i] || (std::isnan(x[i]) && std::isnan(here[i]) && std::isnan(wanted[i]))));
        }
}
