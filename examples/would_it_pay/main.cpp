// SPDX-License-Identifier: Apache-2.0
// Does compression pay at all on a given link? Times compressors on this machine and compares a round with their
// messages to a dense sum.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "common/output.hpp"
#include "common/program.hpp"
#include "common/whole_number.hpp"
#include "laconic/adapt/would_it_pay.hpp"
#include "laconic/any/cost.hpp"
#include "laconic/compress/compressor.hpp"
#include "named.hpp"

namespace {

using namespace laconic;

struct options {
    std::string cost = "affine:1e-9,5e-5", type = "float";
    double dimension = 1e6, seconds = 0.5, dense_bits = 16, computing = 0;
    int workers = 8;
    std::vector<std::string> compressors = {"top_k(0.01)", "top_k(0.01) | natural", "rand_k(0.01)",
                                            "natural",     "scaled_sign",           "bf16"};
};

void parse(CLI::App& app, options& o) {
    app.add_option("--cost", o.cost,
                   "what a message costs on the link in seconds: affine:PER_BIT,PER_MESSAGE, "
                   "energy:PER_BIT,PER_PACKET,PAYLOAD,PER_MESSAGE or air_time:RATE,PREAMBLE,PAYLOAD,WAIT")
        ->capture_default_str();
    app.add_option("--dimension", o.dimension, "how many numbers a worker's vector has")->capture_default_str();
    app.add_option("--type", o.type, "the type of these numbers: float, of 32 bits, or double, of 64 bits")
        ->check(CLI::IsMember({"float", "double"}))
        ->capture_default_str();
    add_whole_number(app, "--workers", o.workers, 1, "how many workers want the mean");
    app.add_option("--compressor", o.compressors,
                   "a compressor as in the C++, such as 'top_k(0.01) | natural'; may be given several times")
        ->take_all();
    app.add_option("--dense-bits", o.dense_bits, "of a number in the dense sum that messages are compared with")
        ->capture_default_str();
    app.add_option("--computing", o.computing,
                   "seconds of the backward pass, during which the dense sum travels and messages do not")
        ->capture_default_str();
    app.add_option("--seconds", o.seconds, "how long each is measured, about")->capture_default_str();
}

message_cost link_of(std::string text) {
    if (auto const colon = text.find_first_of(":("); colon != std::string::npos && text[colon] == ':')
        text = text.substr(0, colon) + "(" + text.substr(colon + 1) + ")";
    auto const cost = parse_cost(text);
    if (!(cost == two_way_cost(cost.up))) throw argument_error("--cost: messages cost the same either way here");
    return cost.up;
}

template <laconic::Scalar T>
void answer(options const& o) {
    auto const link = link_of(o.cost);
    if (!(o.dimension >= 1 && o.dimension <= 1e12 && o.dimension == std::floor(o.dimension)))
        throw argument_error(fmt::format("--dimension: {} is no whole number from 1 to 1e12", o.dimension));
    if (!(o.seconds >= 0 && std::isfinite(o.seconds)))
        throw argument_error(fmt::format("--seconds: {} is not at least 0 and finite", o.seconds));
    if (!(o.dense_bits > 0 && std::isfinite(o.dense_bits)))
        throw argument_error(fmt::format("--dense-bits: {} is not above 0 and finite", o.dense_bits));
    if (!(o.computing >= 0 && std::isfinite(o.computing)))
        throw argument_error(fmt::format("--computing: {} is not at least 0 and finite", o.computing));
    auto const d = static_cast<std::size_t>(o.dimension);
    std::vector<any_compressor<T>> compressors;
    for (auto const& text : o.compressors) {
        compressors.push_back(parse_compressor<T>(text));
        laconic::detail::check_by_name(compressors.back(), d);
    }
    output::print(fmt::format(
        "{} numbers of type {}, {} workers, a message costs {} seconds; times of a round in milliseconds\n\n", d,
        o.type, o.workers, to_string(link)));
    output::print(fmt::format("{:<24} {:>12} {:>10} {:>10} {:>10} {:>10} {:>10} {:>5}\n", "compressor", "bits/number",
                              "encode", "send", "decode", "sum", "dense", "pays"));
    std::vector<std::string> reasons;
    for (auto const& c : compressors) {
        auto const p = would_it_pay<T>(
            link, d, o.workers, c, {.seconds = o.seconds, .bits_of_a_number = o.dense_bits, .computing = o.computing});
        output::print(fmt::format("{:<24} {:>12.4g} {:>10.4g} {:>10.4g} {:>10.4g} {:>10.4g} {:>10.4g} {:>5}\n",
                                  p.compressor, p.bits / static_cast<double>(d), 1e3 * p.encode, 1e3 * p.send,
                                  1e3 * p.decode, 1e3 * p.with_messages(), 1e3 * p.dense, p.pays ? "yes" : "no"));
        reasons.push_back(p.why());
    }
    output::print("\n");
    for (auto const& reason : reasons) output::print(reason + "\n");
}

}  // namespace

int main(int argc, char** argv) {
    options o;
    CLI::App app("Whether compressing gradients pays on a link.", "would_it_pay");
    parse(app, o);
    return output::run_program(app, argc, argv, [&] {
        o.type == "float" ? answer<float>(o) : answer<double>(o);
        return 0;
    });
}
