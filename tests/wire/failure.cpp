// SPDX-License-Identifier: Apache-2.0
// A failure is the same exception on every rank that has it, and a failure again where it is caught.
#include "laconic/wire/failure.hpp"

#include <exception>
#include <new>

#include "support/everything.hpp"

using kind = detail::failure_kind;

// The type and the text of what it raises, and what that has beside them.
std::string raised(detail::failure const& f) {
    auto const text = [](char const* type, std::exception const& e) { return type + std::string(": ") + e.what(); };
    try {
        f.raise();
    } catch (non_finite_error const& e) {
        return text("non_finite_error", e) + " | " + std::to_string(e.rank) + " " + std::to_string(e.round) + " " +
               std::to_string(e.coordinate) + " " + e.of;
    } catch (compression_error const& e) {
        return text("compression_error", e) + " | " + std::to_string(e.rank) + " " + std::to_string(e.round) + " " +
               e.why;
    } catch (argument_error const& e) {
        return text("argument_error", e);
    } catch (theory_error const& e) {
        return text("theory_error", e);
    } catch (shape_error const& e) {
        return text("shape_error", e);
    } catch (agreement_error const& e) {
        return text("agreement_error", e) + " | " + std::to_string(e.rank);
    } catch (wire_error const& e) {
        return text("wire_error", e) + " | " + std::to_string(e.bit) + " " + e.why;
    } catch (comm_error const& e) {
        return text("comm_error", e) + " | " + std::to_string(e.rank);
    } catch (error const& e) {
        return text("error", e);
    }
    return "nothing";
}
std::vector<std::byte> encoding_of(detail::failure const& f) {
    bit_writer sink;
    auto const sent = f.sent(sink);
    CHECK(sent.is_error);
    return {sent.bytes.begin(), sent.bytes.end()};
}
template <class E>
detail::failure of(E const& e, int own = 3) {
    return detail::failure::of(std::make_exception_ptr(e), own);
}

// One of each kind, of rank 2 in round 9, and what it raises.
struct sample {
    detail::failure value;
    std::string text;
};
std::vector<sample> samples() {
    return {
        {detail::failure::not_finite(5).by(2, 9),
         "non_finite_error: rank 2, round 9: the gradient is not finite at coordinate 5 | 2 9 5 "},
        {detail::failure::not_finite(5).by(2, 9).in("layer w"),
         "non_finite_error: rank 2, round 9: the gradient is not finite at coordinate 5 of layer w | 2 9 5 layer w"},
        {detail::failure::no_message("it overflows").by(2, 9),
         "compression_error: rank 2, round 9: it overflows | 2 9 it overflows"},
        {detail::failure::no_message("it overflows").by(2, 9).in("layer w"),
         "compression_error: rank 2, round 9: layer w: it overflows | 2 9 layer w: it overflows"},
        {detail::failure::left_out("not started").by(2, 9),
         "compression_error: rank 2, round 9: not started | 2 9 not started"},
        {detail::failure::unreadable(2, 12, "bad"),
         "wire_error: at bit 12 of a message: from rank 2: bad | 12 from rank 2: bad"},
        {detail::failure::unreadable(2, 12, "bad").in("layer w"),
         "wire_error: at bit 12 of a message: layer w: from rank 2: bad | 12 layer w: from rank 2: bad"},
        {detail::failure::lost(2, "sends no weight"), "comm_error: rank 2 sends no weight | 2"},
        {{.kind = kind::shape, .rank = 2, .other = 1, .why = "rank \1 has 4, rank \2 has 5"},
         "shape_error: rank 2 has 4, rank 1 has 5"},
        {{.kind = kind::agreement, .rank = 2, .other = 1, .why = "rank \2 has a, rank \1 has b"},
         "agreement_error: rank 1 has a, rank 2 has b | 2"},
        {{.kind = kind::argument, .rank = 2, .why = "rank \1: k is 0"}, "argument_error: rank 2: k is 0"},
        {{.kind = kind::theory, .rank = 2, .why = "rank \1: no omega"}, "theory_error: rank 2: no omega"},
        {{.kind = kind::sum, .round = 9, .where = 7},
         "non_finite_error: round 9: the ranks' sum is not finite at coordinate 7 | -2 9 7 "},
        {{.kind = kind::other, .why = "out of luck"}, "error: out of luck"},
    };
}

