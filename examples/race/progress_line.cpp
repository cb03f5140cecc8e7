// SPDX-License-Identifier: Apache-2.0
#include "progress_line.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <utility>

namespace race {
namespace {

std::size_t columns() {
    winsize size{};
    return ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string text_of(double seconds) {
    if (seconds < 100) return fmt::format("{:.0f} s", std::ceil(seconds));
    if (seconds < 6000) return fmt::format("{:.0f} min", std::ceil(seconds / 60));
    return fmt::format("{:.0f} h", std::ceil(seconds / 3600));
}

}  // namespace

progress_line::progress_line(bool on, std::string method, std::string measure, settings const& how)
    : on_(on && isatty(2)), method_(std::move(method)), measure_(std::move(measure)), how_(how) {}

progress_line::~progress_line() {
    if (shown_) std::fputs("\r\033[K", stderr);
}

// The nearest of the ends: all rounds, the target on a logarithmic scale, or the limit of seconds.
double progress_line::share_done(mark const& now, double seconds) const {
    double share = static_cast<double>(now.round) / static_cast<double>(std::max<std::uint64_t>(1, how_.rounds));
    double const way = std::log(first_ / std::max(now.suboptimality, how_.target)) / std::log(first_ / how_.target);
    if (std::isfinite(way)) share = std::max(share, way);
    if (how_.seconds > 0) share = std::max(share, seconds / how_.seconds);
    return std::clamp(share, 0.0, 1.0);
}

void progress_line::operator()(mark const& now) {
    auto const time = clock::now();
    if (now.round == 0) first_ = now.suboptimality;
    if (!on_ || (shown_ && time - last_ < std::chrono::milliseconds(200))) return;
    shown_ = true;
    last_ = time;
    double const seconds = std::chrono::duration<double>(time - begin_).count(), share = share_done(now, seconds);
    auto line = fmt::format("{:.32}: round {} of {}, {} = {:.1e}", method_, now.round, how_.rounds, measure_,
                            now.suboptimality);
    if (share > 0) line += ", about " + text_of(seconds / share - seconds) + " left";
    line.resize(std::min(line.size(), columns() - 1));  // a longer one would begin a second line
    std::fputs(("\r\033[K" + line).c_str(), stderr);
    std::fflush(stderr);
}

}  // namespace race
