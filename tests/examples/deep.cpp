// SPDX-License-Identifier: Apache-2.0
// The program deep runs every method on a few rows of data, counts its bits and seconds, learns, and refuses wrong
// input.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "deep/clock.hpp"
#include "support/program.hpp"
#include "support/test.hpp"

std::string const data = "/usr/share/datasets/fashion-mnist";

outcome run_deep(std::string const& arguments) { return run_program(LACONIC_DEEP, arguments); }

bool no_data() {
    if (std::filesystem::exists(data)) return false;
    MESSAGE("skipped: " << data << " is not there");
    return true;
}

// The rows of the CSV of a run, cell by cell, without the heading and without what is measured: the processor time of a
// round, and the seconds on four networks.
std::vector<std::vector<std::string>> rows_of(std::string const& arguments) {
    auto const file = std::filesystem::temp_directory_path() / ("deep_test_" + std::to_string(getpid()) + ".csv");
    auto const run = run_deep(arguments + " --csv " + file.string());
    INFO(run.out);
    REQUIRE(run.status == 0);
    std::vector<std::vector<std::string>> rows;
    {
        std::ifstream in(file);
        for (std::string line; std::getline(in, line);) {
            std::istringstream cells(line);
            rows.emplace_back();
            for (std::string cell; rows.back().size() < 8 && std::getline(cells, cell, ',');)
                rows.back().push_back(cell);
            std::size_t const measured = 5;
            CHECK(std::count(line.begin(), line.end(), ',') + 1 == rows.back().size() + measured);
        }
    }
    std::filesystem::remove(file);
    REQUIRE(rows.size() > 1);
    CHECK(rows[0] == std::vector<std::string>{"method", "step", "seed", "accuracy", "difference",
                                              "bits_sent_per_worker", "ratio", "rounds_to_target"});
    rows.erase(rows.begin());
    return rows;
}

std::string const small = "--rows 400 --hidden 8 --workers 4 --batch 10 --epochs 1 ";  // 10 rounds, d = 6370

TEST_CASE("deep: the seconds of rounds are their computing and the slowest worker's messages") {
    using namespace laconic;
    network const net{.latency = 0.25, .seconds_per_bit = 1 / 8.0};  // a second for each byte
    // Before the first round both send a byte. In each of two rounds both send at once, the second worker more.
    std::vector<deep::course> workers(2);
    for (int const worker : {0, 1}) {
        auto& mine = workers[std::size_t(worker)];
        auto const send = [&](std::uint64_t bytes) {
            mine.messages.push_back({.to = 1 - worker, .from = 1 - worker, .bytes = bytes});
            mine.before_round.push_back(mine.messages.size());
        };
        send(1);
        send(worker == 0 ? 2 : 3);
        send(worker == 0 ? 2 : 4);
    }
    CHECK(deep::seconds_of(0, 0.5, net, workers) == 0);
    CHECK(deep::seconds_of(1, 0.5, net, workers) == 0.5 + 3.25);
    // The second worker goes on once it has the two bytes; within half a second its own three have not left.
    CHECK(deep::seconds_of(2, 8, net, workers) == 2 * 8 + 2.25 + 4.25);
    CHECK(deep::seconds_of(2, 0.5, net, workers) == 0.5 + 3 + 4.25);
    CHECK(deep::seconds_of(2, 0, {.seconds_per_bit = 1 / 16.0}, workers) == 7 / 2.0);
}