TEST_CASE("failure: it raises the exception of its kind, and of what is caught it is the same again") {
    CHECK(raised({}) == "nothing");
    CHECK_FALSE(detail::failure());
    for (auto const& one : samples()) {
        auto const& value = one.value;
        CAPTURE(one.text);
        CHECK(value);
        CHECK(raised(value) == one.text);
        detail::failure caught;
        try {
            value.raise();
        } catch (std::exception const&) {
            caught = detail::failure::of(std::current_exception(), 77);
        }
        CHECK(caught == value);
        CHECK(detail::failure::read(encoding_of(value), 1) == value);
    }
}

TEST_CASE("failure: exceptions of others keep their type, and those about what a rank was given name the rank") {
    CHECK(raised(of(argument_error("k is 0"))) == "argument_error: rank 3: k is 0");
    CHECK(raised(of(theory_error("no omega"))) == "theory_error: rank 3: no omega");
    CHECK(raised(of(shape_error("two"))) == "shape_error: two");
    CHECK(raised(of(agreement_error(2, "not alike"))) == "agreement_error: not alike | 2");
    CHECK(raised(of(error("alone"))) == "error: alone");
    CHECK(raised(of(non_finite_error(2, 7, 5, "layer w"))) ==
          raised(detail::failure::not_finite(5).by(2, 7).in("layer w")));
    CHECK(raised(of(non_finite_error(-1, 7, 5))) ==
          "non_finite_error: round 7: the estimate, times the loss scale, is beyond the caller's numbers at coordinate "
          "5 | -1 7 5 ");
    CHECK(raised(of(compression_error(2, 7, "why"))) == raised(detail::failure::no_message("why").by(2, 7)));
    CHECK(raised(of(wire_error(12, "bad"))) == "wire_error: at bit 12 of a message: bad | 12 bad");
    CHECK(raised(of(comm_error(2, "gone"))) == "comm_error: gone | 2");
    CHECK(raised(of(std::runtime_error("full"))) == "comm_error: rank 3 failed: full | 3");
    CHECK(raised(of(5)) == "comm_error: rank 3 failed by an exception that is no std::exception | 3");
}

TEST_CASE("failure: what a rank cannot make is a failure of that rank, but one that was raised stays as it is") {
    auto const making = [](auto make) { return raised(detail::failure::of_making(2, 9, make)); };
    CHECK(making([] { return detail::failure(); }) == "nothing");
    CHECK(making([] { return detail::failure::not_finite(5); }) == samples()[0].text);
    CHECK(making([]() -> detail::failure { throw std::runtime_error("it overflows"); }) == samples()[2].text);
    CHECK(making([]() -> detail::failure { throw argument_error("it overflows"); }) == samples()[2].text);
    CHECK(making([]() -> detail::failure { throw 7; }).ends_with("an exception that is no std::exception"));
    for (auto const& [value, text] : samples())
        CHECK(making([v = value]() -> detail::failure {
                  v.raise();
                  return {};
              }) == text);
}

