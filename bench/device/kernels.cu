// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include "laconic/backend/device.hpp"
#include "laconic/message/message.hpp"
#include "laconic/optim/lion.hpp"

#include <thrust/functional.h>
#include <thrust/sort.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#if defined(LACONIC_ON_CUDA)
#    include <cuda_runtime_api.h>

#    include <cub/device/device_radix_sort.cuh>
#endif

// A row for every kernel of the device backend: check_rows.cmake looks whether there is one, by the first word.

namespace device_bench {

namespace {

using namespace laconic;
using in = std::span<float const>;
using out = std::span<float>;

// Terms that are listed, as messages hold them.
struct chosen_terms {
    coordinate const* at;
    float const* values;
    std::size_t n;
    std::size_t size() const { return n; }
    constexpr messages::term<float> operator[](std::size_t j) const { return {at[j], values[j]}; }
};

struct place_and_magnitude {
    float const* x;
    coordinate* at;
    float* magnitudes;
    LACONIC_HOST_DEVICE void operator()(std::size_t i) const {
        at[i] = static_cast<coordinate>(i);
        magnitudes[i] = std::abs(x[i]);
    }
};

#if defined(LACONIC_ON_CUDA)

using detail::on_device::check;

std::string name_of_device() {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0));
    return properties.name;
}

// By the GPU's own clock.
class stopwatch {
  public:
    explicit stopwatch(device& on) : on_(on) {
        check(cudaEventCreate(&begin_));
        check(cudaEventCreate(&end_));
    }
    stopwatch(stopwatch const&) = delete;
    ~stopwatch() {
        cudaEventDestroy(begin_);
        cudaEventDestroy(end_);
    }
    template <class F>
    double milliseconds(F call) {
        check(cudaEventRecord(begin_, on_.stream()));
        call();
        check(cudaEventRecord(end_, on_.stream()));
        check(cudaEventSynchronize(end_));
        float time = 0;
        check(cudaEventElapsedTime(&time, begin_, end_));
        return static_cast<double>(time);
    }

  private:
    device& on_;
    cudaEvent_t begin_{}, end_{};
};

#else

std::string name_of_device() { return "the processor, one thread, by Thrust"; }

class stopwatch {
  public:
    explicit stopwatch(device&) {}
    template <class F>
    double milliseconds(F call) {
        auto const begin = std::chrono::steady_clock::now();
        call();
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    }
};

#endif

// Prints a row for each call, of which the first is to be a copy. What a call reads and what it writes is named behind
// it, twice what it does both to; how long that is counts after the call, which may have made it.
class table {
  public:
    explicit table(device& on) : watch_(on) {
        std::printf("| | ms | MB | GB/s | of a copy |\n|---|---|---|---|---|\n");
    }
    template <class F, class... Touched>
    void operator()(char const* name, F call, Touched const&... touched) {
        double const time = least_milliseconds(call);
        double const bytes = (0.0 + ... + static_cast<double>(touched.size() * sizeof(*touched.data())));
        double const speed = bytes / time / 1e6;
        if (copied_ == 0) copied_ = speed;
        std::printf("| %s | %.4g | %.4g | %.4g | %.2f |\n", name, time, bytes / 1e6, speed, speed / copied_);
        std::fflush(stdout);
    }

  private:
    // The first two calls pay for scratch memory.
    template <class F>
    double least_milliseconds(F call) {
        double least = 0;
        for (int run = 0; run < 12; ++run) {
            double const time = watch_.milliseconds(call);
            if (run == 2 || (run > 2 && time < least)) least = time;
        }
        return least;
    }

    stopwatch watch_;
    double copied_ = 0;
};

void measure_copies(device& on, table& row, out x, out y) {
    in const from(x);
    row(
        "copy", [&] { copy(on, from, y); }, x, y);
    std::vector<float> here(x.size());
    row(
        "copy_to_host", [&] { copy_to_host(on, from, out(here)); }, x);
    row(
        "copy_from_host", [&] { copy_from_host(on, in(here), x); }, x);
    row(
        "on_host", [&] { on_host(on, from); }, x);
    row(
        "fill", [&] { fill(on, y, 1.0f); }, y);
}

