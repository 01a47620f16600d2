#!/usr/bin/env bash
# Remmina, a client for remote desktops: it keeps the password of a connection in the Secret Service.
. "$(dirname "$0")/lib.sh"
takes socket bus
needs remmina command -v remmina
needs remmina-plugin-secret compgen -G '/usr/lib/*/remmina/plugins/remmina-plugin-secret.so'
needs remmina-plugin-vnc compgen -G '/usr/lib/*/remmina/plugins/remmina-plugin-vnc.so'
needs xvfb command -v Xvfb
needs libsecret-tools command -v secret-tool
needs dbus-daemon command -v dbus-daemon
begin
start_display
open_vault

profile=$HOME/.local/share/remmina/group_vnc_x_example.remmina
mkdir -p "$(dirname "$profile")"
cat >"$profile" <<'END'
[remmina]
name=x
group=
protocol=VNC
server=example.org
username=alice
END
timeout $patience remmina --update-profile "$profile" --set-option password=swordfish >remmina.log 2>&1
check 'status of remmina' $? 0
check 'the secret is in the keychain' "$(secret-tool lookup filename "$profile" key password)" swordfish
check 'no password is in the file' "$(grep -c swordfish "$profile")" 0
finish
