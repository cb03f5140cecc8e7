// SPDX-License-Identifier: Apache-2.0
// No test: random numbers, which many tests draw by the million. Of a function that several objects have the linker keeps
// the first: this one's, which is optimised.
#include "laconic/core/key.hpp"

namespace {

using laconic::key;

// Their addresses, so that they stand here by themselves and not only in what calls them.
[[gnu::used]] constexpr auto block = &key::block;
[[gnu::used]] constexpr auto child = &key::child;
[[gnu::used]] constexpr auto words = &key::words;
[[gnu::used]] constexpr auto word = &key::word;
[[gnu::used]] constexpr auto window = &key::window;
[[gnu::used]] constexpr auto chance = &key::chance;
[[gnu::used]] constexpr auto long_word = &key::long_word;
[[gnu::used]] constexpr auto uniform = &key::uniform;
[[gnu::used]] constexpr auto below = &key::below;

}  // namespace
