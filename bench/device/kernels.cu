// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include "laconic/backend/device.hpp"

#include <cuda_runtime_api.h>
#include <thrust/functional.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cub/device/device_radix_sort.cuh>
#include <span>
#include <vector>

namespace device_bench {

namespace {

using namespace laconic;
using detail::on_device::check;
using in = std::span<float const>;
using out = std::span<float>;

// Terms that are listed, as messages hold them.
struct chosen_terms {
    coordinate const* at;
    float const* values;
    std::size_t n;
    std::size_t size() const { return n; }
    constexpr term<float> operator[](std::size_t j) const { return {at[j], values[j]}; }
};

struct place_and_magnitude {
    float const* x;
    coordinate* at;
    float* magnitudes;
    __host__ __device__ void operator()(std::size_t i) const {
        at[i] = static_cast<coordinate>(i);
        magnitudes[i] = std::abs(x[i]);
    }
};

// Prints a row for each call, of which the first is to be a copy.
class table {
  public:
    explicit table(device& on) : on_(on) {
        check(cudaEventCreate(&begin_));
        check(cudaEventCreate(&end_));
        std::printf("| | ms | GB/s | of a copy |\n|---|---|---|---|\n");
    }
    table(table const&) = delete;
    ~table() {
        cudaEventDestroy(begin_);
        cudaEventDestroy(end_);
    }
    template <class F>
    void operator()(char const* name, double bytes, F call) {
        double const time = least_milliseconds(call), speed = bytes / time / 1e6;
        if (copied_ == 0) copied_ = speed;
        std::printf("| %s | %.3f | %.0f | %.2f |\n", name, time, speed, speed / copied_);
        std::fflush(stdout);
    }

  private:
    // The first two calls pay for scratch memory.
    template <class F>
    double least_milliseconds(F call) {
        float least = 0;
        for (int run = 0; run < 12; ++run) {
            check(cudaEventRecord(begin_, on_.stream()));
            call();
            check(cudaEventRecord(end_, on_.stream()));
            check(cudaEventSynchronize(end_));
            float time = 0;
            check(cudaEventElapsedTime(&time, begin_, end_));
            if (run == 2 || (run > 2 && time < least)) least = time;
        }
        return static_cast<double>(least);
    }