TEST_CASE("deep: every method runs, counts what it sends, and gives the same again") {
    if (no_data()) return;
    std::size_t const methods = 21;
    auto const rows = rows_of(small + "--seeds 2 --target 0");
    REQUIRE(rows.size() == 2 * methods);
    CHECK(rows == rows_of(small + "--seeds 2 --target 0 --threads 1"));
    auto const bits = [&](std::string const& method) {
        for (auto const& r : rows)
            if (r[0] == method) return std::stod(r[5]);
        FAIL("there is no " << method);
        return 0.;
    };
    double const agreement = 3 * 128;  // at the start, to each of the three others
    std::size_t const d = 8 * 785 + 10 * 9;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CAPTURE(rows[i][0]);
        CHECK(rows[i][2] == (i < methods ? "1" : "2"));
        CHECK(std::stod(rows[i][6]) ==
              doctest::Approx(std::stod(rows[i < methods ? 0 : methods][5]) / std::stod(rows[i][5])));
        CHECK(rows[i][7] == "0");
    }
    // Ten rounds. A sum sends 2 * 3 / 4 of a vector: of all numbers, of 16 bits of each; of two columns of both sides
    // of the matrices, and both biases; of four numbers for each unit, one row of either matrix, and both biases.
    double const sum = 10 * 1.5;
    CHECK(bits("dense") == agreement + sum * 32 * d);
    CHECK(bits("dion2") == bits("dense"));
    CHECK(bits("dense bf16") == agreement + sum * 16 * d);
    CHECK(bits("powersgd 2") == agreement + sum * 32 * (2 * (8 + 784) + 8 + 2 * (10 + 8) + 10));
    CHECK(bits("arc 8 %") == agreement + sum * 32 * (4 * 8 + 784 + 8 + 4 * 10 + 8 + 10));
    // Others' messages of whole bytes go to three: a sign each and twenty scales, of every unit and both biases; four
    // bits each and thirteen steps.
    CHECK(bits("ef-sign") == agreement + 3 * 10.0 * 8 * ((d + 20 * 32 + 7) / 8));
    CHECK(bits("qsgd 4 bit") == agreement + 3 * 10.0 * (4 * d + 13 * 32));
    CHECK(bits("loco int4") == bits("qsgd 4 bit"));
    // Two rounds in full; then to each of the three others its part and this worker's: a scale, and a sign a number, in
    // two parts of 1593 numbers and two of 1592.
    CHECK(bits("1-bit adam") == agreement + sum / 10 * 2 * 32 * d + 8.0 * 6 * 8 * (204 + 203) / 2);
    CHECK(bits("distro") < bits("demo") / 4);
    for (auto const* method : {"local 30", "diloco 30", "diloco 100"})  // one round
        CHECK(bits(method) == agreement + sum / 10 * 32 * d);
    CHECK(bits("sparseloco 30") < bits("local 30") / 20);
    CHECK(bits("senders 30") == bits("sparseloco 30"));
}

TEST_CASE("deep: the first check that has the accuracy counts") {
    if (no_data()) return;
    auto const rounds = [&](std::string const& target) {
        return rows_of("--rows 400 --hidden 8 --workers 4 --batch 10 --epochs 20 --seeds 1 --method dense --target " +
                       target)[0][7];
    };
    auto const some = rounds("50"), more = rounds("60");
    REQUIRE(!some.empty());
    REQUIRE(!more.empty());
    CHECK(std::stoi(some) > 0);
    CHECK(std::stoi(some) % 2 == 0);  // four checks in an epoch of ten rounds
    CHECK(std::stoi(more) >= std::stoi(some));
    CHECK(rounds("100").empty());
}

TEST_CASE("deep: gTop-k and Dion2 come as far as dense does") {
    if (no_data()) return;
    // With a momentum of 0.9 on the workers, which is not forgotten where it is sent, gTop-k is 8 points behind here.
    auto const rows =
        rows_of("--rows 4000 --hidden 32 --epochs 10 --seeds 2 --method dense --method 'gtop-k 1 %' --method dion2");
    REQUIRE(rows.size() == 6);
    for (std::size_t i : {0u, 3u}) {
        CHECK(std::stod(rows[i][3]) > .8);
        CHECK(std::stod(rows[i + 1][3]) > std::stod(rows[i][3]) - .03);
        CHECK(std::stod(rows[i + 2][3]) > std::stod(rows[i][3]) - .015);
    }
}

TEST_CASE("deep: chosen methods, and without dense nothing is compared to it") {
    if (no_data()) return;
    auto const rows = rows_of(small + "--seeds 1 --method ef-sign --method 'powersgd 2'");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0][0] == "ef-sign");
    CHECK(rows[1][0] == "powersgd 2");
    CHECK(rows[0][4].empty());
}

TEST_CASE("deep: one step for all where it is given, else each its own") {
    if (no_data()) return;
    auto const own = rows_of(small + "--seeds 1"), given = rows_of(small + "--seeds 1 --rate 0.25");
    REQUIRE(own.size() == 21);
    REQUIRE(given.size() == 21);
    CHECK(own[0][3] != given[0][3]);
    for (auto const& r : given) CHECK(r[1] == "0.25");
    CHECK(rows_of(small + "--seeds 1 --method dense --rate " + own[0][1])[0] == own[0]);
}

