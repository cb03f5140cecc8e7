// SPDX-License-Identifier: Apache-2.0
#include "laconic_c.h"

#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "laconic/collective/dense/engine_all_reduce.hpp"
#include "laconic/collective/dense/ring.hpp"
#include "laconic/comm/engine_of.hpp"
#if LACONIC_C_OVER_MPI
#include "laconic/comm/mpi.hpp"
#endif
#include "laconic/comm/tcp.hpp"
#include "laconic/compiled.hpp"
#include "laconic/core/version.hpp"
#include "laconic/encode.hpp"
#include "laconic/sum.hpp"
#include "named.hpp"

namespace laconic::in_c {

struct start {
    laconic_engine engine;
    void operator()(int lane, std::span<std::byte const> mine, std::span<std::byte> all) const {
        if (auto const rc = engine.start(engine.context, lane, mine.data(), mine.size(), all.data()))
            throw comm_error(no_rank, {"the communicator's start() returned ", rc});
    }
};
struct finish {
    laconic_engine engine;
    void operator()(int lane) const {
        if (auto const rc = engine.finish(engine.context, lane))
            throw comm_error(no_rank, {"the communicator's finish() returned ", rc});
    }
};

}  // namespace laconic::in_c

namespace {

using namespace laconic;

thread_local std::string last_error;

laconic_status failed(laconic_status kind, char const* why) noexcept {
    try {
        last_error = why;
    } catch (...) {
        last_error.clear();  // there is no room for the text
    }
    return kind;
}

// Calls call(); what it throws becomes a status and a text.
laconic_status guarded(auto call) noexcept {
    last_error.clear();
    try {
        call();
        return LACONIC_OK;
    } catch (argument_error const& e) {
        return failed(LACONIC_ARGUMENT_ERROR, e.what());
    } catch (parse_error const& e) {
        return failed(LACONIC_PARSE_ERROR, e.what());
    } catch (theory_error const& e) {
        return failed(LACONIC_THEORY_ERROR, e.what());
    } catch (shape_error const& e) {
        return failed(LACONIC_SHAPE_ERROR, e.what());
    } catch (agreement_error const& e) {
        return failed(LACONIC_AGREEMENT_ERROR, e.what());
    } catch (non_finite_error const& e) {
        return failed(LACONIC_NON_FINITE_ERROR, e.what());
    } catch (compression_error const& e) {
        return failed(LACONIC_COMPRESSION_ERROR, e.what());
    } catch (wire_error const& e) {
        return failed(LACONIC_WIRE_ERROR, e.what());
    } catch (comm_error const& e) {
        return failed(LACONIC_COMM_ERROR, e.what());
    } catch (std::bad_alloc const&) {
        return failed(LACONIC_OUT_OF_MEMORY, "no memory is left");
    } catch (std::length_error const&) {
        return failed(LACONIC_OUT_OF_MEMORY, "no vector is as long");
    } catch (std::exception const& e) {
        return failed(LACONIC_ERROR, e.what());
    } catch (...) {
        return failed(LACONIC_ERROR, "an exception of an unknown type");
    }
}

template <class P>
P* need(P* p, char const* name) {
    if (!p) throw argument_error({name, " is NULL"});
    return p;
}
// Likewise, for an array of n, which may have no address where n is 0.
template <class P>
std::span<P> need(P* first, std::size_t n, char const* name) {
    if (n > 0) need(first, name);
    return {first, n};
}

compiled::number_type type_of(laconic_number number) {
    switch (number) {
        case LACONIC_FLOAT32:
            return compiled::number_type::float32;
        case LACONIC_FLOAT64:
            return compiled::number_type::float64;
        case LACONIC_FLOAT16:
            return compiled::number_type::float16;
        case LACONIC_BFLOAT16:
            return compiled::number_type::bfloat16;
    }
    throw argument_error({"there is no type of numbers ", static_cast<int>(number), ": they are 0 to 3"});
}

laconic::step_options options_of(laconic_step_options const* given) {
    if (!given) return {};
    return {.loss_scale = given->loss_scale,
            .step_size = given->step_size == 0 ? std::optional<double>() : given->step_size,
            .weight = given->weight,
            .dense = given->dense != 0};
}
laconic::reducer_options options_of(laconic_reducer_options const* given) {
    reducer_options o;
    if (!given) return o;
    if (given->has_seed) o.seed = given->seed;
    if (given->propagate_non_finite) o.non_finite = on_non_finite::propagate;
    switch (given->missing_layer) {
        case LACONIC_RAISE:
            o.missing_layer = on_missing_layer::raise;
            break;
        case LACONIC_ZERO:
            o.missing_layer = on_missing_layer::zero;
            break;
        case LACONIC_SKIP:
            o.missing_layer = on_missing_layer::skip;
            break;
        default:
            throw argument_error({"missing_layer is ", given->missing_layer, ", and not 0 to 2"});
    }
    for (auto const* const pattern : need(given->in_full, given->in_full_count, "options->in_full"))
        o.in_full.emplace_back(need(pattern, "a pattern in options->in_full"));
    o.skip_zero_layers = given->skip_zero_layers != 0, o.steps_vary = given->steps_vary != 0;
    o.correlated = given->correlated != 0;
    o.dense_below = given->dense_below, o.dense_rounds = given->dense_rounds, o.share_below = given->share_below;
    o.probe_every = given->probe_every, o.verify_every = given->verify_every;
    return o;
}

// Calls call(span) with the n numbers at x, of any type.
void with_numbers(void* x, std::size_t n, laconic_number number, auto call) {
    if (n > 0) need(x, "x");
    switch (type_of(number)) {
        case compiled::number_type::float32:
            return call(std::span(static_cast<float*>(x), n));
        case compiled::number_type::float64:
            return call(std::span(static_cast<double*>(x), n));
        case compiled::number_type::float16:
            return call(std::span(static_cast<Eigen::half*>(x), n));
        case compiled::number_type::bfloat16:
            return call(std::span(static_cast<Eigen::bfloat16*>(x), n));
    }
}
// Calls call(span, compressor) for float32 and float64.
void with_compressor(char const* text, void* x, std::size_t n, laconic_number number, auto call) {
    if (n > 0) need(x, "x");
    std::string_view const name = need(text, "compressor");
    if (number == LACONIC_FLOAT32)
        return call(std::span(static_cast<float*>(x), n), parse_compressor<float, compiled::backend>(name));
    if (number == LACONIC_FLOAT64)
        return call(std::span(static_cast<double*>(x), n), parse_compressor<double, compiled::backend>(name));
    throw argument_error("numbers of 16 bits are encoded as float32: convert them");
}
std::vector<std::byte> bytes_of(std::string const& text) {
    auto const bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}
std::vector<std::vector<std::byte>> states_of(void const* const* saved, size_t const* sizes, size_t count) {
    need(saved, "saved"), need(sizes, "sizes");
    std::vector<std::vector<std::byte>> all;
    for (std::size_t r = 0; r < count; ++r) {
        auto const bytes = need(static_cast<std::byte const*>(saved[r]), sizes[r], "a saved state");
        all.emplace_back(bytes.begin(), bytes.end());
    }
    return all;
}
// Calls use(states) or, as one state may be this rank's own, use(state), whose error is a shape_error where it is that
// of a run of one rank.
auto with_states(std::vector<std::vector<std::byte>> const& states, auto use) {
    if (states.size() == 1) try {
            return use(std::span<std::byte const>(states[0]));
        } catch (shape_error const&) {
        }
    return use(std::span(states));
}
tcp::settings settings_of(double deadline_seconds) {
    if (!(deadline_seconds >= 0)) throw argument_error("a deadline below 0, or NaN: 0 stands for no limit");
    double const most = 1e12;  // more than three decades, in milliseconds
    return {.deadline = std::chrono::milliseconds(std::llround(std::ceil(std::min(deadline_seconds * 1000, most))))};
}
// sum(), mean() or reduce_scatter(): `add` calls it with a collective.
void with_sum(any_communicator& comm, auto add) { comm.is_point_to_point() ? add(ring{}) : add(engine_all_reduce{}); }
key key_of(std::uint64_t seed, std::uint64_t stream) { return key{seed}.child(stream); }

}  // namespace

