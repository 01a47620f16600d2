#!/bin/bash
# Makes a library of SQLite's functions from the SQLCipher that is inside PyPI's sqlcipher3.
#
#     sqlcipher-library.sh PACKAGES LIBRARY
#
# A program that is started with LIBRARY in LD_PRELOAD uses that SQLite, the same build for our VFS and for SQLCipher. The
# wheel's module exports SQLite's functions. It also exports those of its OpenSSL, which must not take the place of others,
# and needs functions of Python, which SQLite does not call. So the library passes on what begins with sqlite3_ only, and
# has room in place of Python's names.
set -euo pipefail
module=$(realpath "$1"/sqlcipher3/_sqlite3*.so)
source=$(mktemp --suffix=.c)
trap 'rm -f "$source"' EXIT
{
    echo '#include <dlfcn.h>'
    echo '#include <stdio.h>'
    echo '#include <stdlib.h>'
    echo '#if defined(__aarch64__)'
    echo '#define GO(name) "adrp x16, slot_" #name "\nldr x16, [x16, :lo12:slot_" #name "]\nbr x16\n"'
    echo '#else'
    echo '#define GO(name) "jmp *slot_" #name "(%rip)\n"'
    echo '#endif'
    echo '#define PASS(name) __attribute__((visibility("hidden"))) void *slot_##name; \'
    echo '    __asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" GO(name));'
    echo 'typedef void *place[64];'
    nm -D --undefined-only "$module" | awk '$2 ~ /^_?Py/ { print "place " $2 ";" }'
    functions=$(nm -D --defined-only "$module" | awk '$2 == "T" && $3 ~ /^sqlite3_/ { print $3 }')
    for name in $functions; do echo "PASS($name)"; done
    echo '__attribute__((constructor)) static void load(void) {'
    echo "    void *module = dlopen(\"$module\", RTLD_LAZY | RTLD_LOCAL);"
    echo '    if (!module) { fprintf(stderr, "%s\n", dlerror()); exit(1); }'
    for name in $functions; do echo "    slot_$name = dlsym(module, \"$name\");"; done
    echo '}'
} >"$source"
cc -O2 -shared -fPIC -o "$2" "$source" -ldl
