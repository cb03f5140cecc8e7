// SPDX-License-Identifier: Apache-2.0
// A transport chosen at run time has the name and the server of the one inside; any/recursion.cpp compares what they
// send.
#include "laconic/any/transport.hpp"

#include "support/everything.hpp"

TEST_CASE("a transport that is chosen at run time is the one inside") {
    auto const same = [](auto const& transport, std::string const& name) {
        any_transport<> const any = transport;
        CHECK(to_string(any) == name);
        CHECK(to_string(transport) == name);
        CHECK(any.gathers() == (name == "gather"));
        CHECK(any.server().has_value() == (name.find("served") == 0));
        CHECK((any.collective().by_rule() != nullptr) == (name.find("robust") == 0));
    };
    same(gather_all{}, "gather");
    same(ring{}, "ring");
    same(gtop_k{1}, "gtop_k(1)");
    same(robust{robust_rules::krum{2}, true}, "robust(krum(2), beside_memory=yes)");
    same(served<top_k<>>{top_k{1}, {0, 1}}, "served(top_k(1), memory(rate=0, decay=1))");
    CHECK(to_string(any_transport<>(any_collective<>(ring{}))) == "ring");
    CHECK(any_transport<>{}.gathers());
}