void measure_updates(device& on, table& row, in x, out y) {
    device::array<float> third(x.size()), fourth(x.size());
    out const z(third), w(fourth);
    in const h(z), e(w);
    copy(on, x, y);
    row(
        "add_scaled", [&] { add_scaled(on, 0.5f, x, y); }, x, y, y);
    row(
        "multiply", [&] { multiply(on, -1.0f, y); }, y, y);
    row(
        "at_each_index, a step of lion",
        [&] {
            at_each_index(on, y.size(), detail::lion_numbers<float>{y, z, w, {.rate = 1e-30}});
        },
        y, z, w, y, w);
    row(
        "compensate", [&] { compensate(on, 1.0f, std::span<float const>(y), h, 1.0f, e, y); }, y, h, e, y);
    copy(on, x, y);
    row(
        "complete_and_remember", [&] { complete_and_remember(on, y, 0.5f, z); }, y, z, y, z);
    row(
        "soft_threshold", [&] { soft_threshold(on, 0.0f, w); }, w, w);
    copy(on, x, y);
    row(
        "raise_magnitudes", [&] { raise_magnitudes(on, 0.5f, 1.0f, y); }, y, y);
    row(
        "draw_symmetric", [&] { draw_symmetric(on, key{2}, 0, y); }, y);
    row(
        "rotate_blocks", [&] { rotate_blocks(on, 4096, kernels::matrix_is::as_it_stands, key{2}, 0, y); }, y, y);
}

void measure_reductions(device& on, table& row, in x) {
    row(
        "largest_magnitude", [&] { largest_magnitude(on, x); }, x);
    row(
        "first_non_finite", [&] { first_non_finite(on, x); }, x);
    row(
        "sum_of_magnitudes", [&] { sum_of_magnitudes(on, x); }, x);
    row(
        "sum_of_numbers", [&] { sum_of_numbers(on, x, 1.0, 0.0); }, x);
    row(
        "sum_of_squares", [&] { sum_of_squares(on, x); }, x);
    row(
        "sum_of_squares_in_floats", [&] { sum_of_squares_in_floats(on, x); }, x);
    device::array<double> const doubles(x.size() / 2);
    std::span<double const> const wide(doubles);
    row(
        "sum_of_squares, of doubles in units", [&] { sum_of_squares(on, wide, 2.0); }, wide);
    row(
        "rounding_variance", [&] { rounding_variance(on, x, 0.25f); }, x);
    std::vector<std::uint32_t> counts(kernels::magnitude_bins::count);
    row(
        "count_by_magnitude", [&] { count_by_magnitude(on, x, 1.0f, std::span(counts)); }, x);
}

void measure_matrices(device& on, table& row, in x) {
    std::size_t const columns = 4, side = static_cast<std::size_t>(std::sqrt(static_cast<double>(x.size())));
    in const matrix = x.first(side * side);
    device::array<float> factor(columns * side), result(columns * side);
    draw_symmetric(on, key{2}, 0, out(factor));
    in const by(factor);
    out const product(result);
    row(
        "multiply_matrix, 4 columns",
        [&] { multiply_matrix(on, matrix, kernels::matrix_is::as_it_stands, by, columns, product); }, matrix, by,
        product);
    row(
        "multiply_matrix, transposed",
        [&] { multiply_matrix(on, matrix, kernels::matrix_is::transposed, by, columns, product); }, matrix, by,
        product);
    row(
        "multiply_to_orthonormal, 4 columns",
        [&] { multiply_to_orthonormal(on, matrix, kernels::matrix_is::as_it_stands, by, columns, product); }, matrix,
        by, product);
}

void measure_selections(device& on, table& row, in x, out y) {
    std::size_t const size = x.size(), k = size / 100;
    device::array<coordinate> at;
    for (double const share : {0.001, 0.01, 0.1}) {
        auto const wanted = static_cast<std::size_t>(share * static_cast<double>(size));
        char name[64];
        std::snprintf(name, sizeof name, "select_largest, k = %g n", share);
        row(
            name, [&] { select_largest(on, x, wanted, at); }, x, at);
    }
    row(
        "select_about, k = 0.01 n", [&] { select_about(on, x, k - k / 10, k, k + k / 10, at); }, x, at);
    row(
        "select_above, a bound", [&] { select_above(on, x, 0.99f, at); }, x, at);
    fill(on, y, 0.99f);
    row(
        "select_largest, of equal ones, k = 0.01 n", [&] { select_largest(on, in(y), k, at); }, y, at);
    row(
        "select_above, bounds", [&] { select_above(on, x, in(y), at); }, x, y, at);
    row(
        "select_largest_of_each, 64 of 4096", [&] { select_largest_of_each(on, x, 4096, 64, at); }, x, at);
    row(
        "compensate_and_select_largest, k = 0.01 n",
        [&] { compensate_and_select_largest(on, 1.0f, x, in(), 0.5f, in(y), y, k, at); }, x, y, y, at);
    row(
        "select_nonzero_blocks, of 256", [&] { select_nonzero_blocks(on, x, 256, at); }, x, at);
    row(
        "select_largest_blocks, of 256", [&] { select_largest_blocks(on, x, 256, size / 25600, at); }, x, at);
    row(
        "sample_each, p = 0.01", [&] { sample_each(on, key{2}, size, 0.01, at); }, at);
    row(
        "sample_in_proportion, about 0.01 n", [&] { sample_in_proportion(on, x, 50.0f, key{2}, at); }, x, at);
    row(
        "sample, k = 0.01 n", [&] { sample(on, key{2}, size, k, at); }, at);
    device::array<float> sorted;
    row(
        "sort_magnitudes", [&] { sort_magnitudes(on, x, sorted); }, x, sorted);
}

