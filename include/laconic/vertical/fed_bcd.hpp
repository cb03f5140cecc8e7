// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "laconic/reduction/reduction.hpp"
#include "laconic/transport/served.hpp"
#include "laconic/vertical/block_descent.hpp"

/// FedBCD (Liu, Zhang, Kang, Li, Chen, Hong, Yang, IEEE TSP 70, 2022): each rank is a Party. Parties exchange their
/// embeddings z^k of S samples, S c numbers a party and round, and then take local_steps steps in their own blocks, as
/// if the others stood still. Nothing else travels. (Residuals z - target are as good as labels to whoever knows z, and
/// z is 0 at x = 0.)
///
/// Labels: where all parties have them, any loss will do. Where one has them, the slopes of the loss must be affine
/// (AffineParty: squared_loss, taylor_logistic_loss), or the party with the labels sends slopes (party_order::frozen).
///
/// `local_steps` is Q, `prox` mu of the term prox (x - x_before) in a local step, `batch` the number S of samples of a
/// round, drawn without repetition from the shared seed, the same in all local steps; 0: all. `growth` is what happens
/// where f, penalties included, grows over three rounds; it is watched where all samples are taken and embeddings are
/// sent in full. `send` is the reduction (reduction/reduction.hpp) by which embeddings become their sum: plain{} sends
/// them in full; ef21_shift{C} sends differences, so that with all samples the optimum is still reached (EF-VFL,
/// Valdeira et al., arXiv:2406.14420). With batches it must not remember anything. plain{identity{}, served<identity,
/// T>{}} is the star of the paper: 2 (K - 1) S c numbers a round for K parties.
///
/// The constants of a problem are those of the blocks (agree_on_problem), and L, the smoothness of f, is taken to be K
/// times their mean, which bounds it. `step` is 0 for the one of theory, where there is one.
namespace laconic {

namespace detail {

/// Which ranks have labels: 1 or 0 for each. A collective call of one byte.
std::vector<int> holders_of_labels(bool mine, Communicator auto& comm) {
    std::vector<int> all;
    from_all(comm, std::byte{mine}, "whether it has labels",
             [&](int, std::byte has) { all.push_back(has != std::byte{}); });
    return all;
}
/// Where the labels are: on all ranks, the same, so that any loss will do, or on one. A collective call.
template <Scalar T, class P, Communicator C>
slope_source agree_on_labels(P const& party, C& comm) {
    auto const all = holders_of_labels(party.has_labels(), comm);
    auto const holders = std::count(all.begin(), all.end(), 1);
    if constexpr (LabelledParty<P, T>)
        if (holders == comm.size()) {  // the slopes at 0 show whether the labels are the same
            std::vector<T> const zeros(party.samples() * party.outputs());
            auto slopes = zeros;
            party.slopes(row_choice::all(party.samples()), std::span<T const>(zeros), std::span<T>(slopes));
            require_agreement(comm, {{"the labels", detail::digest(std::as_bytes(std::span<T const>(slopes)))}});
            return slope_source::labels;
        }
    bool affine = false;
    if constexpr (AffineParty<P, T>) affine = party.curvature() > 0;
    if (holders == 1 && affine) return slope_source::residual;
    throw argument_error({holders, " of ", comm.size(), " parties have labels, and the loss ",
                          (affine ? "is affine: all or one must have them"
                                  : "is not affine: all must have them, or take party_order::frozen")});
}

/// What the parts of a method share on this rank. Throws argument_error, shape_error and agreement_error, on all ranks
/// alike unless the reason is this rank's own x.
template <Scalar T, class M, class P, Communicator C>
auto block_work_of(M const& method, double step, bool in_turns, P const& party, C& comm, std::span<T> x,
                   std::uint64_t seed) {
    using R = std::remove_cvref_t<decltype(method.send)>;
    static_assert(Party<P, T>, "the objective of FedBCD is a Party of numbers of T (objective/party.hpp)");
    static_assert(Reduction<R, T, host>, "embeddings are sent by a reduction (reduction/reduction.hpp)");
    static_assert(
        R::is_proved && !FollowsSteps<R> && !FinishesEstimate<R, message_of<decltype(R::compressor), T>, T, host>,
        "the reduction of embeddings has a theorem, or unproved{...} around it, and does not change with time");
    if (x.size() != party.dimension())
        throw shape_error({"x has ", x.size(), " numbers, the party's block ", party.dimension()});
    if (method.batch > party.samples())
        throw argument_error({"a batch of ", method.batch, " of ", party.samples(), " samples"});
    require_agreement(comm, {{"the samples", std::size_t{party.samples()}},
                             {"the outputs", std::size_t{party.outputs()}},
                             {"the batch", method.batch},
                             {"the growth", words_of(method.growth)[static_cast<std::size_t>(method.growth)]}});
    auto work = std::make_shared<block_work<P, T>>(
        block_work<P, T>{&party, comm.rank(), turn_schedule{comm.size(), in_turns, method.batch > 0},
                         slope_source::received, method.local_steps, step, method.prox, method.batch, key{seed}});
    messages::check_dimension(work->numbers());
    method.send.check_proof(work->numbers());
    auto const memory = method.send.template feedback<T, host>(work->numbers());
    if (memory.decay() != 0)
        throw argument_error(
            "error feedback corrects a sum over the rounds, which embeddings are not: take ef21_shift{...}");
    if (memory.rate() != 0 && method.batch > 0)
        throw argument_error("the shift of one batch is not that of the next: with batches take plain{...}");
    return work;
}

}  // namespace detail

/// When the parties of fed_bcd move.
///
/// parallel, FedBCD-p: all at the same time. For an affine loss and all samples, f falls in each round where
/// local_steps x step < 2 / L, the default being 1 / (Q L + prox). A round on a quadratic function with the blocks H_kk
/// is x_k <- x_k - (1 - (1 - step (H_kk + prox))^Q) (H_kk + prox)^-1 grad_k f: so prox bounds the move, however large Q
/// is. A round sends S c numbers from each party to each other one.
///
/// sequential, FedBCD-s: one after another, in the order of ranks, and each broadcasts its new embeddings before the
/// next one moves: S c numbers a party and round, and with batches as many again but one. It is block SOR, and for a
/// convex f and all samples it converges where step <= 1 / L_k, whatever local_steps is; the default is 1 / (L + prox).
/// `send` is plain{}, or ef21_shift{C} with all samples: the messages are differences to what the others know.
///
/// frozen, FedBCD-p with frozen residuals, for any loss: rank 0 alone has the labels, receives the embeddings, and
/// answers with the slopes of the sums, which stay as they are during all local steps: 2 (K - 1) S c numbers a round.
/// local_steps above 1 are refused with theory_error unless step <= 1 / (Q L), or `unproved` asks for them.
enum class party_order { parallel, sequential, frozen };

/// FedBCD, with parties that move as `when` says; its values are named fed_bcd_p, fed_bcd_s and fed_bcd_frozen.
template <party_order when = party_order::parallel, class R = plain<>>
struct fed_bcd {
    static constexpr bool in_turns = when == party_order::sequential, is_frozen = when == party_order::frozen;
    static constexpr char const* name = in_turns ? "fed_bcd_s" : is_frozen ? "fed_bcd_frozen" : "fed_bcd_p";

