// SPDX-License-Identifier: Apache-2.0
// A full vector lists its numbers as terms, which are views and never those of a temporary.
#include "laconic/message/full_vector.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::messages;

using message = full_vector<double, host>;

static_assert(Message<message, double, host> && TermMessage<message> && Terms<message::terms_type>);

template <class M>
concept ListsTerms = requires(M&& m) {
    std::forward<M>(m).terms();
};
static_assert(ListsTerms<message&> && ListsTerms<message const&>);
static_assert(!ListsTerms<message> && !ListsTerms<message const>);  // a view of a temporary would dangle

TEST_CASE("a full vector's terms are its numbers") {
    message const m{{4, 0, -2}};
    auto const t = m.terms();
    CHECK(m.dimension() == 3);
    REQUIRE(t.size() == 3);
    CHECK((t[2].at == 2 && t[2].value == -2));
    host on;
    std::vector<double> out{1, 1, 1};
    add_message(on, std::span<double>(out), 0.25, m);
    CHECK(out == std::vector<double>{2, 1, 0.5});
    CHECK(m == message{{4, 0, -2}});
    CHECK(m != message{{4, 0, -2, 0}});
    CHECK(message{}.dimension() == 0);
}
