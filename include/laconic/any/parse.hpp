// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "laconic/any/best_level.hpp"
#include "laconic/any/compressor.hpp"
#include "laconic/any/grammar.hpp"
#include "laconic/any/norm.hpp"
#include "laconic/compress/about_top_k.hpp"
#include "laconic/compress/bernoulli.hpp"
#include "laconic/compress/damped_quantize.hpp"
#include "laconic/compress/dense.hpp"
#include "laconic/compress/lazy.hpp"
#include "laconic/compress/low_rank.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/natural_dithering.hpp"
#include "laconic/compress/parts.hpp"
#include "laconic/compress/proportional.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_block.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/scaled_down.hpp"
#include "laconic/compress/scaled_sign.hpp"
#include "laconic/compress/short_float.hpp"
#include "laconic/compress/threshold.hpp"
#include "laconic/compress/top_blocks.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/compress/two_means.hpp"
#include "laconic/compress/uniform.hpp"
#include "laconic/compress/vote.hpp"
#include "laconic/compress/zero_blocks.hpp"
#include "laconic/core/text.hpp"

namespace laconic {

namespace detail {

// A piece by its name. A sparsifier gets what follows it in the pipe; nothing may follow a quantizer.
template <Scalar T, class B>
struct named_piece {
    std::string name;
    bool sparsifier;
    any_compressor<T, B> (*make)(grammar::arguments&, any_compressor<T, B> const* rest);
};

template <Scalar T, class B, class S>
any_compressor<T, B> with_rest(S const& piece, any_compressor<T, B> const* rest) {
    if (rest) return piece.with(*rest);
    return piece;
}

inline rounding rounding_named(grammar::arguments& a) {
    auto const* const r = a.find("rounding", false);
    if (!r || (a.is_word(*r) && r->word == "random")) return rounding::random;
    if (!a.is_word(*r) || r->word != "nearest") a.refuse(r->position, "rounding is random or nearest");
    return rounding::nearest;
}

template <Scalar T, class B>
any_compressor<T, B> make_compressor(std::string_view text, grammar::pipe const& calls);

template <Scalar T, class B>
std::vector<named_piece<T, B>> const& named_pieces() {
    using any = any_compressor<T, B>;
    using arguments = grammar::arguments;
    static std::vector<named_piece<T, B>> const all = {
        {"dense", true, [](arguments&, any const* rest) { return with_rest<T, B>(dense{}, rest); }},
        {"top_k", true, [](arguments& a, any const* rest) { return with_rest<T, B>(top_k{a.number("k")}, rest); }},
        {"rand_k", true, [](arguments& a, any const* rest) { return with_rest<T, B>(rand_k{a.number("k")}, rest); }},
        {"bernoulli", true, [](arguments& a, any const* rest) { return with_rest<T, B>(bernoulli{a.number("p")}, rest); }},
        {"proportional", true,
         [](arguments& a, any const* rest) {
             double const k = a.number("k");
             if (!a.yes("damped")) return with_rest<T, B>(proportional{k}, rest);
             return with_rest<T, B>(proportional<identity, true>{k, {}}, rest);
         }},
        {"lazy", true, [](arguments& a, any const* rest) { return with_rest<T, B>(lazy{a.number("p")}, rest); }},
        {"threshold", true,
         [](arguments& a, any const* rest) { return with_rest<T, B>(threshold{a.number("bound")}, rest); }},
        {"zero_blocks", true,
         [](arguments& a, any const* rest) {
             return with_rest<T, B>(zero_blocks{a.whole("block", 256, 1, 0x1p32)}, rest);
         }},
        {"top_blocks", true,
         [](arguments& a, any const* rest) {
             double const k = a.number("k");
             return with_rest<T, B>(top_blocks{k, a.whole("block", 256, 1, 0x1p32)}, rest);
         }},
        {"rand_block", true,
         [](arguments& a, any const* rest) {
             double const k = a.number("k");
             return with_rest<T, B>(rand_block{k, a.whole("block", 256, 1, 0x1p32)}, rest);
         }},
        {"about_top_k", true,
         [](arguments& a, any const* rest) {
             double const k = a.number("k");
             return with_rest<T, B>(about_top_k{k, a.number("band", 0.1)}, rest);
         }},
        {"identity", false, [](arguments&, any const*) -> any { return identity{}; }},
        {"quantize", false,
         [](arguments& a, any const*) -> any {
             auto const levels = a.whole("levels", 1, 1, 32767), bucket = a.whole("bucket", 0, 0, 0x1p53);
             auto const p = norm_named(a);
             if (a.yes("damped")) return damped_quantize{static_cast<int>(levels), bucket, p};
             return quantize{static_cast<int>(levels), bucket, p};
         }},
        {"scaled_sign", false, [](arguments& a, any const*) -> any { return scaled_sign{a.whole("bucket", 0, 0, 0x1p53)}; }},
        {"vote", false, [](arguments&, any const*) -> any { return vote{}; }},
        {"natural", false, [](arguments&, any const*) -> any { return natural{}; }},
        {"natural_dithering", false,
         [](arguments& a, any const*) -> any {
             auto const levels = a.whole("levels", 8, 1, 1000), bucket = a.whole("bucket", 0, 0, 0x1p53);
             return natural_dithering{static_cast<int>(levels), bucket, norm_named(a)};
         }},
        {"uniform", false,
         [](arguments& a, any const*) -> any {
             auto const bits = a.whole("bits", 8, 1, 8), bucket = a.whole("bucket", 0, 0, 0x1p53);
             if (rounding_named(a) == rounding::nearest)
                 return uniform<rounding::nearest>{static_cast<int>(bits), bucket};
             return uniform<>{static_cast<int>(bits), bucket};
         }},
        {"two_means", false, [](arguments& a, any const*) -> any { return two_means{a.whole("bucket", 0, 0, 0x1p53)}; }},
        {"fp16", false, [](arguments&, any const*) -> any { return fp16{}; }},
        {"bf16", false, [](arguments&, any const*) -> any { return bf16{}; }},
        {"float8_e4m3", false, [](arguments&, any const*) -> any { return float8_e4m3{}; }},
        {"float8_e5m2", false, [](arguments&, any const*) -> any { return float8_e5m2{}; }},
        {"low_rank", false,
         [](arguments& a, any const*) -> any {
             auto const rows = a.whole("rows", 1, 1, 0x1p53), rank = a.whole("rank", 1, 1, 0x1p53);
             return low_rank<>{rows, rank};
         }},
        {"scaled_down", false,
         [](arguments& a, any const*) -> any {
             auto const* const inside = a.find("compressor");
             if (!inside) a.refuse(a.from().position, "scaled_down needs a compressor: scaled_down(rand_k(0.1)), say");
             return scaled_down<any>{make_compressor<T, B>(a.text(), inside->calls)};
         }},
        {"best_level", false, [](arguments& a, any const*) -> any { return make_best_level<T, B>(a); }},
        {"parts", false,
         [](arguments& a, any const*) -> any {
             std::vector<typename parts<any>::piece> list;
             while (2 * list.size() < a.from().items.size()) {
                 auto const length = a.whole("length", 0, 0, 0x1p32);
                 auto const* const inside = a.find("compressor");
                 if (!inside)
                     a.refuse(a.from().position, "parts takes lengths and compressors by turns: parts(6, scaled_sign, 2, identity)");
                 list.push_back({length, make_compressor<T, B>(a.text(), inside->calls)});
             }
             return parts<any>(std::move(list));
         }},
    };
    return all;
}

template <Scalar T, class B>
any_compressor<T, B> make_compressor(std::string_view text, grammar::pipe const& calls) {
    std::vector<std::string> names;
    for (auto const& piece : named_pieces<T, B>()) names.push_back(piece.name);
    any_compressor<T, B> result;
    for (auto at = calls.size(); at-- > 0;) {
        grammar::arguments a(text, calls[at]);
        auto const& pieces = named_pieces<T, B>();
        auto const found =
            std::find_if(pieces.begin(), pieces.end(), [&](auto const& p) { return p.name == calls[at].name; });
        if (found == pieces.end()) a.refuse(calls[at].position, grammar::no_such("compressor", calls[at].name, names));
        bool const last = at + 1 == calls.size();
        if (!last && !found->sparsifier)
            a.refuse(calls[at + 1].position,
                     concat({"'", calls[at].name, "' is a quantizer, which leaves nothing to what follows it"}));
        result = found->make(a, last ? nullptr : &result);
        a.finish();
    }
    return result;
}

}  // namespace detail

/// Reads an argument that is a compressor (any/fields.hpp).
template <Scalar T, class B>
void read_item(grammar::arguments& a, grammar::item const& i, any_compressor<T, B>& c) {
    c = detail::make_compressor<T, B>(a.text(), i.calls);
}

/// Reads the text of a compressor, such as "top_k(0.01) | natural"; to_string of the result reads back as the same.
/// Throws parse_error with the place and the valid names.
template <Scalar T = double, class B = host>
any_compressor<T, B> parse_compressor(std::string_view text) {
    return detail::make_compressor<T, B>(text, grammar::read_pipe(text));
}

}  // namespace laconic
