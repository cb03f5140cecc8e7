// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "laconic/any/best_level.hpp"
#include "laconic/method/any_method.hpp"
#include "laconic/method/cat.hpp"

/// What texts of methods have beside fields: steps, and the two forms of cat, of a family and of a method.
namespace laconic {

/// Reads an argument that is a step (any/registry.hpp): step=0.1 or step=0.5/L.
inline void read_item(grammar::arguments& a, grammar::item const& i, step_size& s) {
    std::string_view word = i.word;
    s.over_smoothness = word.ends_with("/L");
    if (s.over_smoothness) word.remove_suffix(2);
    if (!grammar::read_number(word, s.value) || !(s.value > 0))
        a.refuse(i.position, {"step is a number above 0, such as 0.1, or 0.5/L for half of 1 over the smoothness"});
}

namespace detail {

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

template <class T>
struct cat_of_family : level_choice {
    overrides given{};

    static constexpr void description(auto&& describe) {
        level_choice::describe_as(describe, "cat", "g full, C at its best level for the cost, alpha 0", step_field);
    }
    operator any_method<T>() const {
        return with([&](auto const& c) -> any_method<T> { return of_any_compressor{cat{c, cost, given, counted()}}; });
    }
};

// rand_k or rand_k | natural, written without k.
struct rand_k_family {
    std::variant<rand_k<>, rand_k<natural>> c{};
};
inline void read_item(grammar::arguments& a, grammar::item const& i, rand_k_family& f) {
    auto const& calls = i.calls;
    bool const natural_too = calls.size() == 2 && calls[1].name == "natural";
    if (calls[0].name != "rand_k" || (calls.size() > 1 && !natural_too))
        a.refuse(i.position, {a.from().name,
                              ": k can be chosen for rand_k and rand_k | natural, which are written without "
                              "their own"});
    for (auto const& piece : calls) grammar::arguments(a.text(), piece).finish();
    if (natural_too) f.c = rand_k<natural>{};
}

// A method with such a compressor, of which the cost makes cat.
template <class T>
struct method_of_family {
    std::function<any_method<T>(two_way_cost const&)> with_cost{};
    friend std::string to_string(method_of_family const& m) { return to_string(m.with_cost({})); }
};
template <class T, template <class...> class Method, class Family>
void read_method(grammar::arguments& a, grammar::item const& i, method_of_family<T>& m) {
    if (i.calls.size() > 1) a.refuse(i.calls[1].position, {"a method cannot be part of a pipe"});
    grammar::arguments of_method(a.text(), i.calls[0]);
    Family family;
    grammar::read_field(of_method, field("compressor", 0).needed().facts, family);
    std::visit(
        [&](auto const& c) {
            Method<std::remove_cvref_t<decltype(c)>> method{c};
            for_each_field(method, [&](auto const& f, auto& value) {
                if (f.facts.name != "compressor") grammar::read_field(of_method, f.facts, value);
            });
            m.with_cost = [=](two_way_cost const& cost) -> any_method<T> {
                return of_any_compressor{cat{method, cost}};
            };
        },
        family.c);
    of_method.finish();
}
// error_feedback means ef_sgd.
template <class T>
void read_item(grammar::arguments& a, grammar::item const& i, method_of_family<T>& m) {
    auto const& name = i.calls[0].name;
    if (name == "diana") return read_method<T, diana, rand_k_family>(a, i, m);
    if (name == "vr_diana") return read_method<T, vr_diana, rand_k_family>(a, i, m);
    if (name == "vr_diana_saga") return read_method<T, vr_diana_saga, rand_k_family>(a, i, m);
    if (name == "ef_sgd" || name == "error_feedback") return read_method<T, ef_sgd, level_family>(a, i, m);
    a.refuse(i.position, {"a method is diana, vr_diana, vr_diana_saga or ef_sgd of such a compressor"});
}

template <class T>
struct cat_of_method {
    method_of_family<T> method{};
    two_way_cost cost{};

    static constexpr void description(auto&& describe) {
        describe("cat", "diana, vr_diana or vr_diana_saga of rand_k, or ef_sgd of a family, with C at its best level",
                 described_costs::source, field("compressor", &cat_of_method::method).needed(),
                 field("cost", &cat_of_method::cost).by_name());
    }
    operator any_method<T>() const { return method.with_cost(cost); }
};

}  // namespace detail

}  // namespace laconic
