// SPDX-License-Identifier: Apache-2.0
// The program would_it_pay answers for links so slow or fast that the machine does not matter, and refuses the rest.
#include "support/program.hpp"

#include "support/test.hpp"

outcome run_would_it_pay(std::string const& arguments) { return run_program(LACONIC_WOULD_IT_PAY, arguments); }

bool contains(outcome const& run, std::string const& text) { return run.out.find(text) != std::string::npos; }

TEST_CASE("would_it_pay: a slow link, a fast one, and one worker") {
    std::string const rest = " --dimension 2e4 --workers 4 --seconds 0 --compressor 'top_k(0.01) | natural'";
    auto const floats = run_would_it_pay("--cost affine:1,5" + rest);
    CHECK(floats.out.starts_with("20000 numbers of type float, 4 workers, a message costs affine(1, 5) seconds;"));
    CHECK(contains(floats, "\nyes: a dense sum of 16 bits a number takes 4.8e+05 s, with "));  // 6 (80000 + 5)
    auto const slow = run_would_it_pay("--type double --dense-bits 64 --cost affine:1,5" + rest);
    INFO(slow.out);
    CHECK(slow.status == 0);
    CHECK(slow.out.starts_with("20000 numbers of type double, 4 workers, a message costs affine(1, 5) seconds;"));
    CHECK(contains(slow, "top_k(0.01) | natural"));
    CHECK(contains(slow, "\nyes: a dense sum of 64 bits a number takes 1.92e+06 s, with "));  // 6 (320000 + 5)
    CHECK(contains(slow, " s, with top_k(0.01) | natural a round takes "));
    auto const fast = run_would_it_pay("--cost affine:0,0" + rest);
    CHECK(contains(fast, "\nno: a dense sum of 16 bits a number takes 0 s, with top_k(0.01) | natural "));
    CHECK(contains(fast, "too much even were sending free"));
    auto const hidden = run_would_it_pay("--cost affine:1,5 --computing 4.8e5" + rest);
    CHECK(contains(hidden, "\nno: a dense sum of 16 bits a number takes 30 s more than the 4.8e+05 s of computing"));
    CHECK(contains(run_would_it_pay("--cost affine:1,1 --dimension 1 --workers 1 --seconds 0 --compressor scaled_sign"),
                   "\nno: one worker sends nothing\n"));
}

TEST_CASE("would_it_pay: each compressor has a line in the table and a reason below it") {
    auto const run = run_would_it_pay(
        "--cost 'air_time(rate=1, preamble=1, payload=100, wait=1)' --dimension 3000 --seconds 0"
        " --compressor identity --compressor natural");
    INFO(run.out);
    CHECK(run.status == 0);
    CHECK(contains(run, "\nidentity                           32 "));
    CHECK(contains(run, "\nnatural "));
    CHECK(contains(run, ", with identity "));
    CHECK(contains(run, ", with natural "));
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
        {"--dense-bits 0", "--dense-bits: 0"},
        {"--computing -1", "--computing: -1"},
        {"--compressor top_q", "there is no compressor 'top_q'"},
        {"--dimension 5 --compressor 'top_k(6)'", "top_k(6): k = 6 is above the dimension d = 5"},
        {"--type half", "half"},
        {"--nosuchflag", "--nosuchflag"},
    };
    check_refusals(LACONIC_WOULD_IT_PAY, "would_it_pay", cases);
}

TEST_CASE("would_it_pay: a lost table is reported") {
    auto const run = run_program(
        "sh", "-c '" LACONIC_WOULD_IT_PAY " --dimension 10 --seconds 0 --compressor scaled_sign > /dev/full'");
    CHECK(run.status == 1);
    CHECK(run.out == "would_it_pay: standard output: No space left on device\n");
}