struct laconic_bytes {
    std::vector<std::byte> all;
};
struct laconic_comm {
    std::shared_ptr<void> held;
    any_communicator engine;

    template <Communicator C>
    explicit laconic_comm(std::shared_ptr<C> const& engine_) : held(engine_), engine(*engine_) {}
};
struct laconic_listener {
    tcp::listener inside;
    std::string address = inside.address();
};
struct laconic_reducer {
    compiled::reducer inside;
};

namespace {

// The same, where make() makes what *to points to; with an error *to is NULL.
template <class T>
laconic_status guarded(T** to, char const* name, auto make) noexcept {
    return guarded([&] {
        *need(to, name) = nullptr;
        *to = new T{make()};
    });
}

}  // namespace

extern "C" {

uint32_t laconic_c_version(void) { return LACONIC_C_VERSION; }
char const* laconic_version(void) {
    static std::string const text = detail::concat({version[0], ".", version[1], ".", version[2]});
    return text.c_str();
}
char const* laconic_last_error(void) { return last_error.c_str(); }

void const* laconic_bytes_data(laconic_bytes const* bytes) { return bytes ? bytes->all.data() : nullptr; }
size_t laconic_bytes_size(laconic_bytes const* bytes) { return bytes ? bytes->all.size() : 0; }
void laconic_bytes_free(laconic_bytes* bytes) { delete bytes; }

laconic_status laconic_comm_new(laconic_engine const* engine, laconic_comm** made) {
    return guarded(made, "made", [&] {
        need(engine, "engine"), need(engine->start, "engine->start"), need(engine->finish, "engine->finish");
        return laconic_comm(std::make_shared<engine_of<in_c::start, in_c::finish>>(
            engine->rank, engine->size, in_c::start{*engine}, in_c::finish{*engine}));
    });
}
laconic_status laconic_comm_tcp(int32_t rank, int32_t size, char const* meet, double deadline_seconds,
                                laconic_comm** made) {
    return guarded(made, "made", [&] {
        return laconic_comm(std::make_shared<tcp>(rank, size, need(meet, "meet"), settings_of(deadline_seconds)));
    });
}
laconic_status laconic_listener_new(char const* own, laconic_listener** made) {
    return guarded(made, "made", [&] { return tcp::listener(need(own, "own")); });
}
char const* laconic_listener_address(laconic_listener const* listener) {
    return listener ? listener->address.c_str() : nullptr;
}
void laconic_listener_free(laconic_listener* listener) { delete listener; }
laconic_status laconic_comm_tcp_connect(laconic_listener const* listener, int32_t rank, int32_t size,
                                        char const* const* addresses, double deadline_seconds, laconic_comm** made) {
    return guarded(made, "made", [&] {
        need(listener, "listener");
        if (size < 1) throw argument_error({size, " ranks: at least one is needed"});
        std::vector<std::string> all;
        for (auto const* const a : need(addresses, static_cast<std::size_t>(size), "addresses"))
            all.emplace_back(need(a, "an address"));
        return laconic_comm(std::make_shared<tcp>(listener->inside, rank, all, settings_of(deadline_seconds)));
    });
}
laconic_status laconic_comm_mpi([[maybe_unused]] int32_t fortran_handle, [[maybe_unused]] char const* caller,
                                laconic_comm** made) {
    return guarded(made, "made", [&]() -> laconic_comm {
#if LACONIC_C_OVER_MPI
        char own[MPI_MAX_LIBRARY_VERSION_STRING];
        int length = 0;
        detail::check_mpi(MPI_Get_library_version(own, &length), "MPI_Get_library_version");
        if (caller && std::string_view(own) != caller)
            throw argument_error({"the library uses the MPI \"", own, "\", the caller \"", caller, "\""});
        // MPI_Comm_f2c ends the program where MPI does not run.
        return laconic_comm(
            std::make_shared<mpi::member>(detail::mpi_runs() ? MPI_Comm_f2c(fortran_handle) : MPI_COMM_NULL));
#else
        throw argument_error("the library was compiled without MPI: set LACONIC_MPI to ON where it is");
#endif
    });
}
laconic_status laconic_comm_all_gather(laconic_comm* comm, void const* mine, size_t n, laconic_bytes** all,
                                       size_t* sizes) {
    return guarded(all, "all", [&] {
        auto& engine = need(comm, "comm")->engine;
        need(sizes, "sizes");
        engine.all_gather({need(static_cast<std::byte const*>(mine), n, "mine")});
        std::vector<std::byte> joined;
        for (int r = 0; r < engine.size(); ++r) {
            auto const theirs = engine.from(r).bytes;
            joined.insert(joined.end(), theirs.begin(), theirs.end());
            sizes[r] = theirs.size();
        }
        return joined;
    });
}
void laconic_comm_free(laconic_comm* comm) { delete comm; }

void laconic_reducer_options_default(laconic_reducer_options* options) {
    if (!options) return;
    reducer_options const o;
    *options = {};
    options->share_below = o.share_below;
}
void laconic_step_options_default(laconic_step_options* options) {
    if (options) *options = {1, 0, 1, 0};
}

laconic_status laconic_reducer_new(char const* reduction, laconic_comm* comm, laconic_layer const* layers,
                                   size_t layer_count, laconic_number number, laconic_reducer_options const* options,
                                   laconic_reducer** made) {
    return guarded(made, "made", [&] {
        need(reduction, "reduction"), need(comm, "comm");
        std::vector<layer> all;
        for (auto const& l : need(layers, layer_count, "layers")) {
            all.emplace_back(need(l.name, "the name of a layer"), l.size, l.rows);
            all.back().in_full = l.in_full != 0;
        }
        return compiled::reducer(reduction, comm->engine, all, options_of(options), type_of(number));
    });
}
void laconic_reducer_free(laconic_reducer* reducer) { delete reducer; }
laconic_status laconic_reducer_start(laconic_reducer* reducer, size_t layer, void* x, size_t n, laconic_number number,
                                     laconic_step_options const* options) {
    return guarded([&] {
        need(reducer, "reducer"), need(static_cast<char*>(x), n, "x");
        reducer->inside.start(layer, x, n, type_of(number), options_of(options));
    });
}
laconic_status laconic_reducer_bind(laconic_reducer* reducer, size_t layer, void* x, size_t n, laconic_number number) {
    return guarded([&] {
        need(reducer, "reducer"), need(static_cast<char*>(x), n, "x");
        reducer->inside.bind(layer, x, n, type_of(number));
    });
}
laconic_status laconic_reducer_finish(laconic_reducer* reducer, laconic_step_options const* options) {
    return guarded([&] { need(reducer, "reducer")->inside.finish(options_of(options)); });
}
laconic_status laconic_reducer_reorder(laconic_reducer* reducer) {
    return guarded([&] { need(reducer, "reducer")->inside.reorder(); });
}
laconic_status laconic_reducer_broadcast(laconic_reducer* reducer, void* x, size_t n, laconic_number number,
                                         int32_t root) {
    return guarded([&] {
        need(reducer, "reducer"), need(static_cast<char*>(x), n, "x");
        reducer->inside.broadcast(x, n, type_of(number), root);
    });
}
laconic_status laconic_reducer_drop(laconic_reducer* reducer) {
    return guarded([&] { need(reducer, "reducer")->inside.drop(); });
}
laconic_status laconic_reducer_save(laconic_reducer const* reducer, laconic_bytes** saved) {
    return guarded(saved, "saved", [&] { return need(reducer, "reducer")->inside.save(); });
}
laconic_status laconic_reducer_restore(laconic_reducer* reducer, void const* const* saved, size_t const* sizes,
                                       size_t count) {
    return guarded([&] {
        auto& inside = need(reducer, "reducer")->inside;
        auto const all = states_of(saved, sizes, count);
        with_states(all, [&](auto states) { inside.restore(states); });
    });
}
laconic_status laconic_reducer_resume(laconic_reducer* reducer, void const* const* saved, size_t const* sizes,
                                      size_t count, laconic_bytes** told) {
    return guarded(told, "told", [&] {
        auto& inside = need(reducer, "reducer")->inside;
        auto const all = states_of(saved, sizes, count);
        std::string text;
        for (auto const& line : with_states(all, [&](auto states) { return inside.resume(states); }))
            text += line + "\n";
        return bytes_of(text);
    });
}
laconic_status laconic_reducer_residual(laconic_reducer const* reducer, size_t layer, float* to, size_t n) {
    return guarded([&] { need(reducer, "reducer")->inside.copy_residual(layer, need(to, n, "to")); });
}
laconic_status laconic_reducer_set_residual(laconic_reducer* reducer, size_t layer, float const* x, size_t n) {
    return guarded([&] { need(reducer, "reducer")->inside.set_residual(layer, need(x, n, "x")); });
}
laconic_status laconic_reducer_rebind(laconic_reducer* reducer, laconic_comm* comm) {
    return guarded([&] {
        need(reducer, "reducer"), need(comm, "comm");
        reducer->inside.rebind(comm->engine);
    });
}
laconic_status laconic_reducer_statistics(laconic_reducer const* reducer, laconic_statistics* found) {
    return guarded([&] {
        auto const s = need(reducer, "reducer")->inside.statistics();
        auto const& p = s.last_probe;
        *need(found, "found") = {.steps = reducer->inside.steps(),
                                 .seed = reducer->inside.seed(),
                                 .bytes_sent = s.bytes_sent,
                                 .bytes_received = s.bytes_received,
                                 .bytes_on_link = s.bytes_on_link,
                                 .bytes_in_full = s.bytes_in_full,
                                 .bytes_watching = s.bytes_watching,
                                 .bytes_of_state = s.bytes_of_state,
                                 .seconds_compressing = s.seconds_compressing,
                                 .seconds_waiting = s.seconds_waiting,
                                 .seconds_adding = s.seconds_adding,
                                 .seconds_committing = s.seconds_committing,
                                 .probe_step = p.step,
                                 .probe_cosine = p.cosine,
                                 .probe_relative_error = p.relative_error,
                                 .probe_gradient_norm = p.gradient_norm,
                                 .probe_residual_norm = p.residual_norm};
    });
}

laconic_status laconic_sum(laconic_comm* comm, void* x, size_t n, laconic_number number) {
    return guarded([&] {
        auto& engine = need(comm, "comm")->engine;
        with_numbers(x, n, number,
                     [&](auto all) { with_sum(engine, [&](auto const& how) { sum(engine, all, how); }); });
    });
}
laconic_status laconic_mean(laconic_comm* comm, void* x, size_t n, laconic_number number) {
    return guarded([&] {
        auto& engine = need(comm, "comm")->engine;
        with_numbers(x, n, number,
                     [&](auto all) { with_sum(engine, [&](auto const& how) { mean(engine, all, how); }); });
    });
}
laconic_status laconic_reduce_scatter(laconic_comm* comm, void* x, size_t n, laconic_number number, size_t* first,
                                      size_t* count) {
    return guarded([&] {
        auto& engine = need(comm, "comm")->engine;
        need(first, "first"), need(count, "count");
        with_numbers(x, n, number, [&](auto all) {
            with_sum(engine, [&](auto const& how) {
                auto const mine = reduce_scatter(engine, all, how);
                *first = mine.first, *count = mine.values.size();
            });
        });
    });
}

laconic_status laconic_encode(char const* compressor, void const* x, size_t n, laconic_number number, uint64_t seed,
                              uint64_t stream, laconic_bytes** encoded) {
    return guarded(encoded, "encoded", [&] {
        std::vector<std::byte> bytes;
        with_compressor(compressor, const_cast<void*>(x), n, number,
                        [&](auto all, auto const& c) { bytes = encode(c, all, key_of(seed, stream)); });
        return bytes;
    });
}
laconic_status laconic_decode(char const* compressor, void const* bytes, size_t size, void* x, size_t n,
                              laconic_number number, uint64_t seed, uint64_t stream) {
    return guarded([&] {
        auto const from = need(static_cast<std::byte const*>(bytes), size, "bytes");
        with_compressor(compressor, x, n, number,
                        [&](auto all, auto const& c) { decode(c, from, all, key_of(seed, stream)); });
    });
}

laconic_status laconic_list(char const* what, laconic_bytes** listed) {
    return guarded(listed, "listed", [&] {
        std::string_view const kind = need(what, "what");
        auto const of =
            kind == "reductions"    ? compiled::list_reductions()
            : kind == "compressors" ? compiled::list_compressors()
            : kind == "collectives"
                ? compiled::list_collectives()
                : throw argument_error({"there is no list of ", kind, ": reductions, compressors, collectives"});
        std::string text;
        for (auto const& l : of) text += detail::concat({l.name, l.parameters, "\t", l.about, "\n"});
        return bytes_of(text);
    });
}

}  // extern "C"
