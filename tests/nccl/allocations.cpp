// SPDX-License-Identifier: Apache-2.0
// Rounds whose messages stay on the device allocate nothing after the first, and wait equally often.
#include <cstdlib>
#include <new>

#include "laconic/collective/dense/engine_all_reduce.hpp"
#include "laconic/collective/select/gtop_k.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/threshold.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/transport/summed.hpp"
#include "support/on_device.hpp"
#include "support/stand_ins/nccl.hpp"
#include "support/test.hpp"

// Where Thrust's system is the processor, the device's memory comes from operator new. What the stand-in itself
// allocates is small.
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

// A gradient that is of another kind in every round.
struct restless {
    device* on;
    int rank;
    std::size_t dimension() const { return 20000; }
    double value(std::span<double const>) const { return 0; }
    void gradient(std::span<double const> x, std::span<double> g) const {
        static thread_local std::vector<double> numbers(dimension());
        static thread_local std::uint64_t round = 0;
        auto const k = key{3}.child(++round).child(std::uint64_t(rank));
        for (std::size_t i = 0; i < x.size(); ++i) numbers[i] = number(k, round, i);
        copy_from_host(*on, std::span<double const>(numbers), g);
    }
    double number(key k, std::uint64_t round, std::size_t i) const {
        double const tiny = std::numeric_limits<double>::denorm_min();
        switch (round % 8) {
            case 0:
                return 0;
            case 1:  // ever more of them large
                return k.uniform(i) * (i % 50 < round ? 1 : 1e-3);
            case 2:
                return i == 3000 + round ? 1e100 : 0;
            case 3:
                return i % 2 == 0 ? 2 : -2;
            case 4:
                return tiny * static_cast<double>(k.below(i, 9));
            case 5:
                return std::tan(3 * (k.uniform(i) - 0.5));
            case 6:  // no rank shares a coordinate with another
                return i % 3 == std::size_t(rank) ? 1 + k.uniform(i) : 0;
            default:
                return k.uniform(i) < 0.5 ? 1 : 1.0625;
        }
    }
};

// What the ranks allocate in their first round, and in later ones.
struct requests {
    std::size_t first = 0, later = 0;  // pieces of memory: the device's, or of 4000 bytes or more
    std::size_t least_waits = std::numeric_limits<std::size_t>::max(), most_waits = 0;  // for kernels, in a later round
};
template <class R>
std::vector<requests> requests_of(R const& method, int rounds) {
    std::vector<requests> all(3);
    on_device::run(3, [&](nccl& comm, device& on) {
        auto& mine = all[std::size_t(comm.rank())];
        restless const f{&on, comm.rank()};
        device::array<double> x(20000);
        descent<R, restless, nccl, double, device> run(method, f, comm, std::span<double>(x), 1, on);
        auto const& seen = detail::on_device::interrupted;
        auto const pieces = [&] { return large + std::size_t(seen.allocations); };
        for (int round = 0; round < rounds; ++round) {
            auto const before = pieces();
            auto const waited = seen.waits;
            run.round();
            (round == 0 ? mine.first : mine.later) += pieces() - before;
            if (round == 0) continue;
            mine.least_waits = std::min(mine.least_waits, std::size_t(seen.waits - waited));
            mine.most_waits = std::max(mine.most_waits, std::size_t(seen.waits - waited));
        }
    });
    return all;
}
// As many waits in each round, unless they depend on the messages.
template <class C, class X = gather_all>
void none_later(C const& compressor, bool as_many_waits, X const& collective = {}) {
    auto const method =
        recursion<C, memory<double, device>>{compressor, memory<double, device>(0, 1), {0.1}}.with_over(collective);
    CAPTURE(to_string(compressor) + ", " + to_string(collective));
    auto const nccl_before = stand_in::allocations();
    requests_of(method, 1);
    auto const nccl_first = stand_in::allocations() - nccl_before;
    for (auto const& rank : requests_of(method, 50)) {
        CHECK(rank.first > 0);
        CHECK(rank.later == 0);
        CHECK((!as_many_waits || rank.least_waits == rank.most_waits));
    }
    CHECK(stand_in::allocations() == nccl_before + 2 * nccl_first);
}

}  // namespace

TEST_CASE("what stays on the device needs no memory after the first round") {
    none_later(top_k{2000}, true);
    none_later(top_k{2000} | quantize{7}, true);
    none_later(rand_k{2000}, true);
    none_later(threshold{0.5}, true);
    none_later(about_top_k{2000}, true);
    none_later(bernoulli{0.1}, true);
    none_later(top_k{2000}, false, gtop_k{2000});
    none_later(top_k{2000}, false, gtop_k{2000, true});
    none_later(threshold{0.5}, false, gtop_k{2000});
    none_later(top_k{2000}, true, engine_all_reduce{});
}
