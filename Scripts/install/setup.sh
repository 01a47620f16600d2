#!/usr/bin/env bash
# Installs what this package needs from the system and is missing; safe to run again at any time.
#
#   Scripts/install/setup.sh          what a build needs
#   Scripts/install/setup.sh --quickstart  and OpenSSL, with what makes it use a PKCS #11 module
#   Scripts/install/setup.sh --tests  and what the tests need
#   Scripts/install/setup.sh --peers  and the programs that only the long tests use: windows, mail, containers
#   Scripts/install/setup.sh --docs   and what builds the site of the documentation
#   Scripts/install/setup.sh --example  and what Examples/run.sh needs
#   Scripts/install/setup.sh --packages  and what makes and checks the package for Debian and the container image
set -euo pipefail
cd "$(dirname "$0")/../.."

fail() {
    printf 'setup: %s\n' "$1" >&2
    exit 1
}

command -v swift >/dev/null ||
    fail 'there is no `swift` on the PATH; install Swift 6.2 or later from https://www.swift.org/install/linux/'
version=$(swift --version 2>&1) || fail "$(command -v swift) does not start: $version"
[[ $version =~ Swift\ version\ ([0-9]+)\.([0-9]+) ]] || fail "cannot tell the version of $(command -v swift)"
if ((BASH_REMATCH[1] * 1000 + BASH_REMATCH[2] < 6002)); then
    fail "Swift ${BASH_REMATCH[1]}.${BASH_REMATCH[2]} is too old; install 6.2 or later from https://www.swift.org/install/linux/"
fi

tests=0
[[ ${1-} != --tests && ${1-} != --peers ]] || tests=1

missing=()
# SwiftPM fetches packages with git, over HTTPS.
command -v git >/dev/null || missing+=(git)
[[ -e /etc/ssl/certs/ca-certificates.crt ]] || missing+=(ca-certificates)
# Either of two modules has it; OpenSSL's needs a newer one than Debian 12 has.
has_argon2id() {
    python3 -c 'from cryptography.hazmat.primitives.kdf.argon2 import Argon2id' 2>/dev/null ||
        python3 -c 'import argon2' 2>/dev/null
}

if command -v pkg-config >/dev/null; then
    pkg-config --exists libsodium || missing+=(libsodium-dev)
    pkg-config --exists sqlite3 || missing+=(libsqlite3-dev)
else
    missing+=(pkg-config libsodium-dev libsqlite3-dev)
fi
if [[ ${1-} == --quickstart ]]; then
    command -v openssl >/dev/null || missing+=(openssl)
    # Debian 13 has the provider, and Debian 12 the engine.
    compgen -G '/usr/lib/*/ossl-modules/pkcs11.so' >/dev/null || compgen -G '/usr/lib/*/engines-3/pkcs11.so' >/dev/null ||
        if apt-cache show pkcs11-provider >/dev/null 2>&1; then missing+=(pkcs11-provider)
        else missing+=(libengine-pkcs11-openssl); fi
fi
if ((tests)) || [[ ${1-} == --example ]]; then
    command -v openssl >/dev/null || missing+=(openssl)
    # A TPM in software, and what speaks to it, with the headers that declarations are checked against.
    command -v swtpm >/dev/null || missing+=(swtpm)
    [[ -e /usr/include/tss2/tss2_esys.h ]] || missing+=(libtss2-dev)
fi
if [[ ${1-} == --docs ]]; then
    command -v python3 >/dev/null || missing+=(python3)
