// SPDX-License-Identifier: Apache-2.0
// A file gets its new text only when it is whole, keeps mode and link, and a failure names its reason.
#include "common/output.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "support/program.hpp"
#include "support/test.hpp"

namespace fs = std::filesystem;

/// A folder of this process's own, removed at the end.
struct own_folder {
    fs::path path = fs::temp_directory_path() / ("laconic_output_" + std::to_string(getpid()));
    own_folder() { fs::create_directory(path); }
    ~own_folder() { fs::remove_all(path); }

    std::string file(std::string const& name) const { return (path / name).string(); }
    auto count() const { return std::distance(fs::directory_iterator(path), fs::directory_iterator()); }
};

TEST_CASE("output: a file has its new text when it is whole, and its old one till then and else") {
    own_folder const here;
    auto const file = here.file("a");
    output::write(file, "old");
    CHECK(text_of(file) == "old");
    {
        output::file next(file);
        next.write("new");
        CHECK(text_of(file) == "old");
        next.write("er");
        next.commit();
        CHECK(text_of(file) == "newer");
    }
    { output::file(file).write("never"); }
    { output::file(here.file("b")).write("never"); }
    CHECK(text_of(file) == "newer");
    CHECK(here.count() == 1);
}

TEST_CASE("output: a file keeps its mode, a new one has the usual one, a symbolic link stays one") {
    own_folder const here;
    auto const file = here.file("a"), link = here.file("link");
    auto const mode = [](std::string const& of) { return fs::status(of).permissions(); };
    auto const before = ::umask(027);
    output::write(file, "1");
    ::umask(before);
    CHECK(mode(file) == fs::perms(0640));
    fs::permissions(file, fs::perms(0604));
    fs::create_symlink("a", link);
    output::write(link, "2");
    CHECK(text_of(file) == "2");
    CHECK(fs::is_symlink(link));
    CHECK(mode(file) == fs::perms(0604));
}

TEST_CASE("output: what cannot be written is reported with the reason, and nothing is left") {
    own_folder const here;
    CHECK_THROWS_WITH_AS(output::write("/dev/full", "text"), "/dev/full: cannot be written: No space left on device",
                         output::lost);
    auto const there = here.file("none/a");
    auto const expected = there + ": cannot be written: No such file or directory";
    CHECK_THROWS_WITH_AS(output::write(there, "text"), expected.c_str(), output::lost);
    CHECK_THROWS_WITH_AS(output::require_writable(there), expected.c_str(), laconic::file_error);
    CHECK_THROWS_WITH_AS(output::require_writable(here.path.string()), doctest::Contains("Is a directory"),
                         laconic::file_error);
    output::require_writable(here.file("a"));
    output::require_writable("/dev/null");
    output::write("/dev/null", "text");
    CHECK(here.count() == 0);
}
