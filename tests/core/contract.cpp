// SPDX-License-Identifier: Apache-2.0
// A broken contract aborts and names place and condition; a kept one prints nothing and is evaluated once.
#include "laconic/core/contract.hpp"

#include "support/everything.hpp"

#if __has_include(<sys/wait.h>)
#    include <sys/wait.h>
#    include <unistd.h>

#    include <array>
#    include <csignal>
#    include <string>

namespace {

// What a child process writes to its standard error, and the signal that ends it.
template <class F>
std::string standard_error_of(F f, int& signal) {
    std::array<int, 2> pipe_ends{};
    REQUIRE(pipe(pipe_ends.data()) == 0);
    pid_t const child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::signal(SIGABRT, SIG_DFL);  // not doctest's handler
        dup2(pipe_ends[1], 2);
        f();
        _exit(0);
    }
    close(pipe_ends[1]);
    std::string output;
    std::array<char, 256> some{};
    for (ssize_t n = 0; (n = read(pipe_ends[0], some.data(), some.size())) > 0;)
        output.append(some.data(), static_cast<std::size_t>(n));
    close(pipe_ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return output;
}

}  // namespace

TEST_CASE("a broken contract stops the program and names the place and the condition") {
    if (laconic::detail::contract_level < 1) return;
    int signal = 0;
    auto const output = standard_error_of(
        [] {
            int const k = 5, d = 3;
            LACONIC_EXPECTS(k <= d);
        },
        signal);
    CHECK(signal == SIGABRT);
    CHECK(output.find("contract.cpp:") != std::string::npos);
    CHECK(output.find("broken contract: k <= d") != std::string::npos);
}

TEST_CASE("a kept contract prints nothing") {
    int signal = 0;
    CHECK(standard_error_of([] { LACONIC_EXPECTS(1 < 2); }, signal) == "");
    CHECK(signal == 0);
}
#endif

TEST_CASE("a condition is evaluated once where its level is on, and never where it is off") {
    int cheap = 0, costly = 0;
    LACONIC_EXPECTS(++cheap > 0);
    LACONIC_EXPECTS_COSTLY(++costly > 0);
    CHECK(cheap == (laconic::detail::contract_level >= 1));
    CHECK(costly == (laconic::detail::contract_level >= 2));
}
