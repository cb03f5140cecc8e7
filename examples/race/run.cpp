// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "laconic/any/communicator.hpp"
#include "laconic/any/compressor.hpp"
#include "laconic/any/grammar.hpp"
#include "laconic/any/parse_collective.hpp"
#include "laconic/any/parse_reduction.hpp"
#include "laconic/any/transport.hpp"
#include "laconic/comm/delayed.hpp"
#include "laconic/comm/fibers.hpp"
#include "laconic/comm/metered.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/run.hpp"
#include "named_methods.hpp"
#include "stop.hpp"

namespace race {
namespace {

using ranks = laconic::any_communicator;  // so that one loop is compiled for all engines

/// The i-th of the numbers that rank r sent in the last all-gather.
double received(ranks const& comm, int r, std::size_t i) {
    double v;
    std::memcpy(&v, comm.from(r).bytes.data() + i * sizeof v, sizeof v);
    return v;
}

/// Sums over ranks, beside the meter: measuring is no part of a method's traffic.
void sum_over_ranks(ranks& comm, std::span<double> numbers) {
    comm.all_gather({std::as_bytes(std::span<double const>(numbers))});
    for (double& v : numbers) v = 0;
    for (int r = 0; r < comm.size(); ++r)
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += received(comm, r, i);
}

/// A mark costs an all-gather, and a pass over the data where the value does not come with the gradient: the first
/// rounds have one each, and later ones after each 0.01 to 0.1 per cent, or 0.1 to 1 where it costs that pass.
bool is_due(std::uint64_t round, bool is_value_known) {
    std::uint64_t every = 1;
    while (round / every >= (is_value_known ? 10000u : 1000u)) every *= 10;
    return round % every == 0;
}

/// The gradient of f, a collective call; with R, the gradient mapping L (x - prox(x - grad f / L)).
double gradient_norm(contest const& on, laconic::any_objective<> const& f, std::span<double const> x, ranks& comm,
                     std::vector<double>& g) {
    g.resize(x.size());
    f.gradient(x, std::span<double>(g));
    sum_over_ranks(comm, g);
    double const share = 1.0 / comm.size(), l = on.constants.smoothness;
    for (double& v : g) v *= share;
    if (!(on.prox == laconic::elastic_net{})) {
        laconic::host here;
        for (std::size_t i = 0; i < x.size(); ++i) g[i] = x[i] - g[i] / l;
        on.prox(here, 1 / l, std::span<double>(g));
        for (std::size_t i = 0; i < x.size(); ++i) g[i] = l * (x[i] - g[i]);
    }
    double square = 0;
    for (double const v : g) square += v * v;
    return std::sqrt(square);
}

/// Counts, and prices each message on its way: up where this rank sends it, down where it receives it. A root receives
/// its own answer as the others do, for a server would send it; what a root collects is no worker's. What nobody counts
/// goes through inner(), beside the network.
class priced_meter {
  public:
    priced_meter(ranks& network, ranks& beside, laconic::two_way_cost const& prices)
        : meter_(network), beside_(&beside), prices_(prices) {}

    int rank() const { return meter_.rank(); }
    int size() const { return meter_.size(); }
    void all_gather(laconic::payload mine) {
        meter_.all_gather(mine);
        pay(prices_.up, mine);
        for (int r = 0; r < size(); ++r)
            if (r != rank()) pay(prices_.down, from(r));
    }
    void gather(int root, laconic::payload mine) {
        meter_.gather(root, mine);
        pay(prices_.up, mine);
    }
    void broadcast(int root, laconic::payload mine) {
        meter_.broadcast(root, mine);
        pay(prices_.down, from(root));
    }
    laconic::payload from(int r) const { return meter_.from(r); }
    laconic::payload exchange(int to, laconic::payload mine, int from) {
        auto const theirs = meter_.exchange(to, mine, from);
        if (to != laconic::no_rank && to != rank()) pay(prices_.up, mine);
        if (from != laconic::no_rank && from != rank()) pay(prices_.down, theirs);
        return theirs;
    }
    template <class T>
    void all_reduce(std::span<T> x) {
        meter_.all_reduce(x);
        pay(prices_.up, {std::as_bytes(x)});
        pay(prices_.down, {std::as_bytes(x)});
    }

    laconic::metered<ranks> const& bytes() const { return meter_; }
    double cost() const { return cost_; }
    ranks& inner() const { return *beside_; }

