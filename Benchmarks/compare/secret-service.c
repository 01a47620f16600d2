/* Times lookups and stores through the Secret Service with libsecret, over one connection.
 *
 *   secret-service lookup|store ITEMS ROUNDS PER_ROUND
 *
 * Prints the median time of a round in microseconds per operation. The items are those that
 * keyring.py wrote: attributes `service` and `account`.
 */
#include <libsecret/secret.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const SecretSchema schema = {
    .name = "org.freedesktop.Secret.Generic",
    .flags = SECRET_SCHEMA_NONE,
    .attributes = {{"service", SECRET_SCHEMA_ATTRIBUTE_STRING}, {"account", SECRET_SCHEMA_ATTRIBUTE_STRING}, {NULL, 0}},
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static int ascending(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

static void once(int is_store, int items) {
    int number = (int)(random() % items);
    char service[64], account[64], value[33];
    snprintf(service, sizeof service, "com.example.service-%d", number / 4);
    snprintf(account, sizeof account, "user-%d@example.com", number);
    snprintf(value, sizeof value, "%032d", number);
    GError *error = NULL;
    if (is_store) {
        secret_password_store_sync(&schema, SECRET_COLLECTION_DEFAULT, account, value, NULL, &error,
                                   "service", service, "account", account, NULL);
    } else {
        char *found = secret_password_lookup_sync(&schema, NULL, &error, "service", service, "account", account, NULL);
        if (error == NULL && (found == NULL || strcmp(found, value) != 0)) {
            fprintf(stderr, "item %d is not there\n", number);
            exit(1);
        }
        secret_password_free(found);
    }
    if (error != NULL) {
        fprintf(stderr, "%s\n", error->message);
        exit(1);
    }
}

int main(int count, char **arguments) {
    if (count != 5) {
        fprintf(stderr, "usage: secret-service lookup|store ITEMS ROUNDS PER_ROUND\n");
        return 64;
    }
    int is_store = strcmp(arguments[1], "store") == 0;
    int items = atoi(arguments[2]), rounds = atoi(arguments[3]), per_round = atoi(arguments[4]);
    if (items < 1 || rounds < 1 || per_round < 1) return 64;
    double *times = calloc(rounds, sizeof *times);
    if (times == NULL) return 70;
    once(is_store, items);
    for (int round = 0; round < rounds; round++) {
        double start = now();
        for (int turn = 0; turn < per_round; turn++) once(is_store, items);
        times[round] = (now() - start) / per_round;
    }
    qsort(times, rounds, sizeof *times, ascending);
    printf("%.3f\n", times[rounds / 2]);
    free(times);
    return 0;
}
