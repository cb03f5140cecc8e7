// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "laconic/any/recursion.hpp"
#include "laconic/any/registry.hpp"
#include "laconic/optim/adam.hpp"
#include "laconic/optim/dion2.hpp"
#include "laconic/optim/lion.hpp"
#include "laconic/optim/muon.hpp"

namespace laconic {

namespace detail {

// The numbers of a step S, which a text has, as a step.
template <class Any, class Options, class S>
struct step_text : Options {
    operator Any() const { return S(static_cast<Options const&>(*this)); }
};

}  // namespace detail

template <Scalar T, class B>
struct registry<any_step<T, B>> {
    static constexpr char const* kind = "a step";
    template <class Options, class S>
    using text = detail::step_text<any_step<T, B>, Options, S>;
    using types = detail::type_list<text<momentum_options, momentum<T, B>>, text<adam_options, adam<T, B>>,
                                    text<lion_options, lion<T, B>>, text<muon_options, muon<T, B>>,
                                    text<dion2_options, dion2<T, B>>>;
};

/// Reads the text of a step, such as "adam(0.001, weight_decay=0.01, decoupled=yes)"; to_string of the result reads
/// back as the same. Throws parse_error with the place and the valid names.
template <Scalar T = double, class B = host>
any_step<T, B> parse_step(std::string_view text) {
    return grammar::parse<any_step<T, B>>(text);
}

/// All steps that parse_step reads.
template <Scalar T = double, class B = host>
std::vector<listed_value> list_steps() {
    return grammar::abouts<any_step<T, B>>();
}

}  // namespace laconic
