#!/usr/bin/env bash
# podman and skopeo with a registry that asks for a password, which docker-credential-keychain keeps.
. "$(dirname "$0")/lib.sh"
takes embedded socket
needs podman command -v podman
needs skopeo command -v skopeo
needs docker-registry command -v docker-registry
needs apache2-utils command -v htpasswd
needs curl command -v curl
needs 'docker-credential-keychain (this package)' command -v docker-credential-keychain
begin

echo swordfish | htpasswd -iBc accounts alice 2>/dev/null
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
registry=127.0.0.1:$port
cat >registry.yml <<END
version: 0.1
storage: {filesystem: {rootdirectory: $work/registry}}
http: {addr: "$registry"}
auth: {htpasswd: {realm: here, path: $work/accounts}}
END
start docker-registry serve registry.yml >registry.log 2>&1
poll curl -s -o /dev/null "http://$registry/v2/"
open_vault

unset REGISTRY_AUTH_FILE DOCKER_CONFIG CONTAINERS_REGISTRIES_CONF
# Storage that works in a container, too.
export CONTAINERS_STORAGE_CONF=$work/storage.conf
cat >storage.conf <<END
[storage]
driver = "vfs"
graphroot = "$work/storage"
runroot = "$work/runroot"
END

containers() {
    timeout $((3 * patience)) podman --root "$work/storage" --runroot "$work/runroot" --storage-driver vfs \
        --cgroup-manager cgroupfs --events-backend none "$@" 2>>podman.log </dev/null
}

# sign_in PASSWORD
sign_in() {
    containers login --tls-verify=false -u alice -p "$1" "$registry" >>podman.log
}

# Prints the names of those files of HOME and of the session that have the password, as it is or as podman encodes it.
readable() {
    grep -rlE "swordfish|$(printf alice:swordfish | base64)" "$HOME" "$XDG_RUNTIME_DIR"
}

keychain integrate podman --yes >podman.log
check 'podman is made to use the keychain' $? 0
sign_in wrong
check 'a wrong password is refused' "$(($? != 0))" 1
check 'a wrong password is not kept' "$(keychain internet list 2>/dev/null)" ''
sign_in swordfish
check 'podman signs in' $? 0
check 'the keychain has the password' "$(keychain internet list | wc -l)" 1
check 'no file has the password' "$(readable)" ''
check 'podman knows who signed in' "$(containers login --get-login "$registry")" alice

image=$registry/hello:1
echo hello >hello
tar cf files.tar hello
containers import -q files.tar "$image" >>podman.log
check 'an image is made' $? 0
containers push -q --tls-verify=false "$image" >>podman.log
check 'the image is pushed' $? 0
containers rmi -f "$image" >>podman.log
containers pull -q --tls-verify=false "$image" >>podman.log
check 'the image is pulled' $? 0

inspect() {
    timeout $patience skopeo inspect --tls-verify=false --format '{{.Name}}' "docker://$image" 2>>podman.log </dev/null
}

check 'skopeo finds the image' "$(inspect)" "$registry/hello"
timeout $patience skopeo copy -q --src-tls-verify=false "docker://$image" "dir:$work/copy" 2>>podman.log
check 'skopeo copies the image' $? 0

# Without a daemon nothing keeps the vault unlocked after `keychain unlock`.
if [[ $place != embedded ]]; then
    lock
    # docker's protocol for helpers has errors on standard output. There is no terminal to ask at.
    answer=$(echo "$registry" | setsid --wait docker-credential-keychain get 2>>podman.log)
    check 'the helper fails while the vault is locked' $? 1
    check 'the helper says that it is locked' "$(grep -c 'vault is locked' <<<"$answer")" 1
    check 'the helper gives no secret' "$(grep -c swordfish <<<"$answer")" 0
    containers pull -q --tls-verify=false "$image" >>podman.log
    check 'nothing is pulled while the vault is locked' "$(($? != 0))" 1
    unlock
fi

containers logout "$registry" >>podman.log
check 'podman signs out' $? 0
check 'nothing is left' "$(keychain internet list)" ''
inspect
check 'skopeo is refused after that' "$(($? != 0))" 1
finish