  private:
    void pay(laconic::message_cost const& price, laconic::payload sent) {
        cost_ += price(8.0 * static_cast<double>(sent.bytes.size()));
    }

    laconic::metered<ranks> meter_;
    ranks* beside_;
    laconic::two_way_cost prices_;
    double cost_ = 0;
};

laconic::any_recursion<double> composed(laconic::any_method<double> const& method, contest const& on,
                                        std::string const& collective, int worker) {
    auto r = method.compose(on.constants_of(worker), on.prox);
    if (collective.empty()) return r;
    auto const chosen = laconic::parse_collective<double>(collective);
    if (r.over.server() && chosen.gathers()) return r;
    if (r.over.server())
        throw laconic::argument_error("the collective " + collective +
                                      " leaves a server no message: it goes not with " + to_string(method));
    r.over = chosen;
    return r;
}

/// The method that a text names; one that makes its own loop adds up by the collective, as composed() lets others do.
laconic::any_method<double> named(std::string const& method, std::string const& collective) {
    auto const chosen = laconic::parse_method<double>(method);
    return chosen.has_loop() && !collective.empty() ? chosen.over(laconic::parse_collective<double>(collective))
                                                    : chosen;
}

/// A method that makes its own loop takes no proximal operator; the loop that all workers start says what else it
/// refuses: its settings, the number of workers, the collective.
void check_loop(laconic::any_method<double> const& method, contest const& on) {
    if (!(on.prox == laconic::elastic_net{}))
        throw laconic::argument_error(to_string(method) + " has no form with a proximal operator");
    laconic::fibers::run(on.constants.workers, [&](auto& comm) {
        std::vector<double> x(on.constants.dimension);
        auto const& f = on.workers[static_cast<std::size_t>(comm.rank())];
        method.start(on.constants_of(comm.rank()), f, comm, std::span<double>(x), 0);
    });
}

/// The mean of the ranks' iterates, where each has its own.
std::vector<double> mean_iterate(std::span<double const> x, ranks& comm) {
    std::vector<double> mean(x.begin(), x.end());
    sum_over_ranks(comm, mean);
    for (double& v : mean) v /= comm.size();
    return mean;
}

void run_rank(laconic::any_method<double> const& method, contest const& on, settings const& how, progress const& show,
              ranks comm, result& out) {
    std::optional<laconic::delayed<ranks>> slow;
    if (how.on.is_delayed()) slow.emplace(comm, how.on.link);
    ranks network = slow ? ranks(*slow) : comm;
    priced_meter meter(network, comm, how.cost);
    auto const& f = on.workers[static_cast<std::size_t>(comm.rank())];
    bool const first = comm.rank() == 0;
    double const share = 1.0 / comm.size();
    std::vector<double> x(on.constants.dimension), gradient;
    double start = 0;
    auto const begin = std::chrono::steady_clock::now();
    std::vector<double> mean;
    std::uint64_t round = 0;
    auto const at = [&](std::span<double const> mine) -> std::span<double const> {
        if (!method.has_loop()) return mine;
        return mean = mean_iterate(mine, comm);
    };
    auto const watch = [&](auto const& now, auto const& loop) {
        constexpr bool own_iterates = laconic::HoldsOwnIterates<std::remove_cvref_t<decltype(loop)>>;
        round = now.round;
        bool known = false;
        if constexpr (!own_iterates) known = now.known_value.has_value();
        if (now.round != how.rounds && !is_due(now.round, known && on.convex)) return true;
        double value = 0;
        if (on.convex) {
            if constexpr (own_iterates)
                value = loop.value_at_mean(comm);
            else
                value = now.value();
        }
        std::chrono::duration<double> const passed = std::chrono::steady_clock::now() - begin;
        bool const late = first && how.seconds > 0 && passed.count() > how.seconds;
        auto const& bytes = meter.bytes();
        std::array<double, 7> sums = {value,
                                      8.0 * static_cast<double>(bytes.bytes_sent()),
                                      8.0 * static_cast<double>(bytes.bytes_received() + bytes.bytes_broadcast()),
                                      late ? 1.0 : 0.0,
                                      meter.cost(),
                                      slow ? slow->clock() : 0,
                                      stop_signal() != 0 ? 1.0 : 0.0};
        sum_over_ranks(comm, sums);
        double clock = 0;  // the last rank's, not their sum
        for (int r = 0; r < comm.size(); ++r) clock = std::max(clock, received(comm, r, 5));
        double const measured = on.convex ? sums[0] * share + on.prox.value(now.x) - on.least_mean
                                          : std::pow(gradient_norm(on, f, at(now.x), comm, gradient), 2);
        mark const m{now.round, sums[1] * share, measured, sums[4] * share, clock};
        if (now.round == 0) start = m.suboptimality;
        bool const diverged = !(m.suboptimality <= 1e3 * std::abs(start) + 1e3);
        bool const reached = m.suboptimality <= how.target;
        bool const goes_on = !diverged && !reached && sums[3] == 0 && m.round != how.rounds;
        if (first || how.job) out.interrupted = goes_on && sums[6] > 0;
        if (first) {
            out.trace.push_back(m);
            out.rounds = m.round;
            out.bits_up = m.bits_up;
            out.bits_down = sums[2] * share;
            out.cost = m.cost;
            out.clock = m.clock;
            out.suboptimality = m.suboptimality;
            out.diverged = diverged;
            if (reached) out.reached = m;
            show(m);
        }
        return goes_on && sums[6] == 0;
    };
    laconic::run_settings const limits{.rounds = how.rounds, .seed = how.seed};
    try {
        if (method.has_loop()) {
            laconic::descend(method, on.constants_of(comm.rank()), f, x, meter, limits, watch);
        } else {
            auto recursion = composed(method, on, how.collective, comm.rank());
            if (first || how.job) out.step = recursion.scale * recursion.step.rate();
            laconic::descend(std::move(recursion), f, x, meter, limits, watch);
        }
    } catch (laconic::non_finite_error const&) {  // thrown on every rank alike, as the next
        if (first) out.diverged = true;
    } catch (laconic::compression_error const& e) {
        if (first && method.has_loop() && round == 0)  // an objective without a Hessian, such as that of softmax
            out.failure = e.what();
        else if (first)
            out.diverged = true;
    }
    double const norm = gradient_norm(on, f, at(x), comm, gradient);
    if (first) out.gradient_norm = norm;
}

}  // namespace

std::string priced(std::string const& method, laconic::two_way_cost const& cost) {
    std::string text = method;
    // From the last call to the first, so that places before it stay where they are.
    auto const visit = [&](auto const& self, laconic::grammar::pipe const& calls) -> void {
        for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
            for (auto item = call->items.rbegin(); item != call->items.rend(); ++item) self(self, item->calls);
            bool const has_cost = std::any_of(call->items.begin(), call->items.end(),
                                              [](auto const& item) { return item.name == "cost"; });
            if ((call->name == "cat" || call->name == "best_level") && !call->items.empty() && !has_cost)
                text.insert(text.find('(', call->position) + 1, "cost=" + to_string(cost) + ", ");
        }
    };
    visit(visit, laconic::grammar::read_pipe(method));
    return text;
}

