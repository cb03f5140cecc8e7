// SPDX-License-Identifier: Apache-2.0
// The program race writes what its JSON, CSV and table promise, on toys and real data, and refuses wrong input.
#include <iomanip>
#include <nlohmann/json.hpp>
#include <random>

#include "support/race_program.hpp"
#include "support/test.hpp"

std::string data_folder() { return LACONIC_TEST_DATA; }

bool no_data() {
    if (!data_folder().empty()) return false;
    MESSAGE("skipped: LACONIC_TEST_DATA is empty");
    return true;
}

TEST_CASE("race: each wrong input gives one line that names the place, and status 2") {
    std::string const lines = "1 1:1 2:2\n-1 1:2\n";
    std::vector<refusal> const cases = {
        {"--data nosuchfile", "nosuchfile: No such file; --data takes fashion-mnist, synthetic"},
        {"--data " + file_with("colon", lines + "1 1:1 2;3\n"), "colon:3:7:"},
        {"--data " + file_with("nan", lines + "1 1:1 2:nan\n"), "nan:3:7:"},
        {"--data " + file_with("inf", "1 1:1\n-1 1:inf\n"), "inf:2:4:"},
        {"--data " + file_with("one_class", "1 1:1\n1 1:2\n"), "two classes are needed"},
        {"--data " + file_with("three_classes", "1 1:1\n2 1:2\n3 1:3\n"), "two classes are needed"},
        {"--data " + file_with("empty", ""), "empty"},
        {"--data " + file_with("broken.gz", "\x1f\x8b\x08\x00garbage"), "broken.gz: its gzip data"},
        {"--data " + folder(), "is it a file?"},
        {"--data synthetic --workers 0", "--workers: 0"},
        {"--data synthetic --workers -3", "--workers: -3"},
        {"--data synthetic --workers 4001", "4000 rows into 4001 parts"},
        {"--data synthetic --method foo", "'foo', column 1: there is no method 'foo'; there are gd, "},
        {"--data synthetic --method 1-bit-sgd", "there is no method '1-bit-sgd' (did you mean one_bit_sgd?)"},
        {"--data synthetic --method 'ef_sgd(top_q(3))'",
         "column 8: there is no compressor 'top_q' (did you mean top_k?); there are dense, top_k"},
        {"--data synthetic --method 'diana(rand_k(0.1), stp=3)'", "'stp' is none of them"},
        {"--data synthetic --method 'ef_sgd(top_k(201))'", "top_k(201): k = 201 is above the dimension d = 200"},
        {"--data synthetic --method 'diana(top_k(3))'", "top_k(3) is biased"},
        {"--data synthetic --method 'dcgd(top_k(3))'", "give the step"},
        {"--data synthetic --lambda -1", "--lambda: -1"},
        {"--data synthetic --lambda nan", "--lambda: nan"},
        {"--data synthetic --target 0", "--target: 0"},
        {"--data synthetic --rounds -1", "--rounds: -1"},
        {"--data synthetic --seed -1", "--seed: -1"},
        {"--data synthetic --threads -1", "--threads: -1"},
        {"--data synthetic --plot a.bmp", "a.bmp"},
        {"--data synthetic --cost frank", "there is no cost 'frank'"},
        {"--data synthetic --cost affine:1", "affine needs per_message"},
        {"--data synthetic --cost packets:0,40,60", "column 9: payload is at least 1"},
        {"--data synthetic --cost energy:1,2,3,4,5", "this is none of them"},
        {"--data synthetic --cost 'two_way(bits)'", "two_way needs down"},
        {"--data synthetic --cost two_way:bits,bits,others=-1", "column 26: others is at least 0"},
        {"--data synthetic --json /nosuchfolder/a.json", "/nosuchfolder/a.json"},
        {"--objective lasagne", "lasagne"},
        {"--nosuchflag", "--nosuchflag"},
        {"--data synthetic --lambda ''", "--lambda: its value is empty"},
        {"--data synthetic --target=''", "--target"},
        {"--data synthetic --seconds ''", "--seconds: its value is empty"},
        {"--data synthetic --csv ''", "--csv: its value is empty"},
        {"--data synthetic --collective ''", "--collective: its value is empty"},
        {"--data " + file_with("zero_based", "1 0:1 3:2\n-1 1:2\n"),
         "zero_based:1:3: '0:1': has the index 0, indices count from 1; where they count from 0, as scikit-learn "
         "writes them, give --first-index 0"},
        {"--first-index 2", "--first-index: 2 is no whole number from 0 to 1"},
        {"--workers three", "three"},
    };
    check_refusals(LACONIC_RACE, "race", cases);
}

