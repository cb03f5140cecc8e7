// SPDX-License-Identifier: Apache-2.0
// Vectors are split into whole units, a part for each thread, unless they are short.
#include "laconic/backend/threaded/parts.hpp"

#include <array>
#include <mutex>
#include <set>
#include <stdexcept>
#include <utility>

#include "support/test.hpp"

using laconic::threaded;
using laconic::detail::vector_part;
using parts = std::set<std::array<std::size_t, 3>>;  // number, first, count

struct eager : threaded<> {
    explicit eager(int threads) : threaded(threads) { split_from(100); }
};

parts parts_of(auto& on, std::size_t d, std::size_t unit) {
    std::mutex one_at_a_time;
    parts all;
    laconic::detail::in_parts(on, d, unit, [&](laconic::host&, vector_part p) {
        std::scoped_lock const lock(one_at_a_time);
        all.insert({p.number, p.first, p.count});
    });
    return all;
}

TEST_CASE("parts are whole units, as many as there are threads or fewer") {
    eager one(1), three(3);
    CHECK(parts_of(one, 640, 64) == parts{{0, 0, 640}});
    CHECK(parts_of(three, 99, 1) == parts{{0, 0, 99}});
    CHECK(parts_of(three, 100, 1) == parts{{0, 0, 34}, {1, 34, 34}, {2, 68, 32}});
    CHECK(parts_of(three, 640, 64) == parts{{0, 0, 256}, {1, 256, 256}, {2, 512, 128}});
    CHECK(parts_of(three, 641, 64) == parts{{0, 0, 256}, {1, 256, 256}, {2, 512, 129}});
    CHECK(parts_of(three, 128, 64) == parts{{0, 0, 64}, {1, 64, 64}});
    CHECK(parts_of(three, 128, 200) == parts{{0, 0, 128}});
    CHECK(parts_of(three, 0, 64) == parts{{0, 0, 0}});
    threaded two(2);
    CHECK(parts_of(two, (std::size_t{1} << 22) - 1, 64).size() == 1);
    CHECK(parts_of(two, std::size_t{1} << 22, 64).size() == 2);
}

TEST_CASE("each part is given memory of its own; it may be moved; no thread is refused") {
    eager on(3);
    on.on_each([&](std::size_t, laconic::host&) {});
    threaded moved = std::move(on);
    std::array<laconic::host*, 3> own{};
    moved.on_each([&](std::size_t t, laconic::host& mine) { own[t] = &mine; });
    CHECK(own[0] == &moved);
    CHECK(std::set(own.begin(), own.end()).size() == 3);
    CHECK(moved.threads() == 3);
    CHECK(threaded<>().threads() == 1);
    CHECK_THROWS_WITH_AS(threaded(0), "a backend has at least 1 thread, not 0", laconic::argument_error);
}

TEST_CASE("what a part throws, the call throws") {
    eager on(3);
    auto const throw_in = [&](std::size_t part) {
        laconic::detail::in_parts(on, 640, 64, [&](laconic::host&, vector_part p) {
            if (p.number == part) throw std::runtime_error("no");
        });
    };
    for (std::size_t const part : {0u, 1u, 2u}) CHECK_THROWS_AS(throw_in(part), std::runtime_error);
    throw_in(3);
}
