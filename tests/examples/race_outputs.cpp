// SPDX-License-Identifier: Apache-2.0
// Where an output fails, a signal comes or a name is strange, race keeps what it has and reports the rest.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "support/race_program.hpp"
#include "support/test.hpp"

nlohmann::json json_of(std::string const& file) { return nlohmann::json::parse(text_of(file)); }

bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

bool no_gnuplot() {
    if (run_program("gnuplot", "--version").status == 0) return false;
    MESSAGE("skipped: there is no gnuplot");
    return true;
}

/// A race that runs on until a signal ends it; both of its outputs go to one file.
class endless_race {
  public:
    explicit endless_race(std::string const& arguments) {
        auto const command = "exec " LACONIC_RACE " " + arguments + " > " + output_ + " 2>&1";
        std::filesystem::remove(output_);
        child_ = fork();
        if (child_ == 0) {
            execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
            _exit(127);
        }
        REQUIRE(child_ > 0);
        while (output().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));  // its first line
    }
    std::string output() const { return text_of(output_); }
    /// The status that the signal ends it with.
    int end(int signal) const {
        int status = 0;
        REQUIRE(kill(child_, signal) == 0);
        REQUIRE(waitpid(child_, &status, 0) == child_);
        return status;
    }

  private:
    std::string output_ = folder() + "/output";
    pid_t child_ = 0;
};

/// Arguments for a race on a few rows.
std::string on_few_rows(std::string const& more) {
    std::string rows;
    for (int j = 0; j < 8; ++j) {
        rows += j % 2 ? "1" : "-1";
        for (int i = 1; i <= 6; ++i)
            rows += " " + std::to_string(i) + ":" + std::to_string((i + 1) * (j + 2) * (j + 3) % 7 - 2);
        rows += "\n";
    }
    return "--data " + file_with("few_rows", rows) + " --workers 2 " + more;
}
std::string const small = on_few_rows("--method gd "), two_rounds = small + "--rounds 2 ";
std::string const endless =
    "--data synthetic --workers 2 --rounds 1000000000000 --target 0.01 --method gd --method 'sgd(step=1e-12)'"
    " --method 'diana(rand_k(0.1))' ";

TEST_CASE("race: a lost table is reported, and the files are written all the same") {
    auto const csv = folder() + "/kept.csv", json = folder() + "/kept.json";
    auto const run =
        run_program("sh", "-c '" LACONIC_RACE " " + two_rounds + "--csv " + csv + " --json " + json + " > /dev/full'");
    CHECK(run.status == 1);
    CHECK(run.out == "race: standard output: No space left on device\n");
    CHECK(text_of(csv).starts_with("method,"));
    CHECK(json_of(json).at("methods").size() == 1);
    auto const piped = run_program("sh", "-c '{ sleep 0.2; " LACONIC_RACE " " + two_rounds + "--csv " + csv +
                                             "2; echo $? > " + csv + "3; } | true'");
    CHECK(piped.out == "race: standard output: Broken pipe\n");
    CHECK(text_of(csv + "3") == "1\n");
    CHECK(text_of(csv + "2").starts_with("method,"));
    for (std::string const flag : {"--list", "--help", "--version"})
        CHECK(run_program("sh", "-c '" LACONIC_RACE " " + flag + " > /dev/full'").status == 1);
}

TEST_CASE("race: a file that cannot be written is reported, and the other outputs are written all the same") {
    auto const json = folder() + "/other.json", plot = folder() + "/missing.svg";
    auto const run = run_race(two_rounds + "--csv /dev/full --json " + json);
    CHECK(run.status == 1);
    CHECK(contains(run.out, "race: /dev/full: cannot be written: No space left on device\n"));
    CHECK(contains(run.out, "\ngd "));
    CHECK(contains(run.out, "\nwrote " + json + "\n"));
    CHECK(!contains(run.out, "wrote /dev/full"));
    CHECK(json_of(json).at("methods").size() == 1);
    // gnuplot breaks: it ends before it has read the marks of many methods, which must not end the race.
    auto const rows = file_with("four_rows", "1 1:1\n-1 1:2\n1 1:3\n-1 1:4\n");
    auto const bin = folder() + "/bin";
    std::filesystem::create_directory(bin);
    std::ofstream(bin + "/gnuplot") << "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\nexec <&-\nexit 3\n";
    std::filesystem::permissions(bin + "/gnuplot", std::filesystem::perms(0755));
    std::string many = " --workers 1 --threads 1 --rounds 3 --quiet --json " + json + " --plot " + plot;
    for (int i = 0; i < 600; ++i) many += " --method 'gd(step=0.001)'";
    auto const broken = run_program("PATH=" + bin + ":$PATH " LACONIC_RACE, "--data " + rows + many);
    CHECK(broken.status == 1);
    CHECK(broken.out == "race: gnuplot failed; " + plot + " is not written\n");
    CHECK(!std::filesystem::exists(plot));
    CHECK(json_of(json).at("methods").size() == 600);
}

