#!/bin/bash
# What Scripts/check/packages.sh does on a machine without Swift, as root, with systemd as its first process. It
# installs the package of a version before, uses it, upgrades with vaults in use, removes, purges and installs again.
#
#   packages-machine.sh OLD NEW     two packages
set -u
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive HOME=/root
old=$1 new=$2
count=0

fail() {
    printf 'FAILED: %s\n' "$1"
    shift
    printf '    %s\n' "$@"
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
# Runs a command of alice, who has a session of systemd's.
alice() {
    runuser -u alice -- env -C /home/alice HOME=/home/alice USER=alice XDG_RUNTIME_DIR="/run/user/$(id -u alice)" \
        PATH=/usr/bin:/bin bash -c "$1" alice "${@:2}" 2>&1
}
# Runs a command as a service of the system of its own.
service() { systemd-run --quiet --wait --pipe --unit "$1" --uid "$2" bash -c "$3" 2>&1; }
# Installs a package.
get() { apt-get install -y -q --no-install-recommends "$1" >/root/log 2>&1; }
system_pid() { systemctl show --property MainPID --value keychaind.service; }
user_pid() { alice 'systemctl --user show --property MainPID --value keychaind.service'; }
# Unlike the passcode of a person, these are not worth stretching.
weak='--memory 8 --passes 1'
system=/run/keychain/socket

useradd --create-home --shell /bin/bash alice
useradd --create-home --shell /bin/bash bob

# --- Install

dpkg -s keychain >/dev/null || fail 'the other program called keychain is there'
get "$old" || fail 'apt installs' "$(cat /root/log)"
has 'apt takes the other program called keychain away, and says so' ' keychain' "$(grep -A1 REMOVED /root/log)"
has 'the program starts' '.' "$(keychain --version)"
is 'a library is found' '' "$(ldd /usr/bin/keychain /usr/lib/*/pkcs11/libkeychain-pkcs11.so | grep 'not found')"
depends=$(dpkg-query -W -f '${Depends}' swift-keychain)
for library in $(ldd /usr/bin/keychain | awk '$3 ~ /^\// { print $3 }'); do
    owner=$(dpkg -S "$(readlink -f "$library")" "/usr$(readlink -f "$library")" 2>/dev/null | head -n 1 | cut -d: -f1)
    has "the package of ${library##*/} is needed" "${owner%t64}" "$depends"
done
is 'files belong to root' '' "$(dpkg -L swift-keychain | sort -u | while read -r file; do
    find "$file" -maxdepth 0 \( ! -user root -o ! -group root \)
done)"
is 'nobody but root writes them, and they have no other rights' '' "$(dpkg -L swift-keychain | while read -r file; do
    find "$file" -maxdepth 0 ! -type l -perm /7022
done)"
is 'no daemon is enabled' 'disabled disabled' \
    "$(systemctl is-enabled keychaind.socket) $(systemctl --global is-enabled keychaind.socket)"
is 'the user of the daemon has no shell' '/usr/sbin/nologin' "$(getent passwd keychain | cut -d: -f7)"
is 'no vault is made' '' "$(ls -d /var/lib/keychain 2>/dev/null)"
is 'pages are there' 0 "$(ls /usr/share/man/man{1/keychain-get.1,8/keychaind.8}.gz >/dev/null 2>&1; echo $?)"
is 'units are well-formed' '' \
    "$(systemd-analyze verify --man=no /usr/lib/systemd/system/keychaind.{socket,service} 2>&1 | grep keychain)"
is 'zsh looks where the completions are' '#compdef keychain' "$(head -n 1 /usr/share/zsh/vendor-completions/_keychain)"

# --- Use it: without a daemon

is 'a secret is stored and found' 'correct horse' \
    "$(alice 'printf "correct horse" | keychain set mail.example.org alice && keychain get mail.example.org alice')"
