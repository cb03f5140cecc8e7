// SPDX-License-Identifier: Apache-2.0
// The largest numbers of the parts, joined, are those of the vector, wherever these lie.
#include "laconic/backend/threaded/select.hpp"

#include "support/laws/kernels.hpp"

using laconic::threaded;
using namespace both;
using namespace laconic::kernels;

struct eager : threaded<> {
    explicit eager(int threads = 3) : threaded(threads) { split_from(1000); }
};

TEST_CASE_TEMPLATE("selections are the definition's", T, float, double) { kernel_laws::selections<eager, T>(); }

// Of 50007 numbers, on some threads: x(i) for all i.
template <class T>
void check_all(char const* name, auto x_of) {
    CAPTURE(name);
    std::size_t const d = 50007;
    std::vector<T> x(d), wanted_sum(d), sum(d);
    for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<T>(x_of(i));
    auto const e = numbers<T>(kind::last_kind_of_finite, d);
    laconic::host host;
    coordinates wanted, found{9, 9};
    for (int const threads : {1, 2, 3, 5}) {
        CAPTURE(threads);
        eager on(threads);
        for (std::size_t const k : {0u, 1u, 7u, 500u, 5000u, 30000u, 50006u, 50007u}) {
            CAPTURE(k);
            select_largest(host, in(x), k, wanted);
            select_largest(on, in(x), k, found);
            CHECK(found == wanted);
            bool const finite =
                compensate_and_select_largest(host, T(0.5), in(x), {}, T(1e-3), in(e), out(wanted_sum), k, wanted);
            CHECK(compensate_and_select_largest(on, T(0.5), in(x), {}, T(1e-3), in(e), out(sum), k, found) == finite);
            CHECK(same_bits(sum, wanted_sum));
            if (finite) CHECK(found == wanted);
        }
    }
}

TEST_CASE_TEMPLATE("the largest of long vectors, wherever they are", T, float, double) {
    key const from{5};
    auto const noise = [&](std::size_t i) { return std::tan(3 * (from.uniform(i) - 0.5)); };
    check_all<T>("noise", noise);
    check_all<T>("many ties", [&](std::size_t i) { return std::floor(20 * from.uniform(i)) - 10; });
    check_all<T>("all equal", [](std::size_t) { return -2; });
    check_all<T>("zeros", [](std::size_t) { return 0; });
    check_all<T>("in the last part", [](std::size_t i) { return double(i); });
    check_all<T>("in the first part", [](std::size_t i) { return double(i) - 50007; });
    check_all<T>("in two parts", [&](std::size_t i) { return noise(i) * (i < 9000 || i > 45000 ? 1e6 : 1); });
    check_all<T>("NaN", [&](std::size_t i) { return i % 1000 == 7 ? std::nan("") : noise(i); });
}
TEST_CASE_TEMPLATE("what is above a bound", T, float, double) {
    laconic::host host;
    eager on;
    coordinates wanted, found;
    for (std::size_t const d : {1000u, 7001u}) {
        auto const x = numbers<T>(kind::odd, d), bounds = numbers<T>(kind::noise, d);
        select_above(host, in(x), T(1), wanted);
        select_above(on, in(x), T(1), found);
        CHECK(found == wanted);
        select_above(host, in(x), in(bounds), wanted);
        select_above(on, in(x), in(bounds), found);
        CHECK(found == wanted);
    }
}
TEST_CASE_TEMPLATE("the largest of each chunk, of which each part has whole ones", T, float, double) {
    laconic::host host;
    eager on;
    coordinates wanted, found;
    for (std::size_t const d : {1000u, 7001u})
        for (std::size_t const chunk : {1u, 10u, 64u, 777u, 5000u, 100000u})
            for (std::size_t const k : {std::size_t{0}, std::size_t{1}, std::min<std::size_t>(chunk, 9)}) {
                auto const x = numbers<T>(kind::noise, d);
                select_largest_of_each(host, in(x), chunk, k, wanted);
                select_largest_of_each(on, in(x), chunk, k, found);
                CHECK(found == wanted);
            }
}
