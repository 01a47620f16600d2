#!/usr/bin/env bash
# Prints the flags that release builds of the programs are made with.
#
# The runtimes of Swift and C++ go into the program: it runs where neither is installed, and starts a
# millisecond sooner than one that has to load them. libsodium and SQLite stay the system's, which mends them.
set -euo pipefail
cd "$(dirname "$0")/../.."

# Without a search path of its own a program does not look for libraries beside itself.
printf -- '-c release --static-swift-stdlib --disable-local-rpath'
# The folder of the build machine does not go into the programs: neither with messages of C code, nor as debug information.
printf -- ' -Xswiftc -file-prefix-map -Xswiftc %s=swift-keychain -Xcc -ffile-prefix-map=%s=swift-keychain' "$PWD" "$PWD"
# The static runtime asks for every symbol to be exported, which keeps what nobody calls and makes each start look
# through all of them.
printf -- ' -Xlinker --version-script=%s' "$PWD/Scripts/install/exported-symbols.map"
# The toolchain's lld is three times as fast as gold, and its scripts can tell constants from data.
printf -- ' -Xswiftc -use-ld=lld -Xlinker -T -Xlinker %s' "$PWD/Scripts/install/read-only-constants.ld"
# A generic type, such as a dictionary, is otherwise made from its name at the first use, for which the runtime looks
# through all conformances of the program: half of the time of `keychain get`.
direct=-disable-concrete-type-metadata-mangled-name-accessors
# Not through a pipe: a reader that ends at the first match would make the compiler's answer look like a failure.
known=$(swiftc -frontend -help-hidden 2>/dev/null || true)
if [[ $known == *"$direct"* ]]; then
    printf -- ' -Xswiftc -Xfrontend -Xswiftc %s' "$direct"
fi
# The table of the functions in other libraries is complete and read-only before the program starts.
printf -- ' -Xlinker -z -Xlinker now'
# Relocations take a byte instead of 24. The C library reads this form since version 2.36.
libc=$(getconf GNU_LIBC_VERSION 2>/dev/null || true)
if [[ $libc == glibc\ * && $(printf '%s\n' 2.36 "${libc#glibc }" | sort -V | head -n 1) == 2.36 ]]; then
    printf -- ' -Xlinker -z -Xlinker pack-relative-relocs'
fi
archive=$(clang -print-file-name=libstdc++.a 2>/dev/null || cc -print-file-name=libstdc++.a)
# Without a path in front the compiler has not found it, and the shared one is linked.
if [[ $archive == /* ]]; then
    # Swift names the library without saying which kind; a folder with the archive alone leaves no choice.
    runtime=$PWD/.build/static-runtime
    mkdir -p "$runtime"
    ln -sf "$(readlink -f "$archive")" "$runtime/libstdc++.a"
    printf -- ' -Xswiftc -L%s -Xswiftc -Xclang-linker -Xswiftc -static-libgcc' "$runtime"
fi
echo
