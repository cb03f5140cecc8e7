// SPDX-License-Identifier: Apache-2.0
#include "support/failures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <limits>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "decentralized/bowl.hpp"
#include "laconic/any/compressor.hpp"
#include "laconic/any/transport.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/core/error.hpp"
#include "laconic/decentralized/gadmm.hpp"
#include "laconic/decentralized/gossip.hpp"
#include "laconic/descent.hpp"
#include "laconic/hierarchy.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/reducer.hpp"
#include "laconic/second_order/fednl.hpp"
#include "laconic/transport/in_background.hpp"
#include "named_collectives.hpp"

namespace failures {

/// What one rank has of a way: it is made, and takes steps.
struct subject {
    virtual ~subject() = default;
    virtual void step(int number, cause c, bool here) = 0;
    virtual std::vector<std::byte> save() = 0;
    virtual void restore(std::vector<std::byte> const& saved) = 0;
    /// The caller's vectors, after a step; and whether the last one that failed left them alone.
    virtual std::vector<double> numbers() const = 0;
    virtual bool untouched() const = 0;
};

namespace {

constexpr cause_row causes[] = {
    {cause::not_a_number, "NaN", "non_finite_error",
     "rank #, round 1: the gradient is not finite at coordinate 12 of layer b"},
    {cause::overflow, "overflow", "non_finite_error", "rank #, round 2: the gradient is not finite at coordinate "},
    {cause::compressor_throws, "a compressor that throws", "compression_error",
     "rank #, round 1: layer b: no such numbers"},
    {cause::other_length, "a vector of another length", "compression_error", "rank #, round 1: "},
    {cause::option_out_of_range, "an option out of range", "compression_error", "rank #, round 1: "},
    {cause::other_k, "another k", "agreement_error", "rank # has \"", true},
    {cause::other_layers, "another layer list", "agreement_error", "rank # has \"", true},
    {cause::other_option, "another option", "agreement_error", "rank # has \"", true},
    {cause::other_step_option, "another option of a step", "agreement_error", "rank # has "},
    {cause::damaged_for_one, "damaged bytes at one rank", "wire_error", "from rank #"},
    {cause::damaged_for_all, "damaged bytes at all", "wire_error", "from rank #"},
    {cause::no_theorem, "a missing theorem", "theory_error", "is not known to be contractive", true, true},
};

/// A communicator that cuts the first byte off what the culprit sends first. In a collective call the victim's copy
/// alone may be cut; a message of a pair has one receiver.
class damaging {
  public:
    /// `number` is that of this rank among all, `sender` the culprit's here; no_rank where it takes no part.
    damaging(any_communicator inner, int number, int sender) : inner_(inner), number_(number), sender_(sender) {}
    void arm(cause c) { armed_ = c, calls_ = 0, is_cut_ = false; }

    int rank() const { return inner_.rank(); }
    int size() const { return inner_.size(); }
    bool may_change_threads() const { return inner_.may_change_threads(); }
    void all_gather(payload mine) { inner_.all_gather(to_all(mine)), ++calls_; }
    void start_all_gather(payload mine, int lane = 0) { inner_.start_all_gather(to_all(mine), lane); }
    void finish(int lane = 0) { inner_.finish(lane), ++calls_; }
    void gather(int root, payload mine) { inner_.gather(root, damages() ? sent(mine) : mine), ++calls_; }
    void broadcast(int root, payload mine) { inner_.broadcast(root, root == rank() ? to_all(mine) : mine), ++calls_; }
    payload from(int r) const {
        bool const damaged = armed_ == cause::damaged_for_one && number_ == victim && calls_ == 1 && r == sender_;
        return damaged ? cut(inner_.from(r)) : inner_.from(r);
    }
    payload exchange(int to, payload mine, int from) {
        return inner_.exchange(to, damages() && to != no_rank ? sent(mine) : mine, from);
    }

  private:
    bool damages() const { return armed_ == cause::damaged_for_one || armed_ == cause::damaged_for_all; }
    static payload cut(payload p) { return p.bytes.empty() || p.is_error ? p : payload{p.bytes.subspan(1), false}; }
    payload sent(payload p) {
        if (sender_ != rank() || p.bytes.empty() || std::exchange(is_cut_, true)) return p;
        return cut(p);
    }
    payload to_all(payload p) { return armed_ == cause::damaged_for_all ? sent(p) : p; }