// One in a hundred of y's numbers, and lists of so many.
void measure_terms(device& on, table& row, out y) {
    std::size_t const k = y.size() / 100;
    draw_symmetric(on, key{1}, 0, y);
    device::array<coordinate> some, others, chosen, at, left_at;
    device::array<float> first, second, values, left;
    sample(on, key{2}, y.size(), k, some);
    sample(on, key{3}, y.size(), k, others);
    std::span<coordinate const> const places(some), other_places(others);
    row(
        "gather, 0.01 n", [&] { gather(on, in(y), places, 1, 1.0f, first); }, some, first, first);
    gather(on, in(y), other_places, 1, 1.0f, second);
    row(
        "scatter, 0.01 n", [&] { scatter(on, in(first), places, 1, y); }, some, first, first);
    chosen_terms const terms{some.data(), first.data(), k};
    row(
        "add_terms, 0.01 n", [&] { add_terms(on, y, 1.0f, terms); }, some, first, first, first);
    row(
        "clear_terms, 0.01 n", [&] { clear_terms(on, y, terms); }, some, first, first);
    at.resize_to_overwrite(k);
    values.resize_to_overwrite(k);
    row(
        "list_terms, 0.01 n", [&] { list_terms(on, terms, std::span(at), out(values)); }, some, first, at, values);
    kernels::listed_terms<float> const a{places, first}, b{other_places, second};
    row(
        "add_lists, 0.01 n each", [&] { add_lists(on, a, b, at, values); }, some, first, others, second, at, values);
    kernels::listed_terms<float> const three[] = {a, b, a};
    row(
        "sum_lists, three of 0.01 n",
        [&] { sum_lists(on, std::span<kernels::listed_terms<float> const>(three), at, values, left_at, left); }, some,
        first, others, second, some, first, at, values);
    device::array<coordinate> sorted_at(k);
    device::array<float> sorted(k);
    row(
        "sort_list, 0.01 n",  // by digits: it does not matter that they are sorted already
        [&] { sort_list(on, places, in(first), y.size(), std::span<coordinate>(sorted_at), out(sorted)); }, some, first,
        some, first);
    row(
        "list_without, 0.01 n each", [&] { list_without(on, a, other_places, at, values); }, some, first, others, at,
        values);
    select_largest(on, in(first), k / 2, chosen);
    std::span<coordinate const> const kept(chosen);
    row(
        "take_list, half of 0.01 n", [&] { take_list(on, a, kept, at, values); }, chosen, at, values, at, values);
    row(
        "part_list, 0.01 n", [&] { part_list(on, a, kept, at, values, left_at, left); }, some, first, chosen, at,
        values, left_at, left);
}

// What a user would pick to find the k largest and their places, for all k alike. As for select_largest, only what the
// choice has to read is counted, so that the columns can be compared.
void measure_sorts(device& on, table& row, in x) {
    device::array<float> keys(x.size()), sorted(x.size());
    device::array<coordinate> at(x.size());
    place_and_magnitude const pairs{x.data(), at.data(), keys.data()};
    auto const make_pairs = [&] { detail::on_device::for_each_index(on, x.size(), pairs); };
#if defined(LACONIC_ON_CUDA)
    {
        device::array<coordinate> sorted_at(x.size());
        auto const sort = [&](void* room, std::size_t& bytes) {
            check(cub::DeviceRadixSort::SortPairsDescending(room, bytes, keys.data(), sorted.data(), at.data(),
                                                            sorted_at.data(), static_cast<int>(x.size()), 0, 32,
                                                            on.stream()));
        };
        auto const sort_pairs = [&] {
            make_pairs();
            std::size_t bytes = 0;
            sort(nullptr, bytes);
            sort(on.scratch<std::byte>(detail::on_device::scratch_for::temporary, bytes).data(), bytes);
        };
        row("CUB DeviceRadixSort of magnitudes and places", sort_pairs, x);
    }
#endif
    auto const sort_by_key = [&] {
        make_pairs();
        on.call_thrust([&](auto const& how) {
            thrust::sort_by_key(how, keys.begin(), keys.end(), at.begin(), thrust::greater<float>());
        });
    };
    row("thrust::sort_by_key of magnitudes and places", sort_by_key, x);
    auto const sort_numbers = [&] {
        copy(on, x, out(sorted));
        on.call_thrust([&](auto const& how) { thrust::sort(how, sorted.begin(), sorted.end()); });
    };
    row("thrust::sort of the numbers", sort_numbers, x, sorted);
}

