// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstddef>
#include <memory>

#include "laconic/core/contract.hpp"

namespace laconic::detail {

// AddressSanitizer needs to know which stack runs, or it reports exceptions there as errors. Null where it is not
// linked.
extern "C" {
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** state, void const* bottom, std::size_t size);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* state, void const** bottom, std::size_t* size);
}

/// A stack on which execution can pause while another runs.
struct paused_stack {
    ucontext_t context{};
    void const* bottom = nullptr;
    std::size_t size = 0;  // bytes

    /// Runs `other`, until another stack switches back to this one.
    void resume(paused_stack& other) {
        void* state = nullptr;
        if (&__sanitizer_start_switch_fiber) __sanitizer_start_switch_fiber(&state, other.bottom, other.size);
        swapcontext(&context, &other.context);
        if (&__sanitizer_finish_switch_fiber) __sanitizer_finish_switch_fiber(state, nullptr, nullptr);
    }
    /// The first call, and the last, on a new stack: it gets the bounds of the other stack, and leaves for it for good.
    static void begin(paused_stack& other) {
        if (&__sanitizer_finish_switch_fiber) __sanitizer_finish_switch_fiber(nullptr, &other.bottom, &other.size);
    }
    static void end(paused_stack const& other) {
        if (&__sanitizer_start_switch_fiber) __sanitizer_start_switch_fiber(nullptr, other.bottom, other.size);
    }
};

/// A stack in memory of its own, below which lies a page that cannot be accessed.
class mapped_stack : public paused_stack {
  public:
    /// Maps so many bytes, rounded up to pages, and makes a context that runs there; returns whether there was memory
    /// for it.
    bool map(std::size_t bytes) {
        auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        size = (bytes + page - 1) / page * page;
        void* const p =
            mmap(nullptr, page + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) return false;
        memory_ = {p, unmap{page + size}};
        bottom = static_cast<std::byte*>(p) + page;
        if (mprotect(p, page, PROT_NONE) != 0 || getcontext(&context) != 0) return false;
        context.uc_stack.ss_sp = static_cast<std::byte*>(p) + page;
        context.uc_stack.ss_size = size;
        return true;
    }

  private:
    struct unmap {
        std::size_t size;
        void operator()(void* p) const { munmap(p, size); }
    };
    std::unique_ptr<void, unmap> memory_{nullptr, unmap{0}};
};

}  // namespace laconic::detail
