#!/bin/bash
# Installs what the comparison measures against, from Debian's packages. May be run again.
set -euo pipefail
packages=(
    age curl dbus fuse3 gcc gnome-keyring gnupg gocryptfs libglib2.0-bin libsecret-1-dev libsecret-tools libsqlcipher0 libssl-dev
    libtpm2-pkcs11-1 libtpm2-pkcs11-tools libtss2-dev libtss2-tcti-tabrmd0 mitmproxy pass pkg-config openssh-client openssh-server
    openssl python3 python3-cryptography python3-keyring python3-matplotlib python3-secretstorage softhsm2 sqlcipher sqlite3 swtpm
    tinyproxy-bin tpm2-abrmd tpm2-tools util-linux wrk
)
missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" -ne 0 ]; then
        echo "install these packages first: ${missing[*]}" >&2
        exit 1
    fi
    apt-get update -q
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
fi
# SQLCipher of today is in a package for tests. So are nginx and what loads PKCS #11 modules into OpenSSL.
Scripts/install/setup.sh --tests
