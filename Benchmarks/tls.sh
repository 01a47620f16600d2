#!/bin/bash
# Measures the full TLS handshakes a second of nginx with 4 workers of another user, with the server's key in a file, in
# the keychain by our PKCS #11 module, in SoftHSM and in tpm2-pkcs11, and prints Markdown. Needs root, as nginx does to
# change the user of its workers.
#
#   tls.sh [ROUNDS] [SECONDS]
set -euo pipefail
cd "$(dirname "$0")/.."

rounds=${1:-5}
seconds=${2:-5}
connections=16
[ "$(id -u)" = 0 ] || { echo 'tls.sh: run it as root: the workers of nginx have a user of their own' >&2; exit 1; }

read -ra release < <(Scripts/install/release-flags.sh)
swift build "${release[@]}" --product keychain >&2
swift build "${release[@]}" --target PKCS11Module >&2
bin=$(swift build "${release[@]}" --show-bin-path)

# The workers have to reach the sockets in it.
work=$(mktemp -d /tmp/keychain-tls-bench.XXXXXX)
chmod 711 "$work"
pids=()
finish() {
    ((${#pids[@]} == 0)) || kill "${pids[@]}" 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap finish EXIT
unset KEYCHAIN_HOME KEYCHAIN_MODE KEYCHAIN_SOCKET KEYCHAIN_TPM XDG_RUNTIME_DIR

cc -O2 -Wall -o "$work/handshakes" Benchmarks/compare/tls-handshakes.c -lssl -lcrypto -lpthread
strip -o "$work/keychain" "$bin/keychain"
ln -s keychain "$work/keychaind"
Scripts/install/pkcs11.sh "$bin" "$work/libkeychain-pkcs11.so"
keychain=$work/keychain
pin=1234
softhsm=/usr/lib/softhsm/libsofthsm2.so
tpm2_pkcs11=$(compgen -G '/usr/lib/*/pkcs11/libtpm2_pkcs11.so')

# wait_for COMMAND...: repeats it until it succeeds.
wait_for() {
    local turn
    for ((turn = 0; turn < 200; turn++)); do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.05
    done
    echo "tls.sh: $* does not succeed" >&2
    tail -n 5 "$work"/*.log >&2
    exit 1
}
tpm() {
    mkdir "$work/$1-state"
    swtpm socket --tpm2 --tpmstate dir="$work/$1-state" --server type=unixio,path="$work/$1" \
        --ctrl type=unixio,path="$work/$1.ctrl" --flags not-need-init,startup-clear >"$work/$1.log" 2>&1 &
    pids+=($!)
    wait_for test -S "$work/$1"
}
# Configurations of OpenSSL that load a module: provider NAME MODULE [PIN], engine NAME MODULE
provider() {
    cat >"$work/$1.cnf" <<END
openssl_conf = keychain
[keychain]
providers = providers
[providers]
default = standard
pkcs11 = token
[standard]
activate = 1
[token]
pkcs11-module-path = $2
${3:+pkcs11-module-token-pin = $3}
activate = 1
[req]
distinguished_name = name
[name]
END
}
engine() {
    cat >"$work/$1.cnf" <<END
openssl_conf = keychain
[keychain]
engines = engines
[engines]
pkcs11 = pkcs11
[pkcs11]
engine_id = pkcs11
MODULE_PATH = $2
init = 1
[req]
distinguished_name = name
[name]
END
}
# A file that refers to a key by its URI, as pkcs11-provider reads it.
reference() {
    printf 'asn1 = SEQUENCE:key\n[key]\nversion = VISIBLESTRING:PKCS\\#11 Provider URI v1.0\nuri = UTF8:%s\n' "$1" >"$work/uri.cnf"
    openssl asn1parse -genconf "$work/uri.cnf" -noout -out "$work/uri.der"
    echo '-----BEGIN PKCS#11 PROVIDER URI-----'
    base64 -w 64 "$work/uri.der"
    echo '-----END PKCS#11 PROVIDER URI-----'
}
contenders=()
# serve NAME CONFIGURATION KEY PROCESSES [lines of nginx.conf]: starts nginx. KEY is a file, or the URI of a key for the
# engine. PROCESSES are those that use the key for it.
declare -A ports helpers mains
serve() {
    local name=$1 configuration=$2 key=$3 options=() port=$((18200 + ${#contenders[@]}))
    [[ $key != pkcs11:* ]] || options=(-engine pkcs11 -keyform engine)
    OPENSSL_CONF="$work/$configuration.cnf" openssl req -new -x509 "${options[@]}" -key "$key" -subj /CN=localhost \
        -out "$work/$name.crt" 2>>"$work/$name.log"
    [[ $key != pkcs11:* ]] || key=engine:pkcs11:$key
    cat >"$work/$name.conf" <<END
user www-data; worker_processes 4; pid $work/$name.pid; error_log $work/$name.log;
${5-}
events { worker_connections 256; }
http {
    access_log off; ssl_session_cache off; ssl_session_tickets off;
    server {
        listen 127.0.0.1:$port ssl;
        ssl_protocols TLSv1.3; ssl_ecdh_curve X25519;
        ssl_certificate $work/$name.crt; ssl_certificate_key "$key";
        return 204;
    }
}
END
    OPENSSL_CONF="$work/$configuration.cnf" nginx -e "$work/$name.log" -c "$work/$name.conf" -g 'daemon off;' 2>>"$work/$name.log" &
    pids+=($!)
    mains[$name]=$!
    ports[$name]=$port
    helpers[$name]=$4
    contenders+=("$name")
    # Each worker opens its own sessions at its first handshake.
    wait_for "$work/handshakes" "$port" 1 "$connections"
}
# daemon NAME [words of `init`]: serves a vault of its own.
daemon() {
    local socket=$work/$1-run/socket
    mkdir -m 711 "$work/$1-run"
    if (($# > 1)); then env -u KEYCHAIN_SOCKET KEYCHAIN_HOME="$work/$1-vault" "$keychain" init "${@:2}" >/dev/null; fi
    "$work/keychaind" --system --socket "$socket" --home "$work/$1-vault" --no-lock-signals --entitlements "$work/entitlements.json" \
        2>"$work/$1-daemon.log" &
    pids+=($!)
    daemon=$!
    export KEYCHAIN_SOCKET=$socket
    wait_for "$keychain" status
}
# Makes a key in the vault of the last daemon, and serves it: ours NAME [words of `key create`]
ours() {
    local name=$1
    "$keychain" key create "$name" --group web "${@:2}" >/dev/null
    "$keychain" key pem "$name" >"$work/$name.key"
    serve "$name" keychain "$work/$name.key" "$helper" "env KEYCHAIN_SOCKET=$KEYCHAIN_SOCKET;"
}

provider keychain "$work/libkeychain-pkcs11.so"
# By pkcs11-provider 1.0, workers of nginx fail to log in to SoftHSM; tpm2-pkcs11 does not work by the engine.
engine softhsm $softhsm
provider tpm2-pkcs11 "$tpm2_pkcs11" $pin
printf '[req]\ndistinguished_name = name\n[name]\n' >"$work/file.cnf"
echo '{"version": 1, "rules": [
    {"executable": "/usr/sbin/nginx", "groups": ["web"], "rights": ["list"]},
    {"executable": "/usr/bin/openssl", "groups": ["web"], "rights": ["list"]}]}' >"$work/entitlements.json"

openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$work/file-p256.key"
openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$work/file-rsa.key" 2>/dev/null
serve file-p256 file "$work/file-p256.key" ''
serve file-rsa file "$work/file-rsa.key" ''

daemon software
helper=$daemon
ours enclave --enclave
ours software-p256
ours software-rsa --type rsa2048

tpm tpm-ours
export KEYCHAIN_TPM="swtpm:path=$work/tpm-ours"
swtpm=${pids[-1]}
daemon tpm --enclave tpm2
helper="$daemon $swtpm"
ours tpm --enclave
unset KEYCHAIN_TPM

export SOFTHSM2_CONF=$work/softhsm.conf
mkdir "$work/tokens"
printf 'directories.tokendir = %s\nobjectstore.backend = file\nlog.level = ERROR\n' "$work/tokens" >"$SOFTHSM2_CONF"
softhsm2-util --init-token --free --label peer --pin $pin --so-pin $pin >/dev/null
pkcs11-tool --module $softhsm --login --pin $pin --keypairgen --key-type EC:prime256v1 --label p256 --id 01 >/dev/null 2>&1
pkcs11-tool --module $softhsm --login --pin $pin --keypairgen --key-type rsa:2048 --label rsa --id 02 >/dev/null 2>&1
chown -R www-data "$work/tokens"
for kind in p256 rsa; do
    serve softhsm-$kind softhsm "pkcs11:token=peer;object=$kind;type=private;pin-value=$pin" '' "env SOFTHSM2_CONF=$SOFTHSM2_CONF;"
done

# A TPM serves one program at a time; tpm2-pkcs11 leaves the turns to the broker of its project, on a bus. The library
# for the bus does not work in a forked worker, so that a program of tpm2-tools is in between.
tpm tpm-peer
swtpm=${pids[-1]}
cat >"$work/bus.conf" <<END
<busconfig><type>session</type><listen>unix:path=$work/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy></busconfig>
END
dbus-daemon --config-file="$work/bus.conf" --nofork 2>"$work/bus.log" &
pids+=($!)
bus=$!
wait_for test -S "$work/bus"
export DBUS_SESSION_BUS_ADDRESS=unix:path=$work/bus TPM2TOOLS_TCTI=tabrmd:bus_type=session
export TPM2_PKCS11_TCTI="cmd:tpm2_send --tcti $TPM2TOOLS_TCTI" TPM2_PKCS11_STORE=$work/store
tpm2-abrmd --session --allow-root --tcti="swtpm:path=$work/tpm-peer" >"$work/abrmd.log" 2>&1 &
pids+=($!)
abrmd=$!
wait_for tpm2_getrandom --hex 1
mkdir "$TPM2_PKCS11_STORE"
{
    tpm2_ptool init --path "$TPM2_PKCS11_STORE"
    tpm2_ptool addtoken --pid=1 --sopin=$pin --userpin=$pin --label=peer --path "$TPM2_PKCS11_STORE"
    tpm2_ptool addkey --algorithm=ecc256 --label=peer --userpin=$pin --key-label=p256 --path "$TPM2_PKCS11_STORE"
} >"$work/ptool.log"
chown -R www-data "$TPM2_PKCS11_STORE"
reference "pkcs11:token=peer;object=p256;type=private" >"$work/tpm2-pkcs11.key"
serve tpm2-pkcs11 tpm2-pkcs11 "$work/tpm2-pkcs11.key" "$abrmd $swtpm $bus" "env TPM2_PKCS11_STORE=$TPM2_PKCS11_STORE; env 'TPM2_PKCS11_TCTI=$TPM2_PKCS11_TCTI';
env DBUS_SESSION_BUS_ADDRESS=$DBUS_SESSION_BUS_ADDRESS;"

# Microseconds of processor time of processes until now.
spent() {
    local process all=0 fields
    for process in "$@"; do
        read -ra fields < <(sed 's/.*) //' "/proc/$process/stat")
        all=$((all + fields[11] + fields[12]))
    done
    echo $((all * 1000000 / $(getconf CLK_TCK)))
}
for ((round = 0; round < rounds; round++)); do
    for name in "${contenders[@]}"; do
        read -ra processes < <(echo "${mains[$name]} $(pgrep -d ' ' -P "${mains[$name]}") ${helpers[$name]}")
        before=$(spent "${processes[@]}")
        said=$("$work/handshakes" "${ports[$name]}" "$seconds" "$connections")
        printf '%s\t%s\t%s\n' "$name" "$said" $(($(spent "${processes[@]}") - before)) >>"$work/results"
        tail -n 1 "$work/results" >&2
    done
done

python3 - "$work/results" "$seconds" "$connections" <<'PYTHON'
import statistics, sys
path, seconds, connections = sys.argv[1:]
rows = {}
for line in open(path):
    name, rate, p50, p99, count, spent = line.split("\t")
    rows.setdefault(name, []).append((float(rate), float(p50), float(p99), float(spent) / float(count)))
def median(name, column): return statistics.median(row[column] for row in rows[name])
def ratio(name, other):
    each = sorted(ours[0] / theirs[0] for ours, theirs in zip(rows[name], rows[other]))
    return statistics.median(each), each[0], each[-1]
print(f"""nginx with 4 workers as `www-data`, TLS 1.3 with X25519, no session is resumed, {connections} connections at once over loopback
for {seconds} s, in turns; medians of {len(rows['file-p256'])} rounds. OpenSSL takes the keys of the keychain and of tpm2-pkcs11 by
pkcs11-provider, and those of SoftHSM by the engine of libp11. The clients run on the same processors. The last column is
the processor time of nginx, the daemon, the TPM's program and its broker, for each handshake.
""")
print("| key | handshakes/s | p50 | p99 | server's processor time |\n|---|---|---|---|---|")
for name, label in [
    ("file-p256", "P-256, file"), ("enclave", "P-256, keychain, enclave in software"),
    ("software-p256", "P-256, keychain, software"), ("softhsm-p256", "P-256, SoftHSM"),
    ("file-rsa", "RSA-2048, file"), ("software-rsa", "RSA-2048, keychain, software"), ("softhsm-rsa", "RSA-2048, SoftHSM"),
    ("tpm", "P-256, keychain, enclave in a TPM (swtpm)"), ("tpm2-pkcs11", "P-256, tpm2-pkcs11 (swtpm, tpm2-abrmd)")]:
    print(f"| {label} | {median(name, 0):,.0f} | {median(name, 1) / 1000:.1f} ms | {median(name, 2) / 1000:.1f} ms | {median(name, 3):.0f} µs |")
print("\n| | ratio | lowest | highest | target | |\n|---|---|---|---|---|---|")
for label, name, other, target in [
    ("enclave in software : file, P-256", "enclave", "file-p256", 0.8), ("software : file, P-256", "software-p256", "file-p256", None),
    ("software : file, RSA-2048", "software-rsa", "file-rsa", None), ("SoftHSM : file, P-256", "softhsm-p256", "file-p256", None),
    ("SoftHSM : file, RSA-2048", "softhsm-rsa", "file-rsa", None), ("TPM : tpm2-pkcs11", "tpm", "tpm2-pkcs11", 1.5)]:
    middle, low, high = ratio(name, other)
    goal = "–" if target is None else f"≥ {target}×"
    verdict = "" if target is None else "met" if middle >= target else "**missed**"
    print(f"| {label} | {middle:.2f}× | {low:.2f}× | {high:.2f}× | {goal} | {verdict} |")
PYTHON
