// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <span>
#include <string>

#include "laws/compressor.hpp"

namespace laws {

/// Every truncation, every flipped bit, a byte too many. Returns how many of the changed messages were accepted.
template <class T, class C>
std::size_t survives_small_changes(C const& c, std::vector<T> const& x, key from) {
    CAPTURE(to_string(c));
    CAPTURE(x.size());
    host on;
    laconic::message_of<C, T> m;
    c(on, std::span<T const>(x), from, m);
    bytes said = written(m);
    bool accepted = false;
    CHECK(trouble_with<T>(c, x.size(), from, said, accepted) == "");
    CHECK(accepted);

    for (std::size_t n = 0; n < said.size(); ++n) {
        CAPTURE(n);
        std::string const trouble = trouble_with<T>(c, x.size(), from, std::span(said).first(n), accepted);
        // A shorter message can be whole only where its beginning says how much follows, and it never does here: the
        // count fixes the length and was not changed.
        if (trouble != "" || accepted) FAIL_CHECK("cut off: " << trouble);
    }
    std::size_t passed = 0;
    for (std::size_t bit = 0; bit < 8 * said.size(); ++bit) {
        CAPTURE(bit);
        auto const flip = std::byte(1u << (bit % 8));
        said[bit / 8] ^= flip;
        std::string const trouble = trouble_with<T>(c, x.size(), from, said, accepted);
        if (trouble != "") FAIL_CHECK("flipped: " << trouble);
        if (bit >= account(m).unpadded() && accepted) FAIL_CHECK("padding that is not zero was accepted");
        passed += accepted;
        said[bit / 8] ^= flip;
    }
    for (unsigned const extra : {0u, 1u, 255u}) {
        said.push_back(std::byte(extra));
        std::string const trouble = trouble_with<T>(c, x.size(), from, said, accepted);
        if (trouble != "" || accepted) FAIL_CHECK("a byte too many: " << trouble);
        said.pop_back();
    }
    return passed;
}

}  // namespace laws
