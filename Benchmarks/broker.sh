#!/bin/bash
# Measures what a program gets from a server of this machine over HTTPS: directly, through tinyproxy, which passes the
# bytes on, through mitmproxy, which opens them, and through `keychain run --broker`, which opens them and looks for the
# secret. Prints Markdown.
#
#   broker.sh [ROUNDS] [MEBIBYTES]
set -euo pipefail
cd "$(dirname "$0")/.."

rounds=${1:-5}
mebibytes=${2:-512}
requests=2000

read -ra release < <(Scripts/install/release-flags.sh)
with_http=("${release[@]}" --scratch-path .build-network --traits HTTPClientSupport)
for product in keychain keychain-broker; do swift build "${with_http[@]}" --product $product >&2; done
bin=$(swift build "${with_http[@]}" --show-bin-path)

work=$(mktemp -d /tmp/keychain-broker-bench.XXXXXX)
pids=()
finish() {
    ((${#pids[@]} == 0)) || kill "${pids[@]}" 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap finish EXIT
unset KEYCHAIN_MODE KEYCHAIN_SOCKET KEYCHAIN_TPM KEYCHAIN_AUDIT
export KEYCHAIN_HOME=$work/vault HOME=$work
for name in HTTPS_PROXY HTTP_PROXY ALL_PROXY https_proxy http_proxy all_proxy NO_PROXY no_proxy; do unset $name; done

# An authority, and a server whose name it signed.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj '/CN=authority' \
    -keyout "$work/authority.key" -out "$work/authority.pem" 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj '/CN=localhost' \
    -keyout "$work/server.key" -out "$work/server.csr" 2>/dev/null
openssl x509 -req -in "$work/server.csr" -CA "$work/authority.pem" -CAkey "$work/authority.key" -days 2 \
    -extfile <(echo subjectAltName=DNS:localhost) -out "$work/server.pem" 2>/dev/null
mkdir "$work/www"
head -c "$((mebibytes << 20))" /dev/urandom >"$work/www/binary"
/usr/bin/python3 - "$work/www/json" "$mebibytes" <<'END'
import json, random, sys
random.seed(1)
words = [f"{random.getrandbits(40):x}" for _ in range(1000)]
line = "".join(json.dumps({"name": random.choice(words), "text": f'a "{random.choice(words)}" & more\n'}) + "\n"
               for _ in range(12_000)).encode()
with open(sys.argv[1], "wb") as file:
    for _ in range((int(sys.argv[2]) << 20) // len(line)):
        file.write(line)
END
echo '{"answer": "small"}' >"$work/www/small"
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
server=$(port)
cat >"$work/nginx.conf" <<END
daemon off; pid $work/nginx.pid; error_log $work/nginx.log; worker_processes 1;
events { worker_connections 4096; }
http {
    access_log off; sendfile on; keepalive_requests 1000000;
    client_body_temp_path $work/t1; proxy_temp_path $work/t2; fastcgi_temp_path $work/t3; uwsgi_temp_path $work/t4;
    scgi_temp_path $work/t5;
    server {
        listen 127.0.0.1:$server ssl; server_name localhost; root $work/www;
        ssl_certificate $work/server.pem; ssl_certificate_key $work/server.key;
    }
}
END
[ "$(id -u)" != 0 ] || { echo "user root;" >>"$work/nginx.conf"; }
nginx -c "$work/nginx.conf" 2>"$work/nginx.err" &
pids+=($!)
tiny=$(port)
cat >"$work/tinyproxy.conf" <<END
Port $tiny
Listen 127.0.0.1
Timeout 600
MaxClients 200
LogLevel Error
END
tinyproxy -d -c "$work/tinyproxy.conf" >"$work/tinyproxy.log" 2>&1 &
pids+=($!)
mitm=$(port)
mitmdump -q --set confdir="$work/mitm" --listen-host 127.0.0.1 --listen-port "$mitm" --set stream_large_bodies=1 \
    --set ssl_verify_upstream_trusted_ca="$work/authority.pem" --set http2=false >"$work/mitm.log" 2>&1 &
pids+=($!)
wait_for() {
    local turn
    for ((turn = 0; turn < 400; turn++)); do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.05
    done
    echo "broker.sh: $* does not succeed" >&2
    tail -n 5 "$work"/*.log "$work/nginx.err" >&2
    exit 1
}
wait_for curl -s --cacert "$work/authority.pem" "https://localhost:$server/small"
wait_for test -s "$work/mitm/mitmproxy-ca-cert.pem"
wait_for curl -s --proxy "http://127.0.0.1:$mitm" --cacert "$work/mitm/mitmproxy-ca-cert.pem" "https://localhost:$server/small"
head -c 30 /dev/urandom | base64 | "$bin/keychain" set bench token 2>/dev/null

# What is measured, in a shell of its own: `keychain run` starts it once for all rounds. It prints a number for each
# kind of work.
cat >"$work/measure" <<END
#!/bin/bash
# measure CURL-OPTION...
set -euo pipefail
for file in binary json; do
    curl -s "\$@" -o /dev/null -w '%{http_code} %{speed_download}\n' "https://localhost:$server/\$file" |
        awk '\$1 != 200 { exit 1 } { printf "%.0f ", \$2 / 1048576 }'
done
for parallel in 1 16; do
    start=\$(date +%s.%N)
    options=()
    ((parallel == 1)) || options=(--parallel --parallel-immediate --parallel-max \$parallel)
    count=\$(curl -s "\$@" "\${options[@]}" -o /dev/null -w '%{http_code}\n' "https://localhost:$server/small?[1-$requests]" |
        grep -c '^200$')
    ((count == $requests))
    awk -v start="\$start" -v end="\$(date +%s.%N)" 'BEGIN { printf "%.0f ", $requests / (end - start) }'
done
echo
END
chmod +x "$work/measure"

# measure_way NAME, which is one of the columns.
measure_way() {
    case $1 in
        direct) "$work/measure" --cacert "$work/authority.pem" ;;
        tinyproxy) "$work/measure" --proxy "http://127.0.0.1:$tiny" --cacert "$work/authority.pem" ;;
        mitmproxy) "$work/measure" --proxy "http://127.0.0.1:$mitm" --cacert "$work/mitm/mitmproxy-ca-cert.pem" ;;
        broker)
            "$bin/keychain" run --broker "TOKEN=keychain://bench/token to https://localhost:$server at 127.0.0.1" \
                --broker-authority "$work/authority.pem" -- \
                bash -c "\"$work/measure\" -H \"Authorization: Bearer \$TOKEN\""
            ;;
    esac
}
ways=(direct tinyproxy mitmproxy broker)
for ((round = 0; round < rounds; round++)); do
    for way in "${ways[@]}"; do measure_way "$way" >>"$work/$way.results"; done
done
# The median of column $2 of a way.
median() { awk -v column="$2" '{ print $column }' "$work/$1.results" | sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }

echo "| | direct | tinyproxy | mitmproxy | \`run --broker\` | of mitmproxy | of tinyproxy |"
echo "|---|---|---|---|---|---|---|"
column=1
for what in 'random bytes, MiB/s' 'JSON with escapes, MiB/s' 'requests a second, one after the other' 'requests a second, 16 at once'; do
    line="| $what"
    for way in "${ways[@]}"; do line+=" | $(median "$way" $column)"; done
    for peer in mitmproxy tinyproxy; do
        line+=" | $(awk -v own="$(median broker $column)" -v peer="$(median $peer $column)" 'BEGIN { printf "%.2f", own / peer }')"
    done
    echo "$line |"
    column=$((column + 1))
done
echo
echo "Medians of $rounds rounds, $mebibytes MiB each, on $(nproc) cores; each proxy reads and writes over loopback. tinyproxy $(tinyproxy -v | awk '{ print $2 }'), mitmproxy $(mitmdump --version | awk 'NR == 1 { print $2 }') with \`stream_large_bodies\`, nginx $(nginx -v 2>&1 | cut -d/ -f2) as the server. tinyproxy passes the program's TLS on; the other two end it, and begin another."
