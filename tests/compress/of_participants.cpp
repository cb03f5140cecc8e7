// SPDX-License-Identifier: Apache-2.0
// of_participants sends nothing where the lot is above the bound, else the factor times another message.
#include "laconic/compress/of_participants.hpp"

#include "support/everything.hpp"

static_assert(Compressor<of_participants<top_k<>>> && Compressor<of_participants<top_k<>>, float>);

TEST_CASE("both ends know from the key whether there is a message") {
    host on;
    std::vector<double> const x{4, -3, 2, 1};
    key const from{9};
    double const lot = laconic::detail::lot_of(from);
    laconic::detail::message_of<of_participants<top_k<>>> sent, received;
    for (auto const& [bound, first] : {std::pair{lot, -3 * 2.5}, {lot - 1e-9, 0.}, {lot, -3 * 2.5}}) {
        of_participants<top_k<>> const c{{top_k{2}}, bound, 2.5};
        CHECK(to_string(c) == "of_participants(top_k(2))");
        c.check(4);
        c(on, std::span(x), from, sent);
        bit_writer sink;
        write(sink, sent);
        auto const bits = account(sent).unpadded();
        CHECK((bits == 0) == (first == 0));
        auto const bytes = sink.finish();
        bit_reader source(bytes);
        c.blank(on, 4, from, received);
        read(on, source, received, c);
        std::vector<double> out(4, 0.);
        add_message(on, std::span(out), 1., received);
        CHECK(out == (first == 0 ? std::vector<double>(4, 0.) : std::vector<double>{10, -7.5, 0, 0}));
        CHECK(sent == received);
    }
}
