#!/usr/bin/env bash
# seahorse, GNOME's window for passwords: it shows an item, and copies its password to the clipboard.
. "$(dirname "$0")/lib.sh"
takes socket bus
needs seahorse command -v seahorse
needs xvfb command -v Xvfb
needs xdotool command -v xdotool
needs xclip command -v xclip
needs imagemagick command -v import
needs libsecret-tools command -v secret-tool
needs python3-secretstorage /usr/bin/python3 -c 'import secretstorage'
needs dbus-daemon command -v dbus-daemon
begin
start_display
open_vault

printf swordfish | secret-tool store --label='Mail of Alice' server mail.example.org user alice
printf herring | secret-tool store --label='Mail of Bob' server mail.example.org user bob
/usr/bin/python3 - <<'END'
import secretstorage

collection = secretstorage.create_collection(secretstorage.dbus_init(), 'Work')
collection.create_item('VPN', {'a': '1'}, b'tuna')
END

start seahorse >seahorse.log 2>&1
app=$!

main_window() {
    xdotool search --onlyvisible --class seahorse | tail -n 1 | grep .
}

properties() {
    xdotool search --onlyvisible --name 'Item Properties' | grep .
}

picture() {
    import -window root "$1" && identify -format '%#' "$1"
}

# Whether the screen does not change for half a second: windows move and fade in.
is_still() {
    local before
    before=$(picture before.png)
    sleep 0.5
    [[ $(picture after.png) == "$before" ]]
}

clipboard() {
    timeout 5 xclip -o -selection clipboard
}

has_clipboard() {
    clipboard | grep -q .
}

poll main_window
window=$(main_window)
# With a window of this size, the places of what is clicked below are known.
xdotool windowsize "$window" 990 690 windowmove "$window" 0 0
poll is_still
# The collection "Login" in the list at the left.
xdotool mousemove 135 100 click 1
poll is_still
# Its first item, which is Alice's.
xdotool mousemove 600 95 click --repeat 2 --delay 50 1
poll properties
poll is_still
# The button that copies the password, in the dialog.
xdotool mousemove 640 261 click 1
poll has_clipboard
check 'the password is on the clipboard' "$(clipboard)" swordfish
kill -0 "$app"
check 'seahorse still runs' $? 0
finish