fi
if ((tests)); then
    # What asks whether certificates are revoked, with the headers that its numbers are checked against.
    compgen -G '/usr/include/*/curl/curl.h' >/dev/null || [[ -e /usr/include/curl/curl.h ]] ||
        missing+=(libcurl4-openssl-dev)
    # Clients of the ssh-agent, and a host to log in to.
    command -v ssh-keygen >/dev/null || missing+=(openssh-client)
    [[ -x /usr/sbin/sshd ]] || missing+=(openssh-server)
    # A server that the broker logs in at, and a driver of Python for it.
    { compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null && command -v psql >/dev/null; } || missing+=(postgresql)
    # A registry of container images, and a client of it that is written in Go.
    command -v docker-registry >/dev/null || missing+=(docker-registry)
    command -v skopeo >/dev/null || missing+=(skopeo)
    /usr/bin/python3 -c 'import psycopg2' 2>/dev/null || missing+=(python3-psycopg2)
    # Whose files are read.
    command -v age >/dev/null || missing+=(age)
    # Other password managers, whose databases and stores are read, and who read ours, with the libraries for them.
    command -v keepassxc-cli >/dev/null || missing+=(keepassxc)
    /usr/bin/python3 -c 'import pykeepass, argon2, Cryptodome' 2>/dev/null || missing+=(python3-pykeepass)
    command -v pass >/dev/null || missing+=(pass)
    command -v gopass >/dev/null || missing+=(gopass)
    command -v gpg >/dev/null || missing+=(gnupg)
    ldconfig -p | grep -q 'libargon2\.so\.1 ' || missing+=(libargon2-1)
    ldconfig -p | grep -q 'libexpat\.so\.1 ' || missing+=(libexpat1)
    ldconfig -p | grep -q 'libz\.so\.1 ' || missing+=(zlib1g)
    ldconfig -p | grep -q 'libarchive\.so\.13 ' || missing+=(libarchive13)
    # Commits that are signed through it.
    command -v git >/dev/null || missing+=(git)
    # With git, what brings a circle's folder to other machines.
    command -v syncthing >/dev/null || missing+=(syncthing)
    command -v rsync >/dev/null || missing+=(rsync)
    # A server of HTTP/2 for the broker, and programs that use a secret through it.
    /usr/bin/python3 -c 'import h2' 2>/dev/null || missing+=(python3-h2)
    /usr/bin/python3 -c 'import requests, httpx' 2>/dev/null || missing+=(python3-requests python3-httpx)
    /usr/bin/python3 -c 'import websocket' 2>/dev/null || missing+=(python3-websocket)
    /usr/bin/python3 -c 'import cryptography' 2>/dev/null || missing+=(python3-cryptography)
    # What isolates programs that use secrets through the broker.
    command -v bwrap >/dev/null || missing+=(bubblewrap)
    # The list of public suffixes.
    compgen -G '/usr/lib/*/libpsl.so.5' >/dev/null || compgen -G '/lib/*/libpsl.so.5' >/dev/null || missing+=(libpsl5)
    command -v sqlite3 >/dev/null || missing+=(sqlite3)
    command -v python3 >/dev/null || missing+=(python3)
    python3 -c 'import cryptography' 2>/dev/null || missing+=(python3-cryptography)
    # A bus, a fingerprint reader, a session keeper, a prompt and PAM, which tests start for themselves.
    [[ -x /usr/bin/dbus-daemon ]] || missing+=(dbus)
    [[ -x /usr/libexec/fprintd ]] || missing+=(fprintd libfprint-2-2)
    /usr/bin/python3 -c 'import dbusmock' 2>/dev/null || missing+=(python3-dbusmock)
    [[ -x /usr/bin/pinentry-tty ]] || missing+=(pinentry-tty)
    compgen -G '/usr/lib/*/libsystemd.so.0' >/dev/null || missing+=(libsystemd0)
    compgen -G '/usr/lib/*/security/pam_exec.so' >/dev/null || compgen -G '/lib/*/security/pam_exec.so' >/dev/null ||
        missing+=(libpam0g libpam-modules)
    # Immutable files, and a file system with quotas.
    command -v chattr >/dev/null || missing+=(e2fsprogs)
    [[ -x /usr/sbin/mkfs.btrfs ]] || command -v mkfs.btrfs >/dev/null || missing+=(btrfs-progs)
    # Tools to look at a TPM from outside.
    command -v tpm2_getcap >/dev/null || missing+=(tpm2-tools)
    has_argon2id || missing+=(python3-argon2)
    # Whose hashes of passwords are read, and who reads ours.
    /usr/bin/python3 -c 'import argon2, bcrypt, passlib' 2>/dev/null ||
        missing+=(python3-argon2 python3-bcrypt python3-passlib)
    # Mounting, with the headers that declarations are checked against.
    command -v fusermount3 >/dev/null || missing+=(fuse3)
    [[ -e /usr/include/fuse3/fuse_lowlevel.h ]] || missing+=(libfuse3-dev)
    # The system's SQLCipher, which uses files together with us.
    command -v sqlcipher >/dev/null || missing+=(sqlcipher)
    # Programs that ask for a Secret Service.
    command -v secret-tool >/dev/null || missing+=(libsecret-tools)
    command -v docker-credential-secretservice >/dev/null || missing+=(golang-docker-credential-helpers)
    /usr/bin/python3 -c 'import secretstorage' 2>/dev/null || missing+=(python3-secretstorage)
    # keyring with its tests, which our backend for it has to pass.
    /usr/bin/python3 -c 'import keyring.testing, pytest' 2>/dev/null || missing+=(python3-keyring python3-pytest)
    # It encrypts and opens credentials of units.
    command -v systemd-creds >/dev/null || missing+=(systemd)
    # Another program with secrets, to move in from.
    command -v gnome-keyring-daemon >/dev/null || missing+=(gnome-keyring)
    # The portal through which sandboxed applications get a secret of their own.
    [[ -x /usr/libexec/xdg-desktop-portal ]] || missing+=(xdg-desktop-portal)
    # Editing of lines in `keychain db shell`.
    compgen -G '/usr/lib/*/libreadline.so.8' >/dev/null || missing+=(libreadline8)
    # A browser that uses the pages of Examples/Friendvatars and of the documentation, and letters for it.
    command -v chromium >/dev/null || missing+=(chromium)
    compgen -G '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf' >/dev/null || missing+=(fonts-dejavu-core)
    # The second opinion on one-time codes.
    [[ -x /usr/bin/oathtool ]] || missing+=(oathtool)
    # Pictures of codes.
    command -v zbarimg >/dev/null || missing+=(zbar-tools)
    command -v qrencode >/dev/null || missing+=(qrencode)
    # Browsers that get logins, their extension, and what speaks to them.
    command -v firefox-esr >/dev/null || missing+=(firefox-esr)
    [[ -e /usr/share/webext/keepassxc-browser/manifest.json ]] || missing+=(webext-keepassxc-browser)
    /usr/bin/python3 -c 'import nacl, websockets' 2>/dev/null || missing+=(python3-nacl python3-websockets)
    ldconfig -p | grep -q 'libidn2\.so\.0 ' || missing+=(libidn2-0)
    # Pictures of a terminal.
    /usr/bin/python3 -c 'import rich' 2>/dev/null || missing+=(python3-rich)
    # Clipboards, an editor and shells, for what a person does at a terminal.
    command -v tmux >/dev/null || missing+=(tmux)
    command -v Xvfb >/dev/null || missing+=(xvfb)
    command -v xclip >/dev/null || missing+=(xclip)
    command -v xsel >/dev/null || missing+=(xsel)
    command -v vi >/dev/null || missing+=(vim-tiny)
    command -v zsh >/dev/null || missing+=(zsh)
    command -v fish >/dev/null || missing+=(fish)
    # What decrypts keys of OpenSSH under a passphrase.
    ldconfig -p | grep -q 'libbotan-2\.so\.19 ' || missing+=(libbotan-2-19)
    # Programs that take keys from a PKCS #11 module.
    command -v pkcs11-tool >/dev/null || missing+=(opensc)
    command -v p11tool >/dev/null || missing+=(gnutls-bin)
    compgen -G '/usr/lib/*/engines-3/pkcs11.so' >/dev/null || missing+=(libengine-pkcs11-openssl)
    compgen -G '/usr/lib/*/ossl-modules/pkcs11.so' >/dev/null || missing+=(pkcs11-provider)
    command -v modutil >/dev/null || missing+=(libnss3-tools)
    /usr/bin/python3 -c 'import PyKCS11' 2>/dev/null || missing+=(python3-pykcs11)
    command -v curl >/dev/null || missing+=(curl)
    # Its package starts it on port 80: `systemctl disable --now nginx` where that is not wanted.
    [[ -x /usr/sbin/nginx ]] || missing+=(nginx-light)
    [[ -x /usr/sbin/openvpn ]] || missing+=(openvpn)
    command -v pki >/dev/null || missing+=(strongswan-pki)
    compgen -G '/usr/lib/ipsec/plugins/libstrongswan-openssl.so' >/dev/null || missing+=(libstrongswan-standard-plugins)
    compgen -G '/usr/lib/ipsec/plugins/libstrongswan-pkcs11.so' >/dev/null || missing+=(libstrongswan-extra-plugins)
    # Its package starts a daemon: `systemctl disable --now strongswan-starter` where that is not wanted.
    [[ -x /usr/lib/ipsec/charon ]] || missing+=(strongswan-charon)
    [[ -x /usr/sbin/swanctl ]] || missing+=(strongswan-swanctl)
    command -v ip >/dev/null || missing+=(iproute2)
    # Version 9.20 or later takes keys from a provider of OpenSSL.
    [[ $(dnssec-keyfromlabel -V 2>/dev/null) =~ \ 9\.(2[0-9]|[3-9][0-9])\. ]] || missing+=(bind9-utils)
    [[ $(java --list-modules 2>/dev/null) == *jdk.crypto.cryptoki* ]] || missing+=(default-jre-headless)
    # A store through which vaults meet. Its package starts it: `systemctl disable --now etcd` where that is not wanted.
    command -v etcd >/dev/null || missing+=(etcd-server)
    command -v etcdctl >/dev/null || missing+=(etcd-client)
    # What makes the package for Debian.
    command -v dpkg-buildpackage >/dev/null || missing+=(dpkg-dev)
    command -v dh >/dev/null || missing+=(debhelper)
    # What a library exports.
    command -v nm >/dev/null || missing+=(binutils)
    # It fetches the vectors of other people; see below.
    python3 -m pip --version >/dev/null 2>&1 || missing+=(python3-pip)
