// SPDX-License-Identifier: Apache-2.0
// One include of reduce.hpp is all that a training loop needs, over nodes of ranks, too.
#include "laconic/reduce.hpp"

#include "support/everything.hpp"

static_assert(version[0] == 0 && version[1] >= 1 && version[2] >= 0);

TEST_CASE("everything in one include: a reducer over nodes, and a sum") {
    std::vector<float> means(4), sums(4);
    threads::run(4, [&](auto& engine) {
        metered comm(engine);
        auto const me = static_cast<std::size_t>(comm.rank());
        auto inside = engine.split(comm.rank() / 2, comm.rank()), across = engine.split(comm.rank() % 2, comm.rank());
        hierarchy nodes{inside, across};
        std::vector<float> gradient(100, static_cast<float>(me));
        reducer reduce(error_feedback{top_k{50} | identity{}}, nodes, gradient, {.seed = 0});
        reduce(gradient);
        means[me] = gradient[7];
        sum(comm, gradient);
        std::vector<float> back(100);
        decode(natural{}, encode(natural{}, gradient), back);
        sums[me] = back[99];
    });
    CHECK(means == std::vector<float>(4, 1.5f));
    for (float const s : sums) CHECK((s == 4 || s == 8));
}
