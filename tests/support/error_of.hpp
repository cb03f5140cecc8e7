// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "laconic/core/error.hpp"

/// The text of the E that call() throws, or "nothing".
template <class E = laconic::error>
std::string error_of(auto&& call) {
    try {
        call();
    } catch (E const& e) {
        return e.what();
    }
    return "nothing";
}
