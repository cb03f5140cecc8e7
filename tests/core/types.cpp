// SPDX-License-Identifier: Apache-2.0
// A function can take the types of a list apart, and a dependent type is the one that is named.
#include "laconic/core/types.hpp"

#include "support/everything.hpp"

template <class... V>
constexpr std::size_t sizes_of_listed(detail::type_list<V...>) {
    return (std::size_t{0} + ... + sizeof(V));
}
static_assert(sizes_of_listed(detail::type_list<char, char[3]>{}) == 4 && sizes_of_listed(detail::type_list<>{}) == 0);
static_assert(std::same_as<detail::dependent<int, double>, int> && std::same_as<detail::dependent<int const&, void>, int const&>);

struct incomplete;

// Where nobody calls it, an incomplete type inside is no error.
template <class T>
int size_of_incomplete() {
    return static_cast<int>(sizeof(detail::dependent<incomplete, T>));
}
