#!/usr/bin/env bash
# Links libkeychain-pkcs11.so from what SwiftPM compiled: SwiftPM cannot link a library with the static runtime.
#
#   Scripts/install/pkcs11.sh FOLDER LIBRARY     FOLDER is where PKCS11Module was built
set -euo pipefail
folder=$(realpath "$1")
mkdir -p "$(dirname "$2")"
library=$(realpath "$2")
cd "$(dirname "$0")/../.."

objects=()
for module in PKCS11Module CPKCS11 CAEAD KeyClient DaemonLink Frames PlainBytes CLibrary CCryptoBoringSSL; do
    mapfile -t found < <(find "$folder/$module.build" -name '*.o' | sort)
    ((${#found[@]})) || { echo "pkcs11: $module was not built in $folder: swift build --target PKCS11Module" >&2; exit 1; }
    for object in "${found[@]}"; do
        # A folder that was built before may have objects of sources that are gone.
        name=$(basename "$object" .o)
        [[ $module == CCrypto* ]] || compgen -G "Sources/*/$module/$name" >/dev/null \
            || compgen -G "Sources/*/$module/*/$name" >/dev/null || continue
        objects+=("$object")
    done
done
# The runtimes of Swift and C++ go in, as into the programs: see release-flags.sh.
flags=(-static-stdlib -use-ld=lld -Xclang-linker -static-libgcc)
archive=$(clang -print-file-name=libstdc++.a 2>/dev/null || cc -print-file-name=libstdc++.a)
# Without a path in front the compiler has not found it, and the shared one is linked.
if [[ $archive == /* ]]; then
    runtime=$(mktemp -d)
    trap 'rm -rf "$runtime"' EXIT
    ln -s "$(readlink -f "$archive")" "$runtime/libstdc++.a"
    flags+=("-L$runtime")
fi
for flag in --version-script=Scripts/install/pkcs11-symbols.map --gc-sections -s --soname=libkeychain-pkcs11.so; do
    flags+=(-Xlinker "$flag")
done
# What the program's allocator tells of a block: see Heap.c of CPKCS11.
for function in malloc posix_memalign malloc_usable_size; do flags+=(-Xlinker "--wrap=$function"); done
# The library stays in a process that has loaded it: threads may be in its code.
for flag in nodelete now relro defs; do flags+=(-Xlinker -z -Xlinker "$flag"); done
swiftc -emit-library "${objects[@]}" -o "$library" "${flags[@]}"
