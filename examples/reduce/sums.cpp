// SPDX-License-Identifier: Apache-2.0
// Sums over all ranks in one call each, as docs/sums.md shows them.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <laconic/collective/dense/halving_doubling.hpp>
#include <laconic/comm/threads.hpp>
#include <laconic/compress/natural.hpp>
#include <laconic/compress/rand_k.hpp>
#include <laconic/encode.hpp>
#include <laconic/sum.hpp>
#include <span>
#include <vector>

int main() {
    laconic::threads::run(4, [](auto& comm) {
        bool const prints = comm.rank() == 0;

        std::vector<float> x(1000, 1.0f);
        laconic::sum(comm, x);  // in place: every x[i] is now 4
        if (prints) std::printf("sum: %g\n", x[999]);

        laconic::sum(comm, x, laconic::halving_doubling{});
        if (prints) std::printf("by halving_doubling: %g\n", x[999]);

        std::vector<std::int64_t> counts{1, 1ll << 60, -5};
        laconic::sum(comm, counts);  // exact
        if (prints) std::printf("integers: %lld\n", static_cast<long long>(counts[1]));

        laconic::mean(comm, x);
        if (prints) std::printf("mean: %g\n", x[999]);

        double loss = comm.rank();
        laconic::mean(comm, std::span(&loss, 1));  // one number
        if (prints) std::printf("loss: %g\n", loss);

        auto const part = laconic::reduce_scatter(comm, x);
        for (float& each : part.values) each = std::sqrt(each);  // x[part.first], x[part.first + 1], ...
        if (prints) std::printf("part: %zu numbers from %zu on\n", part.values.size(), part.first);

        std::vector<std::int64_t> indices{7, comm.rank()};  // any number of terms on each rank, in any order
        std::vector<double> values{0.5, 1.0};
        laconic::sparse_vector<double> total = laconic::sum(comm, laconic::sparse_view(1000, indices, values));
        for (std::size_t j = 0; prints && j < total.indices.size(); ++j)
            std::printf("total[%u] = %g\n", total.indices[j], total.values[j]);

        laconic::sparse_vector<double> mine = laconic::reduce_scatter(comm, total);
        if (prints) std::printf("sparse part: %zu of %zu terms\n", mine.indices.size(), total.indices.size());

        laconic::persistent_sum add(comm, x);
        for (int step = 0; step < 10; ++step) add(x);  // allocates nothing after the first calls
        if (prints) std::printf("ten sums: %g\n", x[999]);

        auto const compressor = laconic::rand_k{0.1} | laconic::natural{};
        laconic::key const from = laconic::key{2026}.child(std::uint64_t(comm.rank()));
        std::vector<std::byte> const bytes = laconic::encode(compressor, x, from);  // send these as you like
        std::vector<float> y(1000);
        laconic::decode(compressor, bytes, y, from);
        laconic::add_decoded(compressor, bytes, -1.0, y, from);  // y <- y - the same vector
        if (prints) std::printf("bytes: %zu, not %zu; y[0] = %g\n", bytes.size(), 1000 * sizeof(float), y[0]);
    });
}
