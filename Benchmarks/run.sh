#!/bin/bash
# Builds the benchmarks in release mode, measures everything in one run and prints a page in Markdown.
#
#   run.sh [--quick] [--save]
#
# --quick leaves out the vault with a million items and databases of that size; --save writes RESULTS.md. Filled vaults are kept in
# $KEYCHAIN_BENCHMARK_CACHE (/tmp/keychain-benchmark by default) for the next run, as long as the engine's
# sources stay the same.
set -euo pipefail
cd "$(dirname "$0")/.."

sizes=(1000 100000 1000000)
rows=(100000 1000000)
megabytes=1024
save=false
for option in "$@"; do
    case $option in
        --quick)
            sizes=(1000 100000)
            rows=(100000)
            megabytes=256
            ;;
        --save) save=true ;;
        *)
            echo "usage: run.sh [--quick] [--save]" >&2
            exit 64
            ;;
    esac
done

# A higher priority makes the numbers steadier and needs root.
steady() {
    if [ "$(id -u)" -eq 0 ]; then nice -n -15 "$@"; else "$@"; fi
}

Benchmarks/setup-peers.sh >&2
read -ra release < <(Scripts/install/release-flags.sh)
swift build "${release[@]}" --product VaultBenchmark >&2
swift build "${release[@]}" --product keychain >&2
bin=$(swift build "${release[@]}" --show-bin-path)
with_http=("${release[@]}" --scratch-path .build-network --traits HTTPClientSupport)
swift build "${with_http[@]}" --product CircleBenchmark >&2
circle=$(swift build "${with_http[@]}" --show-bin-path)/CircleBenchmark
ln -sf keychain "$bin/keychaind"

work=$(mktemp -d /tmp/keychain-benchmark-run.XXXXXX)
finish() {
    GNUPGHOME="$work/pass/gnupg" gpgconf --kill all 2>/dev/null || true
    rm -rf "$work" ${files:+"$files"} ${databases:+"$databases"}
}
trap finish EXIT
compare=Benchmarks/compare
format=$(find Sources/5-Engine/{Items,Sealing,Keybag,Vault,Enclave} Benchmarks/Engine/SampleItems.swift -name '*.swift' -print0 |
    sort -z | xargs -0 cat | cksum | cut -d' ' -f1)
cache=${KEYCHAIN_BENCHMARK_CACHE:-/tmp/keychain-benchmark}/$format
results=$work/results
bench=$bin/VaultBenchmark

cc -O2 -Wall -Wno-missing-braces -o "$work/tpm-sign" $compare/tpm-sign.c $(pkg-config --cflags --libs tss2-esys tss2-tctildr)
cc -O2 -Wall -DPROGRAM -o "$work/database-rounds" $compare/database-rounds.c
cc -O2 -Wall -shared -fPIC -o "$work/database-rounds.so" $compare/database-rounds.c
$compare/sqlcipher-library.sh .build/test-vectors "$work/sqlcipher.so"
cc -O2 -Wall -o "$work/secret-service" $compare/secret-service.c $(pkg-config --cflags --libs libsecret-1)
for count in 100 10000; do
    keyrings=$work/gnome-$count/.local/share/keyrings
    mkdir -p "$keyrings"
    echo login >"$keyrings/default"
    /usr/bin/python3 $compare/make-keyring.py "$keyrings/login.keyring" $count benchmark
done
$compare/pass-store.sh "$work/pass"

