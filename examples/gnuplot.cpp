// SPDX-License-Identifier: Apache-2.0
#include "gnuplot.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "laconic/core/error.hpp"

extern char** environ;  // not every system's <unistd.h> declares it

namespace output {

bool run_gnuplot(std::string_view script, int out) {
    int in[2];
    if (::pipe(in) != 0) throw laconic::error("gnuplot cannot be started: " + std::string(std::strerror(errno)));
    for (int const end : in) ::fcntl(end, F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t as_usual;  // what this program ignores, another need not
    sigemptyset(&as_usual);
    sigaddset(&as_usual, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &as_usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    char name[] = "gnuplot", defaults[] = "-d";  // the user's own settings are left out
    char* arguments[] = {name, defaults, nullptr};
    pid_t child = 0;
    int const refused = ::posix_spawnp(&child, name, &files, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    ::close(in[0]);
    if (refused != 0) {
        ::close(in[1]);
        if (refused == ENOENT) return false;
        throw laconic::error("gnuplot cannot be started: " + std::string(std::strerror(refused)));
    }
    while (!script.empty()) {  // it may end before it has read all, which its status shows
        auto const written = ::write(in[1], script.data(), script.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) break;
        script.remove_prefix(static_cast<std::size_t>(written));
    }
    ::close(in[1]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!script.empty() || status != 0) throw laconic::error("gnuplot failed");
    return true;
}

}  // namespace output
