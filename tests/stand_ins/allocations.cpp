// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "exchange/on_device.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/threshold.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/exchange/exchanged_mean_on_device.hpp"

// Where Thrust's system is the processor, the device's memory comes from operator new. What the stand-in itself asks
// for is small.
namespace {
thread_local std::size_t large = 0;
}
[[gnu::noinline]] void* operator new(std::size_t n) {
    large += n >= 4000;
    if (void* const p = std::malloc(n ? n : 1)) return p;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

using namespace laconic;

namespace {

// A gradient that has ever other numbers, of which ever more are large.
struct restless {
    device* on;
    int rank;
    std::size_t dimension() const { return 20000; }
    double value(std::span<double const>) const { return 0; }
    void gradient(std::span<double const> x, std::span<double> g) const {
        static thread_local std::vector<double> numbers(dimension());
        static thread_local std::uint64_t round = 0;
        auto const k = key{3}.child(++round).child(std::uint64_t(rank));
        for (std::size_t i = 0; i < x.size(); ++i) numbers[i] = k.uniform(i) * (i % 20 < round ? 1 : 1e-3);
        copy_from_host(*on, std::span<double const>(numbers), g);
    }
};

// How many pieces of 4000 bytes or more the ranks ask for in their first round, and later.
template <class R>
std::pair<std::size_t, std::size_t> large_pieces(R const& method) {
    std::vector<std::size_t> first(3), later(3);
    on_device::run(3, [&](nccl& comm, device& on) {
        auto const me = std::size_t(comm.rank());
        restless const f{&on, comm.rank()};
        device::array<double> x(20000);
        descent<R, restless, nccl, double, device> run(method, f, comm, std::span<double>(x), 1, on);
        for (int round = 0; round < 12; ++round) {
            auto const before = large;
            run.round();
            (round == 0 ? first : later)[me] += large - before;
        }
    });
    return {*std::min_element(first.begin(), first.end()), *std::max_element(later.begin(), later.end())};
}
template <class C, class X = gather_all>
void none_later(C const& compressor, X const& exchange = {}) {
    auto const method =
        recursion<C, memory<double, device>>{compressor, memory<double, device>(0, true), {0.1}}.with_exchange(
            exchange);
    auto const [first, later] = large_pieces(method);
    CAPTURE(to_string(compressor) + ", " + to_string(exchange));
    CHECK(first > 0);
    CHECK(later == 0);
}

}  // namespace

TEST_CASE("what stays on the device needs no memory after the first round") {
    none_later(top_k{2000});
    none_later(top_k{2000} | quantize{7});
    none_later(rand_k{2000});
    none_later(threshold{0.5});  // more from round to round
    none_later(top_k{2000}, by_gtop_k{2000});
    none_later(top_k{2000}, by_gtop_k{2000, left_out::as_published});
    none_later(top_k{2000}, by_engine_all_reduce{});
}