    any_communicator inner_;
    int number_, sender_, calls_ = 0;
    cause armed_ = cause::none;
    bool is_cut_ = false;
};

/// top_k that throws where a number is about this large.
constexpr double dreaded = 1e200;
struct fussy : top_k<> {
    template <class B, Scalar T>
    void operator()(B& on, std::span<T const> x, key from, message<T, B>& m) const {
        for (auto const v : x)
            if (std::abs(v) > dreaded / 1e9 && std::abs(v) < dreaded * 1e9) throw std::runtime_error("no such numbers");
        top_k<>::operator()(on, x, from, m);
    }
};

constexpr std::size_t sizes[] = {9, 14, 8};

/// The i-th number of a rank's gradient.
double number(int rank, int step, std::size_t i) {
    return static_cast<double>((i * 7 + static_cast<std::size_t>(rank) * 5 + static_cast<std::size_t>(step) * 3) % 13) -
           5.5;
}

/// A reducer over C, or over nodes.
template <class C, class Over = any_transport<double>>
class reducing : public subject {
  public:
    using how = error_feedback<any_compressor<double>, Over>;

    reducing(C& comm, int rank, int per_node, Over const& over, cause c, bool here)
        : rank_(rank),
          share_(per_node > 0 ? .9 : .45),
          reduce_(how{compressor(c, here), 1, over}, comm, layers(c, here), options(c, here)) {}

    void step(int number_of, cause c, bool here) override {
        vectors g;
        for (std::size_t l = 0; l < 3; ++l) {
            g.emplace_back(sizes[l]);
            for (std::size_t i = 0; i < sizes[l]; ++i) g[l][i] = number(rank_, number_of, i);
        }
        step_options how_to;
        if (c == cause::overflow && rank_ == culprit)  // of five numbers two are sent in a step
            for (std::size_t i = 8; i < 13; ++i) g[1][i] = share_ * std::numeric_limits<double>::max();
        if (here && c == cause::not_a_number) g[1][12] = std::numeric_limits<double>::quiet_NaN();
        if (here && c == cause::compressor_throws) g[1][12] = dreaded;
        if (here && c == cause::other_length) g[1].push_back(1);
        if (here && c == cause::option_out_of_range) how_to.loss_scale = -1;
        if (here && c == cause::other_step_option) how_to.step_size = 2;
        x_ = g;
        std::exception_ptr failed;
        try {
            for (std::size_t const l : {2u, 1u, 0u}) reduce_.start(l, x_[l], how_to);
            reduce_.finish();
        } catch (...) {
            failed = std::current_exception();
        }
        untouched_ = same(x_, g);
        if (failed) std::rethrow_exception(failed);
    }
    std::vector<std::byte> save() override { return reduce_.save(); }
    void restore(std::vector<std::byte> const& saved) override { reduce_.restore(std::span<std::byte const>(saved)); }
    std::vector<double> numbers() const override {
        std::vector<double> all;
        for (auto const& x : x_) all.insert(all.end(), x.begin(), x.end());
        return all;
    }
    bool untouched() const override { return untouched_; }

  private:
    using vectors = std::vector<std::vector<double>>;

    static bool same(vectors const& a, vectors const& b) {
        for (std::size_t l = 0; l < a.size(); ++l)
            for (std::size_t i = 0; i < a[l].size(); ++i)
                if (!(a[l][i] == b[l][i] || (a[l][i] != a[l][i] && b[l][i] != b[l][i]))) return false;
        return true;
    }
    static any_compressor<double> compressor(cause c, bool here) {
        if (c == cause::no_theorem) return rand_k{2};
        return fussy{top_k{here && c == cause::other_k ? 3 : 2}};
    }
    static std::vector<layer> layers(cause c, bool here) {
        return {{"a", sizes[0], 3}, {"b", sizes[1] + (here && c == cause::other_layers)}, {"c", sizes[2], 2}};
    }
    static reducer_options options(cause c, bool here) {
        reducer_options o{.seed = 7};
        if (here && c == cause::other_option) o.dense_rounds = 1;
        o.steps_vary = c == cause::other_step_option;  // else a collective compares no options of steps
        return o;
    }

