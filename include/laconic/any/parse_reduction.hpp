// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "laconic/any/grammar.hpp"
#include "laconic/any/parse.hpp"
#include "laconic/any/parse_collective.hpp"
#include "laconic/any/reduction.hpp"
#include "laconic/core/description.hpp"
#include "laconic/core/text.hpp"

namespace laconic {

namespace detail {

template <Scalar T, class B>
struct named_reduction {
    listed_value about;
    any_reduction<T, B> (*make)(grammar::arguments&);
};

template <Scalar T, class B>
any_reduction<T, B> make_reduction(std::string_view text, grammar::pipe const& calls);

template <Scalar T, class B>
any_compressor<T, B> reduced_compressor(grammar::arguments& a, bool needed) {
    if (auto const* const i = a.find("compressor")) return make_compressor<T, B>(a.text(), i->calls);
    if (needed)
        a.refuse(a.from().position,
                 concat({a.from().name, " needs a compressor: ", a.from().name, "(top_k(0.01)), say"}));
    return identity{};
}
template <Scalar T, class B>
any_collective<T, B> reduced_over(grammar::arguments& a) {
    if (auto const* const i = a.find("over", false)) return make_collective<T, B>(a.text(), i->calls);
    return gather_all{};
}

template <Scalar T, class B>
std::vector<named_reduction<T, B>> const& named_reductions() {
    using any = any_reduction<T, B>;
    using arguments = grammar::arguments;
    static std::vector<named_reduction<T, B>> const all = {
        {{"plain", "(C=identity, over=gather)", "no state; C unbiased"},
         [](arguments& a) -> any {
             auto const c = reduced_compressor<T, B>(a, false);
             return plain{c, reduced_over<T, B>(a)};
         }},
        {{"error_feedback", "(C, decay=1, over=gather)", "what a message leaves out is sent later; C contractive"},
         [](arguments& a) -> any {
             auto const c = reduced_compressor<T, B>(a, true);
             double const decay = a.number("decay", 1.0, false);
             if (!(decay >= 0 && decay <= 1)) a.refuse(a.from().position, "decay is from 0 to 1");
             return error_feedback{c, decay, reduced_over<T, B>(a)};
         }},
        {{"shifted", "(C, over=gather)", "differences to a shift that follows the gradient, as in DIANA; C unbiased"},
         [](arguments& a) -> any {
             auto const c = reduced_compressor<T, B>(a, true);
             return shifted{c, reduced_over<T, B>(a)};
         }},
        {{"ef21_shift", "(C, over=gather)", "differences to the rank's own estimate, as in EF21; C contractive"},
         [](arguments& a) -> any {
             auto const c = reduced_compressor<T, B>(a, true);
             return ef21_shift{c, reduced_over<T, B>(a)};
         }},
        {{"majority_vote", "(over=gather)", "signs; the estimate is their majority"},
         [](arguments& a) -> any {
             return majority_vote{vote{}, reduced_over<T, B>(a)};
         }},
        {{"unproved", "(REDUCTION)", "one of these for which there is no theorem, as it is"},
         [](arguments& a) -> any {
             auto const* const i = a.find("reduction");
             if (!i) a.refuse(a.from().position, "unproved needs a reduction: unproved(plain(top_k(0.01))), say");
             return unproved<any>{make_reduction<T, B>(a.text(), i->calls)};
         }},
    };
    return all;
}

template <Scalar T, class B>
any_reduction<T, B> make_reduction(std::string_view text, grammar::pipe const& calls) {
    return grammar::make_named(named_reductions<T, B>(), text, calls, "a reduction");
}

}  // namespace detail

/// Reads the text of a reduction, such as "error_feedback(top_k(0.01) | natural, decay=0.9)"; to_string of the result
/// reads back as the same. Throws parse_error with the place and the valid names.
template <Scalar T = float, class B = host>
any_reduction<T, B> parse_reduction(std::string_view text) {
    return detail::make_reduction<T, B>(text, grammar::read_pipe(text));
}

/// All reductions that parse_reduction reads. (A template, so that only its callers compile all reductions.)
template <Scalar T = float, class B = host>
std::vector<listed_value> list_reductions() {
    std::vector<listed_value> all;
    for (auto const& r : detail::named_reductions<T, B>()) all.push_back(r.about);
    return all;
}

}  // namespace laconic