TEST_CASE(
    "race: --list names every method, compressor, collective, cost and step with its parameters, what it does and its "
    "reference") {
    auto const run = run_race("--list");
    CHECK(run.status == 0);
    for (char const* const line :
         {"\nMuLoCo\n", "\nStreaming DiLoCo\n", "\nDES-LOC\n", "\nSCAFFOLD, option I\n", "\n0/1 Adam\n", "\nFedBCD\n",
          "\nAdaNet\n", "gd(step=)\n", "signsgd(step=, batch=0)\n",
          "vr_diana_saga(compressor, step=, memory=, batch=1)\n", "\n    g full, C identity, alpha 0\n",
          "\n    Alistarh et al., NeurIPS 2017\n", "\ngtop_k(k=0.01, as_published=no)\n",
          "\ntop_k(k, chunk=0)\n    the k largest magnitudes, of all or of each chunk; contractive\n",
          "\nquantize(levels=1, bucket=0, p=2, damped=yes)\n", "\npackets(payload, header, fixed)\n",
          "\ncat(compressor, or=, cost=bits, sizes=formula, step=)\n", "\nparts(length, C, length, C, ...)\n",
          "\nlion(rate=1e-04, beta1=0.9, beta2=0.99, weight_decay=0)\n"})
        CHECK(run.out.find(line) != std::string::npos);
}

TEST_CASE("race: settings that a method with a loop of its own refuses are found before the race starts") {
    std::vector<refusal> const cases = {
        {"--method 'gadmm(rho=0)'", "--method 'gadmm(rho=0)': "},
        {"--method 'choco(top_k(201), step=0.1, gamma=0.1)'", "k = 201 is above the dimension d = 200"},
        {"--method 'choco(rand_k(0.1))'", "choco: only a contractive compressor gives gamma"},
        {"--method pair_gossip", "pair_gossip"},
        {"--method 'fednl(top_k(3), alpha=0)'", "alpha"},
        {"--method 'fednl(top_k(99999999))'", "k = 99999999 is above the dimension"},
        {"--method gadmm --objective nonconvex-logistic --lambda 0.1 --method 'ds_lsr1(radius=0)'", "radius"},
    };
    auto refused = cases;
    for (auto& c : refused) c.arguments = "--data synthetic --workers 3 --rounds 2 --method gd " + c.arguments;
    check_refusals(LACONIC_RACE, "race", refused);
}

TEST_CASE("race: a method that needs a Hessian says so where there is none, and the others race on") {
    auto const rows = file_with("three_rows", "1 1:1\n2 1:2\n3 2:3\n1 1:4\n2 2:5\n3 2:1\n");
    auto const run = run_race("--objective softmax --workers 2 --rounds 2 --data " + rows +
                              " --method 'fednl(top_k(1))' --method gadmm --method gd");
    INFO(run.out);
    CHECK(run.status == 1);
    for (std::string const method : {"fednl(top_k(1))", "gadmm(rho=1)"}) {
        auto const line = run.out.find("race: --method '" + method + "': ");
        REQUIRE(line != std::string::npos);
        CHECK(run.out.substr(line, run.out.find('\n', line) - line).find("hessian(x, H)") != std::string::npos);
    }
    CHECK(run.out.find(" failed ") != std::string::npos);
    CHECK(run.out.find("diverged") == std::string::npos);
    CHECK(run.out.find("\ngd ") != std::string::npos);
}

TEST_CASE("race: files from 0, query ids and a byte-order mark are read, with a word on what is left out") {
    auto const from_0 = file_with("from_0",
                                  "\xef\xbb\xbf"
                                  "1 qid:1 0:1 1:2\n-1 qid:1 1:2\n1 qid:2 0:3\n-1 qid:2 0:1 1:1\n");
    auto const from_1 = file_with("from_1", "1 1:1 2:2\n-1 2:2\n1 1:3\n-1 1:1 2:1\n");
    std::string const rest = " --workers 2 --rounds 5 --method gd ";
    auto const run = run_race("--first-index 0 --data " + from_0 + rest);
    CHECK(run.status == 0);
    CHECK(run.out.starts_with("race: " + from_0 + ":1:3: the query ids (qid:) of the rows are ignored\n"));
    auto const trace = [&](std::string const& arguments) {
        return race_json(arguments + rest).at("methods")[0].at("trace");
    };
    CHECK(trace("--first-index 0 --data " + from_0) == trace("--data " + from_1));
}

