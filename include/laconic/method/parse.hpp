// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "laconic/any/parse.hpp"
#include "laconic/method/dcgd.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/method/ef.hpp"
#include "laconic/method/ef21.hpp"
#include "laconic/method/gd.hpp"
#include "laconic/method/gd_sec.hpp"
#include "laconic/method/qsgd.hpp"

namespace laconic {

/// A method that is chosen while the program runs; std::visit gives one that descend() takes.
template <Scalar T = double>
using any_method = std::variant<gd, dcgd<any_compressor<T>>, qsgd, ef<any_compressor<T>>, ef21<any_compressor<T>>,
                                diana<any_compressor<T>>, gd_sec>;

template <Scalar T>
std::string to_string(any_method<T> const& m) {
    return std::visit([](auto const& method) { return to_string(method); }, m);
}

namespace detail {

template <Scalar T>
any_compressor<T> compressor_argument(spelling::arguments& a) {
    auto const* const i = a.find("compressor");
    if (!i) a.refuse(a.from().position, a.from().name + " needs a compressor: " + a.from().name + "(rand_k(0.1)), say");
    return make_compressor<T, host>(a.text(), i->calls);
}

// step=0.1 or step=0.5/L, and memory=... (also called beta) where the method has one.
inline rates rates_arguments(spelling::arguments& a, bool has_memory) {
    rates r;
    if (auto const* const i = a.find("step", false)) {
        std::string_view word = i->word;
        step_size s;
        s.over_smoothness = word.ends_with("/L");
        if (s.over_smoothness) word.remove_suffix(2);
        if (!spelling::read_number(word, s.value) || !(s.value > 0))
            a.refuse(i->position, "step is a number above 0, such as 0.1, or 0.5/L for half of 1 over the smoothness");
        r.step = s;
    }
    if (has_memory) {
        auto const* const i = a.find("memory", false);
        double value = 0;
        if (i && !spelling::read_number(i->word, value)) a.refuse(i->position, "memory is a number");
        if (i) r.memory = value;
    }
    return r;
}

template <Scalar T>
struct named_method {
    std::string name;
    std::function<any_method<T>(spelling::arguments&)> make;
};

template <Scalar T>
std::vector<named_method<T>> const& named_methods() {
    using any = any_compressor<T>;
    using arguments = spelling::arguments;
    static std::vector<named_method<T>> const all = {
        {"gd", [](arguments& a) -> any_method<T> { return gd{rates_arguments(a, false)}; }},
        {"dcgd",
         [](arguments& a) -> any_method<T> {
             auto const c = compressor_argument<T>(a);
             return dcgd<any>{c, rates_arguments(a, false)};
         }},
        {"qsgd",
         [](arguments& a) -> any_method<T> {
             auto const levels = a.whole("levels", 4, 1, 32767);
             return qsgd{static_cast<int>(levels), rates_arguments(a, false)};
         }},
        {"ef",
         [](arguments& a) -> any_method<T> {
             auto const c = compressor_argument<T>(a);
             return ef<any>{c, rates_arguments(a, false)};
         }},
        {"ef21",
         [](arguments& a) -> any_method<T> {
             auto const c = compressor_argument<T>(a);
             return ef21<any>{c, rates_arguments(a, false)};
         }},
        {"diana",
         [](arguments& a) -> any_method<T> {
             auto const c = compressor_argument<T>(a);
             return diana<any>{c, rates_arguments(a, true), {}};
         }},
        {"gd_sec",
         [](arguments& a) -> any_method<T> {
             gd_sec m;
             m.xi = a.number("xi", m.xi);
             double const beta = a.number("beta", 0.01);
             m.given = rates_arguments(a, false);
             m.given.memory = beta;
             return m;
         }},
    };
    return all;
}

}  // namespace detail

/// Reads a written method, such as "diana(rand_k(0.1))" or "gd_sec(xi=100, beta=0.01)"; throws spelling_error with the
/// place and the valid names.
template <Scalar T = double>
any_method<T> parse_method(std::string_view text) {
    auto const calls = spelling::read_pipe(text);
    spelling::arguments a(text, calls[0]);
    auto const& methods = detail::named_methods<T>();
    auto const found =
        std::find_if(methods.begin(), methods.end(), [&](auto const& m) { return m.name == calls[0].name; });
    if (found == methods.end()) {
        std::vector<std::string> names;
        for (auto const& m : methods) names.push_back(m.name);
        a.refuse(calls[0].position, "there is no method '" + calls[0].name + "'; there are " + spelling::list(names));
    }
    if (calls.size() > 1) a.refuse(calls[1].position, "a method is no piece of a pipe");
    auto method = found->make(a);
    a.finish();
    return method;
}

}  // namespace laconic
