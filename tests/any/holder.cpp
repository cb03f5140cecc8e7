// SPDX-License-Identifier: Apache-2.0
// What a copy has is decided by the pointer: the value, a copy of it, or none is made. Texts and states pass through.
#include "laconic/any/holder.hpp"

#include "support/everything.hpp"

struct counting_face : detail::face_with_state {
    virtual int next() = 0;
    virtual int last() const = 0;
};
template <class Holder>
struct counting_model : detail::model<counting_face, Holder> {
    using detail::model<counting_face, Holder>::model;
    int next() override { return this->inside->next(); }
    int last() const override { return this->inside->last(); }
};
template <template <class> class Pointer>
struct any_counter final : counting_model<Pointer<counting_face>> {
    template <class C>
    requires(!std::same_as<C, any_counter>) explicit any_counter(C c)
        : counting_model<Pointer<counting_face>>(detail::modelled<counting_model>(std::move(c))) {}
};

struct counter {
    int at = 0;
    int next() { return ++at; }
    int last() const { return at; }
    void state(auto& archive) { archive(at); }
    friend std::string to_string(counter const&) { return "a counter"; }
};
struct described_counter {
    int at = 0;
    int next() { return ++at; }
    int last() const { return at; }
    static constexpr void description(auto&& describe) {
        describe("counter", "", "", laconic::field("at", &described_counter::at).written());
    }
};
struct nameless {
    int next() { return 0; }
    int last() const { return 0; }
};

static_assert(!std::copyable<any_counter<detail::owned>> && std::movable<any_counter<detail::owned>>);

TEST_CASE("copies of what is copied share nothing, names and states pass through") {
    using held = any_counter<detail::copied>;
    static_assert(std::copyable<held>);
    held a(counter{});
    CHECK(a.next() == 1);
    held b = a;
    CHECK(b.next() == 2);
    CHECK(b.next() == 3);
    CHECK(a.next() == 2);
    a = b;
    CHECK(a.next() == 4);
    CHECK(b.next() == 4);
    held moved = std::move(b);
    CHECK(moved.next() == 5);
    CHECK(std::as_const(moved).last() == 5);
    CHECK(to_string(a) == "a counter");
    CHECK(to_string(held(described_counter{3})) == "counter(3)");  // described outside of the library's namespace
    CHECK(to_string(held(nameless{})) == "of the user's own making");
    a = held(nameless{});
    CHECK(held(a).next() == 0);
    a = held(counter{});

    wire::state_writer out("x");
    out(moved);
    auto const saved = out.finish();
    wire::state_reader in(saved, "x");
    in(a);
    CHECK(a.next() == 1);  // the first walk changes nothing
    in.rewind();
    in(a);
    CHECK(a.next() == 6);
}

TEST_CASE("copies of what is shared have the same value") {
    struct counts {
        int const* of;
        int last() const { return *of; }
    };
    struct face : detail::face {
        virtual int last() const = 0;
    };
    struct model final : detail::model<face, detail::held_value<counts>> {
        using detail::model<face, detail::held_value<counts>>::model;
        int last() const override { return this->inside->last(); }
    };
    int n = 1;
    detail::shared<face> const a(new model(counts{&n}));
    auto const b = a;
    CHECK(&*a == &*b);
    n = 7;
    CHECK(b->last() == 7);
}
