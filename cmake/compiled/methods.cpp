// SPDX-License-Identifier: Apache-2.0
#include "named_methods.hpp"

template std::vector<laconic::detail::named_method<double>> const& laconic::detail::named_methods();
