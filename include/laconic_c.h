/* SPDX-License-Identifier: Apache-2.0 */
/* laconic for C, and for every language that calls C: reducers, sums and encoded vectors, chosen by a text such as
 * "error_feedback(top_k(0.01))". docs/c.md has a program. Link laconic::c, a shared library.
 *
 * Every function that can fail returns a status, LACONIC_OK or the kind of error, and laconic_last_error() is its text;
 * no exception crosses. Handles are made and freed by the functions here. A NULL where a pointer is needed is
 * LACONIC_ARGUMENT_ERROR, except that all ..._free(NULL) do nothing. A handle is used from one thread at a time. */
#ifndef LACONIC_C_H
#define LACONIC_C_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#    define LACONIC_C_API
#else
#    define LACONIC_C_API __attribute__((visibility("default")))
#endif

/* In C++ an enumeration of a caller may hold any number then, which is an error and not undefined. */
#ifdef __cplusplus
#    define LACONIC_C_INT : int
extern "C" {
#else
#    define LACONIC_C_INT
#endif

/* The version of this interface: raised whenever a function or a struct here changes. Compare it with
 * laconic_c_version(), that of the library which is loaded. */
#define LACONIC_C_VERSION 1
LACONIC_C_API uint32_t laconic_c_version(void);
/* The version of the library, such as "0.1.0". */
LACONIC_C_API char const* laconic_version(void);

typedef enum laconic_status LACONIC_C_INT {
    LACONIC_OK = 0,
    LACONIC_ERROR = 1,             /* none of those below, such as a sum beyond numbers of 16 bits */
    LACONIC_ARGUMENT_ERROR = 2,    /* an argument outside its range */
    LACONIC_PARSE_ERROR = 3,       /* a text that cannot be read; the error's text has the valid names */
    LACONIC_THEORY_ERROR = 4,      /* no theorem covers the reduction, and no unproved(...) is around it */
    LACONIC_SHAPE_ERROR = 5,       /* a vector of another length, or the state of another reducer */
    LACONIC_AGREEMENT_ERROR = 6,   /* ranks disagree: the same on all ranks */
    LACONIC_NON_FINITE_ERROR = 7,  /* NaN, infinity or overflow: the same on all ranks */
    LACONIC_COMPRESSION_ERROR = 8, /* a rank could not make its message: the same on all ranks */
    LACONIC_WIRE_ERROR = 9,        /* damaged bytes */
    LACONIC_COMM_ERROR = 10,       /* a rank failed or left, or the communicator's functions failed */
    LACONIC_OUT_OF_MEMORY = 11
} laconic_status;
/* The text of this thread's last error, until its next call of a function here; "" where there was none. */
LACONIC_C_API char const* laconic_last_error(void);

/* The type of a vector's numbers. Those of 16 bits are computed in float. */
typedef enum laconic_number LACONIC_C_INT {
    LACONIC_FLOAT32 = 0,
    LACONIC_FLOAT64 = 1,
    LACONIC_FLOAT16 = 2,
    LACONIC_BFLOAT16 = 3
} laconic_number;

/* Bytes that a function here returns: free them with laconic_bytes_free(). */
typedef struct laconic_bytes laconic_bytes;
LACONIC_C_API void const* laconic_bytes_data(laconic_bytes const* bytes);
LACONIC_C_API size_t laconic_bytes_size(laconic_bytes const* bytes);
LACONIC_C_API void laconic_bytes_free(laconic_bytes* bytes);

/* A communicator of `size` ranks, made of the caller's all-gather of blocks of equal length:
 *   start(context, lane, mine, n, all)  starts to gather. `mine` has n bytes, the same n on all ranks, and `all` size
 *                                       times as many: rank r's come to byte r n. Both stay where they are until
 *   finish(context, lane)               has waited until `all` is complete.
 * Both return 0, or another number where they fail, which becomes LACONIC_COMM_ERROR. Lanes are 0 to 7; all ranks start
 * and finish in the same order, in which a lane may be started and finished again while older lanes are in flight.
 * Where nothing runs in the background, finish() gathers, and start() keeps its arguments. */
typedef struct laconic_engine {
    int32_t rank, size;
    void* context;
    int32_t (*start)(void* context, int32_t lane, void const* mine, size_t n, void* all);
    int32_t (*finish)(void* context, int32_t lane);
} laconic_engine;
typedef struct laconic_comm laconic_comm;
LACONIC_C_API laconic_status laconic_comm_new(laconic_engine const* engine, laconic_comm** made);
/* A communicator of ranks that are connected by TCP, each with each other: laconic::tcp. Rank 0 listens at `meet`,
 * HOST:PORT or [HOST]:PORT, an address of its own, and the others connect, however late it does. A wait for a rank that
 * is longer than the deadline is LACONIC_COMM_ERROR; 0: no limit. Nothing is encrypted or authenticated: for the
 * loopback and networks of your own. Not on systems without POSIX sockets. */
LACONIC_C_API laconic_status laconic_comm_tcp(int32_t rank, int32_t size, char const* meet, double deadline_seconds,
                                              laconic_comm** made);
/* The same where the ranks have other means to exchange addresses: each listens at an address by which the others reach
 * it, such as "10.0.0.1:0" (0: a port that is free), and connects with the addresses of all, in the order of ranks. The
 * listener is freed at any time after. */
typedef struct laconic_listener laconic_listener;
LACONIC_C_API laconic_status laconic_listener_new(char const* own, laconic_listener** made);
LACONIC_C_API char const* laconic_listener_address(laconic_listener const* listener);
LACONIC_C_API void laconic_listener_free(laconic_listener* listener);
LACONIC_C_API laconic_status laconic_comm_tcp_connect(laconic_listener const* listener, int32_t rank, int32_t size,
                                                      char const* const* addresses, double deadline_seconds,
                                                      laconic_comm** made);
/* A communicator over MPI: laconic::mpi, over a duplicate of the one whose Fortran handle this is (MPI_Comm_c2f). All
 * its ranks call it, and free it together, before MPI_Finalize: the first to do so waits for the others.
 * LACONIC_ARGUMENT_ERROR where this library was compiled without MPI (CMake: LACONIC_MPI=ON), where MPI does not run, and
 * where `caller` is not NULL and another than this library's MPI returns by MPI_Get_library_version: the handle is then
 * another MPI's. */
LACONIC_C_API laconic_status laconic_comm_mpi(int32_t fortran_handle, char const* caller, laconic_comm** made);
/* Sends n bytes to all ranks, any number from each: `all` has those of all, one behind another, and sizes[r], of as
 * many elements as there are ranks, the number of those of rank r. Not while a step of a reducer is in progress. */
LACONIC_C_API laconic_status laconic_comm_all_gather(laconic_comm* comm, void const* mine, size_t n,
                                                     laconic_bytes** all, size_t* sizes);
/* Frees it; all reducers over it are freed before. */
LACONIC_C_API void laconic_comm_free(laconic_comm* comm);

/* A vector that a reducer takes in a step. Names are the same on all ranks, and unique. */
typedef struct laconic_layer {
    char const* name;
    size_t size;     /* the number of elements */
    int32_t in_full; /* dense if not 0: sent uncompressed, without a state */
    size_t rows;     /* of a matrix, row after row, which low_rank asks for; 0 or 1: it is a vector */
} laconic_layer;

typedef enum laconic_missing_layer LACONIC_C_INT {
    LACONIC_RAISE = 0,
    LACONIC_ZERO = 1,
    LACONIC_SKIP = 2
} laconic_missing_layer;
/* As laconic::reducer_options; laconic_reducer_options_default() fills in its defaults. The same on all ranks. */
typedef struct laconic_reducer_options {
    uint64_t seed; /* counts if has_seed is not 0; else rank 0 draws one for all */
    int32_t has_seed;
    int32_t propagate_non_finite; /* not 0: where a rank has NaN, all numbers become NaN, in place of an error */
    int32_t missing_layer;        /* a laconic_missing_layer */
    int32_t skip_zero_layers;     /* not 0: a layer whose numbers are zeros on all ranks keeps its state in that step */
    int32_t steps_vary;           /* not 0: steps may have weights, and be dense */
    int32_t correlated;           /* not 0: ranks round at random by thresholds that are spread evenly */
    uint64_t dense_below, dense_rounds, share_below, probe_every, verify_every;
    char const* const* in_full; /* patterns of names, in which * stands for any text */
    size_t in_full_count;
} laconic_reducer_options;
LACONIC_C_API void laconic_reducer_options_default(laconic_reducer_options* options);

/* As laconic::step_options. Where a function takes a pointer to it, NULL stands for the defaults. */
typedef struct laconic_step_options {
    double loss_scale; /* the factor by which the caller has multiplied the gradient, above 0; 1 by default */
    double step_size;  /* the learning rate, above 0; 0, the default: not given */
    double weight;     /* of this rank's gradient in the mean, at least 0; 1 by default */
    int32_t dense;     /* not 0: all layers are sent uncompressed in this step */
} laconic_step_options;
LACONIC_C_API void laconic_step_options_default(laconic_step_options* options);

/* Replaces vectors by an estimate of all ranks' mean vectors: laconic::reducer from a text. `number` is the type of all
 * layers' numbers, or, for any mixture of float and numbers of 16 bits, LACONIC_FLOAT32. `comm` must outlive it.
 * `options` may be NULL. */
typedef struct laconic_reducer laconic_reducer;
LACONIC_C_API laconic_status laconic_reducer_new(char const* reduction, laconic_comm* comm, laconic_layer const* layers,
                                                 size_t layer_count, laconic_number number,
                                                 laconic_reducer_options const* options, laconic_reducer** made);
/* Frees it. A reducer that is freed within a step leaves messages in flight: nothing else can use its communicator
 * then. */
LACONIC_C_API void laconic_reducer_free(laconic_reducer* reducer);
/* Starts layer `layer`, whose n numbers at x stay until laconic_reducer_finish(), which replaces them. */
LACONIC_C_API laconic_status laconic_reducer_start(laconic_reducer* reducer, size_t layer, void* x, size_t n,
                                                   laconic_number number, laconic_step_options const* options);
/* Binds x to a layer for all steps, as LACONIC_ZERO needs for those in which this rank does not start it. */
LACONIC_C_API laconic_status laconic_reducer_bind(laconic_reducer* reducer, size_t layer, void* x, size_t n,
                                                  laconic_number number);
/* Completes the step: all started vectors are replaced, or, where it fails, none is and no state has changed. */
LACONIC_C_API laconic_status laconic_reducer_finish(laconic_reducer* reducer, laconic_step_options const* options);
/* The next step learns anew in which order layers are started, and so messages leave; all ranks call it between the
 * same two finishes. */
LACONIC_C_API laconic_status laconic_reducer_reorder(laconic_reducer* reducer);
/* x <- the root's x, on all ranks, such as the first weights; not while a step is in progress. */
LACONIC_C_API laconic_status laconic_reducer_broadcast(laconic_reducer* reducer, void* x, size_t n,
                                                       laconic_number number, int32_t root);
/* Drops the step; every rank must. */
LACONIC_C_API laconic_status laconic_reducer_drop(laconic_reducer* reducer);
/* This rank's state as bytes, and a reducer from them: from its own, count = 1, or from those of all ranks of the saved
 * reducer, in their order, whose number may differ from the present one. All ranks restore. */
LACONIC_C_API laconic_status laconic_reducer_save(laconic_reducer const* reducer, laconic_bytes** saved);
LACONIC_C_API laconic_status laconic_reducer_restore(laconic_reducer* reducer, void const* const* saved,
                                                     size_t const* sizes, size_t count);
/* Restores what can be kept of the state of a reducer that was made otherwise, as laconic::resume() does: `told` are
 * lines that say what was not; none where all was. A state of 0 bytes is that of a lost file. */
LACONIC_C_API laconic_status laconic_reducer_resume(laconic_reducer* reducer, void const* const* saved,
                                                    size_t const* sizes, size_t count, laconic_bytes** told);
/* Copies a layer's residual, n numbers, to `to`, or replaces it by x, between steps. */
LACONIC_C_API laconic_status laconic_reducer_residual(laconic_reducer const* reducer, size_t layer, float* to,
                                                      size_t n);
LACONIC_C_API laconic_status laconic_reducer_set_residual(laconic_reducer* reducer, size_t layer, float const* x,
                                                          size_t n);
/* Goes on over another communicator, such as that of the ranks that are left. */
LACONIC_C_API laconic_status laconic_reducer_rebind(laconic_reducer* reducer, laconic_comm* comm);

typedef struct laconic_statistics {
    uint64_t steps, seed;
    uint64_t bytes_sent, bytes_received, bytes_on_link, bytes_in_full, bytes_watching;
    uint64_t bytes_of_state;
    double seconds_compressing, seconds_waiting, seconds_adding, seconds_committing;
    /* The last step that was probed, from 1; 0: none. */
    uint64_t probe_step;
    double probe_cosine, probe_relative_error, probe_gradient_norm, probe_residual_norm;
} laconic_statistics;
LACONIC_C_API laconic_status laconic_reducer_statistics(laconic_reducer const* reducer, laconic_statistics* found);

/* x <- the sum, or the mean, of all ranks' x, n numbers, with the same bits on all ranks. */
LACONIC_C_API laconic_status laconic_sum(laconic_comm* comm, void* x, size_t n, laconic_number number);
LACONIC_C_API laconic_status laconic_mean(laconic_comm* comm, void* x, size_t n, laconic_number number);
/* x[first] .. x[first + count - 1] <- that part of the sum, this rank's: the ranks' parts follow each other and are as
 * long as each other, or longer by one. The rest of x stays. Over TCP it sends half of what a sum does. */
LACONIC_C_API laconic_status laconic_reduce_scatter(laconic_comm* comm, void* x, size_t n, laconic_number number,
                                                    size_t* first, size_t* count);

/* The bytes of x as a compressor such as "top_k(0.01) | natural" encodes it, and back. What it draws it draws from
 * (seed, stream): give each message another pair, and decode with the same. x is of float32 or float64. */
LACONIC_C_API laconic_status laconic_encode(char const* compressor, void const* x, size_t n, laconic_number number,
                                            uint64_t seed, uint64_t stream, laconic_bytes** encoded);
LACONIC_C_API laconic_status laconic_decode(char const* compressor, void const* bytes, size_t size, void* x, size_t n,
                                            laconic_number number, uint64_t seed, uint64_t stream);

/* What texts may name, one per line, each with a tab and a description: `what` is "reductions", "compressors" or
 * "collectives". */
LACONIC_C_API laconic_status laconic_list(char const* what, laconic_bytes** listed);

#ifdef __cplusplus
}
#endif

#endif
