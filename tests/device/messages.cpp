// SPDX-License-Identifier: Apache-2.0
// Every compressor's messages on the device are the host's, and none allocates after its first message.
#include "laconic/backend/device.hpp"
#include "support/laws/messages_on.hpp"
#include "support/test.hpp"

using namespace laconic;

namespace {

// Numbers that are of another kind in every round.
std::vector<float> restless(std::size_t d, std::uint64_t round) {
    auto const k = key{77}.child(round);
    std::vector<float> x(d);
    for (std::size_t i = 0; i < d; ++i) {
        auto const noise = static_cast<float>(std::tan(3 * (k.uniform(i) - 0.5)));
        switch (round % 8) {
            case 0:
                x[i] = 0;
                break;
            case 1:
                x[i] = noise * 1e-3f;
                break;
            case 2:
                x[i] = i == d / 3 ? 1e30f : 0;
                break;
            case 3:
                x[i] = i % 2 == 0 ? 1.0f : -1.0f;
                break;
            case 4:
                x[i] = std::numeric_limits<float>::denorm_min() * static_cast<float>(k.below(i, 9));
                break;
            case 5:  // ever more of them
                x[i] = i % 100 < round ? noise : 0;
                break;
            case 6:
                x[i] = i + 1 == d ? 3.0f : 0;
                break;
            default:
                x[i] = k.uniform(i) < 0.5 ? 1.0f : 1.05f;
        }
    }
    return x;
}

// How often the device's memory is allocated after the first round, where round number `start` is the first.
std::size_t later_allocations(std::string const& pipeline, std::size_t d, std::uint64_t start, std::uint64_t rounds) {
    device on;
    host cpu;
    auto const here = parse_compressor<float>(pipeline);
    auto const there = parse_compressor<float, device>(pipeline);
    any_message<float, host> on_host;
    any_message<float, device> sent, copied_back;
    device::array<float> x(d), sum(d);
    auto const& seen = detail::on_device::interrupted;
    std::uint64_t after_first = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        auto const numbers = restless(d, start + round);
        key const from{round};
        copy_from_host(on, std::span<float const>(numbers), std::span<float>(x));
        there(on, std::span<float const>(x), from, sent);
        there.blank(on, d, from, copied_back);
        here.blank(cpu, d, from, on_host);
        copy_message(on, sent, cpu, on_host);
        copy_message(cpu, on_host, on, copied_back);
        add_message(on, std::span<float>(sum), 0.5f, copied_back);
        if (round == 0) after_first = seen.allocations;
    }
    return static_cast<std::size_t>(seen.allocations - after_first);
}

}  // namespace

TEST_CASE("every compressor's messages on the device are those on the host, and add the same") {
    laws::encodes_as_on_the_host<device>();
}

TEST_CASE("no compressor allocates the device's memory after the first message, whatever the next ones hold") {
    for (auto const& pipeline : laws::pipelines()) {
        CAPTURE(pipeline);
        // A search for the best level does not begin before there is a number other than 0.
        std::uint64_t const first = pipeline.starts_with("best_level") ? 1 : 0;
        CHECK(later_allocations(pipeline, 303, first, 100) == 0);
        for (std::uint64_t start = 1; start < 8; ++start) CHECK(later_allocations(pipeline, 103, start, 8) == 0);
    }
    for (auto const& pipeline : laws::in_parts()) {
        CAPTURE(pipeline);
        CHECK(later_allocations(pipeline, laws::length_in_parts, 0, 100) == 0);
    }
}
