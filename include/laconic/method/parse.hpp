// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "laconic/core/description.hpp"
#include "laconic/method/catalogue.hpp"

namespace laconic {

namespace detail {

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
    std::vector<listed_value> all;
    for (auto const& m : detail::named_methods<T>()) all.push_back(m.about);
    return all;
}

}  // namespace laconic