has 'it is listed' 'mail.example.org' "$(alice 'keychain list')"
is 'it is not on the disk' '' "$(grep -rlaF -e 'correct horse' -e mail.example.org /home/alice/.local/share/keychain)"
is 'it is replaced' 'battery staple' \
    "$(alice 'printf "battery staple" | keychain set mail.example.org alice && keychain get mail.example.org alice')"
is 'another is deleted' '44' \
    "$(alice 'printf x | keychain set other x; keychain delete other x; keychain get other x >/dev/null 2>&1; echo $?')"

# --- The daemon of a user

# What alice runs here is a service of the system, so it has no group that is called after the program.
alice 'mkdir -p .config/keychain; cat > .config/keychain/entitlements.json' <<'END'
{"version": 1, "rules": [{"executable": "/usr/bin/p11tool", "groups": ["web"], "rights": ["list"]}]}
END
loginctl enable-linger alice
for _ in {1..100}; do [[ -S /run/user/$(id -u alice)/systemd/private ]] && break; sleep 0.1; done
alice 'systemctl --user enable --now keychaind.socket' >/root/log 2>&1 || fail 'the socket starts' "$(cat /root/log)"
has 'the daemon answers' 'answers' "$(alice 'keychain status | grep daemon')"
is 'it has the vault' 'battery staple' "$(alice 'keychain get mail.example.org alice')"
printf right >/home/alice/passcode; chown alice: /home/alice/passcode; chmod 600 /home/alice/passcode
alice "keychain passcode set $weak --new-passcode-fd 3 3<passcode" >/root/log ||
    fail 'a passcode is set' "$(cat /root/log)"
is 'it is locked' '36' "$(alice 'keychain lock; keychain status --check >/dev/null 2>&1; echo $?')"
is 'a locked vault keeps its secrets' '36' \
    "$(alice 'keychain get mail.example.org alice >/dev/null 2>&1 </dev/null; echo $?')"
is 'the passcode unlocks it' 'battery staple' \
    "$(alice 'keychain unlock --passcode-fd 3 3<passcode >/dev/null && keychain get mail.example.org alice')"
alice 'keychain key create web --enclave --group web' >/root/log 2>&1 || fail 'a key is made' "$(cat /root/log)"
has 'p11-kit shows the token to p11tool' 'token=keychain' "$(alice 'p11tool --list-tokens')"
has 'and its key' 'Label: web' "$(alice "p11tool --list-privkeys 'pkcs11:token=keychain'")"
is 'the helper unlocks at a login' 'battery staple' "$(alice 'keychain lock')$(
    printf right | env PAM_TYPE=auth PAM_USER=alice /usr/libexec/keychain-unlock-at-login
    for _ in {1..100}; do alice 'keychain status --check' >/dev/null 2>&1 && break; sleep 0.1; done
    alice 'keychain get mail.example.org alice')"

# --- The daemon of the system

mkdir -p /etc/keychain
cat >/etc/keychain/entitlements.json <<'END'
{"version": 1, "rules": [
  {"uid": 0, "groups": ["*"], "rights": ["list", "unlock", "administer"]},
  {"unit": "mail.service", "groups": ["TEAM.mail"]}
]}
END
systemctl enable --now keychaind.socket >/root/log 2>&1 || fail 'the socket of the system starts' "$(cat /root/log)"
printf master >/root/passcode
KEYCHAIN_SOCKET=$system keychain passcode set $weak --new-passcode-fd 3 3</root/passcode >/root/log 2>&1 ||
    fail 'root sets the passcode' "$(cat /root/log; journalctl -u keychaind --no-pager | tail -n 20)"
mail() { service mail.service bob "KEYCHAIN_SOCKET=$system keychain get smtp relay --group TEAM.mail"; }
service mail.service bob "printf 'for mail' | KEYCHAIN_SOCKET=$system keychain set smtp relay --group TEAM.mail"
is 'a service stores and reads' 'for mail' "$(mail)"
has 'another service gets nothing' 'keychain:' "$(service web.service bob \
    "KEYCHAIN_SOCKET=$system keychain get smtp relay --group TEAM.mail")"