steady "$bench" fill "$cache" 100 10000 "${sizes[@]}"
{
    steady "$bench" find "$cache" "${sizes[@]}"
    steady "$bench" write "$cache" 1000 100000
    steady "$bench" list "$cache" 1000 100000
    steady "$bench" memory "$cache" 100000
    steady "$bench" memory-values "$cache" 100000

    mkdir "$work/circle"
    steady "$bench" circle "$work/circle" 1000 10000
    rm -rf "$work/circle"

    for members in 2 8 32; do
        mkdir -p "$work/circle/etcd" "$work/circle/vaults"
        etcd --data-dir "$work/circle/etcd" --listen-client-urls http://127.0.0.1:23790 --log-level error \
            --advertise-client-urls http://127.0.0.1:23790 --listen-peer-urls http://127.0.0.1:23800 \
            --initial-advertise-peer-urls http://127.0.0.1:23800 --initial-cluster default=http://127.0.0.1:23800 \
            --quota-backend-bytes 8589934592 >"$work/circle/log" 2>&1 &
        etcd=$!
        until curl -sf http://127.0.0.1:23790/health >/dev/null; do sleep 0.1; done
        steady "$circle" http://127.0.0.1:23790 "$work/circle/vaults" $members 500 $((members == 8 ? 100000 : 1000))
        kill $etcd
        wait $etcd || true
        rm -rf "$work/circle"
    done

    steady "$bench" unlock "$cache" 1000
    steady "$bench" passcode "$cache" "${sizes[@]}"

    steady "$bench" keys "$cache"
    # A line of nine fields, whose last two are signatures and verifications a second.
    openssl speed -seconds 1 ecdsap256 2>/dev/null | awk '$2 == "bits" && /nistp256/ {
        printf "keys.sign.openssl\t%f\nkeys.verify.openssl\t%f\n", 1e6 / $(NF - 1), 1e6 / $NF }'

    mkdir "$work/tpm"
    swtpm socket --tpm2 --tpmstate dir="$work/tpm" --server type=unixio,path="$work/swtpm" \
        --ctrl type=unixio,path="$work/swtpm.ctrl" --flags not-need-init,startup-clear --daemon --pid file="$work/swtpm.pid"
    for turn in 1 2 3; do
        steady "$work/tpm-sign" "swtpm:path=$work/swtpm" 200
        KEYCHAIN_TPM="swtpm:path=$work/swtpm" steady "$bench" tpm "$work/tpm-vault" 200
    done
    # As it is installed: without debug information.
    strip -o "$work/keychain" "$bin/keychain"
    steady $compare/ssh-login.sh "$work/ssh" "$work/keychain" "swtpm:path=$work/swtpm" 40
    kill "$(cat "$work/swtpm.pid")"

    # Files in memory, so that no disk is measured.
    files=$(mktemp -d /dev/shm/keychain-benchmark-files.XXXXXX)
    steady "$bench" files "$files" 1024
    steady $compare/files.py "$work/keychain" "$files" 1024 10000 3
    rm -rf "$files"

    mkdir "$work/fields"
    steady "$bench" fields "$work/fields" 32 1024

    steady "$bench" passwords "$work"

    # The same for databases. SQLCipher's library has the names of SQLite's functions: each has a process of its own.
    databases=$(mktemp -d /dev/shm/keychain-benchmark-databases.XXXXXX)
    secret=$(openssl rand -hex 32)
    # More turns than elsewhere: the differences are of the size of what a shared machine does to a single one.
    for turn in 1 2 3 4 5 6 7; do
        for count in "${rows[@]}"; do
            for kib in 0 65536; do
                steady "$work/database-rounds" plain libsqlite3.so.0 "$databases/plain.db" "$count" $kib
                steady "$bench" database "$databases" "$work/database-rounds.so" "$count" $kib
                steady "$work/database-rounds" sqlcipher libsqlcipher.so.0 "$databases/cipher.db" "$count" $kib "$secret"
                rm -f "$databases"/*
            done
            # The cache that ProtectedDatabase has, 8 MiB.
            steady "$bench" database "$databases" "$work/database-rounds.so" "$count" 8192
            rm -f "$databases"/*
            # SQLCipher of today has a cache of 8 MB by default; ours gets the same, and the same build of SQLite.
            steady env LD_PRELOAD="$work/sqlcipher.so" "$bench" cipher-database "$databases" "$work/database-rounds.so" "$count" 8000
            rm -f "$databases"/*
            steady env LD_PRELOAD="$work/sqlcipher.so" "$work/database-rounds" sqlcipher4 "" "$databases/cipher.db" "$count" 8000 "$secret"
            rm -f "$databases"/*
            # That SQLite alone.
            steady env LD_PRELOAD="$work/sqlcipher.so" "$work/database-rounds" plain4 "" "$databases/plain.db" "$count" 8000
            rm -f "$databases"/*
        done
        steady "$bench" key-derivation "$databases"
        steady python3 $compare/key-derivation.py 9
    done
    steady $compare/database-export.sh "$databases" "$bench" $megabytes 3
    rm -rf "$databases"

    # The same items for the Secret Service of ours.
    for count in 100 10000; do
        mkdir "$work/served-$count"
        KEYCHAIN_HOME="$work/served-$count/vault" $compare/secret-session.sh "$work/gnome-$count" \
            "$work/keychain" import secret-service >/dev/null
    done
    # The peers and ourselves take turns.
    for turn in 1 2 3; do
        for count in 100 10000; do
            for kind in lookup store; do
                per_round=20
                [ $kind$count = store10000 ] && per_round=1
                echo -n "gnome.$kind.$count	"
                steady $compare/secret-session.sh "$work/gnome-$count" \
                    "$work/secret-service" $kind $count 5 $per_round
                echo -n "served.$kind.$count	"
                steady $compare/daemon-session.sh "$work/served-$count" "$work/keychain" \
                    "$work/secret-service" $kind $count 5 20
            done
            steady "$bench" secitem "$cache" $count
        done
        steady "$bench" daemon "$cache" 100
        steady $compare/secret-session.sh "$work/gnome-100" /usr/bin/python3 $compare/secret-clients.py \
            "$work/secret-service" 100 1 2 4 8 16 64
    done
    # Not steadier: the attackers would get the same priority. A missed target shows in the table.
    "$bench" load "$cache" 10 || true
    "$bench" foreign "$cache" 4000

    service=com.example.service-0
    account=user-0@example.com
    cp -r "$cache/1000" "$work/vault"
    export KEYCHAIN_HOME="$work/vault" GNUPGHOME="$work/pass/gnupg" PASSWORD_STORE_DIR="$work/pass/store"
    ln -s keychain "$work/git-credential-keychain"
    printf 'protocol=https\nhost=git.example.com\n' >"$work/git-asks"
    { cat "$work/git-asks" && printf 'username=user\npassword=secret\n'; } | "$work/git-credential-keychain" store
    steady $compare/secret-session.sh "$work/gnome-100" /usr/bin/python3 $compare/processes.py 40 \
        git "$work/git-credential-keychain" get "<$work/git-asks" -- \
        echo echo . -- \
        keychain "$work/keychain" get $service $account -- \
        secret-tool secret-tool lookup service $service account $account -- \
        pass pass show $service/$account
    steady $compare/secret-session.sh "$work/gnome-keyring-python" bash -c '
        /usr/bin/python3 -c "import keyring; keyring.set_password(\"$1\", \"$2\", \"0\" * 32)"
        shift 2
        exec "$@"' set $service $account /usr/bin/python3 $compare/processes.py 10 \
        python-keyring /usr/bin/keyring get $service $account
} >"$results"

# Charts are of whole runs.
if $save && [ ${#sizes[@]} -eq 3 ]; then /usr/bin/python3 Benchmarks/chart.py "$results" Benchmarks/Charts; fi
if $save; then exec >Benchmarks/RESULTS.md; fi
Benchmarks/table.py "$results" "${sizes[@]}"
printf '\n## A web app with sign-in, and without\n\n'
echo 'Examples/Friendvatars against a Hummingbird app that shows the same page without sign-in, database and keys.'
printf 'One thread of wrk, 32 connections, without TLS on both sides, in turns.\n\n'
Benchmarks/friendvatars.sh
if [ "$(id -u)" -eq 0 ]; then
    printf '\n## TLS handshakes of nginx\n\n'
    steady Benchmarks/tls.sh
fi
printf '\n## Masked output\n\n'
printf 'Lines of a log of 100 characters, with a secret in every thousandth, from memory to memory, in turns; the median.\n\n'
Benchmarks/mask.sh
printf '\n## Requests through the broker\n\n'
Benchmarks/broker.sh
if $save && [ ${#sizes[@]} -eq 3 ]; then /usr/bin/python3 Benchmarks/peers.py Benchmarks/RESULTS.md Benchmarks/Charts; fi
