// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include "laconic/core/error.hpp"

#if defined(__x86_64__)
#    include <cpuid.h>
#endif

template class std::vector<std::byte>;
template class std::vector<unsigned>;

namespace laconic::kernels::by_table {

// In the sources of these names; null where they are compiled without their flags.
table kernels_of_avx2(bool of_double);
table kernels_of_avx512(bool of_double);
table kernels_of_zen4(bool of_double);

namespace {

bool has_avx2() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    unsigned a = 0, b = 0, c = 0, d = 0;  // clang++ 14 does not know F16C by a name
    bool const has_f16c = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
    return has_f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
#else
    return false;
#endif
}
bool has_avx512() {
#if defined(__x86_64__)
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}
// Of its family, a Zen 3 has no AVX-512.
bool is_zen4() {
#if defined(__x86_64__)
    return has_avx512() && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_is("amdfam19h");
#else
    return false;
#endif
}

// What this processor has, from the smallest to the largest.
std::span<kernel_set const> all_sets() {
    static auto const all = [] {
        std::vector<kernel_set> sets{{"baseline", table_of<float>(), table_of<double>()}};
        auto const add = [&](std::string_view name, table of_float, table of_double) {
            if (of_float != nullptr) sets.push_back({name, of_float, of_double});
        };
        if (!instruction_set::has_avx2 && has_avx2()) add("avx2", kernels_of_avx2(false), kernels_of_avx2(true));
        if (!instruction_set::has_avx512 && has_avx512())
            add("avx512", kernels_of_avx512(false), kernels_of_avx512(true));
        if (!instruction_set::is_zen4 && is_zen4()) add("zen4", kernels_of_zen4(false), kernels_of_zen4(true));
        return sets;
    }();
    return all;
}

// LACONIC_KERNELS, or the name of the largest.
std::string_view wanted_set() {
    char const* const named = std::getenv("LACONIC_KERNELS");
    return named != nullptr && *named != 0 ? std::string_view(named) : all_sets().back().name;
}

kernel_set const& set_named(std::string_view name) {
    std::string names;
    for (auto const& set : all_sets()) {
        if (set.name == name) return set;
        names += detail::concat({names.empty() ? "" : ", ", set.name});
    }
    throw argument_error({"this processor and build have no kernels \"", name,
                          "\": LACONIC_KERNELS, where it is set, is one of ", names});
}

int wanted_threads() {
    char const* const given = std::getenv("LACONIC_THREADS");
    std::string_view const text = given != nullptr ? given : "";
    if (text.empty()) return 1;
    int threads = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
    if (error != std::errc() || end != text.data() + text.size() || threads < 1)
        throw argument_error(
            {"LACONIC_THREADS, where it is set, is a number of threads from 1 on, not \"", text, "\""});
    return threads;
}

}  // namespace

dispatched::dispatched() : dispatched(wanted_set(), wanted_threads()) {}
tabled::tabled(std::string_view kernels)
    : set_(&set_named(kernels)),
      own_(function_at<void*()>(set_->of_float, place::make)(),
           function_at<void(void*)>(set_->of_float, place::destroy)) {}

std::vector<std::string_view> tabled::sets() {
    std::vector<std::string_view> names;
    for (auto const& set : all_sets()) names.push_back(set.name);
    return names;
}

}  // namespace laconic::kernels::by_table