void measure_rounding(device& on, table& row, in x) {
    std::size_t const bucket = 512, buckets = (x.size() + bucket - 1) / bucket;
    device::array<float> first(buckets), second(buckets);
    out const steps(first), others(second);
    {
        device::array<std::int8_t> few(x.size());
        std::span const codes(few);
        auto const levels = [&](laconic::p_norm p) {
            round_buckets_to_levels(on, x, bucket, p, 4, key{3}, steps, codes);
        };
        row(
            "round_buckets_to_levels, largest", [&] { levels(p_norm::largest); }, x, steps, codes);
        row(
            "round_buckets_to_levels, 2-norm", [&] { levels(p_norm::two); }, x, steps, codes);
        row(
            "damp_steps", [&] { damp_steps(on, x, bucket, steps); }, x, steps, steps);
        device::array<std::int16_t> made(x.size());
        std::span const to(made);
        row(
            "round_buckets_to_halvings, 2-norm",
            [&] { round_buckets_to_halvings(on, x, bucket, p_norm::two, 4, key{3}, steps, to); }, x, steps, to);
    }
    {
        device::array<std::uint8_t> made(x.size());
        std::span const to(made);
        auto const range = [&](rounding how) {
            round_buckets_to_range(on, x, bucket, how, 255, key{3}, steps, others, to);
        };
        row(
            "round_buckets_to_range, at random", [&] { range(rounding::random); }, x, steps, others, to);
        row(
            "round_buckets_to_range, nearest", [&] { range(rounding::nearest); }, x, steps, others, to);
    }
    std::vector<int> grids;
    for (int level = 0; level < 15; ++level) grids.push_back((2 << level) - 1);
    std::span<double const> facts;
    row(
        "facts_of_buckets, 15 grids",
        [&] { facts = facts_of_buckets(on, x, bucket, p_norm::two, std::span<int const>(grids)); }, x, facts);
    row(
        "squares_of_blocks, of 256", [&] { facts = squares_of_blocks(on, x, 256, 1.0); }, x, facts);
    device::array<std::uint64_t> signs((x.size() + 63) / 64);
    std::span const words(signs);
    row(
        "pack_signs_and_means", [&] { pack_signs_and_means(on, x, bucket, steps, words); }, x, steps, words);
    row(
        "pack_signs_and_two_means", [&] { pack_signs_and_two_means(on, x, bucket, steps, others, words); }, x, steps,
        others, words);
    row(
        "pack_signs", [&] { pack_signs(on, x, words); }, x, words);
    device::array<std::uint16_t> made(x.size());
    std::span const codes(made);
    row(
        "round_to_powers", [&] { round_to_powers(on, x, key{3}, 0, codes); }, x, codes);
    row(
        "round_to_short, bf16",
        [&] { round_to_short(on, x, kernels::layout_of(kernels::short_format::bfloat), codes); }, x, codes);
    row(
        "round_to_short, bf16 at random",
        [&] { round_to_short(on, x, kernels::layout_of(kernels::short_format::bfloat), key{3}, 0, codes); }, x, codes);
    auto const mx = kernels::layout_of(kernels::block_format::mxfp4);
    device::array<float> held((x.size() + mx.block - 1) / mx.block);
    std::span const scales(held);
    row(
        "round_blocks_to_short, mxfp4",
        [&] { round_blocks_to_short(on, x, mx, rounding::nearest, 1.0f, key{3}, scales, codes); }, x, scales, codes);
}

}  // namespace

bool is_there() { return device::is_there(); }

void measure(std::size_t n) {
    std::printf("%s, n = %zu floats, uniform in (-1, 1)\n\n", name_of_device().c_str(), n);
    device on;
    device::array<float> first(n), second(n);
    out const x(first), y(second);
    table row(on);
    measure_copies(on, row, x, y);
    draw_symmetric(on, key{1}, 0, x);
    measure_updates(on, row, x, y);
    measure_reductions(on, row, x);
    measure_matrices(on, row, x);
    measure_selections(on, row, x, y);
    measure_terms(on, row, y);
    measure_sorts(on, row, x);
    measure_rounding(on, row, x);
}

}  // namespace device_bench