is 'the vault is private' 'keychain 700' "$(stat -c '%U %a' /var/lib/keychain)"

# --- Upgrade, with both daemons in use

before=$(system_pid) user_before=$(user_pid)
get "$new" || fail 'the upgrade succeeds' "$(cat /root/log)"
log=$(cat /root/log)
is 'the new version is there' "$(dpkg-deb -f "$new" Version)" "$(keychain --version)"
has 'it says that the daemon was restarted' 'restarted keychaind' "$log"
[[ $(system_pid) != "$before" && $(system_pid) != 0 ]] ||
    fail 'the daemon of the system is another' "$before $(system_pid)" "$log"
is 'it runs the new program' /usr/bin/keychain "$(readlink "/proc/$(system_pid)/exe")"
is 'the daemon of the system is locked' '36' \
    "$(KEYCHAIN_SOCKET=$system keychain status --check >/dev/null 2>&1; echo $?)"
KEYCHAIN_SOCKET=$system keychain unlock --passcode-fd 3 3</root/passcode >/dev/null
is 'its vault is as before' 'for mail' "$(mail)"
is 'the daemon of the user goes on' "$user_before" "$(user_pid)"
has 'the upgrade says whose' 'still run the former version: alice' "$log"
has 'the new program says what to do' 'restart keychaind' "$(alice 'keychain list')"
has 'the journal has what the daemon says' 'stopped' "$(journalctl --no-pager --quiet -t keychaind)"
is 'no measure of the daemons is missing but locked memory' '' \
    "$(journalctl --no-pager --quiet -t keychaind -t keychain | grep 'without protection' | grep -v 'locked memory')"
alice 'systemctl --user restart keychaind'
is 'after the restart the vault is as before' 'battery staple' \
    "$(alice 'keychain unlock --passcode-fd 3 3<passcode >/dev/null && keychain get mail.example.org alice')"
has 'the key is there, too' 'Label: web' "$(alice "p11tool --list-privkeys 'pkcs11:token=keychain'")"

# --- Nothing may end a daemon that has the last copy of a secret

mv /var/lib/keychain/device-secret /root/device-secret
before=$(system_pid)
log=$(apt-get install -y -q --reinstall --no-install-recommends "$new" 2>&1)
has 'an upgrade says that the secret is gone' 'may have the last' "$log"
is 'and does not restart the daemon' "$before" "$(system_pid)"
log=$(apt-get remove -y -q swift-keychain 2>&1)
has 'a removal is refused' 'may have the last' "$log"
is 'and changes nothing' "$before $(dpkg-deb -f "$new" Version)" "$(system_pid) $(keychain --version)"
# The running daemon knows the former file of this program. So root asks by the rule.
KEYCHAIN_SOCKET=$system keychain recovery put-back >/root/log 2>&1 || fail 'the secret is put back' "$(cat /root/log)"
is 'the secret is as it was' 0 "$(cmp -s /root/device-secret /var/lib/keychain/device-secret; echo $?)"
head -c "$(stat -c %s /root/device-secret)" /dev/urandom >/var/lib/keychain/device-secret
log=$(apt-get install -y -q --reinstall --no-install-recommends "$new" 2>&1)
has 'an upgrade says that the secret is wrong' 'may have the last' "$log"
is 'and does not restart the daemon, either' "$before" "$(system_pid)"
KEYCHAIN_SOCKET=$system keychain recovery put-back >/root/log 2>&1 || fail 'the secret is put back' "$(cat /root/log)"
is 'the secret is as it was again' 0 "$(cmp -s /root/device-secret /var/lib/keychain/device-secret; echo $?)"

# --- Remove, purge

apt-get remove -y -q swift-keychain >/root/log 2>&1 || fail 'the package is removed' "$(cat /root/log)"
is 'the daemon of the system is stopped' 'inactive inactive' \
    "$(systemctl is-active keychaind.service) $(systemctl is-active keychaind.socket)"
