// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "laconic/any/fields.hpp"
#include "laconic/any/parse.hpp"
#include "laconic/core/description.hpp"
#include "laconic/core/text.hpp"
#include "laconic/method/any_method.hpp"
#include "laconic/method/arguments.hpp"
#include "laconic/method/bidirectional.hpp"
#include "laconic/method/cat_arguments.hpp"
#include "laconic/method/dcgd.hpp"
#include "laconic/method/dgc.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/method/dual_averaging.hpp"
#include "laconic/method/ef21.hpp"
#include "laconic/method/ef_sgd.hpp"
#include "laconic/method/gd.hpp"
#include "laconic/method/gd_sec.hpp"
#include "laconic/method/gtop_k_sgd.hpp"
#include "laconic/method/heavy_ball.hpp"
#include "laconic/method/iasgd.hpp"
#include "laconic/method/ibcd.hpp"
#include "laconic/method/ibgd.hpp"
#include "laconic/method/isaga.hpp"
#include "laconic/method/isega.hpp"
#include "laconic/method/isgd.hpp"
#include "laconic/method/lag_ps.hpp"
#include "laconic/method/lag_wk.hpp"
#include "laconic/method/marina.hpp"
#include "laconic/method/one_bit_sgd.hpp"
#include "laconic/method/proxskip.hpp"
#include "laconic/method/qsgd.hpp"
#include "laconic/method/quantized_gd_sec.hpp"
#include "laconic/method/sgd.hpp"
#include "laconic/method/sgd_sec.hpp"
#include "laconic/method/signsgd.hpp"
#include "laconic/method/signum.hpp"
#include "laconic/method/spardl_sgd.hpp"
#include "laconic/method/terngrad.hpp"
#include "laconic/method/top_k_sgd.hpp"
#include "laconic/method/vr_diana.hpp"

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

template <Scalar T, Described M>
named_method<T> named_method_of() {
    return {listed<M>(), [](grammar::arguments& a) -> any_method<T> { return grammar::read_fields<M>(a); }};
}

template <Scalar T>
std::vector<named_method<T>> const& named_methods() {
    using any = any_compressor<T>;
    using method = any_method<T>;
    using arguments = grammar::arguments;
    static std::vector<named_method<T>> const all = {
        named_method_of<T, gd>(),
        named_method_of<T, sgd>(),
        named_method_of<T, dcgd<any>>(),
        {{"cat", "(C or C, D or METHOD(C), cost=bits, sizes=formula, step=)",
          "g full, C at its best level for the cost, alpha 0; or another method, diana(rand_k), say, with such a C",
          "Khirirat, Magnusson, Aytekin, Johansson, arXiv:2003.06377"},
         [](arguments& a) -> method { return cat_argument<T>(a); }},
        named_method_of<T, qsgd>(),
        named_method_of<T, terngrad>(),
        named_method_of<T, signsgd>(),
        named_method_of<T, signum>(),
        named_method_of<T, ef_sgd<any>>(),
        named_method_of<T, top_k_sgd>(),
        named_method_of<T, gtop_k_sgd>(),
        named_method_of<T, spardl_sgd>(),
        named_method_of<T, one_bit_sgd>(),
        named_method_of<T, dgc>(),
        named_method_of<T, ef21<any>>(),
        named_method_of<T, diana<any>>(),
        named_method_of<T, vr_diana<any>>(),
        named_method_of<T, vr_diana_saga<any>>(),
        named_method_of<T, marina<any>>(),
        named_method_of<T, ibcd>(),
        named_method_of<T, ibgd>(),
        named_method_of<T, isega<>>(),
        named_method_of<T, isaga>(),
        named_method_of<T, isgd>(),
        named_method_of<T, iasgd>(),
        named_method_of<T, gd_sec>(),
        named_method_of<T, sgd_sec>(),
        named_method_of<T, quantized_gd_sec<any>>(),
        named_method_of<T, lag_wk>(),
        named_method_of<T, lag_ps>(),
        named_method_of<T, dual_averaging>(),
        named_method_of<T, proxskip>(),
        named_method_of<T, heavy_ball<method>>(),
        named_method_of<T, bidirectional<method, any>>(),
    };
    return all;
}

}  // namespace detail
}  // namespace laconic
