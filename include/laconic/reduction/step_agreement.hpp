// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"

/// What the ranks of a reducer compare beside their messages.
namespace laconic::detail {

/// The outcome of the comparison of all ranks' weights, for this rank.
struct step_agreement {
    double share = 1;                        ///< the factor of its gradient: its weight by the mean weight
    std::optional<compression_error> wrong;  ///< why there can be no step, the same on all ranks
};

/// The factor of a gradient of this weight, where the weights of so many ranks add up to `sum`: exactly 1 where all are
/// equal.
inline double share_of(double weight, double sum, int ranks) {
    double const product = weight * ranks;
    return std::isfinite(product) ? product / sum : weight / sum * ranks;
}

/// Compares, before the first message of a step, each rank's weight, and whether it sends all in full. A weight of NaN
/// drops the step. 16 bytes from each rank.
template <Communicator C>
[[gnu::cold, gnu::noinline]] step_agreement agree_on_step(C& comm, std::uint64_t round, double weight, bool dense) {
    struct {
        double weight, dense;
    } mine{weight, dense ? 1.0 : 0.0}, theirs{}, first{};
    comm.all_gather({std::as_bytes(std::span(&mine, 1))});
    step_agreement all;
    double sum = 0;
    auto const refuse = [&](int r, std::string const& why) {
        if (!all.wrong) all.wrong.emplace(r, round, why);
    };
    for (int r = 0; r < comm.size(); ++r) {
        auto const bytes = comm.from(r).bytes;
        if (bytes.size() != sizeof theirs) throw comm_error(r, concat({"rank ", r, " sends no weight"}));
        std::memcpy(&theirs, bytes.data(), sizeof theirs);
        if (r == 0) first = theirs;
        if (std::isnan(theirs.weight)) refuse(r, "the step was dropped there");
        if (!(theirs.weight >= 0 && std::isfinite(theirs.weight)))
            refuse(r, concat({"a weight of ", theirs.weight, ", which must be finite and at least 0"}));
        if (theirs.dense != first.dense)
            refuse(r, concat({"the step is ", (first.dense != 0 ? "not " : ""), "dense, unlike on rank 0"}));
        sum += theirs.weight;
    }
    if (!(sum > 0 && std::isfinite(sum))) refuse(0, concat({"the ranks' weights add up to ", sum}));
    all.share = share_of(weight, sum, comm.size());
    return all;
}

/// The largest of the ranks' rounds. 8 bytes from each rank.
template <Communicator C>
std::uint64_t latest_round(C& comm, std::uint64_t mine) {
    comm.all_gather({std::as_bytes(std::span(&mine, 1))});
    std::uint64_t latest = 0;
    for (int r = 0; r < comm.size(); ++r) {
        std::uint64_t theirs = 0;
        auto const bytes = comm.from(r).bytes;
        if (bytes.size() != sizeof theirs) throw comm_error(r, concat({"rank ", r, " sends no round"}));
        std::memcpy(&theirs, bytes.data(), sizeof theirs);
        latest = std::max(latest, theirs);
    }
    return latest;
}

/// Throws comm_error on all ranks where an estimate or mean shift differs from that of rank 0; it names the first such
/// rank and its first such layer. 8 bytes a layer from each rank.
template <class B, Communicator C, class Layers>
[[gnu::cold, gnu::noinline]] void verify_estimates(B& on, C& comm, Layers const& layers, std::uint64_t round) {
    std::vector<std::uint64_t> mine;
    for (auto const& l : layers.all()) mine.push_back(l.is_skipped() ? 0 : l.digest_of_estimate(on));
    comm.all_gather({std::as_bytes(std::span(mine))});
    for (int r = 0; r < comm.size(); ++r)
        if (comm.from(r).bytes.size() != 8 * mine.size())
            throw comm_error(r, concat({"rank ", r, " sends no digest for each layer"}));
    auto const first = comm.from(0).bytes;
    for (int r = 1; r < comm.size(); ++r)
        for (std::size_t l = 0; l < layers.size(); ++l) {
            if (std::memcmp(first.data() + 8 * l, comm.from(r).bytes.data() + 8 * l, 8) == 0) continue;
            throw comm_error(r, concat({"rank ", r, " has another estimate or mean shift than rank 0: ",
                                        layers[l].title(), " in round ", round}));
        }
}

}  // namespace laconic::detail
