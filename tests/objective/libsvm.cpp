// SPDX-License-Identifier: Apache-2.0
// LIBSVM files are read with exactly rounded numbers, and every defect is refused with its line and column.
#include "laconic/objective/libsvm.hpp"

#include <charconv>
#include <clocale>
#include <fstream>

#include "support/data.hpp"
#include "support/error_of.hpp"
#include "support/everything.hpp"

using laconic::read_libsvm;

laconic::dataset<double> parse(std::string const& text, std::size_t features = 0) {
    return read_libsvm(std::string_view(text), "t", {.features = features});
}

struct defect {
    std::string text;
    std::size_t line, column;
    std::string why;
    std::size_t features = 0;
};

TEST_CASE("the rows, labels and zeros of a small file") {
    auto const data = parse("+1 1:0.5 3:-2e1\n-1\n2.5 2:+7 4:0\n");
    CHECK(data.name == "t");
    CHECK(data.labels == std::vector<double>{1, -1, 2.5});
    REQUIRE(data.samples() == 3);
    REQUIRE(data.features() == 4);
    CHECK(Eigen::MatrixXd(data.rows) == Eigen::MatrixXd{{0.5, 0, -20, 0}, {0, 0, 0, 0}, {0, 7, 0, 0}});
    CHECK(data.rows.nonZeros() == 3);  // the zero that is written is not stored, but counts as a feature
    CHECK(data.rows.isCompressed());
}

TEST_CASE("comments, blank lines, CR LF, tabs and a missing last newline") {
    auto const data = parse("# a head\r\n\r\n 1\t2:3  \r\n   \n0 1:4 # 2:x\r\n#\n5 2:6#7");
    CHECK(data.labels == std::vector<double>{1, 0, 5});
    CHECK(Eigen::MatrixXd(data.rows) == Eigen::MatrixXd{{0, 3}, {4, 0}, {0, 6}});
}

TEST_CASE("the number of features is that of the data or the one given") {
    CHECK(parse("1 3:1\n").features() == 3);
    CHECK(parse("1 3:1\n", 10).features() == 10);
    CHECK(parse("1\n").features() == 0);
    CHECK(parse("1 4294967294:1\n").features() == 4294967294u);
    CHECK_THROWS_AS(parse("1 1:1\n", 4294967295u), laconic::argument_error);
}

TEST_CASE("indices may count from 0, and are then one place further to the right") {
    laconic::libsvm_format const from_0{.first_index = 0, .option = "--zero"};
    auto const read = [&](std::string const& text, std::size_t features = 0) {
        auto how = from_0;
        how.features = features;
        return read_libsvm(std::string_view(text), "t", how);
    };
    auto const text = "1 0:5 2:7\n-1 1:3\n";
    auto const data = read(text);
    REQUIRE(data.features() == 3);
    CHECK(Eigen::MatrixXd(data.rows) == Eigen::MatrixXd{{5, 0, 7}, {0, 3, 0}});
    CHECK(read(text, 3).features() == 3);
    CHECK_THROWS_WITH_AS(read(text, 2), "t:1:7: '2:7': has an index above 1, the last one of 2 features",
                         laconic::file_error);
    CHECK_THROWS_WITH_AS(read("1 0:1 0:2\n"), "t:1:7: '0:2': has an index that is not above the one before, 0",
                         laconic::file_error);
    CHECK_THROWS_WITH_AS(read("1 4294967294:1\n"), doctest::Contains("above 4294967293"), laconic::file_error);
    CHECK(read("1 4294967293:1\n").features() == 4294967294u);
    CHECK_THROWS_WITH_AS(read_libsvm(std::string_view("1 0:1\n"), "t", {.option = "--zero"}),
                         doctest::Contains("give --zero"), laconic::file_error);
    CHECK_THROWS_AS(read_libsvm(std::string_view("1 2:1\n"), "t", {.first_index = 2}), laconic::argument_error);
}

