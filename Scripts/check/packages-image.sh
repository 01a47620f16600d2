#!/usr/bin/env bash
# Runs the container image of the daemon: a pod of which two containers store and read by the socket, the separation of
# users, restarts, the check of health, and a read-only file system without a network. It needs root.
#
#   Scripts/check/packages-image.sh ARCHIVE
set -euo pipefail
# A machine with control groups of both kinds: the program that starts containers takes one kind only.
if mountpoint --quiet /sys/fs/cgroup/unified; then
    if [[ -z ${KEYCHAIN_OWN_MOUNTS-} ]]; then KEYCHAIN_OWN_MOUNTS=1 exec unshare --mount "$BASH_SOURCE" "$@"; fi
    umount /sys/fs/cgroup/unified
fi
archive=$(realpath "$1")
place=$(mktemp -d "${TMPDIR:-/tmp}/keychain-image.XXXXXX")
count=0
# A store of its own.
pod=(podman --root "$place/storage" --runroot "$place/run" --storage-driver vfs --events-backend none --runtime crun)
[[ -d /run/systemd/system ]] || pod+=(--cgroup-manager cgroupfs --log-level fatal)
clean_up() {
    [[ ! -e $place/tpm/pid ]] || kill "$(cat "$place/tpm/pid")" 2>/dev/null || true
    "${pod[@]}" rm --all --force --time 1 >/dev/null 2>&1 || true
    rm -rf "$place"
    # podman leaves these, where no systemd removes them.
    [[ -z ${KEYCHAIN_OWN_MOUNTS-} ]] ||
        find /sys/fs/cgroup -depth -type d -path '*/libpod_parent*' -exec rmdir {} + 2>/dev/null || true
}
trap clean_up EXIT

fail() {
    printf 'image: %s\n' "$1" >&2
    shift
    printf '    %s\n' "$@" >&2
    "${pod[@]}" logs daemon 2>&1 | tail -n 20 >&2 || true
    exit 1
}
# is WHAT WANTED FOUND
is() {
    [[ $2 == "$3" ]] || fail "$1" "wanted: $2" "found:  $3"
    printf 'ok  %s\n' "$1"
    count=$((count + 1))
}
# has WHAT PART TEXT
has() {
    [[ $3 == *"$2"* ]] || fail "$1" "wanted: ...$2..." "found:  $3"
    printf 'ok  %s\n' "$1"
    count=$((count + 1))
}

image=$("${pod[@]}" load --quiet --input "$archive" | sed 's/^Loaded image: *//')
tree=$place/tree
mkdir "$tree"
"${pod[@]}" create --name content "$image" >/dev/null
"${pod[@]}" export content | tar -x -C "$tree" --no-same-owner
"${pod[@]}" rm content >/dev/null
is 'the image has one program, under two names' 'keychain keychaind' "$(ls "$tree/usr/bin" | xargs)"
is 'it has no shell and no package manager' '' \
    "$(find "$tree" \( -name '*sh' -o -name 'apt*' -o -name 'dpkg' -o -name busybox \) -path '*bin*')"
is 'no file of it changes the user' '' "$(find "$tree" -type f -perm /6000)"
is 'its user is not root' '10001:10001' "$("${pod[@]}" image inspect --format '{{.User}}' "$image")"
has 'it says what it is' "$(basename "$archive" .docker.tar | cut -d- -f2)" \
    "$("${pod[@]}" image inspect --format '{{index .Labels "org.opencontainers.image.version"}}' "$image")"

# Volumes get the owner and the rights of the folders of the image.
for volume in socket vault; do "${pod[@]}" volume create "$volume" >/dev/null; done
folder() { "${pod[@]}" volume inspect --format '{{.Mountpoint}}' "$1"; }
mkdir "$place/rules"
cat >"$place/rules/entitlements.json" <<'END'
{"version": 1, "rules": [
  {"uid": 20001, "groups": ["TEAM.shared", "TEAM.first"]},
  {"uid": 20002, "groups": ["TEAM.shared"]}
]}
END
# podman would put a /run that everybody can write into a container with --read-only. No program trusts a socket there.
hard=(--read-only --read-only-tmpfs=false --cap-drop ALL --security-opt no-new-privileges --network none)
# Limits that this process may set without the right to raise its own.
hard+=(--ulimit nofile=4096:4096 --ulimit nproc=1024:1024)

