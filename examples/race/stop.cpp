// SPDX-License-Identifier: Apache-2.0
#include "stop.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace race {
namespace {

std::atomic<int> asked = 0;
std::atomic<bool> answers = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

constexpr int signals[] = {SIGINT, SIGTERM};

// What may be called here is little (POSIX, async-signal-safe).
void ask(int signal) {
    int const saved = errno;
    asked = signal;
    for (int const each : signals) ::signal(each, SIG_DFL);
    constexpr char text[] = "\nrace: it stops soon and writes what there is; another signal ends it at once\n";
    if (answers && ::write(2, text, sizeof text - 1) < 0) {
    }  // nobody could read a message
    errno = saved;
}

}  // namespace

stop_by_signal::stop_by_signal(bool aloud) {
    answers = aloud;
    for (int const each : signals) {
        struct sigaction action {};
        ::sigaction(each, nullptr, &action);
        if (action.sa_handler == SIG_IGN) continue;
        action = {};
        action.sa_handler = ask;
        action.sa_flags = SA_RESTART;
        sigemptyset(&action.sa_mask);
        ::sigaction(each, &action, nullptr);
    }
}

stop_by_signal::~stop_by_signal() {
    for (int const each : signals) {
        struct sigaction action {};
        ::sigaction(each, nullptr, &action);
        if (action.sa_handler == ask) ::signal(each, SIG_DFL);
    }
}

int stop_signal() { return asked; }

}  // namespace race
