// SPDX-License-Identifier: Apache-2.0
// An error that travels between nodes as text is raised as the same error, with the ranks of all nodes.
#include "laconic/reduction/node_error.hpp"

#include <exception>

#include "support/test.hpp"

using namespace laconic;
using detail::node_error;

namespace {

std::string raised(node_error const& e) {
    try {
        e.raise(7);
    } catch (non_finite_error const& n) {
        return "not finite: " + std::string(n.what());
    } catch (compression_error const& c) {
        return "compression: " + std::string(c.what());
    } catch (wire_error const& w) {
        return "wire: " + std::string(w.what());
    } catch (shape_error const& s) {
        return "shape: " + std::string(s.what());
    } catch (agreement_error const& a) {
        return detail::concat({"agreement of rank ", a.rank, ": ", a.what()});
    } catch (comm_error const& c) {
        return "comm " + std::to_string(c.rank) + ": " + c.what();
    }
}
std::span<std::byte const> bytes(std::string const& s) { return std::as_bytes(std::span(s.data(), s.size())); }
// As it comes out of the step between nodes, whose rank r is 10 r here, and whose numbers begin at 100.
template <class E>
node_error out_of(E const& e) {
    return node_error::of(
        std::make_exception_ptr(e), [](int r) { return 10 * r; },
        [](std::size_t i, std::string const&) { return 100 + i; });
}

}  // namespace

TEST_CASE("a reason is the same after it has travelled as a text, in an error of the step between nodes, too") {
    node_error const nan(5, 40, "layer w"), text(3, "no vector");
    for (auto const* e : {&nan, &text}) {
        CHECK(raised(node_error::read(bytes(e->text()), 9)) == raised(*e));
        CHECK(raised(out_of(compression_error(1, 7, e->text()))) == raised(*e));
    }
    CHECK(raised(nan) == "not finite: rank 5, round 7: the gradient is not finite at coordinate 40 of layer w");
    CHECK(raised(text) == "compression: rank 3, round 7: no vector");
    CHECK(nan.is_not_finite());
    CHECK_FALSE(text.is_not_finite());
}

TEST_CASE("an error of the step itself is raised with the ranks and coordinates of all nodes") {
    CHECK(raised(out_of(non_finite_error(2, 7, 3, "layer w"))) ==
          "not finite: rank 20, round 7: the gradient is not finite at coordinate 103 of layer w");
    CHECK(raised(out_of(compression_error(2, 7, "why"))) == "compression: rank 20, round 7: why");
    CHECK(raised(out_of(comm_error(2, "gone"))) == "comm 20: gone");
    CHECK(raised(out_of(comm_error(-1, "gone"))) == "comm -1: gone");
    CHECK(raised(out_of(wire_error(12, "bad"))) == "wire: at bit 12 of a message: bad");
    CHECK(raised(out_of(shape_error("two"))) == "shape: two");
    CHECK(raised(out_of(agreement_error(2, "not alike"))) == "agreement of rank 20: not alike");
    CHECK(raised(out_of(agreement_error(-1, "not alike"))) == "agreement of rank -1: not alike");
    CHECK(raised(out_of(argument_error("three"))) == "comm -1: three");
}

TEST_CASE("an error of what a rank was given keeps its type, and names the rank") {
    auto const given = [](auto const& e) {
        return node_error::of_arguments(std::make_exception_ptr(e), 3, [](int r) { return 10 * r; });
    };
    CHECK_THROWS_WITH_AS(given(argument_error("k is 0")).raise(0), "rank 3: k is 0", argument_error);
    CHECK_THROWS_WITH_AS(given(theory_error("no omega")).raise(0), "rank 3: no omega", theory_error);
    CHECK(raised(given(shape_error("two"))) == "shape: two");
    CHECK(raised(given(comm_error(2, "gone"))) == "comm 20: gone");
}

TEST_CASE("hostile bytes are an error of their sender") {
    auto const good = node_error(5, 40, "layer w").text();
    for (std::size_t n = 0; n < 23; ++n)
        CHECK(raised(node_error::read(bytes(good.substr(0, n)), 9)) ==
              "comm 9: rank 9 sent no reason that can be read");
    auto other = good;
    other[6] = 'x';
    CHECK(raised(node_error::read(bytes(other), 9)) == "comm 9: rank 9 sent no reason that can be read");
}

TEST_CASE("an estimate that cannot be written belongs to no rank, in its node and among all") {
    auto const failed = std::make_exception_ptr(non_finite_error(-1, 0, 2));
    auto const e = node_error::of(
        failed, [](int r) { return 10 * r; }, [](std::size_t i, std::string const&) { return i + 5; });
    CHECK_THROWS_WITH_AS(e.raise(7),
                         "round 7: the estimate, times the loss scale, is beyond the caller's numbers at coordinate 7",
                         non_finite_error);
}

TEST_CASE("what forbids two ranks of a node to take a step together") {
    detail::whole_step const one{1, 5, 0, 9};
    CHECK_FALSE(one.unlike({2, 5, 0, 9}, 3, 2));
    CHECK(raised(*one.unlike({1, 6, 0, 9}, 3, 2)) == "agreement of rank 3: rank 3 has taken 5 steps, rank 2 6");
    CHECK(raised(*one.unlike({1, 5, 1, 9}, 3, 2)) ==
          "agreement of rank 3: rank 3, round 5: the step is not dense, unlike on rank 2");
    CHECK(raised(*one.unlike({1, 5, 0, 8}, 3, 2)) ==
          "agreement of rank 3: rank 3 has another step size, loss scale or type of numbers than rank 2");
}