fi

if [[ ${1-} == --peers ]]; then
    # The programs of Tests/10-Programs/KeychainCommandTests/Peer/programs, one script each.
    # A screen for windows, and hands and eyes for it.
    command -v Xvfb >/dev/null || missing+=(xvfb)
    command -v xdotool >/dev/null || missing+=(xdotool)
    command -v xclip >/dev/null || missing+=(xclip)
    command -v import >/dev/null || missing+=(imagemagick)
    command -v dbus-daemon >/dev/null || missing+=(dbus-daemon)
    command -v busctl >/dev/null || missing+=(systemd)
    command -v seahorse >/dev/null || missing+=(seahorse)
    command -v msmtp >/dev/null || missing+=(msmtp)
    command -v remmina >/dev/null || missing+=(remmina)
    compgen -G '/usr/lib/*/remmina/plugins/remmina-plugin-secret.so' >/dev/null || missing+=(remmina-plugin-secret)
    compgen -G '/usr/lib/*/remmina/plugins/remmina-plugin-vnc.so' >/dev/null || missing+=(remmina-plugin-vnc)
    # A registry that wants a password. Containers are below.
    command -v skopeo >/dev/null || missing+=(skopeo)
    command -v docker-registry >/dev/null || missing+=(docker-registry)
    command -v htpasswd >/dev/null || missing+=(apache2-utils)
    command -v curl >/dev/null || missing+=(curl)
    # pip and keyring come from PyPI, into a folder of the test.
    /usr/bin/python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
    [[ -x /usr/bin/aws ]] || missing+=(awscli)
    # Tried with that of Debian 12.
    command -v kwalletd6 >/dev/null || command -v kwalletd5 >/dev/null || missing+=(libkf5wallet-bin)
    # KWallet of Debian 12 makes keys with OpenSSL, which is only recommended to it.
    command -v kwalletd6 >/dev/null || compgen -G '/usr/lib/*/qca-qt5/crypto/libqca-ossl.so' >/dev/null ||
        missing+=(libqca-qt5-2-plugins)
    # git's helper for libsecret is there as source only, and its own tests are in its source package.
    command -v gcc >/dev/null || missing+=(gcc)
    pkg-config --exists libsecret-1 2>/dev/null || missing+=(libsecret-1-dev)
    command -v perl >/dev/null || missing+=(perl)
    command -v dpkg-source >/dev/null || missing+=(dpkg-dev)
    # Credential providers are in cargo since 1.74, which is newer than Debian 12's.
    [[ $(cargo --version 2>/dev/null) =~ ^cargo\ ([0-9]+)\.([0-9]+) ]] &&
        ((BASH_REMATCH[1] * 1000 + BASH_REMATCH[2] >= 1074)) ||
        echo 'setup: the test of cargo needs cargo 1.74 or later: Debian 13 has it, else https://rustup.rs' >&2