TEST_CASE("race: every objective falls, by its own measure") {
    struct {
        std::string objective, measure;
        double lambda;
    } const cases[] = {{"logistic", "f - f*", 0.1},
                       {"ridge", "f - f*", 0.1},
                       {"lasso", "F - F*", 0.01},
                       {"softmax", "f - f*", 0.1},
                       {"nonconvex-logistic", "|grad f|^2", 0.1}};
    for (auto const& c : cases) {
        CAPTURE(c.objective);
        auto const all = race_json("--data synthetic --workers 5 --rounds 150 --target 1e-12 --objective " +
                                   c.objective + " --lambda " + std::to_string(c.lambda) +
                                   " --method gd --method 'bidirectional(ef21(top_k(0.5), step=0.3/L), natural)'");
        CHECK(all.at("problem").at("measure") == c.measure);
        CHECK(all.at("methods").size() == 2);
        for (auto const& m : all.at("methods")) {
            double const first = m.at("trace")[0][2], last = m.at("final_suboptimality");
            CHECK(last > -1e-12);
            CHECK(last < 0.2 * first);
        }
    }
}

TEST_CASE("race: a method stops after the seconds it is given") {
    auto const all =
        race_json("--data synthetic --seconds 0.05 --rounds 100000000 --target 1e-300 --method 'sgd(step=1e-9)'");
    CHECK(all.at("methods")[0].at("rounds").get<double>() < 1e8);
}

TEST_CASE("race: the JSON keeps its contract, the CSV and the table agree with it") {
    auto const csv = folder() + "/race.csv", json_file = folder() + "/all.json";
    auto const run =
        run_race("--data synthetic --rounds 40 --target 1e-3 --workers 7 --csv " + csv + " --json " + json_file +
                 " --method gd --method 'diana(rand_k(0.1))' --method 'ef21(top_k(0.01) | natural, step=1/L)'");
    INFO(run.out);
    REQUIRE(run.status == 0);
    CHECK(run.out.find("4000 rows of 200 features, 7 workers with 571 or 572 rows each") != std::string::npos);
    auto const all = nlohmann::json::parse(text_of(json_file));
    auto const& problem = all.at("problem");
    CHECK(problem.at("data") == "synthetic");
    CHECK(problem.at("objective") == "logistic");
    CHECK(problem.at("lambda") == 0.1);
    CHECK(problem.at("workers") == 7);
    CHECK(problem.at("dimension") == 200);
    CHECK(problem.at("samples") == 4000);
    CHECK(problem.at("strong_convexity") == 0.1);
    CHECK(problem.at("smoothness").get<double>() > 0.1);
    CHECK(problem.at("f_star").get<double>() > 0);
    REQUIRE(all.at("methods").size() == 3);
    std::istringstream rows(text_of(csv));
    std::string row;
    std::getline(rows, row);
    CHECK(row.starts_with("method,step,rounds,bits_up_per_worker,"));
    for (auto const& m : all.at("methods")) {
        INFO(m.at("method"));
        std::getline(rows, row);
        CHECK(row.starts_with("\"" + m.at("method").get<std::string>() + "\","));
        CHECK(run.out.find(m.at("method").get<std::string>()) != std::string::npos);
        auto const& trace = m.at("trace");
        auto const rounds = m.at("rounds").get<std::size_t>();
        REQUIRE(trace.size() == rounds + 1);
        for (std::size_t k = 0; k <= rounds; ++k) {
            CHECK(trace[k][0] == k);
            if (k > 0) CHECK(trace[k][1].get<double>() > trace[k - 1][1].get<double>());
        }
        CHECK(trace[rounds][1] == m.at("bits_up_per_worker"));
        CHECK(trace[rounds][2] == m.at("final_suboptimality"));
        CHECK(m.at("bits_down_per_worker") == 6 * m.at("bits_up_per_worker").get<double>());
        CHECK(m.at("final_gradient_norm").get<double>() > 0);
        CHECK(m.at("step").get<double>() > 0);
        CHECK(m.at("seconds").get<double>() > 0);
        bool const reached = m.at("final_suboptimality").get<double>() <= 1e-3;
        CHECK(m.at("round_reaching_target").is_null() == !reached);
        CHECK(m.at("bits_up_reaching_target").is_null() == !reached);
    }
    CHECK(!std::getline(rows, row));
}

