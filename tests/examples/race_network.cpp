// SPDX-License-Identifier: Apache-2.0
// A race over a delayed network, MPI or a collective gives the same iterates, and counts, prices and times them.
#include <fstream>
#include <regex>

#include "support/race_program.hpp"
#include "support/test.hpp"

// With gd each worker sends 200 numbers of 64 bits a round, after 128 bits at the start.
// A table in CSV, its last columns being seconds, cost, cost_reaching_target and the network's two, without the first
// of these.
std::string but_for_seconds(std::string const& csv) {
    return std::regex_replace(csv, std::regex("[^,\n]*(,[^,\n]*,[^,\n]*,[^,\n]*,[^,\n]*\n)"), "$1");
}

bool no_mpi() {
    if (std::string(LACONIC_MPIRUN) != "") return false;
    MESSAGE("skipped: there is no MPI");
    return true;
}

// What mpirun makes of the arguments, unless that takes minutes.
outcome job(std::string const& arguments) { return run_program("timeout 120 " LACONIC_MPIRUN, arguments); }
std::string ranks(int n, std::string const& arguments) {
    return " " + std::to_string(n) + " " LACONIC_RACE " --network mpi " + arguments;
}

TEST_CASE("race: a network or a collective that cannot be is refused with the forms that there are") {
    std::string const forms =
        "; it is threads, mpi, or delayed:LATENCY,BANDWIDTH[,OVERHEAD] such as delayed:20us,1Gbit/s or "
        "delayed:0.5ms,10Mbit/s,3us, with times in s, ms, us or ns and the bandwidth in bit/s, kbit/s, Mbit/s or "
        "Gbit/s\n";
    std::vector<refusal> cases = {
        {"--network frank", "--network: 'frank': there is no such network" + forms},
        {"--network ''", "--network: its value is empty"},
        {"--network delayed", "there is no such network"},
        {"--network delayed:", "the bandwidth is missing"},
        {"--network delayed:20us", "the bandwidth is missing" + forms},
        {"--network delayed:20,1Gbit/s", "'20' is no latency"},
        {"--network delayed:us,1Gbit/s", "'us' is no latency"},
        {"--network delayed:nans,1Gbit/s", "'nans' is no latency"},
        {"--network delayed:-1s,1Gbit/s", "the latency is not at least 0"},
        {"--network delayed:20us,", "'' is no bandwidth"},
        {"--network delayed:20us,1Gbit", "'1Gbit' is no bandwidth"},
        {"--network delayed:20us,1us", "'1us' is no bandwidth"},
        {"--network delayed:20us,0bit/s", "the bandwidth is not above 0"},
        {"--network delayed:20us,1e-320bit/s", "a network with inf seconds"},
        {"--network delayed:20us,1bit/s,1bit/s", "'1bit/s' is no overhead"},
        {"--network delayed:20us,1bit/s,1s,1s", "there is more than the overhead"},
        {"--collective rng", "there is no collective 'rng' (did you mean ring?); there are gather, ring"},
        {"--collective 'ring(3)'", "ring takes no arguments"},
        {"--collective 'gtop_k(201)' --method 'top_k_sgd(step=0.1)'", "k = 201 is above the dimension d = 200"},
        {"--collective ring --method gd --method 'bidirectional(gd, natural)'",
         "--method 'bidirectional(gd, natural)': the collective ring leaves a server no message"},
        {"--collective gtop_k --method 'ds_lsr1(memory=4)'",
         "--method 'ds_lsr1(memory=4)': the collective gtop_k(0.01) gives back what it leaves out"},
        {"--collective gtop_k --method gd", "--method 'gd': the collective gtop_k(0.01) gives back what it leaves out"},
    };
    if (std::string(LACONIC_MPIRUN) == "") cases.push_back({"--network mpi", "this program was built without MPI"});
    for (auto& c : cases) c.arguments += " --data synthetic";
    check_refusals(LACONIC_RACE, "race", cases);
    for (char const* const variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
        check_refusals(std::string(variable) + "=8 " LACONIC_RACE, "race",
                       {{"--data synthetic", "mpirun started 8 of these, which would race apart"}});
}

TEST_CASE("race: a delayed network's seconds are those that each message takes, around a ring and at a server") {
    std::string const on = " --network delayed:1ms,2Mbit/s,5us",
                      rest = " --data synthetic --workers 5 --rounds 7 --target 1e-9";
    double const latency = 1e-3, overhead = 5e-6, bit = 1 / 2e6;
    double const start = 4 * (latency + overhead + 128 * bit), b = overhead + 12800 * bit;
    // A message to everybody takes four steps around the ring.
    auto const all = race_json("--method gd --method 'bidirectional(gd, identity)'" + rest + on);
    CHECK(all.at("problem").at("network") == "delayed:1ms,2Mbit/s,5us");
    auto const& gd = all.at("methods")[0];
    for (int k = 0; k <= 7; ++k)
        CHECK(gd.at("trace")[static_cast<std::size_t>(k)][4].get<double>() ==
              doctest::Approx(start + k * 4 * (latency + b)).epsilon(1e-12));
    CHECK(gd.at("network_seconds") == gd.at("trace")[7][4]);
    CHECK(gd.at("network_seconds_reaching_target").is_null());
    // The server receives from four workers one after another, then answers them so; the first that has its answer
    // sends its next message while the others get theirs, which reaches the server when it has answered two.
    double const first_received = latency + 4 * b, last_answered = latency + 4 * b, again = 2 * latency + 5 * b;
    auto const& served = all.at("methods")[1];
    CHECK(served.at("bits_up_per_worker") == 128 + 7 * 12800);
    CHECK(served.at("network_seconds").get<double>() ==
          doctest::Approx(start + first_received + 6 * again + last_answered).epsilon(1e-12));
    // The clocks do not depend on how many workers compute at a time, nor do the workers on the clocks.
    auto const other = race_json("--threads 1 --method gd --method 'bidirectional(gd, identity)'" + rest + on);
    for (std::size_t i : {0u, 1u}) CHECK(other.at("methods")[i].at("trace") == all.at("methods")[i].at("trace"));
    auto const plain = race_json("--method gd" + rest);
    CHECK(plain.at("methods")[0].at("final_gradient_norm") == gd.at("final_gradient_norm"));
}

TEST_CASE("race: a delayed network's seconds are in the table, the CSV and the JSON, and nowhere else") {
    std::string const rest = " --data synthetic --workers 2 --rounds 100 --target 0.01 --method gd --csv ";
    auto const file = folder() + "/delayed.csv";
    auto const run = run_race("--network delayed:0s,1kbit/s" + rest + file);
    INFO(run.out);
    REQUIRE(run.status == 0);
    auto const all = race_json("--network delayed:0s,1kbit/s" + rest + file);
    auto const& gd = all.at("methods")[0];
    double const seconds = .128 + 12.8 * gd.at("rounds").get<double>();
    CHECK(gd.at("network_seconds").get<double>() == doctest::Approx(seconds).epsilon(1e-12));
    CHECK(gd.at("network_seconds_reaching_target") == gd.at("network_seconds"));
    CHECK(run.out.find("\nover delayed:0s,1kbit/s\n") != std::string::npos);
    CHECK(run.out.find("  on network  to 0.01  seconds\n") != std::string::npos);
    auto const seconds_text = gd.at("network_seconds").dump();
    CHECK(text_of(file).ends_with("," + seconds_text + "," + seconds_text + "\n"));
    auto const plain = run_race("--network threads" + rest + file);
    CHECK(plain.out.find("network") == std::string::npos);
    CHECK(text_of(file).ends_with(",,\n"));
    CHECK(race_json(rest + file).at("methods")[0].at("network_seconds").is_null());
}

TEST_CASE("race: --collective is how every method's messages are added up, and what is counted, priced and timed") {
    std::string const rest =
        " --data synthetic --workers 4 --rounds 12 --target 1e-9 --network delayed:1ms,1Mbit/s --cost affine:2,100"
        " --method gd --method 'ef_sgd(top_k(0.1), step=1/L)'";
    auto const plain = race_json(rest), ring = race_json("--collective ring" + rest);
    CHECK(plain.at("problem").at("collective").is_null());
    CHECK(ring.at("problem").at("collective") == "ring");
    for (auto const& m : ring.at("methods")) {
        // Six messages of 50 numbers out, and as many in.
        CHECK(m.at("bits_up_per_worker") == 128 + 12 * 6 * 3200);
        CHECK(m.at("bits_down_per_worker") == 3 * 128 + 12 * 6 * 3200);
        CHECK(m.at("cost") == (2 * 128 + 100) + 12 * 6 * (2 * 3200 + 100));
        CHECK(m.at("network_seconds").get<double>() ==
              doctest::Approx(3 * (1e-3 + 128e-6) + 12 * 6 * (1e-3 + 3200e-6)).epsilon(1e-12));
    }
    for (std::size_t i : {0u, 1u})  // the same sums, except for the order in which they are added up
        CHECK(ring.at("methods")[i].at("final_suboptimality").get<double>() ==
              doctest::Approx(plain.at("methods")[i].at("final_suboptimality").get<double>()).epsilon(1e-9));
    // So are the sums of methods that make loops of their own, and theirs that a text names.
    std::string const families = " --data synthetic --workers 4 --rounds 6 --target 1e-9";
    auto const in_turn =
        race_json("--collective ring --method 'ds_lsr1(memory=2)' --method 'fednl(top_k(0.1))'" + families);
    auto const named =
        race_json("--method 'ds_lsr1(memory=2, over=ring)' --method 'fednl(top_k(0.1), over=ring)'" + families);
    auto const to_all = race_json("--method 'ds_lsr1(memory=2)' --method 'fednl(top_k(0.1))'" + families);
    for (std::size_t i : {0u, 1u}) {
        CHECK(in_turn.at("methods")[i].at("trace") == named.at("methods")[i].at("trace"));
        CHECK(in_turn.at("methods")[i].at("bits_up_per_worker") != to_all.at("methods")[i].at("bits_up_per_worker"));
        CHECK(in_turn.at("methods")[i].at("final_suboptimality").get<double>() ==
              doctest::Approx(to_all.at("methods")[i].at("final_suboptimality").get<double>()).epsilon(1e-6));
    }
    // A method's own collective is what it is without the option, and can be given to another method.
    std::string const tail = " --data synthetic --workers 4 --rounds 12 --target 1e-9";
    auto const own = race_json("--method 'gtop_k_sgd(k=0.1, step=0.5)'" + tail);
    auto const given = race_json("--collective 'gtop_k(0.1)' --method 'top_k_sgd(k=0.1, step=0.5)'" + tail);
    auto const none = race_json("--collective gather --method 'gtop_k_sgd(k=0.1, step=0.5)'" + tail);
    CHECK(own.at("methods")[0].at("trace") == given.at("methods")[0].at("trace"));
    CHECK(own.at("methods")[0].at("trace") != none.at("methods")[0].at("trace"));
    CHECK(run_race("--collective ring --method gd" + tail).out.find("\nmessages added up by ring\n") !=
          std::string::npos);
}

TEST_CASE("race: the ranks of an MPI job do what threads do, bit for bit" * doctest::test_suite("mpi")) {
    if (no_mpi()) return;
    std::string const rest =
        " --data synthetic --rounds 8 --quiet --method 'vr_diana(rand_k(0.1) | natural)'"
        " --method 'bidirectional(ef21(top_k(0.5), step=0.3/L), natural)' --method 'gtop_k_sgd(k=0.1, step=0.5)'"
        " --method 'spardl_sgd(k=0.1, step=0.5)' --csv ";
    auto const here = folder() + "/threads.csv", there = folder() + "/mpi.csv";
    auto const one = run_race("--workers 8" + rest + here);
    auto const other = job(ranks(8, rest + there));
    INFO(one.out << other.out);
    REQUIRE(one.status == 0);
    REQUIRE(other.status == 0);
    CHECK(one.out.empty());
    CHECK(other.out.empty());
    auto const table = but_for_seconds(text_of(here));
    CHECK(table == but_for_seconds(text_of(there)));
    CHECK(table != text_of(here));
    CHECK(table.find("\n\"spardl_sgd(k=0.1, step=0.5)\",0.5,8,") != std::string::npos);
    // Another seed is seen.
    REQUIRE(run_race("--workers 8 --seed 1" + rest + there).status == 0);
    CHECK(table != but_for_seconds(text_of(there)));
}

TEST_CASE("race: in an MPI job one rank prints, and reports what any rank could not do" * doctest::test_suite("mpi")) {
    if (no_mpi()) return;
    std::string const rest = "--data synthetic --rounds 3 --method gd";
    auto const fine = job(ranks(2, "--collective split_all_gather " + rest));
    INFO(fine.out);
    CHECK(fine.status == 0);
    CHECK(fine.out.starts_with("synthetic: 4000 rows of 200 features, 2 workers with 2000 rows each\n"));
    CHECK(fine.out.find("\nover mpi, messages added up by split_all_gather(sparse)\n") != std::string::npos);
    CHECK(fine.out.find("\ngd ") == fine.out.rfind("\ngd "));
    CHECK(run_race("--network mpi " + rest).out.find(" 1 workers with 4000 rows each") != std::string::npos);

    auto const reports = [](std::string const& arguments, std::string const& line) {
        auto const run = job(arguments);
        INFO(arguments << " -> " << run.out);
        CHECK(run.status != 0);
        auto const at = run.out.find(line + "\n");
        CHECK(at != std::string::npos);
        CHECK(run.out.find(line, at + 1) == std::string::npos);
    };
    reports(ranks(2, rest + " --workers 3"), "race: --workers: 3 workers in a job of 2 ranks: each rank is a worker");
    reports(ranks(2, rest + " --nosuchflag"), "race: The following argument was not expected: --nosuchflag");
    auto const first_of = LACONIC_MPIRUN_FLAG;
    reports(ranks(1, rest) + " : " + first_of + ranks(1, rest + " --seed 1"),
            "race: ranks disagree: rank 0 has \"--seed: 0\", rank 1 has \"--seed: 1\"");
    reports(ranks(1, rest) + " : " + first_of + ranks(1, "--list"),
            "race: ranks disagree: rank 0 has \"--seed: 0\", rank 1 has \"the race: none\"");
    reports(ranks(1, rest) + " : " + first_of + ranks(1, "--data nosuchfile"),
            "race: rank 1 of 2: nosuchfile: No such file; --data takes fashion-mnist, synthetic or the name of a file");
    reports(ranks(2, rest + " --quiet --csv /dev/full"), "race: /dev/full: cannot be written: No space left on device");
}

TEST_CASE("race: a rank that dies ends the MPI job" * doctest::test_suite("mpi")) {
    if (no_mpi()) return;
    std::string const rest = "--data synthetic --rounds 1000000000 --target 1e-300 --quiet --method 'sgd(step=1e-9)'";
    auto const run =
        job(ranks(2, rest) + " : " LACONIC_MPIRUN_FLAG " 1 timeout -s KILL 1 " LACONIC_RACE " --network mpi " + rest);
    INFO(run.out);
    CHECK(run.status != 0);
    CHECK(run.status != 124);  // it did not end because the time was over
    CHECK(std::regex_search(run.out, std::regex("rank 2", std::regex::icase)));  // the launcher says so
}
