/* SPDX-License-Identifier: Apache-2.0 */
/* Each rank of MPI has a function |x - 1 - rank|^2 / 2 of 1000 numbers, and all find the minimum of the mean. */
#include <laconic_c.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static MPI_Request requests[8]; /* one for each lane */

static int32_t start(void* context, int32_t lane, void const* mine, size_t n, void* all) {
    if (n > INT_MAX) return MPI_ERR_COUNT;
    MPI_Comm const over = *(MPI_Comm const*)context;
    return MPI_Iallgather(mine, (int)n, MPI_BYTE, all, (int)n, MPI_BYTE, over, &requests[lane]);
}
static int32_t finish(void* context, int32_t lane) {
    (void)context;
    return MPI_Wait(&requests[lane], MPI_STATUS_IGNORE);
}

static void check(laconic_status status) {
    if (status == LACONIC_OK) return;
    fprintf(stderr, "%s\n", laconic_last_error());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm over; /* a duplicate, so that the program's own messages stay apart */
    MPI_Comm_dup(MPI_COMM_WORLD, &over);
    laconic_engine engine = {.context = &over, .start = start, .finish = finish};
    MPI_Comm_rank(over, &engine.rank);
    MPI_Comm_size(over, &engine.size);
    laconic_comm* comm = NULL;
    check(laconic_comm_new(&engine, &comm));

    enum { d = 1000 };
    static double x[d], gradient[d];
    laconic_layer const layer = {"x", d, 0, 0};
    laconic_reducer* reducer = NULL;
    check(laconic_reducer_new("error_feedback(top_k(0.01))", comm, &layer, 1, LACONIC_FLOAT64, NULL, &reducer));
    for (int step = 0; step < 4000; ++step) {
        for (int j = 0; j < d; ++j) gradient[j] = x[j] - 1 - engine.rank;
        check(laconic_reducer_start(reducer, 0, gradient, d, LACONIC_FLOAT64, NULL));
        check(laconic_reducer_finish(reducer, NULL)); /* gradient is now an estimate of the mean of all ranks' */
        for (int j = 0; j < d; ++j) x[j] -= 0.002 * gradient[j];
    }
    laconic_statistics found;
    check(laconic_reducer_statistics(reducer, &found));
    if (engine.rank == 0)
        printf("x = %.2f ... %.2f, with %.1f %% of the bytes\n", x[0], x[d - 1],
               100.0 * (double)found.bytes_sent / (double)found.bytes_in_full);
    laconic_reducer_free(reducer);
    laconic_comm_free(comm);
    MPI_Comm_free(&over);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
