#include <string.h>

// BoringSSL leaves parts of keys on its stack, such as keys padded to the size of a block. This overwrites what functions
// that have returned have left there: HKDF in a debug build takes about half of it.
__attribute__((noinline)) static void wipe_stack(void) {
    unsigned char room[4096];
    explicit_bzero(room, sizeof room);
}
