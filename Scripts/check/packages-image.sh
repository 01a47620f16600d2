#!/usr/bin/env bash
# Runs the container image of the daemon: a pod of which two containers store and read by the socket, the separation of
# users, restarts, the check of health, and a read-only file system without a network. It needs root.
#
#   Scripts/check/packages-image.sh ARCHIVE
set -euo pipefail
archive=$(realpath "$1")
place=$(mktemp -d "${TMPDIR:-/tmp}/keychain-image.XXXXXX")
count=0
# A store of its own. Where systemd does not run, there are no control groups to make.
pod=(podman --root "$place/storage" --runroot "$place/run" --storage-driver vfs --events-backend none --runtime crun)
[[ -d /run/systemd/system ]] || pod+=(--cgroup-manager cgroupfs)
clean_up() {
    "${pod[@]}" rm --all --force --time 1 >/dev/null 2>&1 || true
    rm -rf "$place"
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

# The volumes are folders of root's, as a cluster may give them.
mkdir -p "$place"/{socket,vault,rules}
chgrp 10001 "$place"/{socket,vault}
chmod 2775 "$place"/{socket,vault}
cat >"$place/rules/entitlements.json" <<'END'
{"version": 1, "rules": [
  {"uid": 20001, "groups": ["TEAM.shared", "TEAM.first"]},
  {"uid": 20002, "groups": ["TEAM.shared"]}
]}
END
hard=(--read-only --cap-drop ALL --security-opt no-new-privileges --network none)
[[ -d /run/systemd/system ]] || hard+=(--cgroups disabled)

start() {
    "${pod[@]}" run --detach --name daemon "${hard[@]}" --volume "$place/socket:/run/keychain" \
        --volume "$place/vault:/var/lib/keychain" --volume "$place/rules:/etc/keychain:ro" "$image" >/dev/null
    for _ in {1..100}; do [[ -S $place/socket/socket ]] && return; sleep 0.1; done
    fail 'the daemon listens'
}
# What another container of the pod does, as a user of its own. It sees the processes of the daemon's, which tells the
# daemon who asks.
client() {
    local user=$1
    shift
    "${pod[@]}" run --rm --interactive "${hard[@]}" --pid container:daemon --user "$user:$user" \
        --volume "$place/socket:/run/keychain" --entrypoint /usr/bin/keychain "$image" "$@" 2>&1
}
owner() { "${pod[@]}" exec --interactive daemon /usr/bin/keychain "$@" 2>&1; }
health() { "${pod[@]}" healthcheck run daemon >/dev/null 2>&1 && echo healthy || echo unhealthy; }

start
is 'it is healthy' healthy "$(health)"
is 'a container stores' '' "$(printf 'correct horse' | client 20001 set mail alice --group TEAM.shared)"
is 'another reads' 'correct horse' "$(client 20002 get mail alice --group TEAM.shared)"
printf first | client 20001 set own alice --group TEAM.first
has 'a container gets nothing of a group that it was not granted' 'entitle' "$(client 20002 get own alice --group TEAM.first)"
has 'a user without a rule gets nothing' 'keychain: ' "$(client 20003 get mail alice --group TEAM.shared)"
has 'a container that does not share the processes is nobody' 'keychain: ' \
    "$("${pod[@]}" run --rm "${hard[@]}" --user 20002:20002 --volume "$place/socket:/run/keychain" \
        --entrypoint /usr/bin/keychain "$image" get mail alice --group TEAM.shared 2>&1)"
has 'the owner sets a passcode' '"passcode":true' \
    "$(printf 'right\n' | owner passcode set --json --memory 8 --passes 1 --new-passcode-fd 0)"
"${pod[@]}" rm --force --time 10 daemon >/dev/null
start
is 'after a restart the vault is locked, and the daemon is healthy' 'healthy 36' \
    "$(health) $(owner status --check >/dev/null; echo $?)"
printf 'right\n' | owner unlock --passcode-fd 0 >/dev/null
is 'after a restart the secret is there' 'correct horse' "$(client 20002 get mail alice --group TEAM.shared)"
is 'the vault is private' '10001 700' "$(stat -c '%u %a' "$place/vault/vault")"
kill -STOP "$("${pod[@]}" inspect --format '{{.State.Pid}}' daemon)"
is 'a daemon that does not answer is not healthy' unhealthy "$(timeout 60 bash -c "$(declare -f health); pod=(${pod[*]@Q}); health" || echo unhealthy)"
kill -CONT "$("${pod[@]}" inspect --format '{{.State.Pid}}' daemon)"
"${pod[@]}" stop --time 10 daemon >/dev/null
is 'a stopped daemon is not healthy' unhealthy "$(health)"
is 'it ends by itself when it is asked to' 0 "$("${pod[@]}" inspect --format '{{.State.ExitCode}}' daemon)"
echo "image: $count checks passed"
