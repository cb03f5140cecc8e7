// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace laconic_test {

/// Memory that is closed but while someone has opened it: what reads or writes an element elsewhere crashes, as with a
/// device's. One stretch of addresses, opened and closed as a whole. Ranks may be threads: opened by one it is open for all.
class closed_pages {
  public:
    static closed_pages& all() {
        static auto* const memory = new closed_pages;  // for arrays that live until the end
        return *memory;
    }
    void* get(std::size_t bytes) {
        std::lock_guard const lock(mutex_);
        std::size_t const size = (bytes + page_ - 1) / page_ * page_;
        if (size < bytes || size > room - used_) throw std::bad_alloc();
        void* place = begin_ + used_;
        if (auto& free = free_[size]; !free.empty()) {
            place = free.back();
            free.pop_back();
        } else {
            used_ += size;
            set_access();
        }
        size_of_[place] = size;
        return place;
    }
    void give_back(void* place) {
        if (place == nullptr) return;
        std::lock_guard const lock(mutex_);
        free_[size_of_.at(place)].push_back(place);
    }
    void open() {
        std::lock_guard const lock(mutex_);
        if (open_++ == 0) set_access();
    }
    void close() {
        std::lock_guard const lock(mutex_);
        if (--open_ == 0) set_access();
    }

  private:
    static constexpr std::size_t room = std::size_t{1} << 34;  // addresses, not memory

    closed_pages() {
        void* const p = mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) throw std::bad_alloc();
        begin_ = static_cast<std::byte*>(p);
    }
    void set_access() const {
        if (used_ > 0 && mprotect(begin_, used_, open_ > 0 ? PROT_READ | PROT_WRITE : PROT_NONE) != 0)
            throw std::bad_alloc();
    }

    std::mutex mutex_;
    std::byte* begin_ = nullptr;
    std::size_t page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), used_ = 0;
    int open_ = 0;
    std::map<std::size_t, std::vector<void*>> free_;  // by their size
    std::map<void*, std::size_t> size_of_;
};

/// While one lives, all pages are open.
struct opened {
    opened() { closed_pages::all().open(); }
    opened(opened const&) = delete;
    ~opened() { closed_pages::all().close(); }
};

}  // namespace laconic_test
