// SPDX-License-Identifier: Apache-2.0
// Each error's text names its place, its members carry it, and all are caught by their base.
#include "laconic/core/error.hpp"

#include "support/everything.hpp"

template <class... E>
constexpr bool all_are_errors = (std::is_base_of_v<error, E> && ...);
static_assert(std::is_base_of_v<std::runtime_error, error>);
static_assert(all_are_errors<argument_error, theory_error, shape_error, agreement_error, non_finite_error,
                             compression_error, wire_error, comm_error, file_error, parse_error>);

TEST_CASE("an error's text names the place, and its members carry it") {
    non_finite_error const n(3, 17, 784);
    CHECK(std::string(n.what()) == "rank 3, round 17: the gradient is not finite at coordinate 784");
    CHECK((n.rank == 3 && n.round == 17 && n.coordinate == 784));

    compression_error const m(2, 5, "the norm of a bucket is not finite");
    CHECK(std::string(m.what()) == "rank 2, round 5: the norm of a bucket is not finite");
    CHECK((m.rank == 2 && m.round == 5 && m.why == "the norm of a bucket is not finite"));

    wire_error const w(129, "a negative step");
    CHECK(std::string(w.what()) == "at bit 129 of a message: a negative step");
    CHECK((w.bit == 129 && w.why == "a negative step"));

    comm_error const c(-1, "nobody answers");
    CHECK(std::string(c.what()) == "nobody answers");
    CHECK(c.rank == -1);

    agreement_error const a(2, "ranks disagree");
    CHECK(std::string(a.what()) == "ranks disagree");
    CHECK(a.rank == 2);

    file_error const f("a9a", 12, 3, "no number");
    CHECK(std::string(f.what()) == "a9a:12:3: no number");
    CHECK((f.file == "a9a" && f.line == 12 && f.column == 3));
    CHECK(std::string(file_error("a9a", 0, 0, "no such file").what()) == "a9a: no such file");

    parse_error const s("top_q(3)", 1, "no such thing");
    CHECK(std::string(s.what()) == "'top_q(3)', column 1: no such thing");
    CHECK((s.text == "top_q(3)" && s.column == 1));
}

TEST_CASE("a caller catches the base by reference") {
    CHECK_THROWS_AS(throw wire_error(0, "x"), error);
    CHECK_THROWS_AS(throw file_error("f", 1, 1, "x"), std::runtime_error);
}