    std::size_t local_steps = 1;
    double step = 0, prox = 0;
    std::size_t batch = 0;
    on_growth growth = on_growth::raise;
    R send{};
    [[no_unique_address]] std::conditional_t<is_frozen, bool, std::monostate> unproved{};  ///< a bool of `frozen` alone

    template <Scalar T, class P, Communicator C>
    auto start(problem const& p, P const& party, C& comm, std::span<T> x, std::uint64_t seed) const {
        constexpr bool gathers = std::same_as<decltype(R::over), gather_all>;
        static_assert(!in_turns || gathers, "turns have a transport of their own");
        static_assert(!is_frozen || gathers, "rank 0 is the server of party_order::frozen");
        auto const work = detail::block_work_of(*this, step_size(p), in_turns, party, comm, x, seed);
        auto const run = [&](auto feedback, double scale, auto over) {
            recursion<decltype(R::compressor), decltype(feedback), replace_by, fixed_level, local_blocks<P, T>,
                      decltype(over)>
                how{send.compressor, std::move(feedback), {scale}, {}, {work, x}, std::move(over), 1};
            return block_descent<P, C, T, decltype(how)>(std::move(how), work, comm, x, growth);
        };
        auto memory = send.template feedback<T, host>(work->numbers());
        if constexpr (is_frozen) {
            static_assert(LabelledParty<P, T>,
                          "party_order::frozen needs slopes(rows, z, s) of the party with the labels");
            if (detail::holders_of_labels(party.has_labels(), comm)[0] == 0)
                throw argument_error({name, ": rank 0, the server, has no labels"});
            return run(std::move(memory), 1, served<slopes_of_mean<P, T>, T>{{work}});
        } else if constexpr (in_turns) {
            if (!std::same_as<decltype(R::compressor), identity> && memory.rate() != 1)
                throw argument_error({name, " sends differences: by plain{}, or by ef21_shift{...}"});
            work->source = detail::agree_on_labels<T>(party, comm);
            return run(turn_memory<T>{work->when, comm.rank()}, 1.0 * comm.size(), by_turns{work->when});
        } else {
            work->source = detail::agree_on_labels<T>(party, comm);
            return run(std::move(memory), 1.0 * comm.size(), send.over);
        }
    }
    bool operator==(fed_bcd const&) const = default;
    static constexpr void description(auto&& describe) {
        constexpr char const* about = in_turns    ? "local steps of parties with other features, in turns"
                                      : is_frozen ? "local steps along slopes that the party with the labels sends"
                                                  : "local steps of parties with other features, at once";
        auto const with = [&](auto const&... others) {
            describe(name, about, "Liu et al., IEEE TSP 70, 2022",
                     field("local_steps", &fed_bcd::local_steps).between(1, 1e9).by_name(),
                     field("step", &fed_bcd::step).between(0, 1e300).by_name(),
                     field("prox", &fed_bcd::prox).between(0, 1e300).by_name(),
                     field("batch", &fed_bcd::batch).between(0, 1e9).by_name(),
                     field("growth", &fed_bcd::growth).by_name(), field("send", &fed_bcd::send).written().by_name(),
                     others...);
        };
        if constexpr (is_frozen)
            with(field("unproved", &fed_bcd::unproved).by_name());
        else
            with();
    }

  private:
    // The step that is given, or that of theory.
    double step_size(problem const& p) const {
        auto const refuse = [](std::string const& why) { throw theory_error({name, ": ", why}); };
        detail::check_fields(*this);
        double const l = p.smoothness * p.workers, steps = static_cast<double>(local_steps);
        if (step == 0 && batch > 0) refuse("no theorem gives the step of batches; give the step yourself");
        if (step == 0 && !(l > 0)) refuse("its step needs smoothness(), which a party lacks; give the step yourself");
        double const eta = step > 0 ? step : 1 / ((in_turns ? 1 : steps) * l + prox);
        if constexpr (is_frozen)
            if (local_steps > 1 && !unproved && !(l > 0 && eta * steps * l <= 1 + 1e-12))
                refuse(detail::concat(
                    {local_steps, " local steps of ", eta,
                     " along slopes that stay as they are need local_steps x step <= 1 / L, with L = ", l,
                     "; take party_order::parallel, or .unproved = true"}));
        return eta;
    }
};

}  // namespace laconic