TEST_CASE("race: bits beside those of gradient descent in full and in 16 bits") {
    auto const csv = folder() + "/16.csv", json_file = folder() + "/16.json";
    auto const run = run_race("--data synthetic --target 1e-3 --workers 2 --csv " + csv + " --json " + json_file +
                              " --method gd --method 'dcgd(bf16(random=yes))' --method 'diana(rand_k(0.5))'");
    INFO(run.out);
    REQUIRE(run.status == 0);
    CHECK(run.out.find("vs gd  vs 16 bits  seconds\n") != std::string::npos);
    auto const all = nlohmann::json::parse(text_of(json_file)).at("methods");
    auto const bits = [&](int method) { return all[method].at("bits_up_reaching_target").get<double>(); };
    std::istringstream rows(text_of(csv));
    std::string row;
    std::getline(rows, row);
    CHECK(row.find(",ratio_to_gd,ratio_to_16_bits,seconds,") != std::string::npos);
    for (int m = 0; m < 3; ++m) {
        std::getline(rows, row);
        auto at = row.size();
        for (int commas = 0; commas < 7; ++commas) at = row.rfind(',', at - 1);  // the last seven columns
        std::istringstream columns(row.substr(at + 1));
        double to_gd = 0, to_16_bits = 0;
        char comma = 0;
        columns >> to_gd >> comma >> to_16_bits;
        CHECK(to_gd == doctest::Approx(bits(0) / bits(m)));
        CHECK(to_16_bits == doctest::Approx(bits(1) / bits(m)));
    }
}

TEST_CASE("race: --cost is what every message costs, in the JSON, the CSV, the table and for cat") {
    std::string const methods = " --workers 1 --rounds 30 --target 1e-3 --method gd --method 'cat(top_k)'";
    auto const dear = race_json("--data synthetic --cost packets:512,64,60" + methods);
    CHECK(dear.at("problem").at("cost") == "packets(512, 64, 60)");
    auto const& gd = dear.at("methods")[0];
    // 16 bytes at the start, then 200 numbers of 8 bytes a round: 4 packets.
    double const rounds = gd.at("rounds");
    CHECK(gd.at("cost") == (576 + 60) + rounds * (4 * 576 + 60));
    CHECK(gd.at("trace")[1][3] == (576 + 60) + (4 * 576 + 60));
    CHECK(gd.at("cost_reaching_target").is_null() == gd.at("round_reaching_target").is_null());
    auto const& cat = dear.at("methods")[1];
    CHECK(cat.at("method") == "cat(top_k, cost=packets(512, 64, 60))");
    // One packet holds what fits into 512 bytes: 56 numbers of 64 bits with positions of 8.
    CHECK(cat.at("bits_up_per_worker").get<double>() <= 8 * (16 + 512 * cat.at("rounds").get<double>()));

    auto const plain = race_json("--data synthetic" + methods);
    for (auto const& m : plain.at("methods")) CHECK(m.at("cost") == m.at("bits_up_per_worker"));

    auto const csv = folder() + "/cost.csv";
    auto const run = run_race("--data synthetic --cost affine:2,100 --csv " + csv + methods);
    CHECK(run.out.find(" cost to 0.001 ") != std::string::npos);
    CHECK(run.out.find("cat(top_k, cost=affine(2, 100))") != std::string::npos);
    CHECK(text_of(csv).find(",cost,cost_reaching_target,network_seconds,network_seconds_reaching_target\n") <
          text_of(csv).find('\n'));
}

TEST_CASE("race: --cost two_way prices what a worker sends and what it receives, message by message") {
    std::string const cost = "two_way(affine(1, 10), affine(0.5, 3), others=2)";
    auto const all = race_json(
        "--data synthetic --workers 3 --rounds 20 --target 1e-9 --cost "
        "'two_way:affine(1,10),affine(0.5,3),others=2'"
        " --method gd --method 'bidirectional(ef21(top_k(0.5), step=0.3/L), natural)' --method 'cat(top_k, step=0.1)'");
    CHECK(all.at("problem").at("cost") == cost);
    // 128 bits of each worker at the start, then 200 numbers of 64 bits from each in every round.
    auto const& gd = all.at("methods")[0];
    double const start = (128 + 10) + 2 * (64 + 3);
    CHECK(gd.at("trace")[0][3] == start);
    CHECK(gd.at("cost") == start + 20 * ((12800 + 10) + 2 * (6400 + 3)));
    // After the start a server receives each message and answers once.
    auto const& served = all.at("methods")[1];
    double const up = served.at("bits_up_per_worker"), down = served.at("bits_down_per_worker");
    CHECK(down < up);
    CHECK(served.at("cost").get<double>() == doctest::Approx(up + 10 * 21 + .5 * down + 3 * (20 + 2)).epsilon(1e-14));
    CHECK(all.at("methods")[2].at("method") == "cat(top_k, cost=" + cost + ", step=0.1)");
}

