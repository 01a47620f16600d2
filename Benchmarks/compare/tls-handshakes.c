// Counts the full TLS handshakes that a server on this machine answers, over several connections at once.
//
//   tls-handshakes PORT SECONDS CONNECTIONS
//
// Prints the handshakes a second, and the median and the 99th percentile of their times in microseconds. Ends with a
// status if one fails. A handshake counts when both sides have finished it. Nothing is resumed.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int port;
static double end;
static atomic_int failures;

struct worker {
    pthread_t thread;
    double *times;
    size_t count, room;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static int handshake(SSL_CTX *context) {
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, is_good = 0;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    // Without the wait for late packets, for which ports would run out.
    struct linger linger = {1, 0};
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    // A server that hangs is a failure.
    struct timeval patience = {30, 0};
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) {
        SSL *connection = SSL_new(context);
        SSL_set_fd(connection, descriptor);
        if (SSL_connect(connection) == 1 && SSL_shutdown(connection) >= 0) {
            // The server says more, a ticket or the end, when the handshake is complete on its side.
            char rest[256];
            is_good = recv(descriptor, rest, sizeof rest, 0) >= 0;
        }
        SSL_free(connection);
    }
    close(descriptor);
    return is_good;
}

static void *work(void *pointer) {
    struct worker *worker = pointer;
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    while (now() < end) {
        double begin = now();
        if (!handshake(context)) {
            if (atomic_fetch_add(&failures, 1) == 0) ERR_print_errors_fp(stderr);
            break;
        }
        if (worker->count == worker->room) {
            worker->room = worker->room ? 2 * worker->room : 4096;
            worker->times = realloc(worker->times, worker->room * sizeof *worker->times);
            if (!worker->times) abort();
        }
        worker->times[worker->count++] = now() - begin;
    }
    SSL_CTX_free(context);
    return NULL;
}

static int ordered(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: tls-handshakes PORT SECONDS CONNECTIONS\n");
        return 64;
    }
    port = atoi(arguments[1]);
    int connections = atoi(arguments[3]);
    signal(SIGPIPE, SIG_IGN);
    struct worker *workers = calloc(connections, sizeof *workers);
    double begin = now();
    end = begin + atof(arguments[2]);
    for (int index = 0; index < connections; index++) pthread_create(&workers[index].thread, NULL, work, &workers[index]);
    size_t all = 0;
    for (int index = 0; index < connections; index++) {
        pthread_join(workers[index].thread, NULL);
        all += workers[index].count;
    }
    double passed = now() - begin;
    if (failures || !all) {
        fprintf(stderr, "tls-handshakes: %d connections failed, after %zu handshakes\n", failures, all);
        return 1;
    }
    double *times = malloc(all * sizeof *times);
    size_t next = 0;
    for (int index = 0; index < connections; index++)
        for (size_t each = 0; each < workers[index].count; each++) times[next++] = workers[index].times[each];
    qsort(times, all, sizeof *times, ordered);
    printf("%f\t%f\t%f\t%zu\n", all / passed, 1e6 * times[all / 2], 1e6 * times[all * 99 / 100], all);
    return 0;
}
