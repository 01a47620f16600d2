#include <stdint.h>
#include <stdlib.h>

/*
 * The allocator of the program, as Swift's runtime needs it: sizes of blocks are whole words.
 *
 * Swift's strings use all of a block that malloc_usable_size tells, and have a pointer at the end of it. They round a
 * size that is no whole number of words up, and overwrite what follows. Chromium's allocator tells such sizes, and ends
 * the browser for the damage. Scripts/install/pkcs11.sh has the linker put these functions in the place of the
 * program's (--wrap); only the library is linked so, and elsewhere nobody calls them.
 */

void *__real_malloc(size_t count) __attribute__((weak));
int __real_posix_memalign(void **block, size_t alignment, size_t count) __attribute__((weak));
size_t __real_malloc_usable_size(void *block) __attribute__((weak));

void *__wrap_malloc(size_t count);
int __wrap_posix_memalign(void **block, size_t alignment, size_t count);
size_t __wrap_malloc_usable_size(void *block);

static const size_t word = sizeof(void *);

/* At least as many bytes, so that what is told of the block is not less than what was asked for. */
static size_t whole(size_t count) { return count > SIZE_MAX - word ? count : (count + word - 1) / word * word; }

void *__wrap_malloc(size_t count) { return __real_malloc(whole(count)); }

int __wrap_posix_memalign(void **block, size_t alignment, size_t count) {
    return __real_posix_memalign(block, alignment, whole(count));
}

size_t __wrap_malloc_usable_size(void *block) { return __real_malloc_usable_size(block) / word * word; }
