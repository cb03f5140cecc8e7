// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "laconic/any/collective.hpp"
#include "laconic/any/fields.hpp"
#include "laconic/any/grammar.hpp"
#include "laconic/any/parse.hpp"
#include "laconic/any/parse_collective.hpp"
#include "laconic/core/description.hpp"
#include "laconic/core/type_list.hpp"
#include "laconic/families.hpp"
#include "laconic/method/any_method.hpp"
#include "laconic/method/arguments.hpp"
#include "laconic/method/cat_arguments.hpp"
#include "laconic/method/methods.hpp"

namespace laconic {

namespace detail {

template <Scalar T>
struct named_method {
    listed_value about;  // about.about is what it is by the equation of descent.hpp
    std::function<any_method<T>(grammar::arguments&)> make;
};

template <Scalar T>
any_method<T> make_method(std::string_view text, grammar::pipe const& calls);

}  // namespace detail

/// Reads an argument that is a method (any/fields.hpp).
template <Scalar T>
void read_item(grammar::arguments& a, grammar::item const& i, any_method<T>& m) {
    m = detail::make_method<T>(a.text(), i.calls);
}

namespace detail {

template <Scalar T, Described... M, Described... L>
std::vector<named_method<T>> named_methods_of(type_list<M...>, type_list<L...>) {
    return {{listed<M>(), [](grammar::arguments& a) -> any_method<T> { return grammar::read_fields<M>(a); }}...,
            {listed<L>(), [](grammar::arguments& a) -> any_method<T> { return grammar::read_fields<L>(a); }}...,
            {{"cat", "(C or C, D or METHOD(C), cost=bits, sizes=formula, step=)",
              "g full, C at its best level for the cost, alpha 0; or another method, diana(rand_k), say, with such a C",
              "Khirirat, Magnusson, Aytekin, Johansson, arXiv:2003.06377"},
             [](grammar::arguments& a) -> any_method<T> { return cat_argument<T>(a); }}};
}

template <Scalar T>
std::vector<named_method<T>> const& named_methods() {
    static auto const all = named_methods_of<T>(library_methods<any_compressor<T>, any_method<T>>{},
                                                library_loop_methods<any_compressor<T>, any_collective<T>>{});
    return all;
}

template <Scalar T>
any_method<T> make_method(std::string_view text, grammar::pipe const& calls) {
    return grammar::make_named(named_methods<T>(), text, calls, "a method");
}

}  // namespace detail

/// Reads the text of a method, such as "diana(rand_k(0.1))" or "gd_sec(xi=100, beta=0.01)"; throws parse_error with the
/// place and the valid names.
template <Scalar T = double>
any_method<T> parse_method(std::string_view text) {
    return detail::make_method<T>(text, grammar::read_pipe(text));
}

/// All methods that parse_method reads. (A template, so that only its callers compile all methods.)
template <Scalar T = double>
std::vector<listed_value> list_methods() {
    return grammar::abouts(detail::named_methods<T>());
}

}  // namespace laconic