is 'the programs are gone' '' "$(ls /usr/bin/*keychain* /usr/lib/*/pkcs11/*keychain* 2>/dev/null)"
kept() { find /var/lib/keychain /home/alice/.local/share/keychain /etc/keychain -type f | sort; }
sums() { find /var/lib/keychain /etc/keychain -type f -exec sha256sum {} + | sort; }
has 'the vaults are kept' '/var/lib/keychain/keybag' "$(kept)"
has 'the vaults are kept' '/home/alice/.local/share/keychain/keybag' "$(kept)"
before=$(sums)
log=$(dpkg --purge swift-keychain 2>&1) || fail 'the package is purged' "$log"
has 'the purge says where the vault is' '/var/lib/keychain is kept' "$log"
is 'the purge changes no byte of a vault' "$before" "$(sums)"
is 'nothing starts the daemon any more' '' "$(find /etc/systemd/system -name 'keychaind*')"
alice 'systemctl --user stop keychaind.socket keychaind.service' >/dev/null

# --- Install again

get "$new" || fail 'the package is installed again' "$(cat /root/log)"
systemctl enable --now keychaind.socket >/dev/null 2>&1
KEYCHAIN_SOCKET=$system keychain unlock --passcode-fd 3 3</root/passcode >/dev/null
is 'the vault of the system is as before' 'for mail' "$(mail)"
alice 'systemctl --user daemon-reload; systemctl --user start keychaind.socket'
is 'and so is that of the user' 'battery staple' \
    "$(alice 'keychain unlock --passcode-fd 3 3<passcode >/dev/null && keychain get mail.example.org alice')"

# --- A disk that is full

dpkg --purge swift-keychain >/dev/null 2>&1
get "$old" || fail 'the old version is installed' "$(cat /root/log)"
systemctl enable --now keychaind.socket >/dev/null 2>&1
KEYCHAIN_SOCKET=$system keychain unlock --passcode-fd 3 3</root/passcode >/dev/null
before=$(system_pid)
sum=$(sha256sum </usr/bin/keychain)
fallocate -l "$(($(df --output=avail -B1 / | tail -n 1) - 4000000))" /filler
log=$(dpkg -i "$new" 2>&1) && fail 'a full disk is noticed' "$log"
has 'a full disk is noticed' 'No space left' "$log"
rm /filler
is 'the program is the former one' "$sum" "$(sha256sum </usr/bin/keychain)"
is 'the daemon goes on' "$before" "$(system_pid)"
is 'its vault is as before' 'for mail' "$(mail)"
dpkg -i "$new" >/root/log 2>&1 || fail 'the upgrade succeeds when there is room' "$(cat /root/log)"
is 'the upgrade succeeds when there is room' "$(dpkg-deb -f "$new" Version)" "$(keychain --version)"

# --- Places that somebody else has made

systemctl stop keychaind.socket keychaind.service
dpkg --purge swift-keychain >/dev/null 2>&1
userdel keychain
useradd --create-home --shell /bin/bash keychain
mv /var/lib/keychain /var/lib/keychain.former
mkdir /home/bob/mine
echo private >/home/bob/mine/keybag
chown -R bob: /home/bob/mine
ln -s /home/bob/mine /var/lib/keychain
ln -s /home/bob/mine/keybag /usr/bin/keychain-askpass
log=$(dpkg -i "$new" 2>&1) || fail 'the package is installed beside a person called keychain' "$log"
has 'it says that a person has the name of its user' 'keychain is the user of a person' "$log"
is 'a link in place of a program is replaced' keychain "$(readlink /usr/bin/keychain-askpass)"
dpkg --purge swift-keychain >/dev/null 2>&1
is 'what a link leads to is as it was' 'private bob' "$(cat /home/bob/mine/keybag) $(stat -c %U /home/bob/mine/keybag)"
is 'and the person is there' '/bin/bash' "$(getent passwd keychain | cut -d: -f7)"

echo "machine: $count checks passed"