fi

if [[ ${1-} == --packages || ${1-} == --peers ]]; then
    # What makes the package, and what looks for mistakes in it.
    command -v dpkg-buildpackage >/dev/null || missing+=(dpkg-dev)
    command -v dh >/dev/null || missing+=(debhelper)
    command -v lintian >/dev/null || missing+=(lintian)
    # Machines without Swift, on which it is tried.
    command -v mmdebstrap >/dev/null || missing+=(mmdebstrap)
    [[ -e /usr/share/keyrings/debian-archive-keyring.gpg ]] || missing+=(debian-archive-keyring)
    command -v systemd-nspawn >/dev/null || missing+=(systemd-container)
    # Containers.
    command -v buildah >/dev/null || missing+=(buildah)
    command -v podman >/dev/null || missing+=(podman)
    command -v crun >/dev/null || missing+=(crun)
    command -v swtpm >/dev/null || missing+=(swtpm)
fi

# The vectors that Tests/Support/Vectors/test-vectors.txt names, where the tests look for them.
vectors() {
    local wanted=$PWD/Tests/Support/Vectors/test-vectors.txt folder=$PWD/.build/test-vectors part
    cmp -s "$wanted" "$folder/installed" && return
    echo 'setup: fetching published test vectors'
    mkdir -p .build
    part=$(mktemp -d "$folder.XXXXXX")
    if ! PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --no-deps \
        --no-compile --require-hashes --target "$part" --requirement "$wanted"; then
        rm -rf "$part"
        fail "pip could not install what $wanted names; its message is above"
    fi
    cp "$wanted" "$part/installed"
    rm -rf "$folder"
    mv "$part" "$folder"
}

