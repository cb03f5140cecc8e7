// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "laconic/any/compressor.hpp"
#include "laconic/any/spelling.hpp"
#include "laconic/compress/bernoulli.hpp"
#include "laconic/compress/dense.hpp"
#include "laconic/compress/lazy.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/sign.hpp"
#include "laconic/compress/threshold.hpp"
#include "laconic/compress/top_k.hpp"

namespace laconic {

namespace detail {

// A piece by its name. A sparsifier gets what follows it in the pipe; a quantizer has nothing behind it.
template <Scalar T>
struct named_piece {
    std::string name;
    bool sparsifier;
    std::function<any_compressor<T>(spelling::arguments&, any_compressor<T> const* rest)> make;
};

template <Scalar T, class S>
any_compressor<T> with_rest(S const& piece, any_compressor<T> const* rest) {
    if (rest) return piece.with(*rest);
    return piece;
}

inline norm norm_named(spelling::arguments& a) {
    auto const* const p = a.find("p", false);
    if (p && (p->calls.size() != 1 || !p->calls[0].items.empty())) a.refuse(p->position, "p is 1, 2 or inf");
    if (!p || p->word == "2") return norm::two;
    if (p->word == "1") return norm::one;
    if (p->word == "inf") return norm::largest;
    a.refuse(p->position, "p is 1, 2 or inf");
}

template <Scalar T>
std::vector<named_piece<T>> const& named_pieces() {
    using any = any_compressor<T>;
    using arguments = spelling::arguments;
    static std::vector<named_piece<T>> const all = {
        {"dense", true, [](arguments&, any const* rest) { return with_rest<T>(dense{}, rest); }},
        {"top_k", true, [](arguments& a, any const* rest) { return with_rest<T>(top_k{a.number("k")}, rest); }},
        {"rand_k", true, [](arguments& a, any const* rest) { return with_rest<T>(rand_k{a.number("k")}, rest); }},
        {"bernoulli", true, [](arguments& a, any const* rest) { return with_rest<T>(bernoulli{a.number("p")}, rest); }},
        {"lazy", true, [](arguments& a, any const* rest) { return with_rest<T>(lazy{a.number("p")}, rest); }},
        {"threshold", true,
         [](arguments& a, any const* rest) { return with_rest<T>(threshold{a.number("bound")}, rest); }},
        {"full", false, [](arguments&, any const*) -> any { return full{}; }},
        {"quantize", false,
         [](arguments& a, any const*) -> any {
             auto const levels = a.whole("levels", 1, 1, 32767), bucket = a.whole("bucket", 0, 0, 0x1p53);
             return quantize{static_cast<int>(levels), bucket, norm_named(a)};
         }},
        {"sign", false, [](arguments& a, any const*) -> any { return sign{a.whole("bucket", 0, 0, 0x1p53)}; }},
        {"natural", false, [](arguments&, any const*) -> any { return natural{}; }},
    };
    return all;
}

template <Scalar T>
any_compressor<T> make_compressor(std::string_view text, spelling::pipe const& calls) {
    std::vector<std::string> names;
    for (auto const& piece : named_pieces<T>()) names.push_back(piece.name);
    any_compressor<T> result;
    for (auto at = calls.size(); at-- > 0;) {
        spelling::arguments a(text, calls[at]);
        auto const& pieces = named_pieces<T>();
        auto const found =
            std::find_if(pieces.begin(), pieces.end(), [&](auto const& p) { return p.name == calls[at].name; });
        if (found == pieces.end())
            a.refuse(calls[at].position,
                     "there is no compressor '" + calls[at].name + "'; there are " + spelling::list(names));
        bool const last = at + 1 == calls.size();
        if (!last && !found->sparsifier)
            a.refuse(calls[at + 1].position,
                     "'" + calls[at].name + "' is a quantizer, which leaves nothing to what follows it");
        result = found->make(a, last ? nullptr : &result);
        a.finish();
    }
    return result;
}

}  // namespace detail

/// Reads a written compressor, such as "top_k(0.01) | natural"; to_string of the result reads back as the same. Throws
/// spelling_error with the place and the valid names.
template <Scalar T = double>
any_compressor<T> parse_compressor(std::string_view text) {
    return detail::make_compressor<T>(text, spelling::read_pipe(text));
}

}  // namespace laconic
