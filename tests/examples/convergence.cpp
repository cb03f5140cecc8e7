// SPDX-License-Identifier: Apache-2.0
// The program convergence breaks its tight bounds, and no others, where a constant is spoilt; bad input is refused.
// That all bounds hold is the test example.convergence.
#include <unistd.h>

#include <filesystem>

#include "support/program.hpp"
#include "support/test.hpp"

outcome prove(std::string const& arguments) { return run_program(LACONIC_CONVERGENCE, arguments); }

/// A row's method and problem, and whether its verdict is "holds" or "BROKEN in round ...".
std::map<std::string, bool> verdicts(std::string const& table) {
    std::map<std::string, bool> holds;
    std::istringstream rows(table);
    std::string row;
    std::getline(rows, row);
    while (std::getline(rows, row)) {
        bool const kept = row.ends_with("  holds");
        CHECK((kept || row.find("  BROKEN in round ") != std::string::npos));
        holds.emplace(row.substr(0, row.rfind("  ")), kept);
    }
    return holds;
}

TEST_CASE("convergence: a constant that is a tenth too good breaks what is tight, and nothing else") {
    auto const run = prove("--seeds 100 --spoil 1.1");
    INFO(run.out);
    CHECK(run.status == 1);
    std::vector<std::string> const tight = {"dcgd(rand_k(5)) ",
                                            "dcgd(natural) ",
                                            "dcgd(top_k(2)) ",
                                            "diana(rand_k(5)) ",
                                            "proxskip(p=0.3, step=0.05) ",
                                            "ef_sgd(scaled_down(rand_k(10))) ",
                                            "ef21(scaled_down(rand_k(10))) ",
                                            "the variances of rand-k and of rows ",
                                            "ibcd(tau=16, block=1) ",
                                            "ibgd ",
                                            "isega(tau=16, block=1) ",
                                            "isaga(tau=16, block=1) ",
                                            "isgd(tau=16, block=1) ",
                                            "spardl_sgd(k=4) ",
                                            "ef_sgd by ok_top_k(4) ",
                                            "ef_sgd by split_all_gather(quantize(7)) ",
                                            "ef_sgd by arc_top_k(rows=4, k=2) ",
                                            "ef_sgd by shared_factors(rows=4, rank=2) ",
                                            "Khirirat et al. 2020, L=mu ",
                                            "x - mean e follows the gradient ",
                                            "gadmm(rho=0.5) ",
                                            "q_gadmm(rho=2, bits=3), mean x ",
                                            "pair_gossip(step=0.1, local=2) ",
                                            "choco(top_k(1), step=0.1), mean x ",
                                            "fed_bcd_p(local_steps=4) ",
                                            "fed_bcd_p(local_steps=8, prox=0.5) ",
                                            "fed_bcd_s(local_steps=4) ",
                                            "ds_lsr1(memory=6) ",
                                            "ds_lsr1(memory=12) ",
                                            "fednl(rand_k(9)), its Hessian ",
                                            "what is learned in each round ",
                                            "adanet(lambda=0.02, beta=0.01) ",
                                            "adanet(steps=0) "};
    std::map<std::string, int> found;
    std::size_t rows = 0;
    for (auto const& verdict : verdicts(run.out)) {
        auto const& row = verdict.first;
        bool const holds = verdict.second;
        bool is_tight = false;
        for (auto const& name : tight)
            if (row.find(name) != std::string::npos) {
                is_tight = true;
                ++found[name];
            }
        INFO(row);
        CHECK(holds == !is_tight);
        ++rows;
    }
    CHECK(found.size() == tight.size());
    CHECK(rows == 56);
}

TEST_CASE("convergence: a sum that loses terms breaks, by name only") {
    auto const run = prove("lossy");
    CHECK(run.status == 1);
    CHECK(run.out.find("\ngtop_k_sgd(k=2, as_published=yes) ") != std::string::npos);
    CHECK(run.out.find("BROKEN") != std::string::npos);
    CHECK(prove("collectives").status == 0);
    auto const list = prove("--list");
    CHECK(list.status == 0);
    for (auto const* name :
         {"dcgd ", "diana ", "shifts ", "ef_sgd ", "ef21 ", "cat ", "vr_diana ", "blocks ", "gd_sec ", "lag ",
          "collectives ", "decentralized ", "vertical ", "second_order ", "ensemble ", "lossy "})
        CHECK(("\n" + list.out).find(std::string("\n") + name) != std::string::npos);
}

TEST_CASE("convergence: --out draws each family with its bound") {
    namespace fs = std::filesystem;
    fs::path const folder = fs::temp_directory_path() / ("laconic_convergence_" + std::to_string(getpid())) / "new";
    auto const run = prove("gd_sec lag --out " + folder.string());
    if (run.status == 2 && run.out.find("gnuplot is not installed") != std::string::npos) {
        MESSAGE("skipped: gnuplot is not installed");
    } else {
        CHECK(run.status == 0);
        for (auto const* name : {"gd_sec.svg", "lag.svg"}) {
            auto const text = text_of((folder / name).string());
            CHECK(text.find("<svg") != std::string::npos);
            CHECK(text.find("dashed: the bound") != std::string::npos);
        }
    }
    fs::remove_all(folder.parent_path());
}

TEST_CASE("convergence: wrong input gives one line and status 2") {
    std::vector<refusal> const cases = {
        {"gdsec", "there is no family 'gdsec'"},        {"--seeds 1", "--seeds: at least 2"},
        {"--spoil 0", "--spoil: 0 is not above 0"},     {"--spoil nan", "--spoil: nan is not above 0"},
        {"lag --out /dev/null/here", "cannot be made"}, {"--nosuchflag", "--nosuchflag"}};
    check_refusals(LACONIC_CONVERGENCE, "convergence", cases);
}