    int rank_;
    double share_;  // of the largest number: a node of two ranks has the mean
    bool untouched_ = false;
    vectors x_;
    reducer<how, C, double> reduce_;
};

/// A bowl whose gradient on the culprit is broken from outside.
struct fragile : networks::bowl {
    cause broken = cause::none;

    void gradient(std::span<double const> x, std::span<double> g) const {
        networks::bowl::gradient(x, g);
        if (broken == cause::not_a_number) g[5] = std::numeric_limits<double>::quiet_NaN();
        if (broken == cause::compressor_throws) g[5] = dreaded;
        if (broken == cause::overflow)
            for (std::size_t i = 2; i < 7; ++i) g[i] = .45 * std::numeric_limits<double>::max();
    }
    void hessian(std::span<double const> x, Eigen::MatrixXd& h) const {
        networks::bowl::hessian(x, h);
        if (broken == cause::compressor_throws) h(5, 5) = dreaded;
        if (broken == cause::overflow) h(4, 4) = (is_before ? .9 : -.9) * std::numeric_limits<double>::max();
    }
    bool is_before = true;
};

/// The loop that make(f, comm, x) returns.
template <class Make>
class looping : public subject {
  public:
    looping(any_communicator& comm, int rank, Make const& make)
        : f_{networks::bowl_of(rank, 9)}, x_(9), rank_(rank), loop_(make(f_, comm, std::span<double>(x_))) {}

    void step(int number_of, cause c, bool here) override {
        f_.is_before = number_of < 2;
        f_.broken = here || (c == cause::overflow && rank_ == culprit) ? c : cause::none;
        before_ = x_;
        loop_.round();
        f_.broken = cause::none;
    }
    std::vector<std::byte> save() override { return loop_.save(); }
    void restore(std::vector<std::byte> const& saved) override { loop_.restore(saved); }
    std::vector<double> numbers() const override { return x_; }
    bool untouched() const override { return x_ == before_; }

