// SPDX-License-Identifier: Apache-2.0
// What an object refers to is kept by its address, and a handle by a copy, which the caller's own does not affect.
#include "laconic/core/kept.hpp"

#include "support/everything.hpp"

struct thing {
    int value = 1;
};
struct handle {
    static constexpr bool is_handle = true;
    int* of;
    int& value() { return *of; }
    int const& value() const { return *of; }
};
struct no_handle {
    static constexpr bool is_handle = false;
};
struct not_copied {
    static constexpr bool is_handle = true;
    std::unique_ptr<int> of;
};

static_assert(detail::Handle<handle> && !detail::Handle<thing> && !detail::Handle<no_handle> &&
              !detail::Handle<not_copied> && !detail::Handle<handle const>);
static_assert(std::is_same_v<detail::kept_member<thing>, thing&> &&
              std::is_same_v<detail::kept_member<handle>, handle> &&
              std::is_same_v<detail::kept_member<handle const>, handle>);

TEST_CASE("an object is kept by its address, and may be kept elsewhere later") {
    thing a, b;
    detail::kept<thing> it(a);
    CHECK(&*it == &a);
    it->value = 5;
    CHECK(a.value == 5);
    it = detail::kept<thing>(b);
    CHECK(&*it == &b);
    static_assert(std::is_same_v<decltype(*detail::kept<thing const>(a)), thing const&>);
}

TEST_CASE("a handle is kept by a copy, which stays where the caller's refers to another object") {
    int a = 1, b = 2;
    handle callers{&a};
    detail::kept<handle> it(callers);
    detail::kept<handle const> same(callers);
    callers.of = &b;
    CHECK(it->value() == 1);
    CHECK((*same).value() == 1);
    static_assert(std::is_same_v<decltype(*same), handle const&>);
    it->value() = 7;
    CHECK(a == 7);
}