TEST_CASE("race: closed standard streams cost their own output alone") {
    auto const csv = folder() + "/closed.csv", json = folder() + "/closed.json", out = folder() + "/closed.out";
    auto const closing = [&](std::string const& arguments, std::string const& streams) {
        return run_program("sh", "-c '" LACONIC_RACE " " + arguments + " " + streams + "'");
    };
    auto const files = two_rounds + "--csv " + csv + " --json " + json + " ";
    CHECK(closing(files, "<&- >" + out + " 2>&-").status == 0);
    CHECK(contains(text_of(out), "\ngd "));
    CHECK(text_of(csv).starts_with("method,"));
    CHECK(json_of(json).at("methods").size() == 1);
    std::filesystem::remove(csv);
    auto const silent = closing(files, "<&- >&-");
    CHECK(silent.status == 1);
    CHECK(silent.out == "race: standard output: Bad file descriptor\n");
    CHECK(text_of(csv).starts_with("method,"));
    CHECK(closing(files, "<&- >&- 2>&-").status == 1);
    CHECK(json_of(json).at("methods").size() == 1);
    if (auto const plot = folder() + "/closed.svg";
        !no_gnuplot()) {  // none of its pipes may get a closed stream's number
        CHECK(closing(two_rounds + "--plot " + plot, "<&- >&-").status == 1);
        REQUIRE(std::filesystem::exists(plot));
        CHECK(contains(text_of(plot), "</svg>"));
    }
    // What is wrong cannot be told, and has its status all the same.
    CHECK(closing("--data nosuchfile", "2>&-").status == 2);
    CHECK(closing(two_rounds + "--csv /dev/full", "2>&- >/dev/null").status == 1);
}

TEST_CASE("race: where the size of files is limited, no result is lost") {
    auto const csv = folder() + "/limited.csv", json = folder() + "/limited.json", plot = folder() + "/limited.svg";
    auto const run = run_program("ulimit -f 0; " LACONIC_RACE, two_rounds + "--quiet --csv " + csv + " --json " + json);
    CHECK(run.status == 1);
    CHECK(contains(run.out, "race: " + csv + ": cannot be written: File too large\n"));
    CHECK(contains(run.out, "race: " + json + ": cannot be written: File too large\n"));
    CHECK(contains(run.out, "\ngd "));  // the table, as no file has it
    CHECK(!std::filesystem::exists(csv));
    auto const some =
        run_program("ulimit -f 2; " LACONIC_RACE, two_rounds + "--quiet --csv " + csv + " --plot " + plot);
    CHECK(some.status == (no_gnuplot() ? 0 : 1));
    CHECK(!contains(some.out, "\ngd "));
    CHECK(text_of(csv).starts_with("method,"));
    CHECK(!std::filesystem::exists(plot));
    if (!no_gnuplot()) CHECK(some.out == "race: gnuplot failed; " + plot + " is not written\n");
}

TEST_CASE("race: two outputs in one file are refused, and so is one in the file that is read") {
    auto const run = run_race(two_rounds + "--csv " + folder() + "/a.csv --json " + folder() + "/a.csv");
    CHECK(run.status == 2);
    CHECK(run.out == "race: --json and --csv: both are " + folder() + "/a.csv\n");
    auto const rows = file_with("own_rows", "1 1:1\n-1 1:2\n");
    CHECK(run_race("--data " + rows + " --csv " + rows).status == 2);
    CHECK(text_of(rows) == "1 1:1\n-1 1:2\n");
}

TEST_CASE("race: SIGINT and SIGTERM stop it, and what there is gets written and reported") {
    for (int const signal : {SIGINT, SIGTERM}) {
        auto const csv = folder() + "/stopped.csv", json = folder() + "/stopped.json";
        endless_race const running(endless + "--csv " + csv + " --json " + json);
        int const status = running.end(signal);
        auto const output = running.output();
        INFO(output);
        REQUIRE(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 128 + signal);
        CHECK(contains(output, "race: it stops soon and writes what there is; another signal ends it at once\n"));
        CHECK(contains(output, "race: interrupted in round "));
        CHECK(contains(output, "wrote " + csv + "\n"));
        auto const all = json_of(json).at("methods");
        REQUIRE(!all.empty());
        CHECK(all.size() <= 2);  // the first one ends by itself, unless the signal comes before
        CHECK(contains(output, std::to_string(3 - all.size()) + " of 3 methods did not start\n"));
        CHECK(all.back().at("interrupted") == true);
        CHECK(all.back().at("trace").back()[0] == all.back().at("rounds"));
        CHECK(all.back().at("final_gradient_norm").get<double>() > 0);
        if (all.size() == 2) CHECK(all[0].at("interrupted") == false);
        auto const table = text_of(csv);
        CHECK(std::count(table.begin(), table.end(), '\n') == 1 + static_cast<long>(all.size()));
    }
}