TEST_CASE("query ids are left out, which is said once, and so is a byte-order mark") {
    std::vector<std::string> said;
    auto const data = read_libsvm(std::string_view("\xef\xbb\xbf"
                                                   "2\tqid:7 1:1\n1 qid: -3 2:4\n0 2:5\n"),
                                  "t", {.on_ignored = [&](std::string const& what) { said.push_back(what); }});
    CHECK(Eigen::MatrixXd(data.rows) == Eigen::MatrixXd{{1, 0}, {0, 4}, {0, 5}});
    CHECK(data.labels == std::vector<double>{2, 1, 0});
    CHECK(said == std::vector<std::string>{"t:1:3: the query ids (qid:) of the rows are ignored"});
    CHECK(Eigen::MatrixXd(parse("2 qid:7 1:1\n1 qid:8 2:4\n0 2:5\n").rows) == Eigen::MatrixXd(data.rows));
}

TEST_CASE("numbers are rounded correctly, whatever the locale") {
    auto const* const before = std::setlocale(LC_ALL, nullptr);
    std::string const saved = before ? before : "C";
    for (auto const* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"})
        if (std::setlocale(LC_ALL, name)) break;
    auto const data =
        parse("0.1 1:2.2250738585072011e-308 2:9007199254740993 3:1e-400 4:-1e-4000 5:1.7976931348623157e308");
    std::setlocale(LC_ALL, saved.c_str());
    CHECK(data.labels[0] == 0.1);
    CHECK(data.rows.coeff(0, 0) == 2.2250738585072011e-308);
    CHECK(data.rows.coeff(0, 1) == 9007199254740992);
    CHECK(data.rows.coeff(0, 2) == 0);
    CHECK(data.rows.coeff(0, 3) == 0);
    CHECK(data.rows.coeff(0, 4) == 1.7976931348623157e308);

    auto const single = read_libsvm<float>(std::string_view("1 1:0.1 2:1e-60 3:1e-40"), "f");
    CHECK(single.rows.coeff(0, 0) == 0.1f);
    CHECK(single.rows.coeff(0, 1) == 0);
    CHECK(single.rows.coeff(0, 2) == 1e-40f);
    CHECK_THROWS_AS(read_libsvm<float>(std::string_view("1 1:1e60"), "f"), laconic::file_error);
}

TEST_CASE("what is too small for every type is zero, however it is written, and what is too large is refused") {
    std::string const zeros(5000, '0');
    for (std::string const& small : std::vector<std::string>{
             "1e-5000", "-1e-5000", "0." + zeros, "0." + zeros + "1", "." + zeros + "9e-3", zeros + "." + zeros + "1",
             "1" + zeros + "e-10000", "1e-99999", "7e-99999999999999999999"}) {
        CAPTURE(small.substr(0, 30));
        auto const data = parse(small + " 1:" + small + " 2:1");
        CHECK(data.labels[0] == 0);
        CHECK(data.rows.nonZeros() == 1);
        CHECK(read_libsvm<float>("1 1:" + small, "f").rows.nonZeros() == 0);
    }
    for (std::string const& one :
         std::vector<std::string>{"0." + zeros + "1e5001", "1" + zeros + "e-5000", zeros + "1"}) {
        CAPTURE(one.substr(0, 30));
        CHECK(parse("1 1:" + one).rows.coeff(0, 0) == 1);
    }
    for (std::string const& large : std::vector<std::string>{
             "1e400", "1" + zeros, "-1" + zeros + ".5", "0." + zeros + "1e10000", "1e5000", "1e99999999999999999999"}) {
        CAPTURE(large.substr(0, 30));
        CHECK_THROWS_WITH_AS(parse("1 1:" + large), doctest::Contains("the value is out of range"),
                             laconic::file_error);
        CHECK_THROWS_WITH_AS(parse(large), doctest::Contains("the label is out of range"), laconic::file_error);
    }
}

TEST_CASE("a blank may stand behind the colon, as in the set protein of the LIBSVM collection") {
    auto const data = parse("1 1:.25 63: .50 64:\t 2 # c\r\n-1 2:  -1e0\r\n");
    CHECK(data.labels == std::vector<double>{1, -1});
    CHECK(data.features() == 64);
    CHECK(data.rows.nonZeros() == 4);
    CHECK(data.rows.coeff(0, 62) == .5);
    CHECK(data.rows.coeff(0, 63) == 2);
    CHECK(data.rows.coeff(1, 1) == -1);
}

TEST_CASE("every defect is refused with its line, its column and a reason") {
    std::vector<defect> const defects{
        {"x 1:1\n", 1, 1, "the label is not a number"},
        {"1 1:1\n\n# c\n  - 1:1\n", 4, 3, "the label is not a number"},
        {"1,2 1:1\n", 1, 1, "the label has something after its number"},
        {"1:1 2:1\n", 1, 1, "the label has something after its number"},
        {"nan 1:1\n", 1, 1, "the label is not finite"},
        {"-inf\n", 1, 1, "the label is not finite"},
        {"+-1 1:1\n", 1, 1, "the label is not a number"},
        {"++1 1:1\n", 1, 1, "the label is not a number"},
        {"+\n", 1, 1, "the label is not a number"},
        {"1 1:1 7\n", 1, 7, "has no colon"},
        {"1 1:1\n-1 1:1\r\n1\t 2\n", 3, 4, "has no colon"},
        {"1 :1\n", 1, 3, "does not start with an index"},
        {"1 qid:\n", 1, 3, "has a query id that is no whole number"},
        {"1 qid:1.5\n", 1, 3, "has a query id that is no whole number"},
        {"1 1:1 qid:1\n", 1, 7, "is a query id, which may only follow the label"},
        {"1 qid:1 qid:2\n", 1, 9, "is a query id, which may only follow the label"},
        {"qid:1 1:1\n", 1, 1, "the label is not a number"},
        {"\xef\xbb\xbf"
         "1 x:1\n",
         1, 3, "does not start with an index"},
        {"1 \xef\xbb\xbf"
         "1:1\n",
         1, 3, "does not start with an index"},
        {std::string("\xff\xfe"
                     "1\0",
                     4),
         1, 1, "UTF-16"},
        {std::string("\xfe\xff"
                     "\0"
                     "1",
                     4),
         1, 1, "UTF-16"},
        {"1 -1:1\n", 1, 3, "does not start with an index"},
        {"1 1.5:1\n", 1, 3, "does not start with an index"},
        {"1 0:1\n", 1, 3,
         "has the index 0, indices count from 1; where they count from 0, as scikit-learn writes them, give "
         "libsvm_format::first_index = 0"},
        {"1 2:1 2:1\n", 1, 7, "not above the one before, 2"},
        {"1 3:1 10:1 2:1\n", 1, 12, "not above the one before, 10"},
        {"1 2:0 2:1\n", 1, 7, "not above the one before, 2"},
        {"1 4294967295:1\n", 1, 3, "has an index above 4294967294"},
        {"1 18446744073709551617:1\n", 1, 3, "has an index above 4294967294"},
        {"1 99999999999999999999999:1\n", 1, 3, "has an index above 4294967294"},
        {"1 5:1 6:1\n", 1, 7, "above 5, the last one of 5 features", 5},
        {"1 1:\n", 1, 3, "the value is not a number"},
        {"1 1: \t\r\n", 1, 3, "the value is not a number"},
        {"1 1: # 2\n", 1, 3, "the value is not a number"},
        {"1 1: 2:3\n", 1, 3, "'1: 2:3': the value has something after its number"},
        {"1 1: 2 3\n", 1, 8, "'3': has no colon"},
        {"1 1 :2\n", 1, 3, "'1': has no colon"},
        {"1 1:\n2 3:4\n", 1, 3, "the value is not a number"},
        {"1 1:abc\n", 1, 3, "the value is not a number"},
        {"1 1:0x10\n", 1, 3, "the value has something after its number"},
        {"1 1:1.5.2\n", 1, 3, "the value has something after its number"},
        {"1 1:1,5\n", 1, 3, "the value has something after its number"},
        {"1 1:1:1\n", 1, 3, "the value has something after its number"},
        {"1 1:1e\n", 1, 3, "the value has something after its number"},
        {std::string("1 1:1\0\n", 7), 1, 3, "the value has something after its number"},
        {"1 1:nan\n", 1, 3, "the value is not finite"},
        {"1 1:1 2:-Infinity\n", 1, 7, "the value is not finite"},
        {"1 1:1e400\n", 1, 3, "the value is out of range"},
        {"1 1:1e-99999x\n", 1, 3, "the value has something after its number"},
        {"", 0, 0, "no rows"},
        {"\n \r\n# nothing\n", 0, 0, "no rows"},
    };
    for (auto const& each : defects) {
        CAPTURE(each.text);
        try {
            parse(each.text, each.features);
            FAIL_CHECK("accepted");
        } catch (laconic::file_error const& e) {
            CHECK(e.file == "t");
            CHECK(e.line == each.line);
            CHECK(e.column == each.column);
            CHECK(std::string(e.what()).find(each.why) != std::string::npos);
        }
    }
}

TEST_CASE("an error shows the token, but neither its whole length nor its control characters") {
    auto const what = error_of<laconic::file_error>([] { parse("1 1:\x1b[31m" + std::string(1000, 'z')); });
    CHECK(what.find("t:1:3: '1:?[31mzzz") == 0);
    CHECK(what.find("zz...'") != std::string::npos);
    CHECK(what.size() < 120);
}

TEST_CASE("every prefix of a file, and every file with one byte changed, is read or refused cleanly") {
    std::string const text = "+1 1:0.5 13:-2e1 # c\r\n-1 7:nan\n2 2:1";
    std::size_t read = 0, refused = 0;
    auto const attempt = [&](std::string const& bytes) {
        try {
            auto const data = parse(bytes);
            read += data.samples() == data.labels.size();
        } catch (laconic::file_error const&) {
            ++refused;
        }
    };
    for (std::size_t n = 0; n <= text.size(); ++n) attempt(text.substr(0, n));
    for (std::size_t at = 0; at < text.size(); ++at)
        for (int byte = 0; byte < 256; ++byte) {
            auto changed = text;
            changed[at] = static_cast<char>(byte);
            attempt(changed);
        }
    CHECK(read + refused == text.size() + 1 + 256 * text.size());
    CHECK(read > 0);
    CHECK(refused > 0);
}

TEST_CASE("a stream reads as its text does") {
    std::string text;
    for (int j = 0; j < 20000; ++j) text += std::to_string(j) + " 1:" + std::to_string(j) + " 3:1\n";
    std::istringstream in(text);
    auto const data = read_libsvm(in, "s");
    REQUIRE(data.samples() == 20000);
    CHECK(data.labels.back() == 19999);
    CHECK(data.rows.isApprox(parse(text).rows));

    std::ifstream missing("/no/such/file");
    CHECK_THROWS_AS(read_libsvm(missing, "missing"), laconic::file_error);
    std::istringstream empty;
    CHECK_THROWS_AS(read_libsvm(empty, "empty"), laconic::file_error);
}

TEST_CASE("a9a and mnist are read whole") {
    auto const a9a = test_data("a9a");
    if (!a9a) return;
    CHECK(a9a->samples() == 32561);
    CHECK(a9a->features() == 123);
    CHECK(a9a->rows.nonZeros() == 451592);
    auto const mnist = test_data("mnist_t10k_scale");
    CHECK(mnist->samples() == 10000);
    CHECK(laconic::classes(*mnist).size() == 10);
}
