// SPDX-License-Identifier: Apache-2.0
// A fixed level changes nothing, and the loop tunes by a level of the user's and updates it with each message.
#include "laconic/adapt/level.hpp"

#include "support/everything.hpp"
#include "support/toys.hpp"

// A level of the user's: as many coordinates more as were sent.
struct rising {
    double k = 1;
    template <class B, Scalar T>
    void tune(B&, top_k<>& c, round_context const&, std::span<T const>, std::span<T const>) {
        c.k = k;
    }
    template <class B, Scalar T, class M>
    void update(B&, std::span<T const>, M const& m) {
        k += static_cast<double>(m.support.size());
    }
};
struct without_update {
    template <class B, class C, Scalar T>
    void tune(B&, C&, round_context const&, std::span<T const>, std::span<T const>) {}
};

static_assert(Level<fixed_level, top_k<>> && Level<fixed_level, top_k<>, float>);
static_assert(Level<rising, top_k<>> && !Level<rising, identity> && !Level<without_update, top_k<>>);

TEST_CASE("a fixed level leaves the compressor as it was") {
    host on;
    fixed_level level;
    top_k<> c{3};
    std::vector<double> const x{1, 2};
    level.tune(on, c, round_context{}, std::span<double const>(x), std::span<double const>(x));
    level.update(on, std::span<double const>(x), compress(top_k{1}, x, key{1}));
    CHECK(c == top_k{3});
}

TEST_CASE("each round tunes the compressor by a level of the user's, and updates the level with the message") {
    auto const f = toys::around({toys::vec(8, 1.0)});
    recursion<top_k<>, memory<>, gradient_step, rising> const r{{7}, {0, true}, {.1}, {}};
    toys::lockstep run(r, f, toys::vec(8, 0.0), 1);
    for (std::size_t const k : {1u, 2u, 4u, 8u}) {
        run.round();
        CHECK(run.message_of_rank(0).support.size() == k);
    }
}