    device& on_;
    cudaEvent_t begin_{}, end_{};
    double copied_ = 0;
};

// All but what is shown for several arguments; vectors of x's length.
void measure_updates(device& on, table& row, in x, out y, out z, out w) {
    auto const n = static_cast<double>(x.size());
    in const h(z), e(w);
    row("fill", 4 * n, [&] { fill(on, y, 1.0f); });
    row("add_scaled", 12 * n, [&] { add_scaled(on, 0.5f, x, y); });
    row("multiply", 8 * n, [&] { multiply(on, -1.0f, y); });
    row("subtract_known_add_unsaid", 16 * n, [&] { subtract_known_add_unsaid(on, 1.0f, y, h, e); });
    row("subtract_last", 16 * n, [&] { subtract_last(on, y, h, w); });
    row("gather_momentum", 20 * n, [&] { gather_momentum(on, 0.9f, false, y, x, h, w); });
    copy(on, x, y);
    row("complete_and_remember", 16 * n, [&] { complete_and_remember(on, y, 0.5f, z); });
    row("scaled_distances", 12 * n, [&] { scaled_distances(on, 0.5f, x, in(y), w); });
    row("soft_threshold", 8 * n, [&] { soft_threshold(on, 0.0f, w); });
    row("clip_magnitudes, of none", 4 * n, [&] { clip_magnitudes(on, 2.0f, out(z)); });
    copy(on, x, y);
    row("raise_magnitudes", 8 * n, [&] { raise_magnitudes(on, 0.5f, 1.0f, y); });
    row("draw_symmetric", 4 * n, [&] { draw_symmetric(on, key{2}, 0, y); });
}

void measure_reductions(device& on, table& row, in x, out y) {
    auto const n = static_cast<double>(x.size());
    std::vector<std::uint32_t> counts(magnitude_bins::count);
    row("largest_magnitude", 4 * n, [&] { largest_magnitude(on, x); });
    row("first_non_finite", 4 * n, [&] { first_non_finite(on, x); });
    row("sum_of_magnitudes", 4 * n, [&] { sum_of_magnitudes(on, x); });
    row("sum_of_squares", 4 * n, [&] { sum_of_squares(on, x); });
    row("sums_by_sign", 4 * n, [&] { sums_by_sign(on, x); });
    row("rounding_variance", 4 * n, [&] { rounding_variance(on, x, 0.25f); });
    row("count_by_magnitude", 4 * n, [&] { count_by_magnitude(on, x, 1.0f, std::span(counts)); });
    std::size_t const columns = 4, side = static_cast<std::size_t>(std::sqrt(n));
    auto const by = in(y).first(columns * side);
    auto const product = y.subspan(columns * side, columns * side);
    draw_symmetric(on, key{2}, 0, y);
    row("multiply_matrix, 4 columns", 4 * n,
        [&] { multiply_matrix(on, x.first(side * side), matrix_is::as_it_stands, by, columns, product); });
    row("multiply_matrix, transposed", 4 * n,
        [&] { multiply_matrix(on, x.first(side * side), matrix_is::transposed, by, columns, product); });
    row("multiply_to_orthonormal, 4 columns", 4 * n,
        [&] { multiply_to_orthonormal(on, x.first(side * side), matrix_is::as_it_stands, by, columns, product); });
}

void measure_selections(device& on, table& row, in x, out y) {
    std::size_t const size = x.size();
    auto const n = static_cast<double>(size);
    device::array<coordinate> at;
    device::array<float> values;
    for (double const share : {0.001, 0.01, 0.1}) {
        auto const k = static_cast<std::size_t>(share * n);
        char name[64];
        std::snprintf(name, sizeof name, "select_largest, k = %g n", share);
        row(name, 4 * n, [&] { select_largest(on, x, k, at); });
    }
    std::size_t const k = size / 100;
    row("select_about, k = 0.01 n", 4 * n, [&] { select_about(on, x, k - k / 10, k, k + k / 10, at); });
    row("select_above a bound", 4 * n, [&] { select_above(on, x, 0.99f, at); });
    fill(on, y, 0.99f);
    row("select_above bounds", 8 * n, [&] { select_above(on, x, in(y), at); });
    row("select_nonzero_blocks of 256", 4 * n, [&] { select_nonzero_blocks(on, x, 256, at); });
    row("select_largest_blocks of 256", 4 * n, [&] { select_largest_blocks(on, x, 256, size / 25600, at); });
    row("sample_each, p = 0.01", 0.04 * n, [&] { sample_each(on, key{2}, size, 0.01, at); });
    row("sample_in_proportion", 4 * n, [&] { sample_in_proportion(on, x, 50.0f, key{2}, at); });
    row("sample, k = 0.01 n", 0.04 * n, [&] { sample(on, key{2}, size, k, at); });
    auto const listed = static_cast<double>(k);
    std::span<coordinate const> const places(at);
    row("gather, k = 0.01 n", 12 * listed, [&] { gather(on, x, places, 1, 1.0f, values); });
    row("scatter, k = 0.01 n", 12 * listed, [&] { scatter(on, in(values), places, 1, y); });
    chosen_terms const terms{at.data(), values.data(), k};
    row("add_terms, k = 0.01 n", 16 * listed, [&] { add_terms(on, y, 1.0f, terms); });
    row("clear_terms, k = 0.01 n", 12 * listed, [&] { clear_terms(on, y, terms); });
    row("sort_magnitudes", 8 * n, [&] { sort_magnitudes(on, x, values); });
}

// What a user would pick to find the k largest and their places, for all k alike.
void measure_sorts(device& on, table& row, in x) {
    std::size_t const size = x.size();
    auto const n = static_cast<double>(size);
    device::array<float> keys(size), sorted(size);
    device::array<coordinate> at(size), sorted_at(size);
    place_and_magnitude const pairs{x.data(), at.data(), keys.data()};
    auto const make_pairs = [&] { detail::on_device::for_each_index(on, size, pairs); };
    row("CUB DeviceRadixSort of magnitudes and places", 4 * n, [&] {
        make_pairs();
        std::size_t bytes = 0;
        auto const sort = [&](void* room) {
            check(cub::DeviceRadixSort::SortPairsDescending(room, bytes, keys.data(), sorted.data(), at.data(),
                                                            sorted_at.data(), static_cast<int>(size), 0, 32,
                                                            on.stream()));
        };
        sort(nullptr);
        sort(on.scratch<std::byte>(detail::on_device::scratch_for::temporary, bytes).data());
    });
    row("thrust::sort_by_key of magnitudes and places", 4 * n, [&] {
        make_pairs();
        detail::on_device::with_own_errors(
            [&] { thrust::sort_by_key(on.policy(), keys.begin(), keys.end(), at.begin(), thrust::greater<float>()); });
    });
    row("thrust::sort of the numbers", 8 * n, [&] {
        copy(on, x, out(sorted));
        detail::on_device::with_own_errors([&] { thrust::sort(on.policy(), sorted.begin(), sorted.end()); });
    });
}

void measure_rounding(device& on, table& row, in x) {
    std::size_t const bucket = 512, buckets = (x.size() + bucket - 1) / bucket;
    auto const n = static_cast<double>(x.size()), scales = 4 * static_cast<double>(buckets);
    device::array<float> first(buckets), second(buckets);
    device::array<std::int16_t> levels(x.size());
    device::array<std::uint16_t> codes(x.size());
    device::array<std::uint8_t> bytes(x.size());
    device::array<std::uint64_t> words((x.size() + 63) / 64);
    std::span const to(levels);
    out const steps(first), others(second);
    row("round_buckets_to_levels, largest", 6 * n + scales,
        [&] { round_buckets_to_levels(on, x, bucket, norm::largest, 4, key{3}, steps, to); });
    row("round_buckets_to_levels, 2-norm", 6 * n + scales,
        [&] { round_buckets_to_levels(on, x, bucket, norm::two, 4, key{3}, steps, to); });
    row("damp_steps", 4 * n + 2 * scales, [&] { damp_steps(on, x, bucket, steps); });
    row("round_buckets_to_halvings, 2-norm", 6 * n + scales,
        [&] { round_buckets_to_halvings(on, x, bucket, norm::two, 4, key{3}, steps, to); });
    row("round_buckets_to_range, at random", 5 * n + 2 * scales,
        [&] { round_buckets_to_range(on, x, bucket, rounding::random, 255, key{3}, steps, others, std::span(bytes)); });
    row("round_buckets_to_range, nearest", 5 * n + 2 * scales, [&] {
        round_buckets_to_range(on, x, bucket, rounding::nearest, 255, key{3}, steps, others, std::span(bytes));
    });
    row("pack_signs_and_means", 4.125 * n + scales,
        [&] { pack_signs_and_means(on, x, bucket, steps, std::span(words)); });
    row("pack_signs_and_two_means", 4.125 * n + 2 * scales,
        [&] { pack_signs_and_two_means(on, x, bucket, steps, others, std::span(words)); });
    row("pack_signs", 4.125 * n, [&] { pack_signs(on, x, std::span(words)); });
    row("round_to_powers", 6 * n, [&] { round_to_powers(on, x, key{3}, 0, std::span(codes)); });
    row("round_to_short, bfloat16", 6 * n,
        [&] { round_to_short(on, x, layout_of(short_format::bfloat), std::span(codes)); });
}

}  // namespace

bool is_there() { return device::is_there(); }

void measure(std::size_t n) {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0));
    std::printf("%s, n = %zu floats, uniform in (-1, 1)\n\n", properties.name, n);
    device on;
    device::array<float> x(n), y(n);
    draw_symmetric(on, key{1}, 0, out(x));
    table row(on);
    row("copy", 8 * static_cast<double>(n), [&] { copy(on, in(x), out(y)); });
    {
        std::vector<float> here(n);
        row("copy_to_host", 4 * static_cast<double>(n), [&] { copy_to_host(on, in(x), out(here)); });
        row("copy_from_host", 4 * static_cast<double>(n), [&] { copy_from_host(on, in(here), out(x)); });
        device::array<float> z(n), w(n);
        measure_updates(on, row, x, y, z, w);
    }
    measure_reductions(on, row, x, y);
    measure_selections(on, row, x, y);
    measure_sorts(on, row, x);
    measure_rounding(on, row, x);
}

}  // namespace device_bench
