/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of laconic_c.h, called from C: two ranks as threads; what hostile arguments get; the sizes of structs.
 */
#define _POSIX_C_SOURCE 200809L
#include <laconic_c.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;
#define CHECK(true_here)                                                                                 \
    do {                                                                                                 \
        if (!(true_here)) {                                                                              \
            printf("%s:%d: %s; last error: %s\n", __FILE__, __LINE__, #true_here, laconic_last_error()); \
            ++failures;                                                                                  \
        }                                                                                                \
    } while (0)

/* What callers in other languages have copied: whoever changes one of these raises LACONIC_C_VERSION. */
_Static_assert(LACONIC_C_VERSION == 1, "the sizes and the list of symbols are those of this version");
_Static_assert(sizeof(void*) != 8 || sizeof(laconic_engine) == 32, "laconic_engine");
_Static_assert(sizeof(void*) != 8 || sizeof(laconic_layer) == 32, "laconic_layer");
_Static_assert(sizeof(void*) != 8 || sizeof(laconic_reducer_options) == 88, "laconic_reducer_options");
_Static_assert(sizeof(void*) != 8 || sizeof(laconic_step_options) == 32, "laconic_step_options");
_Static_assert(sizeof(void*) != 8 || sizeof(laconic_statistics) == 136, "laconic_statistics");

/* An engine of two ranks, which are threads: finish() leaves its block where the other finds it. */
enum { ranks = 2 };
static pthread_barrier_t all_here;
static struct {
    void const* mine;
    void* all;
    size_t n;
} blocks[ranks][8];
typedef struct {
    int rank, fails;
} seat;
static int32_t start(void* context, int32_t lane, void const* mine, size_t n, void* all) {
    seat const* s = context;
    blocks[s->rank][lane].mine = mine, blocks[s->rank][lane].all = all, blocks[s->rank][lane].n = n;
    return s->fails;
}
static int32_t finish(void* context, int32_t lane) {
    int const rank = ((seat const*)context)->rank;
    pthread_barrier_wait(&all_here);
    for (int r = 0; r < ranks; ++r) {
        if (blocks[r][lane].n != blocks[rank][lane].n) return 7;
        memcpy((char*)blocks[rank][lane].all + (size_t)r * blocks[r][lane].n, blocks[r][lane].mine, blocks[r][lane].n);
    }
    pthread_barrier_wait(&all_here);
    return 0;
}
static laconic_comm* comm_of(seat* s, int size) {
    laconic_engine const engine = {s->rank, size, s, start, finish};
    laconic_comm* comm = NULL;
    CHECK(laconic_comm_new(&engine, &comm) == LACONIC_OK);
    return comm;
}

/* Each step sends the largest number; the others are sent later. */
static void* reduces(void* context) {
    seat* const s = context;
    laconic_comm* const comm = comm_of(s, ranks);
    laconic_layer const layers[] = {{"w", 4, 0, 2}, {"b", 2, 1, 0}};
    laconic_reducer_options options;
    laconic_reducer_options_default(&options);
    options.seed = 5, options.has_seed = 1;
    laconic_reducer* r = NULL;
    CHECK(laconic_reducer_new("error_feedback(top_k(k=1))", comm, layers, 2, LACONIC_FLOAT32, &options, &r) ==
          LACONIC_OK);
    float w[4] = {1, 4, 0, 2}, b[2] = {1.0f + (float)s->rank, 3};
    CHECK(laconic_reducer_start(r, 1, b, 2, LACONIC_FLOAT32, NULL) == LACONIC_OK);
    CHECK(laconic_reducer_start(r, 0, w, 4, LACONIC_FLOAT32, NULL) == LACONIC_OK);
    CHECK(laconic_reducer_finish(r, NULL) == LACONIC_OK);
    CHECK(w[0] == 0 && w[1] == 4 && w[2] == 0 && w[3] == 0);
    CHECK(b[0] == 1.5f && b[1] == 3);

    laconic_bytes* saved = NULL;
    CHECK(laconic_reducer_save(r, &saved) == LACONIC_OK);
    for (int again = 0; again < 2; ++again) { /* the residual is 1, 0, 0, 2, and is the same after restoring */
        float zeros[4] = {0, 0, 0, 0.5f}, bias[2] = {0, 0};
        CHECK(laconic_reducer_start(r, 1, bias, 2, LACONIC_FLOAT32, NULL) == LACONIC_OK);
        CHECK(laconic_reducer_start(r, 0, zeros, 4, LACONIC_FLOAT32, NULL) == LACONIC_OK);
        CHECK(laconic_reducer_finish(r, NULL) == LACONIC_OK);
        CHECK(zeros[3] == 2.5f && zeros[0] == 0);
        laconic_statistics stats;
        CHECK(laconic_reducer_statistics(r, &stats) == LACONIC_OK);
        CHECK(stats.steps == 2 && stats.seed == 5 && stats.bytes_sent > 0 && stats.bytes_of_state >= 4 * sizeof(float));
        void const* const data = laconic_bytes_data(saved);
        size_t const size = laconic_bytes_size(saved);
        CHECK(laconic_reducer_restore(r, &data, &size, 1) == LACONIC_OK);
        size_t const shorter = size - 1;
        CHECK(laconic_reducer_restore(r, &data, &shorter, 1) == LACONIC_WIRE_ERROR);
    }
    laconic_bytes_free(saved);

    /* A number that is not finite is the same error on all ranks, and nothing has changed. */
    float bad[4] = {1, 2, s->rank == 1 ? NAN : 3, 4}, bias[2] = {0, 0};
    CHECK(laconic_reducer_start(r, 1, bias, 2, LACONIC_FLOAT32, NULL) == LACONIC_OK);
    CHECK(laconic_reducer_start(r, 0, bad, 4, LACONIC_FLOAT32, NULL) == LACONIC_OK);
    CHECK(laconic_reducer_finish(r, NULL) == LACONIC_NON_FINITE_ERROR);
    CHECK(strstr(laconic_last_error(), "rank 1") && strstr(laconic_last_error(), "coordinate 2 of layer w"));
    CHECK(bad[0] == 1 && bad[3] == 4);
    CHECK(laconic_reducer_start(r, 7, bad, 4, LACONIC_FLOAT32, NULL) == LACONIC_ARGUMENT_ERROR);
    CHECK(laconic_reducer_start(r, 0, bad, 4, LACONIC_FLOAT64, NULL) == LACONIC_ARGUMENT_ERROR);
    CHECK(laconic_reducer_drop(r) == LACONIC_OK);
    laconic_reducer_free(r);

    /* Of double, and of numbers of 16 bits: 0x3c00 is 1 in half precision, 0x3f80 in bfloat16. */
    double d[3] = {1, 2, 3.0 + s->rank};
    CHECK(laconic_reducer_new("plain(identity)", comm, &(laconic_layer){"x", 3, 0, 0}, 1, LACONIC_FLOAT64, NULL, &r) ==
          LACONIC_OK);
    CHECK(laconic_reducer_start(r, 0, d, 3, LACONIC_FLOAT64, NULL) == LACONIC_OK);
    CHECK(laconic_reducer_finish(r, NULL) == LACONIC_OK);
    CHECK(d[0] == 1 && d[2] == 3.5);
    laconic_reducer_free(r);
    uint16_t half[2] = {0x3c00, 0}, brain[2] = {0x3f80, 0};
    laconic_layer const two[] = {{"half", 2, 0, 0}, {"brain", 2, 0, 0}};
    CHECK(laconic_reducer_new("plain(identity)", comm, two, 2, LACONIC_FLOAT16, NULL, &r) == LACONIC_OK);
    if (s->rank == 1) half[0] = brain[0] = 0;
    CHECK(laconic_reducer_start(r, 0, half, 2, LACONIC_FLOAT16, NULL) == LACONIC_OK);
    CHECK(laconic_reducer_start(r, 1, brain, 2, LACONIC_BFLOAT16, NULL) == LACONIC_OK);
    CHECK(laconic_reducer_finish(r, NULL) == LACONIC_OK);
    CHECK(half[0] == 0x3800 && brain[0] == 0x3f00);
    laconic_reducer_free(r);

    float weights[2] = {1.0f + (float)s->rank, 5};
    CHECK(laconic_reducer_new("plain(identity)", comm, &(laconic_layer){"x", 2, 0, 0}, 1, LACONIC_FLOAT32, NULL, &r) ==
          LACONIC_OK);
    CHECK(laconic_reducer_broadcast(r, weights, 2, LACONIC_FLOAT32, 1) == LACONIC_OK && weights[0] == 2);
    CHECK(laconic_reducer_broadcast(r, weights, 2, LACONIC_FLOAT32, 2) == LACONIC_ARGUMENT_ERROR);
    laconic_reducer_free(r);

    double sums[2] = {1, 10.0 * s->rank};
    CHECK(laconic_sum(comm, sums, 2, LACONIC_FLOAT64) == LACONIC_OK && sums[0] == 2 && sums[1] == 10);
    CHECK(laconic_mean(comm, sums, 2, LACONIC_FLOAT64) == LACONIC_OK && sums[0] == 2 && sums[1] == 10);
    size_t first = 7, count = 7;
    double parts[3] = {1, 2, 4};
    CHECK(laconic_reduce_scatter(comm, parts, 3, LACONIC_FLOAT64, &first, &count) == LACONIC_OK);
    CHECK(first == (s->rank ? 1 : 0) && count == (s->rank ? 2 : 1) && parts[first] == (s->rank ? 4 : 2));
    CHECK(parts[s->rank ? 0 : 2] == (s->rank ? 1 : 4));
    CHECK(laconic_reduce_scatter(comm, parts, 3, LACONIC_FLOAT64, NULL, &count) == LACONIC_ARGUMENT_ERROR);
    CHECK(laconic_sum(comm, sums, 1 + (size_t)s->rank, LACONIC_FLOAT64) == LACONIC_AGREEMENT_ERROR);
    laconic_comm_free(comm);
    return NULL;
}

/* The same ranks over TCP, at addresses that they exchange, or where rank 0 listens. */
static laconic_listener* listeners[ranks];
static char const* addresses[ranks];
static void* over_tcp(void* context) {
    int const rank = ((seat const*)context)->rank;
    laconic_comm *first = NULL, *comm = NULL;
    CHECK(laconic_comm_tcp_connect(listeners[rank], rank, ranks, addresses, 60, &first) == LACONIC_OK);
    pthread_barrier_wait(&all_here);
    if (rank == 0) laconic_listener_free(listeners[1]); /* its port is free, for them to meet */
    pthread_barrier_wait(&all_here);
    CHECK(laconic_comm_tcp(rank, ranks, addresses[1], 60, &comm) == LACONIC_OK);
    laconic_comm_free(first);
    CHECK(laconic_comm_tcp(rank, ranks, addresses[1], -1, &first) == LACONIC_ARGUMENT_ERROR && !first);
    laconic_bytes* all = NULL;
    size_t sizes[ranks];
    CHECK(laconic_comm_all_gather(comm, &"no"[rank], 2 - (size_t)rank, &all, sizes) == LACONIC_OK);
    CHECK(sizes[0] == 2 && sizes[1] == 1 && laconic_bytes_size(all) == 3 && !memcmp(laconic_bytes_data(all), "noo", 3));
    laconic_bytes_free(all);
    laconic_reducer* r = NULL;
    CHECK(laconic_reducer_new("error_feedback(top_k(k=1), over=ring)", comm, &(laconic_layer){"x", 2, 0, 0}, 1,
                              LACONIC_FLOAT32, NULL, &r) == LACONIC_OK);
    float x[2] = {1, 2.0f + (float)rank};
    CHECK(laconic_reducer_start(r, 0, x, 2, LACONIC_FLOAT32, NULL) == LACONIC_OK);
    CHECK(laconic_reducer_finish(r, NULL) == LACONIC_OK && x[0] == 0 && x[1] == 2.5f);
    laconic_reducer_free(r);
    double sums[3] = {1, 10.0 * rank, rank};
    CHECK(laconic_sum(comm, sums, 3, LACONIC_FLOAT64) == LACONIC_OK && sums[0] == 2 && sums[1] == 10 && sums[2] == 1);
    size_t from, count;
    CHECK(laconic_reduce_scatter(comm, sums, 3, LACONIC_FLOAT64, &from, &count) == LACONIC_OK);
    CHECK(from == (rank ? 1 : 0) && count == (rank ? 2 : 1) && sums[from] == (rank ? 20 : 4));
    uint16_t half[1] = {0x3c00};
    CHECK(laconic_mean(comm, half, 1, LACONIC_FLOAT16) == LACONIC_OK && half[0] == 0x3c00);
    pthread_barrier_wait(&all_here);
    if (rank == 1) {
        laconic_comm_free(comm);
        return NULL;
    }
    CHECK(laconic_comm_all_gather(comm, NULL, 0, &all, sizes) == LACONIC_COMM_ERROR && !all);
    CHECK(strstr(laconic_last_error(), "rank 1 has ended"));
    laconic_comm_free(comm);
    return NULL;
}
static void connects(void) {
    static char texts[ranks][64];
    for (int r = 0; r < ranks; ++r) {
        CHECK(laconic_listener_new("127.0.0.1:0", &listeners[r]) == LACONIC_OK);
        strncpy(texts[r], laconic_listener_address(listeners[r]), sizeof texts[r] - 1);
        addresses[r] = texts[r];
    }
    laconic_listener* none = NULL;
    laconic_comm* comm = NULL;
    CHECK(laconic_listener_new(addresses[0], &none) == LACONIC_COMM_ERROR && !none);
    CHECK(laconic_listener_new("here", &none) == LACONIC_ARGUMENT_ERROR);
    CHECK(laconic_comm_tcp_connect(NULL, 0, ranks, addresses, 0, &comm) == LACONIC_ARGUMENT_ERROR);
    CHECK(laconic_comm_tcp_connect(listeners[0], 0, 0, addresses, 0, &comm) == LACONIC_ARGUMENT_ERROR);
    CHECK(laconic_comm_tcp_connect(listeners[0], ranks, ranks, addresses, 0, &comm) == LACONIC_ARGUMENT_ERROR);
    CHECK(laconic_comm_tcp(0, 1, NULL, 0, &comm) == LACONIC_ARGUMENT_ERROR);
    CHECK(laconic_comm_mpi(0, NULL, &comm) == LACONIC_ARGUMENT_ERROR); /* MPI does not run */
    CHECK(laconic_comm_mpi(0, "another MPI", &comm) == LACONIC_ARGUMENT_ERROR);
    CHECK(!laconic_listener_address(NULL));
    laconic_listener_free(NULL);
}

static void encodes(void) {
    double x[100], y[100];
    for (int i = 0; i < 100; ++i) x[i] = i - 50;
    laconic_bytes* bytes = NULL;
    CHECK(laconic_encode("top_k(0.1) | quantize(7)", x, 100, LACONIC_FLOAT64, 1, 2, &bytes) == LACONIC_OK);
    size_t const size = laconic_bytes_size(bytes);
    CHECK(size > 0 && size < 100);
    CHECK(laconic_decode("top_k(0.1) | quantize(7)", laconic_bytes_data(bytes), size, y, 100, LACONIC_FLOAT64, 1, 2) ==
          LACONIC_OK);
    CHECK(fabs(y[0] + 50) < 10 && y[50] == 0);
    y[0] = 3;
    CHECK(laconic_decode("top_k(0.1) | quantize(7)", laconic_bytes_data(bytes), size - 1, y, 100, LACONIC_FLOAT64, 1,
                         2) == LACONIC_WIRE_ERROR);
    CHECK(y[0] == 3);
    laconic_bytes_free(bytes);
    CHECK(laconic_encode("top_k(0.1)", x, 100, LACONIC_FLOAT16, 0, 0, &bytes) == LACONIC_ARGUMENT_ERROR && !bytes);
    CHECK(laconic_encode("top_q(0.1)", x, 100, LACONIC_FLOAT64, 0, 0, &bytes) == LACONIC_PARSE_ERROR);
    CHECK(strstr(laconic_last_error(), "top_k"));
}

static void refuses(void) {
    seat s = {0, 0};
    laconic_comm* comm = NULL;
    laconic_reducer* r = NULL;
    laconic_layer const one = {"x", 3, 0, 0}, unnamed = {NULL, 3, 0, 0};
    laconic_engine engine = {0, 1, &s, start, NULL};
    CHECK(laconic_comm_new(NULL, &comm) == LACONIC_ARGUMENT_ERROR);
    CHECK(laconic_comm_new(&engine, &comm) == LACONIC_ARGUMENT_ERROR &&
          !strcmp(laconic_last_error(), "engine->finish is NULL"));
    engine.finish = finish, engine.rank = 3;
    CHECK(laconic_comm_new(&engine, &comm) == LACONIC_ARGUMENT_ERROR);
    engine.rank = 0;
    CHECK(laconic_comm_new(&engine, NULL) == LACONIC_ARGUMENT_ERROR);
    s.fails = 3;
    CHECK(laconic_comm_new(&engine, &comm) == LACONIC_OK);
    CHECK(laconic_reducer_new("plain(identity)", comm, &one, 1, LACONIC_FLOAT32, NULL, &r) == LACONIC_COMM_ERROR && !r);
    CHECK(!strcmp(laconic_last_error(), "the communicator's start() returned 3"));
    CHECK(laconic_reducer_new(NULL, comm, &one, 1, LACONIC_FLOAT32, NULL, &r) == LACONIC_ARGUMENT_ERROR);
    CHECK(laconic_reducer_new("plain(identity)", NULL, &one, 1, LACONIC_FLOAT32, NULL, &r) == LACONIC_ARGUMENT_ERROR);
    CHECK(laconic_reducer_new("plain(identity)", comm, NULL, 1, LACONIC_FLOAT32, NULL, &r) == LACONIC_ARGUMENT_ERROR);
    CHECK(laconic_reducer_new("plain(identity)", comm, &unnamed, 1, LACONIC_FLOAT32, NULL, &r) ==
          LACONIC_ARGUMENT_ERROR);
    CHECK(laconic_reducer_new("plain(identity)", comm, &one, 0, LACONIC_FLOAT32, NULL, &r) == LACONIC_ARGUMENT_ERROR);
    CHECK(laconic_reducer_new("plain(identity)", comm, &one, 1, (laconic_number)9, NULL, &r) == LACONIC_ARGUMENT_ERROR);
    CHECK(laconic_reducer_new("plain(identity", comm, &one, 1, LACONIC_FLOAT32, NULL, &r) == LACONIC_PARSE_ERROR);
    CHECK(laconic_reducer_new("plain(top_k(0.1))", comm, &one, 1, LACONIC_FLOAT32, NULL, &r) == LACONIC_THEORY_ERROR);
    laconic_reducer_options options;
    laconic_reducer_options_default(&options);
    options.missing_layer = 5;
    CHECK(laconic_reducer_new("plain(identity)", comm, &one, 1, LACONIC_FLOAT32, &options, &r) ==
          LACONIC_ARGUMENT_ERROR);
    CHECK(laconic_reducer_start(NULL, 0, &s, 1, LACONIC_FLOAT32, NULL) == LACONIC_ARGUMENT_ERROR);
    CHECK(laconic_reducer_finish(NULL, NULL) == LACONIC_ARGUMENT_ERROR);
    CHECK(laconic_reducer_save(NULL, NULL) == LACONIC_ARGUMENT_ERROR);
    CHECK(laconic_sum(comm, NULL, 1, LACONIC_FLOAT32) == LACONIC_ARGUMENT_ERROR);
    CHECK(laconic_sum(NULL, &s, 1, LACONIC_FLOAT32) == LACONIC_ARGUMENT_ERROR);
    CHECK(laconic_decode("natural", NULL, 3, &s, 1, LACONIC_FLOAT32, 0, 0) == LACONIC_ARGUMENT_ERROR);
    laconic_bytes* listed = NULL;
    CHECK(laconic_list("colours", &listed) == LACONIC_ARGUMENT_ERROR && !listed);
    CHECK(laconic_list("reductions", &listed) == LACONIC_OK && laconic_bytes_size(listed) > 100);
    laconic_bytes_free(listed);
    laconic_bytes_free(NULL), laconic_comm_free(NULL), laconic_reducer_free(NULL);
    CHECK(!laconic_bytes_data(NULL) && laconic_bytes_size(NULL) == 0);
    laconic_comm_free(comm);
}

int main(void) {
    CHECK(laconic_c_version() == LACONIC_C_VERSION);
    CHECK(strchr(laconic_version(), '.'));
    pthread_barrier_init(&all_here, NULL, ranks);
    pthread_t threads[ranks];
    seat seats[ranks] = {{0, 0}, {1, 0}};
    connects();
    void* (*const bodies[])(void*) = {reduces, over_tcp};
    for (size_t b = 0; b < 2; ++b) {
        for (int r = 0; r < ranks; ++r) pthread_create(&threads[r], NULL, bodies[b], &seats[r]);
        for (int r = 0; r < ranks; ++r) pthread_join(threads[r], NULL);
    }
    laconic_listener_free(listeners[0]);
    pthread_barrier_destroy(&all_here);
    encodes();
    refuses();
    if (failures == 0) printf("all is as it should be\n");
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
