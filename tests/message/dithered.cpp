// SPDX-License-Identifier: Apache-2.0
// A dithered number is its bucket's norm halved as often as its code says, as far as the type reaches.
#include "laconic/message/dithered.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::messages;

static_assert(Message<dithered<double, host>, double, host> && Message<dithered<float, host>, float, host>);
static_assert(dithered<float, host>::terms_type::in_order);

TEST_CASE_TEMPLATE("a thousand levels reach where T does", T, float, double) {
    T const top = std::ldexp(T(1), std::numeric_limits<T>::max_exponent - 1), least = std::numeric_limits<T>::min();
    // The least normal number, that many halvings below the largest power of two.
    int const halvings = std::numeric_limits<T>::max_exponent - std::numeric_limits<T>::min_exponent;
    auto const code = static_cast<std::int16_t>(1000 - std::min(halvings, 999));
    dithered<T, host> const m{1000, 3, {top}, {code, static_cast<std::int16_t>(-code), 1000}};
    CHECK(m.terms()[0].value == std::max(least, std::ldexp(top, -999)));
    CHECK(m.terms()[1].value == -m.terms()[0].value);
    CHECK(m.terms()[2].value == top);
}