TEST_CASE("deep: what is chosen with --validate is chosen without the test pictures") {
    if (no_data()) return;
    auto const folder = std::filesystem::temp_directory_path() / ("deep_train_" + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
    for (std::string const name : {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"})
        std::filesystem::create_symlink(std::filesystem::path(data) / name, folder / name);
    // 480 rows: 400 to train on, and 80 to measure with.
    std::string const arguments = "--rows 480 --hidden 8 --workers 4 --batch 10 --epochs 1 --seeds 1 --method dense ";
    auto const there = "--data " + folder.string();
    auto const rows = rows_of(arguments + "--validate " + there);
    CHECK(std::stod(rows[0][5]) == 3 * 128 + 10 * 1.5 * 32 * (8 * 785 + 10 * 9));  // ten rounds
    double const hits = 80 * std::stod(rows[0][3]);
    CHECK(hits == doctest::Approx(std::round(hits)).epsilon(1e-9));
    CHECK(rows == rows_of(arguments + "--validate"));
    CHECK(run_deep(arguments + there).status == 2);
    std::filesystem::remove_all(folder);
    CHECK(run_deep("--validate --rows 5").out == "deep: --validate: 5 rows have no sixth part\n");
}

TEST_CASE("deep: dense and quantized gradients learn alike") {
    if (no_data()) return;
    auto const rows = rows_of(
        "--rows 2000 --hidden 32 --workers 2 --batch 16 --epochs 4 --rate 0.05 --seeds 1 --method dense"
        " --method 'qsgd 4 bit'");
    REQUIRE(rows.size() == 2);
    for (auto const& r : rows) CHECK(std::stod(r[3]) > 0.7);
    CHECK(std::abs(std::stod(rows[1][4])) < 0.05);
}

TEST_CASE("deep: wrong input gives one line and status 2") {
    std::vector<refusal> const cases = {
        {"--data nosuchfolder", "nosuchfolder/train-images-idx3-ubyte.gz: No such file"},
        {"--workers 0", "--workers: 0 is no whole number from 1"},
        {"--batch 0", "--batch: 0 is no whole number from 1"},
        {"--rate -1", "--rate: a number above 0"},
        {"--epochs nan", "--epochs: a number"},
        {"--target 101", "--target: per cent"},
        {"--hidden many", "many"},
        {"--seeds 18446744073709551617", "--seeds: 18446744073709551617 is no whole number"},
        {"--rows 0x10", "--rows: 0x10 is no whole number"},
        {"--threads -1", "--threads: -1 is no whole number"},
        {"--csv /nosuchfolder/a.csv", "/nosuchfolder/a.csv"},
    };
    check_refusals(LACONIC_DEEP, "deep", cases);
    if (no_data()) return;
    CHECK(
        run_deep("--rows 100 --method lasagne").out ==
        "deep: --method: there is no method 'lasagne'; there are dense, dense bf16, top-k 1 %, gtop-k 1 %, dgc 0.1 %, "
        "ef-sign, qsgd 4 bit, loco int4, mxfp4, powersgd 2, arc 8 %, ef21-sgdm 1 %, demo, distro, 1-bit adam, dion2, "
        "local 30, diloco 30, diloco 100, sparseloco 30, senders 30\n");
    CHECK(run_deep("--rows 100 --workers 200").status == 2);
}

TEST_CASE("deep: a lost table or file is reported, and the other one is written all the same") {
    if (no_data()) return;
    auto const file = std::filesystem::temp_directory_path() / ("deep_kept_" + std::to_string(getpid()) + ".csv");
    std::string const few = small + "--seeds 1 --method dense --csv ";
    auto const lost = run_program("sh", "-c '" LACONIC_DEEP " " + few + file.string() + " > /dev/full'");
    CHECK(lost.status == 1);
    CHECK(lost.out == "deep: standard output: No space left on device\n");
    CHECK(std::filesystem::exists(file));
    std::filesystem::remove(file);
    auto const full = run_deep(few + "/dev/full");
    CHECK(full.status == 1);
    CHECK(full.out.find("\ndense ") != std::string::npos);
    CHECK(full.out.ends_with("deep: /dev/full: cannot be written: No space left on device\n"));
    CHECK(run_deep(few + file.string() + " --rows 100 --workers 200").status == 2);
    CHECK(!std::filesystem::exists(file));
}