  private:
    fragile f_;
    std::vector<double> x_, before_;
    int rank_;
    std::invoke_result_t<Make const&, fragile const&, any_communicator&, std::span<double>> loop_;
};
/// make(k, odd, c)(f, comm, x) is the loop of a method whose compressor sends k numbers, with another option if `odd`.
template <class Make>
auto method_way(Make make) {
    return [make](any_communicator& comm, int rank, cause c, bool here) -> std::unique_ptr<subject> {
        int const k = !here ? 2 : c == cause::other_k ? 3 : c == cause::option_out_of_range ? 99 : 2;
        auto const how = make(fussy{top_k{k}}, here && c == cause::other_option, c);
        return std::make_unique<looping<decltype(how)>>(comm, rank, how);
    };
}

}  // namespace

std::vector<way> ways() {
    std::vector<way> all{{"gathered", 4, 0, gather_all{}}};
    for (auto const& listed : list_collectives())
        if (listed.name != "gather" && listed.name != "engine_all_reduce" && listed.name != "robust") {
            auto const text = std::string(listed.name);
            all.push_back({"over " + text, 4, 0, parse_collective(text)});
        }
    all.push_back({"over two_shot in full", 4, 0, parse_collective("two_shot(identity)")});
    all.push_back({"in background over ring", 4, 0, ring{}, true});
    all.push_back({"in background over gtop_k", 4, 0, gtop_k{2}, true});
    using descending = recursion<any_compressor<>, memory<>, gradient_step, fixed_level, mini_batch, any_transport<>>;
    for (auto const& [name, over] : {std::pair<char const*, any_transport<>>{"gathered", gather_all{}},
                                     {"served", served<identity, double>{}},
                                     {"over ring", ring{}}})
        all.push_back(
            {std::string("descent ") + name, 4, 0, {}, false, method_way([over = over](auto c, bool odd, cause is) {
                 if (is == cause::no_theorem)
                     static_cast<void>(diana<any_compressor<>>{c}.compose<double, host>(problem{9, 4, 1}));
                 descending const r{c, {0, true}, gradient_step{odd ? .5 : 1.}, {}, {}, over, 1};
                 return [r](fragile const& f, any_communicator& comm, std::span<double> x) {
                     return descent<descending, fragile, any_communicator>(r, f, comm, x, 7);
                 };
             })});
    auto const loops = [&](char const* name, auto make) {
        all.push_back({name, 4, 0, {}, false, method_way([make](auto c, bool odd, cause is) {
                           auto const m = make(c, odd, is);
                           return [m](fragile const& f, any_communicator& comm, std::span<double> x) {
                               return m.template start<double>(problem{}, f, comm, x, 7);
                           };
                       })});
    };
    loops("gossip", [](auto c, bool odd, cause is) {
        return choco<any_compressor<>>{.compressor = c,
                                       .step = is == cause::no_theorem ? 0
                                               : odd                   ? .1
                                                                       : .2,
                                       .gamma = .1};
    });
    loops("gadmm",
          [](auto c, bool odd, cause) { return ggadmm<any_compressor<>>{.compressor = c, .rho = odd ? 1. : 2.}; });
    loops("fednl", [](auto c, bool odd, cause is) {
        double const mu = is == cause::no_theorem ? 0 : .5;
        return fednl<any_compressor<>>{.compressor = c, .definite = definite_by::projection, .mu = mu, .fresh = odd};
    });
    all.push_back({"nodes 2 x 2", 4, 2, gather_all{}});
    all.push_back({"nodes 3 x 2", 6, 2, gather_all{}});
    all.push_back({"nodes 2 x 2 over ring", 4, 2, ring{}});
    return all;
}

std::vector<cause_row> rows(way const& w) {
    std::vector<cause_row> all(std::begin(causes), std::end(causes));
    for (auto& row : all) {
        if (!w.method) break;
        if (row.is == cause::not_a_number) row.text = "rank #, round 1: the gradient is not finite at coordinate 5";
        if (row.is == cause::compressor_throws) row.text = "rank #, round 1: no such numbers";
        if (row.is == cause::no_theorem) row.text = "";
        if (row.is == cause::compressor_throws && w.name == "fednl")
            row.text = "rank #, round 1: layer Hessian: no such numbers";
        if (row.is == cause::option_out_of_range)
            row = {row.is, row.name, "argument_error", "k = 99 is above the dimension", true, true};
    }
    return all;
}

namespace {

/// The type of what is thrown, with the rank that it holds, and its text.
void describe(std::exception_ptr failed, ending& e) {
    auto const is = [&](char const* type, std::optional<int> rank, std::exception const& what) {
        e.thrown = rank ? detail::concat({type, " ", *rank}) : type;
        e.text = what.what();
    };
    try {
        std::rethrow_exception(failed);
    } catch (non_finite_error const& x) {
        is("non_finite_error", x.rank, x);
    } catch (compression_error const& x) {
        is("compression_error", x.rank, x);
    } catch (agreement_error const& x) {
        is("agreement_error", x.rank, x);
    } catch (comm_error const& x) {
        is("comm_error", x.rank, x);
    } catch (wire_error const& x) {
        is("wire_error", {}, x);
    } catch (shape_error const& x) {
        is("shape_error", {}, x);
    } catch (argument_error const& x) {
        is("argument_error", {}, x);
    } catch (theory_error const& x) {
        is("theory_error", {}, x);
    } catch (error const& x) {
        is("error", {}, x);
    } catch (std::exception const& x) {
        is("std::exception", {}, x);
    }
}

/// The state; nothing where a collective broke off, so that only a saved one can be gone on from.
std::optional<std::vector<std::byte>> saved_or_broken(subject& one) {
    try {
        return one.save();
    } catch (comm_error const&) {
        return {};
    }
}

/// One rank's part in a cell: `make(c, here)` is its subject, `arm(c)` damages bytes.
template <class Make, class Arm>
ending live_through(cause_row const& row, int rank, bool fails, Make make, Arm arm) {
    ending e;
    cause const c = row.is;
    bool const here = rank == culprit || row.everywhere;
    auto const attempt = [&](auto act) {
        std::exception_ptr failed;  // fibers must not communicate while they handle an exception
        try {
            act();
        } catch (...) {
            failed = std::current_exception();
        }
        if (failed) describe(failed, e);
        return failed != nullptr;
    };
    std::unique_ptr<subject> one;
    if (row.at_start) {
        if (fails) attempt([&] { make(c, here)->step(0, c, here); });
        one = make(cause::none, false);
    } else {
        one = make(c, false);
        int const earlier = c == cause::overflow ? 2 : 1;
        for (int n = 0; n < earlier; ++n) one->step(n, c == cause::overflow ? c : cause::none, false);
        if (fails) {
            auto const before = one->save();
            arm(c);
            attempt([&] { one->step(earlier, c, here); });
            arm(cause::none);
            e.is_untouched = one->untouched();
            e.is_same_state = saved_or_broken(*one).value_or(before) == before;
            if (c == cause::damaged_for_all || c == cause::damaged_for_one) one->restore(before);
        }
    }
    one->step(3, cause::none, false);
    e.next = one->numbers();
    return e;
}

}  // namespace

ending on_line(any_communicator engine, way const& w, cause_row const& row, bool fails) {
    int const rank = engine.rank();
    damaging line(engine, rank, culprit);
    any_communicator comm(line);
    return live_through(
        row, rank, fails,
        [&](cause c, bool here) -> std::unique_ptr<subject> {
            if (w.method) return w.method(comm, rank, c, here);
            using threaded = in_background<any_collective<double>>;
            if (w.in_background)
                return std::make_unique<reducing<any_communicator, threaded>>(comm, rank, 0, threaded{w.over}, c, here);
            return std::make_unique<reducing<any_communicator>>(comm, rank, 0, w.over, c, here);
        },
        [&](cause c) { line.arm(c); });
}
ending on_nodes(any_communicator within, any_communicator between, int rank, way const& w, cause_row const& row,
                bool fails) {
    bool const meets = rank % w.per_node == culprit % w.per_node;
    damaging line_within(within, rank, no_rank), line_between(between, rank, meets ? culprit / w.per_node : no_rank);
    any_communicator inside(line_within), across(line_between);
    hierarchy<any_communicator, any_communicator> nodes{inside, across};
    return live_through(
        row, rank, fails,
        [&](cause c, bool here) -> std::unique_ptr<subject> {
            return std::make_unique<reducing<hierarchy<any_communicator, any_communicator>>>(nodes, rank, w.per_node,
                                                                                             w.over, c, here);
        },
        [&](cause c) { line_between.arm(c); });
}

namespace {

/// Cells that are special, and why. A `way` ends with * where it stands for all that begin so.
enum class special {
    not_applicable,  ///< the cause cannot be there
    at_some_ranks,   ///< bytes that reach ranks without a later message: who cannot read them fails alone
    expected_to_differ
};
struct special_cells {
    special is;
    char const* ways;
    std::vector<cause> of;  ///< none: all
    char const* why;
    char const* engine = "";
};
std::vector<special_cells> special_list() {
    using enum cause;
    using enum special;
    return {
        {not_applicable, "in background*", {}, "fibers share one thread", "fibers"},
        {not_applicable,
         "descent*",
         {other_length, other_layers, other_step_option},
         "x is one vector, whose length each rank checks for itself, and rounds have no options"},
        {not_applicable, "gossip", {other_length, other_layers, other_step_option}, "as of a descent"},
        {not_applicable, "gadmm", {other_length, other_layers, other_step_option}, "as of a descent"},
        {not_applicable, "fednl", {other_length, other_layers, other_step_option}, "as of a descent"},
        {not_applicable, "gossip", {overflow}, "x itself, from which the difference is taken, is not finite first"},
        {not_applicable, "gadmm", {overflow}, "x itself, from which the difference is taken, is not finite first"},
        {not_applicable, "gadmm", {no_theorem}, "it converges for every rho"},
        {not_applicable, "over two_shot", {overflow}, "bf16 has no such numbers"},
        {at_some_ranks, "gathered", {damaged_for_one}, "each rank reads its own copy of the last message"},
        {at_some_ranks, "descent gathered", {damaged_for_one}, "each rank reads its own copy of the last message"},
        {at_some_ranks,
         "over gathered_sum",
         {damaged_for_one, damaged_for_all},
         "lists travel in pairs, and the last is not answered"},
        {at_some_ranks, "over recursive_doubling", {damaged_for_one, damaged_for_all}, "as over gathered_sum"},
        {not_applicable,
         "fednl",
         {damaged_for_one},
         "it differs, as over threads, and ranks would wait for the deadline",
         "MPI"},
        {expected_to_differ,
         "nodes 2 x 2",
         {damaged_for_one},
         "each rank reads its own copy of the last message, and only its node learns of it"},
        {expected_to_differ,
         "nodes 3 x 2",
         {damaged_for_one},
         "each rank reads its own copy of the last message, and only its node learns of it"},
        {expected_to_differ,
         "over ok_top_k",
         {not_a_number, overflow, compressor_throws, other_length},
         "the collective's own state is that after the layers that were summed"},
        {expected_to_differ,
         "over auto",
         {not_a_number, overflow, compressor_throws, other_length},
         "the collective's own state is that after the layers that were summed"},
        {expected_to_differ,
         "fednl",
         {damaged_for_one},
         "the rank that cannot read the gradient makes no Hessian message, for which the others wait"},
    };
}
std::optional<special_cells> special_of(way const& w, cause c, std::string_view engine) {
    for (auto const& cells : special_list()) {
        std::string_view ways = cells.ways;
        bool const all_that_begin_so = ways.ends_with('*');
        if (all_that_begin_so) ways.remove_suffix(1);
        bool const fits = all_that_begin_so ? w.name.starts_with(ways) : w.name == ways;
        bool const is_of = cells.of.empty() || std::find(cells.of.begin(), cells.of.end(), c) != cells.of.end();
        if (fits && is_of && (*cells.engine == 0 || engine == cells.engine)) return cells;
    }
    return {};
}

/// Whether the text names a rank other than the culprit and those that it may be compared with.
bool names_another_rank(std::string const& text, way const& w) {
    for (auto at = text.find("rank "); at != text.npos; at = text.find("rank ", at + 1)) {
        int const named = std::atoi(text.c_str() + at + 5), n = w.per_node;
        bool const is_compared = named == 0 || (n > 0 && (named == culprit % n || named == culprit / n * n));
        if (named != culprit && !is_compared) return true;
    }
    return false;
}

/// What is wrong with a cell, from the endings of all ranks with and without the failure; nothing where all is right.
std::string judge(way const& w, cause_row const& row, bool at_some, std::vector<ending> const& with,
                  std::vector<ending> const& without) {
    std::string text = row.text;
    if (auto const at = text.find('#'); at != text.npos) text.replace(at, 1, std::to_string(culprit));
    std::string_view const of(row.type);
    bool const has_rank = of == "non_finite_error" || of == "compression_error" || of == "agreement_error";
    std::string const type = row.type + (has_rank ? " " + std::to_string(culprit) : "");
    int as_expected = 0;
    for (std::size_t r = 0; r < with.size(); ++r) {
        auto const& e = with[r];
        auto const at = detail::concat({"rank ", r, ": "});
        bool const fails = e.thrown == type && e.text.find(text) != e.text.npos && !names_another_rank(e.text, w);
        as_expected += fails;
        if (!fails && !(at_some && e.thrown == "nothing"))
            return detail::concat({at, e.thrown, ": \"", e.text, "\", not ", type, ": \"", text, "\""});
        if (e.text != with[0].text && !at_some) return at + "\"" + e.text + "\", rank 0: \"" + with[0].text + "\"";
        if (e.thrown != "nothing" && !e.is_untouched) return at + "the caller's numbers have changed";
        if (e.thrown != "nothing" && !e.is_same_state) return at + "the state has changed";
        if (e.next != without[r].next) return at + "the next step is another one";
    }
    return as_expected > 0 ? "" : "no rank fails";
}

}  // namespace

std::string complaint(way const& w, cause_row const& row, std::string_view engine,
                      std::function<std::vector<ending>(bool fails)> const& run) {
    auto const cells = special_of(w, row.is, engine);
    if (cells && cells->is == special::not_applicable) return {};
    std::string wrong;
    try {
        wrong = judge(w, row, cells && cells->is == special::at_some_ranks, run(true), run(false));
    } catch (std::exception const& e) {
        wrong = std::string("the run ends: ") + e.what();
    }
    bool const differs = cells && cells->is == special::expected_to_differ;
    if (wrong.empty() != differs) return {};
    return detail::concat({std::string(engine), ", ", w.name, ", ", row.name, ": ",
                           differs ? "is right: take it off the list of cells that are expected to differ" : wrong});
}

}  // namespace failures
