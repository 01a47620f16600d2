#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "CPKCS11.h"

extern char **environ;

int kc_has_raised_rights(void) { return getauxval(AT_SECURE) != 0; }

/* Starts a program by a shell, which puts it into the background and ends at once. A child that stays would surprise
 * the program that loaded the module: it may wait for all of its children. */
static int start(posix_spawn_file_actions_t *actions, char *const words[]) {
    posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(actions, 1, "/dev/null", O_WRONLY, 0);
    pid_t process;
    if (posix_spawn(&process, words[0], actions, NULL, words, environ) != 0) return 0;
    /* The program may collect its children itself, and then there is nothing left to wait for. */
    int status;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {}
    return 1;
}

/* The writing end of a pipe: the helper ends when all copies of it are closed. `life_file` tells this pipe from other
 * files that get its number. The lock of TokenModule guards both. */
static int life_end = -1;
static struct stat life_file;

void kc_end_helper(void) {
    struct stat file;
    /* A program that closes all that it has open may have a file of its own by this number. */
    if (life_end >= 0 && fstat(life_end, &file) == 0 && file.st_dev == life_file.st_dev && file.st_ino == life_file.st_ino)
        close(life_end);
    life_end = -1;
}

int kc_start_helper(const char *program, const char *folder, int listener) {
    int life[2];
    struct stat file;
    if (pipe2(life, O_CLOEXEC) != 0) return 0;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    /* The listener may have the number 4, and the pipe the number 3. So the listener goes to a third number first. */
    int spare = life[0] == 60 ? 61 : 60;
    posix_spawn_file_actions_adddup2(&actions, listener, spare);
    posix_spawn_file_actions_adddup2(&actions, life[0], 4);
    posix_spawn_file_actions_adddup2(&actions, spare, 3);
    posix_spawn_file_actions_addclosefrom_np(&actions, 5);
    char *words[] = {"/bin/sh", "-c", "\"$0\" pkcs11-helper --listener 3 --life 4 --folder \"$1\" &", (char *)program,
        (char *)folder, NULL};
    int is_started = start(&actions, words);
    posix_spawn_file_actions_destroy(&actions);
    close(life[0]);
    if (!is_started || fstat(life[1], &file) != 0) {
        close(life[1]);
        return 0;
    }
    /* One helper at a time. A child of the process closes its copy here, and the parent's helper goes on. */
    kc_end_helper();
    life_end = life[1];
    life_file = file;
    return 1;
}

int kc_start_asker(const char *program) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 60);
    posix_spawn_file_actions_adddup2(&actions, 60, 3);
    posix_spawn_file_actions_addclosefrom_np(&actions, 4);
    char *words[] = {"/bin/sh", "-c", "\"$0\" pkcs11-helper --ask 3 &", (char *)program, NULL};
    int is_started = start(&actions, words);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (is_started) return ends[0];
    close(ends[0]);
    return -1;
}
