// SPDX-License-Identifier: Apache-2.0
#include "network.hpp"

#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "laconic/core/decimal.hpp"
#include "laconic/core/error.hpp"

namespace race {
namespace {

using units = std::vector<std::pair<std::string_view, double>>;

[[noreturn]] void refuse(std::string const& text, std::string const& why) {
    throw laconic::argument_error(
        "--network: '" + text + "': " + why +
        "; it is threads, mpi, or delayed:LATENCY,BANDWIDTH[,OVERHEAD] such as delayed:20us,1Gbit/s or "
        "delayed:0.5ms,10Mbit/s,3us, with times in s, ms, us or ns and the bandwidth in bit/s, kbit/s, Mbit/s or "
        "Gbit/s");
}

// A number, and what its unit stands for.
std::pair<double, double> quantity(std::string const& text, std::string_view part, char const* what, units const& all) {
    double number = 0;
    auto const* const end = part.data() + part.size();
    auto const read = laconic::read_decimal(part.data(), end, number);
    if (read.ec == std::errc())
        for (auto const& [name, worth] : all)
            if (std::string_view(read.ptr, static_cast<std::size_t>(end - read.ptr)) == name && number <= 1e300)
                return {number, worth};
    refuse(text, std::string("'").append(part) + "' is no " + what);
}

double seconds(std::string const& text, std::string_view part, char const* what) {
    // In parts of a second, so that 20us is the double next to 0.00002.
    static units const all = {{"s", 1}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}};
    auto const [number, to_a_second] = quantity(text, part, what, all);
    if (!(number >= 0)) refuse(text, "the " + std::string(what) + " is not at least 0");
    return number / to_a_second;
}

}  // namespace

network parse_network(std::string const& text) {
    using engine = network::engine;
    if (text == "threads") return {engine::threads, {}};
    if (text == "mpi") return {engine::mpi, {}};
    std::string_view const prefix = "delayed:";
    std::string_view rest = text;
    if (!rest.starts_with(prefix)) refuse(text, "there is no such network");
    std::vector<std::string_view> parts;
    for (rest.remove_prefix(prefix.size());; rest.remove_prefix(parts.back().size() + 1)) {
        parts.push_back(rest.substr(0, rest.find(',')));
        if (parts.back().size() == rest.size()) break;
    }
    if (parts.size() < 2 || parts.size() > 3)
        refuse(text, parts.size() < 2 ? "the bandwidth is missing" : "there is more than the overhead");
    static units const rates = {{"bit/s", 1}, {"kbit/s", 1e3}, {"Mbit/s", 1e6}, {"Gbit/s", 1e9}};
    network n{engine::delayed, {}};
    n.link.latency = seconds(text, parts[0], "latency");
    auto const [number, bits_a_second] = quantity(text, parts[1], "bandwidth", rates);
    if (!(number > 0)) refuse(text, "the bandwidth is not above 0");
    n.link.seconds_per_bit = 1 / (number * bits_a_second);
    if (parts.size() == 3) n.link.overhead = seconds(text, parts[2], "overhead");
    n.link.check();
    return n;
}

}  // namespace race