start() {
    "${pod[@]}" run --detach --name daemon "${hard[@]}" --volume socket:/run/keychain \
        --volume vault:/var/lib/keychain --volume "$place/rules:/etc/keychain:ro" "$image" >/dev/null
    for _ in {1..100}; do [[ -S $(folder socket)/socket ]] && return; sleep 0.1; done
    fail 'the daemon listens'
}
process() { "${pod[@]}" inspect --format '{{.State.Pid}}' daemon; }
# What another container of the pod does, as a user of its own. It sees the processes of the daemon's, which tells the
# daemon who asks.
client() {
    local user=$1
    shift
    "${pod[@]}" run --rm --interactive "${hard[@]}" --pid container:daemon --user "$user:$user" \
        --volume socket:/run/keychain --entrypoint /usr/bin/keychain "$image" "$@" 2>&1
}
owner() { "${pod[@]}" exec --interactive daemon /usr/bin/keychain "$@" 2>&1; }
health() { "${pod[@]}" healthcheck run daemon >/dev/null 2>&1 && echo healthy || echo unhealthy; }

start
is 'it is healthy' healthy "$(health)"
is 'a container stores' '' "$(printf 'correct horse' | client 20001 set mail alice --group TEAM.shared)"
is 'another reads' 'correct horse' "$(client 20002 get mail alice --group TEAM.shared)"
printf first | client 20001 set own alice --group TEAM.first
has 'a container gets nothing of a group that it was not granted' 'entitle' \
    "$(client 20002 get own alice --group TEAM.first)"
has 'a user without a rule gets nothing' 'keychain: ' "$(client 20003 get mail alice --group TEAM.shared)"
has 'a container that does not share the processes is nobody' 'keychain: ' \
    "$("${pod[@]}" run --rm "${hard[@]}" --user 20002:20002 --volume socket:/run/keychain \
        --entrypoint /usr/bin/keychain "$image" get mail alice --group TEAM.shared 2>&1)"
chmod 777 "$(folder socket)"
has 'nobody uses a socket in a folder in which others can make one' 'another user listens there' \
    "$(client 20002 get mail alice --group TEAM.shared)"
chmod 755 "$(folder socket)"
has 'the owner sets a passcode' '"passcode":true' \
    "$(printf 'right\n' | owner passcode set --json --memory 8 --passes 1 --new-passcode-fd 0)"
"${pod[@]}" rm --force --time 10 daemon >/dev/null
start
is 'after a restart the vault is locked, and the daemon is healthy' 'healthy 36' \
    "$(health) $(owner status --check >/dev/null; echo $?)"
printf 'right\n' | owner unlock --passcode-fd 0 >/dev/null
is 'after a restart the secret is there' 'correct horse' "$(client 20002 get mail alice --group TEAM.shared)"
is 'the vault is private' '10001 700' "$(stat -c '%u %a' "$(folder vault)/vault")"
kill -STOP "$(process)"
is 'a daemon that does not answer is not healthy' unhealthy "$(health)"
kill -CONT "$(process)"
"${pod[@]}" stop --time 10 daemon >/dev/null
is 'a stopped daemon is not healthy' unhealthy "$(health)"
is 'it ends by itself when it is asked to' 0 "$("${pod[@]}" inspect --format '{{.State.ExitCode}}' daemon)"
"${pod[@]}" rm daemon >/dev/null

# A TPM: in software here, at a socket. A real one is a device, with --device /dev/tpmrm0 and the group that owns it.
mkdir "$place/tpm"
swtpm socket --tpm2 --tpmstate "dir=$place/tpm" --daemon --pid "file=$place/tpm/pid" \
    --server "type=unixio,path=$place/tpm/socket" --ctrl "type=unixio,path=$place/tpm/socket.ctrl" \
    --flags not-need-init,startup-clear
chown -R 10001:10001 "$place/tpm"
with_tpm() {
    "${pod[@]}" run --rm --interactive "${hard[@]}" --volume "$place/tpm:/tpm" --volume tpm-vault:/var/lib/keychain \
        --env KEYCHAIN_TPM=swtpm:path=/tpm/socket --env KEYCHAIN_MODE=embedded \
        --env KEYCHAIN_HOME=/var/lib/keychain/vault --entrypoint /usr/bin/keychain "$image" "$@" 2>&1
}
with_tpm init --enclave tpm2 >/dev/null
has 'the image uses a TPM' 'tpm2' "$(with_tpm status | grep enclave)"
is 'and finds there what it stored' 'in the TPM' \
    "$(printf 'in the TPM' | with_tpm set mail alice; with_tpm get mail alice)"
echo "image: $count checks passed"