as_root=(env DEBIAN_FRONTEND=noninteractive)
((EUID == 0)) || as_root=(sudo "${as_root[@]}")

# The lists of source packages, from which the test of git fetches git's own tests.
sources() {
    ! apt-get source --print-uris git >/dev/null 2>&1 || return 0
    echo 'setup: adding deb-src lines to the lists of apt, in /etc/apt/sources.list.d/keychain-tests.sources'
    local release
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    printf 'Types: deb-src\nURIs: https://deb.debian.org/debian\nSuites: %s\nComponents: main\nSigned-By: %s\n' \
        "$release" /usr/share/keyrings/debian-archive-keyring.gpg |
        "${as_root[@]}" tee /etc/apt/sources.list.d/keychain-tests.sources >/dev/null
    "${as_root[@]}" apt-get update -q
}

# Debian 12 has the provider, and a BIND that uses it, among its backports alone.
backports() {
    local release
    release=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
    [[ $release == bookworm && " ${missing[*]} " =~ \ (pkcs11-provider|bind9-utils)\  ]] || return 0
    [[ " ${missing[*]} " != *" bind9-utils "* ]] || missing+=(bind9-libs/bookworm-backports)
    missing=("${missing[@]/%bind9-utils/bind9-utils/bookworm-backports}")
    ! apt-cache show pkcs11-provider >/dev/null 2>&1 || return 0
    echo 'setup: adding the backports to the lists of apt, in /etc/apt/sources.list.d/keychain-tests-backports.sources'
    printf 'Types: deb\nURIs: http://deb.debian.org/debian\nSuites: bookworm-backports\nComponents: main\nSigned-By: %s\n' \
        /usr/share/keyrings/debian-archive-keyring.gpg |
        "${as_root[@]}" tee /etc/apt/sources.list.d/keychain-tests-backports.sources >/dev/null
    "${as_root[@]}" apt-get update -q
}

if ((${#missing[@]} == 0)); then
    ((!tests)) || vectors
    [[ ${1-} != --peers ]] || sources
    echo 'setup: everything needed is installed'
    exit 0
fi

command -v apt-get >/dev/null ||
    fail "missing: ${missing[*]} (Debian's names); this is not a Debian system, so install them by hand"
((EUID == 0)) || command -v sudo >/dev/null ||
    fail "missing: ${missing[*]}; run as root: apt-get install ${missing[*]}"

install() {
    "${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}"
}
echo "setup: installing ${missing[*]}"
backports
# The lists may be empty, as in a container, or out of date; one update mends both.
if ! apt-get install --simulate "${missing[@]}" >/dev/null 2>&1 || ! install; then
    echo 'setup: fetching the package lists first'
    "${as_root[@]}" apt-get update -q
    install || fail "apt-get could not install ${missing[*]}; its message is above"
fi
if ((tests)) && ! python3 -c 'import cryptography' 2>/dev/null; then
    fail "$(command -v python3) does not find the module 'cryptography'; run: $(command -v python3) -m pip install cryptography"
fi
((!tests)) || vectors
[[ ${1-} != --peers ]] || sources
echo 'setup: done'
