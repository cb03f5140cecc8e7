// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "examples/program.hpp"

// The program as its users meet it. How fast this machine is nobody knows: links are so slow or so fast that it does
// not matter.
namespace {

outcome ask(std::string const& arguments) { return run_program(LACONIC_WOULD_IT_PAY, arguments); }

bool says(outcome const& run, std::string const& text) { return run.out.find(text) != std::string::npos; }

}  // namespace

TEST_CASE("would_it_pay: a slow link, a fast one, and one worker") {
    std::string const rest = " --dimension 2e4 --workers 4 --seconds 0 --compressor 'top_k(0.01) | natural'";
    auto const slow = ask("--cost affine:1,5" + rest);
    INFO(slow.out);
    CHECK(slow.status == 0);
    CHECK(slow.out.starts_with("20000 numbers, 4 workers, a message costs affine(1, 5) seconds;"));
    CHECK(says(slow, "top_k(0.01) | natural"));
    CHECK(says(slow, "\nyes: in full a round takes 1.92e+06 s, with top_k(0.01) | natural "));  // 6 (320000 + 5)
    auto const fast = ask("--cost affine:0,0" + rest);
    CHECK(says(fast, "\nno: in full a round takes 0 s, with top_k(0.01) | natural "));
    CHECK(says(fast, "too much even were sending free"));
    CHECK(says(ask("--cost affine:1,1 --dimension 1 --workers 1 --seconds 0 --compressor scaled_sign"),
               "\nno: one worker sends nothing\n"));
}

TEST_CASE("would_it_pay: each compressor has a line in the table and a reason below it") {
    auto const run =
        ask("--cost 'air_time(rate=1, preamble=1, payload=100, wait=1)' --dimension 3000 --seconds 0"
            " --compressor identity --compressor natural");
    INFO(run.out);
    CHECK(run.status == 0);
    CHECK(says(run, "\nidentity                           64 "));
    CHECK(says(run, "\nnatural "));
    CHECK(says(run, ", with identity "));
    CHECK(says(run, ", with natural "));
}

TEST_CASE("would_it_pay: wrong input gives one line and status 2") {
    std::vector<refusal> const cases = {
        {"--cost affine:1", "affine needs per_message"},
        {"--cost 'two_way(bits, bits)'", "--cost: messages cost the same either way here"},
        {"--dimension 0", "--dimension: 0 is no whole number"},
        {"--dimension 1.5", "--dimension: 1.5 is no whole number"},
        {"--workers 0", "--workers: 0"},
        {"--workers 4294967297", "--workers: 4294967297 is no whole number from 1 to 2147483647"},
        {"--workers 0x8", "--workers: 0x8"},
        {"--seconds -1", "--seconds: -1"},
        {"--seconds inf", "--seconds: inf"},
        {"--compressor top_q", "there is no compressor 'top_q'"},
        {"--dimension 5 --compressor 'top_k(6)'", "k = 6 is above the dimension d = 5"},
        {"--nosuchflag", "--nosuchflag"},
    };
    check_refusals(LACONIC_WOULD_IT_PAY, "would_it_pay", cases);
}

TEST_CASE("would_it_pay: a table that gets lost is said") {
    auto const run = run_program(
        "sh", "-c '" LACONIC_WOULD_IT_PAY " --dimension 10 --seconds 0 --compressor scaled_sign > /dev/full'");
    CHECK(run.status == 1);
    CHECK(run.out == "would_it_pay: standard output: No space left on device\n");
}
