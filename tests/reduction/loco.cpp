// SPDX-License-Identifier: Apache-2.0
// LoCo comes to known answers, and its residual is saved and taken over by other ranks.
#include "laconic/reduction/loco.hpp"

#include "laconic/backend/reference.hpp"
#include "laconic/comm/fibers.hpp"
#include "laconic/compress/block_float.hpp"
#include "laconic/reducer.hpp"
#include "support/bowls.hpp"
#include "support/everything.hpp"

using vec = std::vector<double>;

block_float const in_4_bits{block_format::int4}, in_8_bits{block_format::int8};

struct known_loco {
    int round;
    bowls::answer x;
};
template <class B, class S>
void comes_to(S const& store, std::uint64_t reset, std::initializer_list<known_loco> all) {
    fibers::run(bowls::ranks, [&](fibers::member& comm) {
        vec x(bowls::d, 1), g(bowls::d);
        reducer reduce(unproved{loco{in_4_bits, store, .8, reset}}, comm, g, {}, B{});
        int round = 0;
        for (auto const& k : all) {
            for (; round < k.round; ++round) {
                bowls::gradient(comm.rank(), x, g);
                reduce(g);
                for (std::size_t j = 0; j < x.size(); ++j) x[j] -= .2 * g[j];
            }
            CAPTURE(round);
            bowls::check(x, k.x);
        }
    });
}

TEST_CASE_TEMPLATE("known answers: messages of 4 bits, and a residual of 8 bits or in full, and one that begins anew",
                   B, host, reference) {
    comes_to<B>(in_8_bits, 1024,
                {{1, {.896540178571, .726450892857, 6.10437955895}},
                 {10, {.432126384638, -.21263893823, 2.65377108791}},
                 {100, {.315352314782, -.414610583007, 2.53808890033}}});
    comes_to<B>(identity{}, 0,
                {{1, {.896540178571, .726450892857, 6.10437955895}},
                 {10, {.432166106995, -.212591720773, 2.65362115299}},
                 {100, {.353025897508, -.412016567111, 2.55733584493}}});
    comes_to<B>(
        in_8_bits, 7,
        {{10, {.429296051807, -.21598696823, 2.66437765559}}, {100, {.330006418256, -.456333254516, 2.60956163382}}});
}

TEST_CASE("a saved reducer goes on bit for bit, and over fewer ranks") {
    auto const how = unproved{loco{in_4_bits, in_8_bits}};
    using reducer_type = reducer<std::remove_cv_t<decltype(how)>, fibers::member>;
    std::vector<std::vector<std::byte>> saved(3);
    auto const gradient = [](int rank, int step) {
        std::vector<float> g(9);
        for (std::size_t j = 0; j < g.size(); ++j)
            g[j] = float(key{5}.child(std::uint64_t(rank)).child(std::uint64_t(step)).uniform(j)) - .4f;
        return g;
    };
    fibers::run(3, [&](fibers::member& comm) {
        reducer_type reduce(how, comm, std::size_t{9}, {.seed = 0}), again(how, comm, std::size_t{9}, {.seed = 0});
        for (int s = 0; s < 3; ++s) {
            auto g = gradient(comm.rank(), s);
            reduce(g);
        }
        auto& own = saved[std::size_t(comm.rank())];
        own = reduce.save();
        auto const bytes = reduce.statistics().bytes_of_state;
        CHECK((bytes >= 9 && bytes < 9 * sizeof(float)));  // a byte a number, and a scale
        again.restore(own);
        for (int s = 3; s < 6; ++s) {
            auto g = gradient(comm.rank(), s), same = g;
            reduce(g), again(same);
            CHECK(g == same);
        }
    });
    fibers::run(2, [&](fibers::member& comm) {
        reducer_type fewer(how, comm, std::size_t{9}, {.seed = 0});
        fewer.restore(saved);
        CHECK(fewer.steps() == 3);
        auto g = gradient(comm.rank(), 3);
        fewer(g);
    });
}

TEST_CASE("its text, its ranges, and that it needs unproved{...}") {
    CHECK(to_string(loco{in_4_bits, in_8_bits}) == "loco(block_float(int4), block_float(int8))");
    CHECK(to_string(unproved{loco{in_4_bits, in_8_bits, .5, 7}}) ==
          "unproved(loco(block_float(int4), block_float(int8), beta=0.5, reset=7))");
    CHECK_FALSE(loco<block_float, block_float>::is_proved);
    fibers::run(2, [](fibers::member& comm) {
        vec g(4);
        CHECK_THROWS_AS((reducer(unproved{loco{in_4_bits, in_8_bits, 1}}, comm, g)), argument_error);
    });
}
