// SPDX-License-Identifier: Apache-2.0
// `listed_terms` is two spans of constants that kernels can take by value.
#include "laconic/backend/listed_terms.hpp"

#include "support/everything.hpp"

// Kernels take them by value, on a device too, and only read what they name: no case, as nothing is left to run.
using namespace laconic;
using namespace laconic::kernels;

static_assert(std::is_trivially_copyable_v<listed_terms<float>> && std::is_aggregate_v<listed_terms<float>>);
static_assert(sizeof(listed_terms<double>) == 2 * sizeof(std::span<double const>));
static_assert(std::is_same_v<decltype(listed_terms<float>::at)::element_type, coordinate const>);
static_assert(std::is_same_v<decltype(listed_terms<float>::values)::element_type, float const>);
