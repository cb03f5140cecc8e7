// SPDX-License-Identifier: Apache-2.0
// Copies of a type-erased part share nothing, and its name and its state pass through.
#include "laconic/any/part.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace laconic;

namespace {

struct counting_face : detail::part_face<counting_face> {
    virtual int next() = 0;
};
template <class P>
struct counting final : detail::part_model<counting<P>, counting_face, P> {
    using detail::part_model<counting<P>, counting_face, P>::part_model;
    int next() override { return this->inside.next(); }
};

struct counter {
    int at = 0;
    int next() { return ++at; }
    template <class Archive>
    void state(Archive& archive) {
        archive(at);
    }
    friend std::string to_string(counter const&) { return "a counter"; }
};
struct nameless {
    int next() { return 0; }
};

}  // namespace

TEST_CASE("copies of a held part share nothing, names and states pass through") {
    using held = detail::held_part<counting_face>;
    held a(std::make_unique<counting<counter>>(counter{}));
    CHECK(a->next() == 1);
    held b = a;
    CHECK(b->next() == 2);
    CHECK(b->next() == 3);
    CHECK(a->next() == 2);
    a = b;
    CHECK(a->next() == 4);
    CHECK(b->next() == 4);
    held const moved = std::move(b);
    CHECK(moved->next() == 5);
    CHECK(a->name() == "a counter");
    CHECK(held(std::make_unique<counting<nameless>>(nameless{}))->name() == "of the user's own making");

    state_writer out("x");
    moved->state(out);
    auto const saved = out.finish();
    state_reader in(saved, "x");
    a->state(in);
    CHECK(a->next() == 5);  // the first walk changes nothing
    in.rewind();
    a->state(in);
    CHECK(a->next() == 6);
}
