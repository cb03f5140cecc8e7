// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <new>
#include <span>
#include <vector>

/// Numbers of which one knows how often they were read from the first to the last: of their memory one window is open,
/// where they were read last, and who reads elsewhere opens another one. For kernels of one thread, that read in the
/// order of the numbers except for steps within a window. One object at a time.
template <class T>
class watched_numbers {
  public:
    explicit watched_numbers(std::vector<T> const& x) : size_(x.size()) {
        windows_ = (x.size() * sizeof(T) + window - 1) / window;
        void* const p = mmap(nullptr, windows_ * window, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) throw std::bad_alloc();
        begin_ = static_cast<char*>(p);
        std::copy(x.begin(), x.end(), reinterpret_cast<T*>(begin_));
        current = this;
        struct sigaction how {};
        how.sa_sigaction = open_window;
        how.sa_flags = SA_SIGINFO;
        sigaction(SIGSEGV, &how, &before_);
    }
    watched_numbers(watched_numbers const&) = delete;
    watched_numbers& operator=(watched_numbers const&) = delete;
    ~watched_numbers() {
        sigaction(SIGSEGV, &before_, nullptr);
        munmap(begin_, windows_ * window);
    }

    std::span<T const> numbers() const { return {reinterpret_cast<T const*>(begin_), size_}; }
    void start() {
        mprotect(begin_, windows_ * window, PROT_NONE);
        opened_ = 0;
    }
    /// Since start().
    double passes() const { return static_cast<double>(opened_) / static_cast<double>(windows_); }

  private:
    static constexpr std::size_t window = 65536;

    static void open_window(int, siginfo_t* where, void*) {
        auto* const w = current;
        auto* const at = static_cast<char*>(where->si_addr);
        if (at < w->begin_ || at >= w->begin_ + w->windows_ * window) {  // somebody else's: the read is tried again
            sigaction(SIGSEGV, &w->before_, nullptr);
            return;
        }
        if (w->open_ != nullptr) mprotect(w->open_, window, PROT_NONE);
        w->open_ = w->begin_ + static_cast<std::size_t>(at - w->begin_) / window * window;
        mprotect(w->open_, window, PROT_READ);
        ++w->opened_;
    }

    inline static watched_numbers* current = nullptr;
    std::size_t size_, windows_ = 0, opened_ = 0;
    char *begin_ = nullptr, *open_ = nullptr;
    struct sigaction before_ {};
};
