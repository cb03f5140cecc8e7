// SPDX-License-Identifier: Apache-2.0
// One device serves floats and doubles; each kernel waits as often as documented and allocates in its first call only.
#include "laconic/backend/device.hpp"

#include "support/both.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace laconic::kernels;

static_assert(kernels::Backend<device, float> && kernels::Backend<device, double>);

namespace {

struct counted_call {
    std::string name;
    std::uint64_t waits;  // that its comment documents
    std::function<void()> call;
};

}  // namespace

TEST_CASE("one device serves floats and doubles in turn, and may be moved") {
    device on;
    auto const f = both::there(on, std::vector<float>{1, -5, 2});
    auto const d = both::there(on, std::vector<double>{1, -5, 2, 9});
    device::array<coordinate> at;
    select_largest(on, both::in(f), 2, at);
    CHECK(both::here(on, at) == both::coordinates{1, 2});
    select_largest(on, both::in(d), 2, at);
    CHECK(both::here(on, at) == both::coordinates{1, 3});
    device moved = std::move(on);
    select_largest(moved, both::in(f), 1, at);
    CHECK(both::here(moved, at) == both::coordinates{1});
}

TEST_CASE("kernels wait as often as documented, and allocate in their first call only, whatever the numbers are") {
    constexpr std::size_t n = 7001, block = 64, blocks = (n + block - 1) / block, k = 500;
    device on;
    device::array<float> x(n), y(n), z(n), some(n), others(n), steps(blocks), more(blocks);
    device::array<coordinate> at, blocks_at, list, left_at;
    device::array<float> values, left;
    device::array<std::int16_t> codes(n);
    device::array<std::uint8_t> short_codes(n);
    device::array<std::uint16_t> words_of_16(n);
    device::array<std::uint64_t> words((n + 63) / 64);
    std::vector<float> here(n);
    std::vector<int> const grids{1, 4};
    for (auto* const a : {&at, &blocks_at, &list, &left_at}) a->reserve(2 * n);
    for (auto* const a : {&values, &left}) a->reserve(2 * n);
    std::span<float const> const in(x), bounds(z);
    std::span<coordinate const> const places = [&]() -> std::span<coordinate const> {
        sample(on, key{1}, n, k, left_at);
        list.resize_to_overwrite(k);
        copy(on, std::span<coordinate const>(left_at), std::span<coordinate>(list));
        return list;
    }();
    device::array<coordinate> other_places;
    sample(on, key{2}, n, k, other_places);
    device::array<float> const numbers(k);
    listed_terms<float> const a{places, numbers}, b{other_places, numbers};

    std::vector<counted_call> const calls{
        {"select_largest", 0, [&] { select_largest(on, in, k, at); }},
        {"gather", 0, [&] { gather(on, in, std::span<coordinate const>(at), 1, 1.0f, values); }},
        {"scatter", 0, [&] { scatter(on, std::span<float const>(values), places, 1, std::span(y)); }},
        {"select_about", 1, [&] { select_about(on, in, k - k / 8, k, k + k / 8, at); }},
        {"select_above", 1, [&] { select_above(on, in, 0.5f, at); }},
        {"select_above, bounds", 1, [&] { select_above(on, in, bounds, at); }},
        {"select_nonzero_blocks", 1, [&] { select_nonzero_blocks(on, in, block, at); }},
        {"select_largest_blocks", 0, [&] { select_largest_blocks(on, in, block, blocks / 2, blocks_at); }},
        {"gather, blocks", 1, [&] { gather(on, in, std::span<coordinate const>(blocks_at), block, 1.0f, values); }},
        {"sample", 0, [&] { sample(on, key{3}, n, k, at); }},
        {"sample, few", 0, [&] { sample(on, key{3}, n, 20, at); }},
        {"sample_each", 1, [&] { sample_each(on, key{3}, n, 0.5, at); }},
        {"sample_in_proportion", 1, [&] { sample_in_proportion(on, in, 3.0f, key{3}, at); }},
        {"sort_magnitudes", 0, [&] { sort_magnitudes(on, in, values); }},
        {"largest_magnitude", 1, [&] { largest_magnitude(on, in); }},
        {"first_non_finite", 1, [&] { first_non_finite(on, in); }},
        {"sum_of_magnitudes", 1, [&] { sum_of_magnitudes(on, in); }},
        {"sum_of_squares", 1, [&] { sum_of_squares(on, in); }},
        {"rounding_variance", 1, [&] { rounding_variance(on, in, 0.25f); }},
        {"round_buckets_to_levels", 1,
         [&] { round_buckets_to_levels(on, in, block, p_norm::two, 4, key{4}, std::span(steps), std::span(codes)); }},
        {"rotate_blocks", 0,
         [&] { rotate_blocks(on, 32, matrix_is::as_it_stands, key{4}, 0, std::span(y).first(n / 32 * 32)); }},
        {"damp_steps", 0, [&] { damp_steps(on, in, block, std::span(steps)); }},
        {"round_buckets_to_halvings", 1,
         [&] { round_buckets_to_halvings(on, in, block, p_norm::two, 4, key{4}, std::span(steps), std::span(codes)); }},
        {"round_buckets_to_range", 1,
         [&] {
             round_buckets_to_range(on, in, block, rounding::random, 7, key{4}, std::span(more), std::span(steps),
                                    std::span(short_codes));
         }},
        {"round_blocks_to_short", 1,
         [&] {
             round_blocks_to_short(on, in, {{2, 1, false, true}, kernels::scale_format::power_of_two, block},
                                   rounding::random, 1.0f, key{4}, std::span(steps), std::span(words_of_16));
         }},
        {"pack_signs_and_means", 1, [&] { pack_signs_and_means(on, in, block, std::span(steps), std::span(words)); }},
        {"pack_signs_and_two_means", 1,
         [&] { pack_signs_and_two_means(on, in, block, std::span(steps), std::span(more), std::span(words)); }},
        {"pack_signs", 0, [&] { pack_signs(on, in, std::span(words)); }},
        {"round_to_powers", 0, [&] { round_to_powers(on, in, key{4}, 0, std::span(words_of_16)); }},
        {"facts_of_buckets", 1, [&] { facts_of_buckets(on, in, block, p_norm::two, std::span<int const>(grids)); }},
        {"squares_of_blocks", 1, [&] { squares_of_blocks(on, in, block, 2.0); }},
        {"fill", 0, [&] { fill(on, std::span(y), 1.0f); }},
        {"copy", 0, [&] { copy(on, in, std::span(y)); }},
        {"copy_to_host", 1, [&] { copy_to_host(on, in, std::span(here)); }},
        {"add_scaled", 0, [&] { add_scaled(on, 0.5f, in, std::span(y)); }},
        {"multiply", 0, [&] { multiply(on, 0.5f, std::span(y)); }},
        {"compensate", 1,
         [&] { compensate(on, 0.5f, std::span<float const>(y), bounds, 0.25f, bounds, std::span(y)); }},
        {"add_lists", 1, [&] { add_lists(on, a, b, at, values); }},
        {"list_without", 1, [&] { list_without(on, a, std::span<coordinate const>(other_places), at, values); }},
        {"part_list", 0, [&] { part_list(on, a, places.first(0), at, values, left_at, left); }},
    };
    std::vector<std::vector<float>> contents;
    for (int of = 0; of <= static_cast<int>(both::kind::last_kind_of_finite); ++of)
        contents.push_back(both::numbers<float>(static_cast<both::kind>(of), n));
    auto const& seen = detail::on_device::interrupted;
    for (std::size_t run = 0; run <= contents.size(); ++run) {
        copy_from_host(on, std::span<float const>(contents[run % contents.size()]), std::span(x));
        for (auto const& one : calls) {
            CAPTURE(one.name);
            CAPTURE(run);
            auto const before = seen;
            one.call();
            if (run == 0) continue;  // which finds out how much memory is needed
            CHECK(seen.waits - before.waits == one.waits);
            CHECK(seen.allocations == before.allocations);
        }
    }
}