TEST_CASE("failure: bytes that are none are a failure of the rank that sent them") {
    std::string const expected =
        "wire_error: at bit 0 of a message: from rank 4: an unreadable error frame | 0 from rank 4: an unreadable "
        "error "
        "frame";
    auto const good = encoding_of(detail::failure::not_finite(5).by(2, 9).in("layer w"));
    for (std::size_t n = 0; n < good.size(); ++n) {
        CAPTURE(n);
        auto const cut = std::vector<std::byte>(good.begin(), good.begin() + std::ptrdiff_t(n));
        CHECK(raised(detail::failure::read(cut, 4)) == expected);
    }
    auto const with = [&](std::size_t at, std::vector<unsigned> const& values) {
        auto bad = good;
        for (std::size_t i = 0; i < values.size(); ++i) bad[at + i] = std::byte(values[i]);
        return raised(detail::failure::read(bad, 4));
    };
    CHECK(with(0, {0}) == expected);                                                // no kind
    CHECK(with(0, {unsigned(kind::left_out) + 1}) == expected);                     // none that there is
    CHECK(with(1, {0xfe, 0xff, 0xff, 0xff}) == expected);                           // rank -2
    CHECK(with(5, {0xfe, 0xff, 0xff, 0xff}) == expected);                           // another rank -2
    CHECK(with(25, {8}) == expected);                                               // the name is longer than the rest
    CHECK(with(25, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}) == expected);  // by far
    CHECK(with(25, {7}) == raised(detail::failure::not_finite(5).by(2, 9).in("layer w")));
}

TEST_CASE("failure: of several the least counts, in whatever order they come") {
    // Each before the next: what ranks brought in the order of ranks, then what came of it.
    std::vector<detail::failure> const ordered = {
        detail::failure::no_message("b").by(0, 9),
        detail::failure::not_finite(4).by(1, 9),
        detail::failure::not_finite(5).by(1, 9),
        detail::failure::no_message("a").by(1, 9),
        detail::failure::no_message("b").by(1, 9),
        {.kind = kind::shape, .rank = 1},
        {.kind = kind::agreement, .rank = 1},
        {.kind = kind::argument, .rank = 1},
        {.kind = kind::theory, .rank = 1},
        detail::failure::not_finite(0).by(2, 9),
        {.kind = kind::sum, .where = 3},
        {.kind = kind::sum, .where = 4},
        {.kind = kind::other},
        detail::failure::unreadable(0, 3, "x"),
        detail::failure::unreadable(0, 4, "a"),
        detail::failure::unreadable(1, 0, "a"),
        detail::failure::lost(0, "x"),
        detail::failure::left_out("a").by(0, 9),
        detail::failure::left_out("a").by(1, 9),
    };
    for (std::size_t i = 0; i < ordered.size(); ++i)
        for (std::size_t j = 0; j < ordered.size(); ++j) {
            CAPTURE(i);
            CAPTURE(j);
            auto least = ordered[i];
            least.take_least(ordered[j]);
            CHECK(least == ordered[std::min(i, j)]);
            least.take_least({});
            CHECK(least == ordered[std::min(i, j)]);
        }
    detail::failure none;
    none.take_least(ordered[7]);
    CHECK(none == ordered[7]);
}

TEST_CASE("failure: from a share's numbers to those of all ranks, once") {
    auto const whole = [](detail::failure f) {
        for (int twice = 0; twice < 2; ++twice)
            f.renumber([](int r) { return 10 * r + 1; },
                       [](std::size_t i, std::string const& of) { return of == "layer w" ? 100 + i : 200 + i; });
        CHECK(detail::failure::read(encoding_of(f), 1) == f);
        return raised(f);
    };
    CHECK(whole(detail::failure::not_finite(5).by(2, 9).in("layer w")) ==
          raised(detail::failure::not_finite(105).by(21, 9).in("layer w")));
    CHECK(whole(detail::failure::not_finite(5).by(-1, 9)) == raised(detail::failure::not_finite(205).by(-1, 9)));
    CHECK(whole({.kind = kind::sum, .round = 9, .where = 5}) == raised({.kind = kind::sum, .round = 9, .where = 205}));
    CHECK(whole(detail::failure::unreadable(2, 12, "bad")) == raised(detail::failure::unreadable(21, 12, "bad")));
    CHECK(whole({.kind = kind::shape, .rank = 2, .other = 0, .why = "rank \1 and rank \2"}) ==
          "shape_error: rank 21 and rank 1");
    CHECK(whole(of(comm_error(2, "rank 2 left"))) == "comm_error: rank 2 left | 2");  // an engine's own number
}
