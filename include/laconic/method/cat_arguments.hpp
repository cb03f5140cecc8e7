// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "laconic/any/best_level.hpp"
#include "laconic/any/compressor.hpp"
#include "laconic/any/grammar.hpp"
#include "laconic/core/text.hpp"
#include "laconic/method/any_method.hpp"
#include "laconic/method/arguments.hpp"
#include "laconic/method/cat.hpp"
#include "laconic/recursion.hpp"

namespace laconic::detail {

// A method whose recursion has its compressor behind any_compressor, so that any_method compiles it once for all.
template <class M>
struct of_any_compressor {
    M method;

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        auto r = method.template compose<T, B>(p);
        return recursion<any_compressor<T, B>, decltype(r.feedback), decltype(r.step), decltype(r.level),
                         decltype(r.estimator)>{r.compressor, r.feedback, r.step, r.level, r.estimator, {}, r.scale};
    }
    friend std::string to_string(of_any_compressor const& m) { return to_string(m.method); }
};
template <class M>
of_any_compressor(M) -> of_any_compressor<M>;

// Reads cat(METHOD(rand_k), cost=...), for a method of unbiased compressors.
template <Scalar T, template <class...> class Method>
any_method<T> cat_of_rand_k(grammar::arguments& a, grammar::call const& method) {
    grammar::arguments of_method(a.text(), method);
    auto const& family = of_method.needed("compressor", true, "a ");
    auto const given = rates_arguments(of_method, {.memory = true, .batch = true});
    of_method.finish();
    auto const cost = cost_argument(a);
    auto const& calls = family.calls;
    bool const natural_too = calls.size() == 2 && calls[1].name == "natural";
    if (calls[0].name != "rand_k" || (calls.size() > 1 && !natural_too))
        a.refuse(family.position, concat({method.name,
                                          ": k can be chosen for rand_k and rand_k | natural, which are written "
                                          "without their own"}));
    for (auto const& piece : calls) grammar::arguments(a.text(), piece).finish();
    if (natural_too) return of_any_compressor{cat{Method<rand_k<natural>>{{}, given, {}}, cost}};
    return of_any_compressor{cat{Method<rand_k<>>{{}, given, {}}, cost}};
}

// Reads cat(ef_sgd(top_k), cost=...), or of another family.
template <Scalar T>
any_method<T> cat_of_ef_sgd(grammar::arguments& a, grammar::call const& method) {
    grammar::arguments of_method(a.text(), method);
    auto const& family = of_method.needed("compressor", true, "a ");
    auto const given = rates_arguments(of_method, {.batch = true});
    of_method.finish();
    auto const cost = cost_argument(a);
    return with_family_of(a, family, [&](auto const& c) -> any_method<T> {
        return of_any_compressor{cat{ef_sgd{c, given}, cost}};
    });
}

/// Reads cat(FAMILY, cost=..., step=...), for a family written without its level, or cat(METHOD(FAMILY), cost=...),
/// where the method may have arguments of its own. error_feedback means ef_sgd.
template <Scalar T>
any_method<T> cat_argument(grammar::arguments& a) {
    auto const& what = a.needed("compressor", true, "a ");
    auto const& first = what.calls[0];
    bool const unbiased = first.name == "diana" || first.name == "vr_diana" || first.name == "vr_diana_saga";
    bool const feedback = first.name == "ef_sgd" || first.name == "error_feedback";
    if ((unbiased || feedback) && what.calls.size() > 1)
        a.refuse(what.calls[1].position, "a method cannot be part of a pipe");
    if (feedback) return cat_of_ef_sgd<T>(a, first);
    if (first.name == "diana") return cat_of_rand_k<T, diana>(a, first);
    if (first.name == "vr_diana") return cat_of_rand_k<T, vr_diana>(a, first);
    if (first.name == "vr_diana_saga") return cat_of_rand_k<T, vr_diana_saga>(a, first);
    return with_families_of(a, what, [&](auto const& c) -> any_method<T> {
        auto const cost = cost_argument(a);
        auto const sizes = sizes_argument(a);
        auto const given = rates_arguments(a);
        return of_any_compressor{cat{c, cost, given, sizes}};
    });
}

}  // namespace laconic::detail
