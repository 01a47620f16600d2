#!/usr/bin/env bash
# Installs the built `keychain` with its manual pages and completions, or removes them.
#
#   Scripts/install.sh BINARY PREFIX
#   Scripts/install.sh --remove PREFIX
set -euo pipefail

prefix=$2
completions=(
    bash "$prefix/share/bash-completion/completions/keychain"
    zsh "$prefix/share/zsh/site-functions/_keychain"
    fish "$prefix/share/fish/vendor_completions.d/keychain.fish"
)
manual=$prefix/share/man/man1

if [[ $1 == --remove ]]; then
    # Only a link to our own program goes; another `security` stays.
    if [[ $(readlink "$prefix/bin/security") == keychain ]]; then rm -f "$prefix/bin/security"; fi
    rm -f "$prefix/bin/keychain" "$manual"/keychain.1 "$manual"/keychain-*.1 \
        "${completions[1]}" "${completions[3]}" "${completions[5]}"
    exit 0
fi

binary=$1
# Without debug information, which is a third of the size.
install -s -D -m 755 "$binary" "$prefix/bin/keychain"
mkdir -p "$manual"
"$binary" manual --directory "$manual"
for ((i = 0; i < ${#completions[@]}; i += 2)); do
    mkdir -p "$(dirname "${completions[i + 1]}")"
    "$binary" --generate-completion-script "${completions[i]}" >"${completions[i + 1]}"
done
echo "installed $prefix/bin/keychain"