TEST_CASE("race: a race that is killed leaves the files of the last one, and no empty ones") {
    auto const old = file_with("killed.csv", "of the last race\n"), none = folder() + "/killed.json";
    endless_race const running(endless + "--csv " + old + " --json " + none);
    CHECK(WIFSIGNALED(running.end(SIGKILL)));
    CHECK(text_of(old) == "of the last race\n");
    CHECK(!std::filesystem::exists(none));
    CHECK(run_race(two_rounds + "--target 0 --json " + none).status == 2);
    CHECK(!std::filesystem::exists(none));
}

TEST_CASE("race: a file's name may have any bytes: none gets lost, and none is a command") {
    auto const lines = "1 1:1 2:2\n-1 1:2\n1 2:3\n-1 1:1 2:1\n", rest = " --workers 2 --rounds 5 --method gd ";
    auto const csv = folder() + "/named.csv", json = folder() + "/named.json", plot = folder() + "/it's\n\xff.svg";
    auto const in_quotes = [](std::string const& text) {
        std::string result = "'";
        for (char const c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
        return result + "'";
    };
    bool const draws = !no_gnuplot();
    auto const with = [&](std::string const& name) {
        auto const run = run_race("--data " + in_quotes(file_with(name, lines)) + rest + "--csv " + csv + " --json " +
                                  json + (draws ? " --plot " + in_quotes(plot) : ""));
        INFO(run.out);
        CHECK(run.status == 0);
        CHECK(text_of(csv).starts_with("method,"));
        if (draws) CHECK(contains(text_of(plot), "</svg>"));
        return json_of(json).at("problem").at("data").get<std::string>();
    };
    CHECK(with("\xff\xfe\xed\xa0\x80 \xc3\xa4").ends_with("\xef\xbf\xbd \xc3\xa4"));
    if (draws) CHECK(contains(text_of(plot), "/????? \xc3\xa4, logistic, 2 workers"));
    for (std::string const name : {"a'\n!touch race_pwned #", "a\nsystem(\"touch race_pwned\") #", "`touch race_pwned`",
                                   "a'.system('touch race_pwned').'"}) {
        CAPTURE(name);
        CHECK(with(name) == folder() + "/" + name);
        CHECK(!std::filesystem::remove("race_pwned"));
    }
}

TEST_CASE("race: files of more than the limit, or than the memory, are refused by name") {
    std::string rows;
    for (int i = 0; i < 1000; ++i) rows += "1 1:1\n-1 1:2\n";
    auto const data = file_with("limited", rows);
    check_refusals(LACONIC_RACE, "race",
                   {{"--data " + data + " --data-limit 12999",
                     data + ": it holds more than 12999 bytes; --data-limit BYTES allows more"}});
    CHECK(run_race("--data " + data + " --data-limit 13000 --quiet --workers 2 --rounds 1").status == 0);
    auto const wide = file_with("wide", "-1 4294967294:1\n1 1:1\n");
    check_refusals(
        "ulimit -v 8000000; " LACONIC_RACE, "race",
        {{"--data " + wide + " --workers 2", wide + ": 2 rows of 4294967294 features need more memory than there is"}});
}

TEST_CASE("race: whole numbers are decimal, and those out of range are refused") {
    auto const trace = [&](std::string const& more) {
        return race_json(on_few_rows("--rounds 5 --target 1e-300 --method 'diana(rand_k(2))' " + more))
            .at("methods")[0]
            .at("trace")
            .dump();
    };
    CHECK(trace("--seed 010") == trace("--seed 10"));
    CHECK(trace("--seed 010") != trace("--seed 8"));
    CHECK(trace("--seed 9223372036854775807") != trace("--seed 9223372036854775808"));
    CHECK(trace("--seed 18446744073709551615") != trace("--seed 9223372036854775807"));
    auto const most = " is no whole number from 0 to 18446744073709551615";
    check_refusals(LACONIC_RACE, "race",
                   {{"--seed 18446744073709551616", std::string("--seed: 18446744073709551616") + most},
                    {"--rounds 99999999999999999999", std::string("--rounds: 99999999999999999999") + most},
                    {"--seed 0x10", std::string("--seed: 0x10") + most},
                    {"--seed 1e3", std::string("--seed: 1e3") + most},
                    {"--seed ''", std::string("--seed: ") + most},
                    {"--data-limit -1", std::string("--data-limit: -1") + most},
                    {"--workers 2147483648", "--workers: 2147483648 is no whole number from 1 to 2147483647"},
                    {"--threads 4294967297", "--threads: 4294967297 is no whole number from 0 to 2147483647"}});
}

TEST_CASE("race: the JSON has the step of every method that has one") {
    auto const all = race_json(
        "--data synthetic --workers 2 --rounds 1 --method 'dual_averaging(step=0.25)'"
        " --method dual_averaging");
    CHECK(all.at("methods")[0].at("step") == 0.25);
    CHECK(all.at("methods")[1].at("step") == 1 / (2 * all.at("problem").at("smoothness").get<double>()));
}

/// A terminal, of which a program gets the name.
class terminal {
  public:
    explicit terminal(unsigned short columns = 0) {
        REQUIRE((grantpt(ours_) == 0 && unlockpt(ours_) == 0));
        name = ptsname(ours_);
        theirs_ = open(name.c_str(), O_RDWR | O_NOCTTY);  // so that what was written outlives the program
        winsize const size{.ws_row = 0, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
        REQUIRE(ioctl(theirs_, TIOCSWINSZ, &size) == 0);
    }
    ~terminal() { close(theirs_), close(ours_); }
    std::string text() const {  // the system hands it on piece by piece, also after the program's end
        std::string all;
        char piece[1 << 16];
        pollfd ready{.fd = ours_, .events = POLLIN, .revents = 0};
        while (poll(&ready, 1, 300) > 0) {
            auto const n = read(ours_, piece, sizeof piece);
            if (n <= 0) break;
            all.append(piece, static_cast<std::size_t>(n));
        }
        return all;
    }
    std::string name;

  private:
    int ours_ = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK), theirs_ = -1;
};

TEST_CASE("race: a terminal shows how far a method is, on one line that is erased at the end; a pipe gets none of it") {
    // Steps so short that only the limit of seconds ends it.
    auto const slow = on_few_rows("--method 'gd(step=1e-9)' --rounds 100000000 --seconds ");
    terminal const screen;
    auto const begin = std::chrono::steady_clock::now();
    auto const run = run_program("sh", "-c \"" LACONIC_RACE " " + slow + "2 2>" + screen.name + "\"");
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
    auto const shown = screen.text();
    INFO(run.out << shown);
    CHECK(run.status == 0);
    CHECK(!contains(run.out, "\033"));
    std::string const erase = "\r\033[K";
    std::vector<std::string> lines;
    for (std::size_t at = 0; (at = shown.find(erase, at)) != std::string::npos;) {
        at += erase.size();
        lines.push_back(shown.substr(at, shown.find(erase, at) - at));
    }
    REQUIRE(lines.size() >= 3);
    CHECK(static_cast<double>(lines.size()) <= 5 * took.count() + 2);
    CHECK(shown.starts_with(erase + "gd(step=1e-09): round 0 of 100000000, f - f* = "));
    CHECK(contains(lines[lines.size() - 2], ", about 1 s left"));
    CHECK(lines.back().empty());
    CHECK(!contains(shown, "\n"));
    for (auto const& line : lines) CHECK(line.size() < 80);

    auto const piped = run_race(slow + "0.3");
    CHECK(piped.status == 0);
    CHECK(!contains(piped.out, "\r"));
    CHECK(!contains(piped.out, " left"));
    terminal const quiet, narrow(24);
    run_program("sh", "-c \"" LACONIC_RACE " " + slow + "0.3 --quiet 2>" + quiet.name + "\"");
    CHECK(quiet.text().empty());
    run_program("sh", "-c '" LACONIC_RACE " " + two_rounds + "2>" + narrow.name + "'");
    CHECK(narrow.text() == erase + "gd: round 0 of 2, f - f" + erase);
}

TEST_CASE("race, deep and would_it_pay: --help fits 80 columns, and race's ends with its page") {
    for (std::string const program : {LACONIC_RACE, LACONIC_DEEP, LACONIC_WOULD_IT_PAY}) {
        std::istringstream help(run_program(program, "--help").out);
        std::string last;
        for (std::string line; std::getline(help, line);) {
            CAPTURE(line);
            CHECK(line.size() <= 80);
            if (!line.empty()) last = line;
        }
        CHECK((program != LACONIC_RACE || contains(last, "docs/race.md")));
    }
}