TEST_CASE("race: --scale divides each feature by its largest magnitude") {
    auto const file = file_with("units", "1 1:1000 2:0.5\n-1 1:-2000\n1 1:500 2:0.25\n-1 2:-0.125\n");
    auto const same = file_with("no_units", "1 1:0.5 2:1\n-1 1:-1\n1 1:0.25 2:0.5\n-1 2:-0.25\n");
    std::string const rest = " --workers 2 --rounds 20 --lambda 0.01";
    auto const scaled = race_json("--scale --data " + file + rest), plain = race_json("--data " + same + rest);
    CHECK(scaled.at("problem").at("scaled") == true);
    CHECK(scaled.at("problem").at("f_star") == plain.at("problem").at("f_star"));
    CHECK(scaled.at("problem").at("smoothness") == plain.at("problem").at("smoothness"));
    CHECK(run_race("--scale --data " + file + rest).out.find("2 features scaled to [-1, 1]") != std::string::npos);
}

TEST_CASE("race: one seed, the same bytes and iterates however many workers compute at once; another seed, others") {
    std::string const arguments =
        "--data synthetic --rounds 60 --target 1e-12 --method 'diana(rand_k(0.1) | natural)'"
        " --method 'qsgd(levels=2)' --method 'gd_sec' --threads ";
    auto const traces = [&](std::string const& more) {
        std::string all;
        auto const json = race_json(arguments + more);
        for (auto const& m : json.at("methods")) all += m.at("trace").dump() + m.at("final_gradient_norm").dump();
        return all;
    };
    auto const one = traces("1 --seed 5");
    CHECK(one == traces("1 --seed 5"));
    CHECK(one == traces("2 --seed 5"));
    CHECK(one == traces("10 --seed 5"));
    CHECK(one != traces("2 --seed 6"));
}

TEST_CASE("race: a method that diverges is reported, and the others go on") {
    auto const run = run_race("--data synthetic --rounds 300 --method 'gd(step=1e6)' --method gd");
    INFO(run.out);
    CHECK(run.status == 0);
    CHECK(run.out.find("diverged") != std::string::npos);
    CHECK(run.out.find("\ngd  ") != std::string::npos);
}

TEST_CASE("race: methods with loops of their own reach the target; a proximal operator is not for them") {
    auto const all = race_json(
        "--data synthetic --workers 4 --rounds 100 --target 1e-6 --method 'gadmm(rho=0.1)' "
        "--method 'd_gadmm(rho=0.1, refresh=10)' --method 'q_gadmm(rho=0.1, bits=4)' --method 'fednl(top_k(0.1))' "
        "--method 'ds_lsr1(memory=16)'");
    for (auto const& m : all.at("methods")) {
        CAPTURE(m.at("method").get<std::string>());
        CHECK(double(m.at("final_suboptimality")) <= 1e-6);
        CHECK(double(m.at("final_suboptimality")) > -1e-12);
    }
    auto const refused = [](std::string const& arguments, std::string const& why) {
        auto const run = run_race("--data synthetic --workers 4 --rounds 9 --method 'gadmm(rho=0.1)' " + arguments);
        INFO(run.out);
        CHECK(run.status == 2);
        CHECK(run.out.find(why) != std::string::npos);
    };
    refused("--collective ring",
            "gadmm(rho=0.1) has no collective: each of its messages goes from a rank to its neighbours");
    refused("--objective lasso --lambda 0.01", "gadmm(rho=0.1) has no form with a proximal operator");
}