std::string text_of(std::string const& method) { return to_string(laconic::parse_method<double>(method)); }
std::string text_of_collective(std::string const& collective) {
    return to_string(laconic::parse_collective<double>(collective));
}

void check(std::string const& method, contest const& on, std::string const& collective) {
    auto const chosen = named(method, collective);
    if (chosen.has_loop()) return check_loop(chosen, on);
    auto const r = composed(chosen, on, collective, 0);
    auto const d = on.constants.dimension;
    laconic::detail::check_by_name(r.compressor, d);
    using message = laconic::any_message<double, laconic::host>;
    laconic::any_mean<message, double, laconic::host>(r.over, d, {})
        .require_beside(r.feedback, "the feedback " + to_string(r.feedback));
}

std::vector<laconic::listed_value> list_of_methods() { return laconic::list_methods(); }
std::vector<laconic::listed_value> list_of_compressors() { return laconic::list_compressors(); }
std::vector<laconic::listed_value> list_of_collectives() { return laconic::list_collectives(); }
std::vector<laconic::listed_value> list_of_reductions() { return laconic::list_reductions<double>(); }
std::vector<laconic::listed_value> list_of_steps() { return laconic::list_steps(); }

result run(std::string const& method, contest const& on, settings const& how, progress const& show) {
    result out;
    auto const chosen = named(method, how.collective);
    out.method = text_of(method);
    auto const begin = std::chrono::steady_clock::now();
    auto const body = [&](auto& comm) { run_rank(chosen, on, how, show, comm, out); };
    if (how.job)
        body(*how.job);
    else if (how.at_once == 1)
        laconic::fibers::run(on.constants.workers, body);
    else
        laconic::threads::run(on.constants.workers, body, {how.at_once, {}});
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return out;
}

}  // namespace race
