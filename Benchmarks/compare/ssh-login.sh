#!/bin/bash
# Times logins over loopback with a P-256 key in OpenSSH's own agent, in a keychain and in a TPM, which take turns.
#
#   ssh-login.sh FOLDER KEYCHAIN TPM ROUNDS
#
# FOLDER must not exist; TPM is what KEYCHAIN_TPM takes. Everything that runs ends with this script.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$1 keychain=$2 tpm=$3 rounds=$4

mkdir -m 700 "$folder"
cd "$folder"
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT

ssh-keygen -q -t ed25519 -N '' -f host
ssh-keygen -q -t ecdsa -b 256 -N '' -f openssh
KEYCHAIN_HOME=$folder/software "$keychain" key create door
KEYCHAIN_HOME=$folder/software "$keychain" key public door --format openssh >keychain.pub
KEYCHAIN_HOME=$folder/tpm KEYCHAIN_TPM=$tpm "$keychain" init --enclave tpm2 >recovery
KEYCHAIN_HOME=$folder/tpm KEYCHAIN_TPM=$tpm "$keychain" key create door --enclave
KEYCHAIN_HOME=$folder/tpm KEYCHAIN_TPM=$tpm "$keychain" key public door --format openssh >tpm.pub
cat openssh.pub keychain.pub tpm.pub >authorized

port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >sshd_config <<END
ListenAddress 127.0.0.1:$port
HostKey $folder/host
AuthorizedKeysFile $folder/authorized
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
PidFile none
END
echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 host.pub)" >known_hosts
/usr/sbin/sshd -D -e -f sshd_config 2>sshd.log &
ssh-agent -D -a openssh.socket >/dev/null &
KEYCHAIN_HOME=$folder/software "$keychain" ssh-agent --socket keychain.socket >/dev/null &
KEYCHAIN_HOME=$folder/tpm KEYCHAIN_TPM=$tpm "$keychain" ssh-agent --socket tpm.socket >/dev/null &
until [ -S openssh.socket ] && [ -S keychain.socket ] && [ -S tpm.socket ] && grep -q 'Server listening' sshd.log; do
    sleep 0.1
done
SSH_AUTH_SOCK=openssh.socket ssh-add -q openssh

turns=()
for agent in openssh keychain tpm; do
    turns+=(-- "ssh-$agent" env SSH_AUTH_SOCK="$folder/$agent.socket" ssh -F none -p "$port" -o BatchMode=yes
        -o UserKnownHostsFile="$folder/known_hosts" -o StrictHostKeyChecking=yes "$(id -un)@127.0.0.1" 'echo inside')
done
/usr/bin/python3 "$here/processes.py" "$rounds" "${turns[@]:1}"