TEST_CASE("race: lag_ps takes each worker's own smoothness") {
    // Ridge regressions of 6 rows and 4 features with L_i = 0.14, 0.81 and 11.5. Numpy, which draws the same numbers
    // and keeps to the rule, counts 3, 9 and 53 uploads in 100 rounds, and 53 of each with max L_i for all.
    std::ostringstream rows;
    std::minstd_rand draw(1);
    auto const number = [&] { return static_cast<double>(draw() % 64) / 32 - 1; };
    for (int worker = 0; worker < 3; ++worker)
        for (int row = 0; row < 6; ++row) {
            std::vector<double> features;
            for (int j = 0; j < 4; ++j) features.push_back(number() * std::pow(4, worker - 1));
            rows << number();
            for (std::size_t j = 0; j < 4; ++j) rows << ' ' << j + 1 << ':' << std::setprecision(17) << features[j];
            rows << '\n';
        }
    auto const all =
        race_json("--data " + file_with("uneven", rows.str()) +
                  " --objective ridge --lambda 0.1 --workers 3 --rounds 100 --target 1e-300 --method lag_ps");
    auto const& trace = all.at("methods")[0].at("trace");
    double const bits = 3 * (trace.back()[1].get<double>() - trace[0][1].get<double>());
    CHECK(trace.back()[0] == 100);
    // An empty message takes a byte, one of four numbers 33.
    CHECK(bits == doctest::Approx(8 * 300 + 256 * (3 + 9 + 53)));
}

TEST_CASE("race: a9a, 10 workers: the independent optimum, and gradient descent's independent trace") {
    if (no_data()) return;
    // Of 32561 rows one worker has 3257, the others 3256: as each counts by its rows, all is as on one worker.
    int entries = 0;
    for (auto const& known : nlohmann::json::parse(text_of(data_folder() + "/optima.json"))) {
        if (known.at("data") != "a9a" || known.at("workers") != 1) continue;
        ++entries;
        bool const longest = known.at("lambda_tag") == "1e-3";
        auto const all = race_json("--data " + data_folder() + "/a9a.xz --method gd --target 1e-15 --rounds " +
                                   (longest ? "1000" : "10") + " --lambda " + known.at("lambda").dump());
        double const f_star = known.at("f_star");
        CHECK(std::abs(all.at("problem").at("f_star").get<double>() - f_star) <= 1e-12 * f_star);
        CHECK(all.at("problem").at("smoothness").get<double>() ==
              doctest::Approx(known.at("L").get<double>()).epsilon(1e-12));
        auto const& trace = all.at("methods")[0].at("trace");
        int compared = 0;
        for (auto const& [round, gap] : known.at("gd_step_1_over_L").items()) {
            auto const k = static_cast<std::size_t>(std::stoul(round));
            if (k >= trace.size()) continue;
            ++compared;
            CHECK(trace[k][2].get<double>() == doctest::Approx(gap.get<double>()).epsilon(1e-9));
        }
        CHECK(compared == (longest ? 4 : 2));
    }
    CHECK(entries == 3);
}

TEST_CASE("race: a9a, 10 workers: diana falls linearly to 1e-10 with its theorem's step, qsgd stalls above" *
          doctest::test_suite("long")) {
    if (no_data()) return;
    auto const all = race_json("--data " + data_folder() +
                               "/a9a.xz --lambda 1e-2 --target 1e-10 --rounds 2000"
                               " --method 'diana(rand_k(0.1))' --method 'qsgd(levels=4)'");
    auto const &diana = all.at("methods")[0], &qsgd = all.at("methods")[1];
    CHECK(diana.at("final_suboptimality").get<double>() <= 1e-10);
    // Linear: the theorem's rate in expectation, V <= (1 - step mu)^k V_0, with f - f* <= (L/2) V; and each further
    // factor of 100 takes about as many rounds as the one before.
    auto const& trace = diana.at("trace");
    std::vector<double> reached;
    for (double level = 1e-4; level >= 0.99e-10; level /= 100)
        for (auto const& m : trace)
            if (m[2].get<double>() <= level) {
                reached.push_back(m[0].get<double>());
                break;
            }
    REQUIRE(reached.size() == 4);
    for (std::size_t i = 2; i < reached.size(); ++i) {
        CHECK(reached[i] - reached[i - 1] > 0.5 * (reached[i - 1] - reached[i - 2]));
        CHECK(reached[i] - reached[i - 1] < 2 * (reached[i - 1] - reached[i - 2]));
    }
    double const fall = std::log(100) / (reached[3] - reached[2]);
    CHECK(fall >= diana.at("step").get<double>() * all.at("problem").at("strong_convexity").get<double>());
    // It stalls: after 2000 rounds still above, and its last half has not halved it.
    CHECK(qsgd.at("rounds") == 2000);
    CHECK(qsgd.at("final_suboptimality").get<double>() > 1e-8);
    auto const& halfway = qsgd.at("trace")[1000];  // up to 10000 there is a mark for each round
    REQUIRE(halfway[0] == 1000);
    CHECK(qsgd.at("final_suboptimality").get<double>() > 0.5 * halfway[2].get<double>());
}
