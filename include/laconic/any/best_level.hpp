// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/any/compressor.hpp"
#include "laconic/any/cost.hpp"
#include "laconic/any/spelling.hpp"
#include "laconic/compress/best_level.hpp"

namespace laconic::detail {

/// Calls f(C, cost) with what best_level(top_k | sign, cost=packets(512, 64, 60)) names: the family, written without
/// its level, and the cost. bernoulli stands for proportional, whose probabilities are the best ones.
template <class F>
auto with_family(spelling::arguments& a, F f) {
    auto const* const family = a.find("compressor");
    if (!family) a.refuse(a.from().position, a.from().name + " needs a compressor: " + a.from().name + "(top_k), say");
    auto const* const price = a.find("cost", false);
    auto const cost = price ? make_cost(a.text(), price->calls) : message_cost{};
    auto const& calls = family->calls;
    spelling::arguments first(a.text(), calls[0]), second(a.text(), calls.back());
    if (calls[0].name == "top_k" && calls.size() == 1) {
        first.finish();
        return f(top_k<>{1}, cost);
    }
    if (calls[0].name == "top_k" && calls.size() == 2 && calls[1].name == "sign") {
        first.finish();
        auto const bucket = second.whole("bucket", 0, 0, 0x1p53);
        second.finish();
        return f(top_k<sign>{1, {bucket}}, cost);
    }
    if ((calls[0].name == "proportional" || calls[0].name == "bernoulli") && calls.size() == 1) {
        first.finish();
        return f(proportional<full, true>{1}, cost);
    }
    if (calls[0].name == "top_blocks" && calls.size() == 1) {
        auto const block = first.whole("block", 256, 1, 0x1p32);
        first.finish();
        return f(top_blocks<>{1, block}, cost);
    }
    a.refuse(family->position,
             "a level can be chosen for top_k, top_k | sign, top_blocks(block=...) and proportional, which are written "
             "without their own");
}

template <Scalar T, class B>
any_compressor<T, B> make_best_level(spelling::arguments& a) {
    return with_family(a, [](auto const& family, message_cost const& cost) -> any_compressor<T, B> {
        return best_level{family, cost};
    });
}

}  // namespace laconic::detail
