// SPDX-License-Identifier: Apache-2.0
// Every listed compressor has a text that names no other one, and a line for a list.
#include "laconic/compress/compressors.hpp"

#include "laconic/core/description.hpp"
#include "support/test.hpp"

using namespace laconic;

namespace {

template <class... C>
void each_is_described(type_list<C...>) {
    static_assert((Described<C> && ...));
    static_assert((SomeCompressor<C> && ...));
    std::set<std::string> texts;
    for (auto const& text : {to_string(C{})...}) CHECK(texts.insert(text).second);
    for (auto const& l : {listed<C>()...}) {
        CAPTURE(l.name);
        CHECK_FALSE(l.about.empty());
        CHECK(l.about.size() + l.source.size() < 120);
    }
}

}  // namespace

TEST_CASE("every listed compressor is described, and differs from the others") {
    each_is_described(library_compressors{});
}
