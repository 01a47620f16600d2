#!/usr/bin/env bash
# Makes a container image of the daemon from the package for Debian: the programs, the libraries that they load, the
# authorities' certificates, and nothing else. It needs root and Debian's archive.
#
#   Scripts/install/image.sh PACKAGE TARGET
#
# The same package and the same libraries give the same image.
set -euo pipefail
cd "$(dirname "$0")/../.."
package=$(realpath "$1")
mkdir -p "$2"
target=$(realpath "$2")
((EUID == 0)) || { echo 'image: run this as root' >&2; exit 1; }
version=$(dpkg-deb -f "$package" Version)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH LC_ALL=C.UTF-8
umask 022

# The release whose libraries go in, and the packages that they come from.
suite=trixie
from=(
    base-files ca-certificates libc6 libsodium23 libsqlite3-0 libssl3t64
    libtss2-esys-3.0.2-0t64 libtss2-mu-4.0.1-0t64 libtss2-tctildr0t64 libtss2-rc0t64
    libtss2-tcti-device0t64 libtss2-tcti-swtpm0t64
)
# What the programs load when they need it.
loaded=(
    libcrypto.so.3 libtss2-esys.so.0 libtss2-mu.so.0 libtss2-tctildr.so.0 libtss2-rc.so.0
    libtss2-tcti-device.so.0 libtss2-tcti-swtpm.so.0
)
# The user of the daemon, in the image and in the volumes.
user=10001

place=$(mktemp -d "${TMPDIR:-/tmp}/keychain-image.XXXXXX")
storage=(--root "$place/storage" --runroot "$place/run" --storage-driver vfs)
clean_up() {
    buildah "${storage[@]}" umount --all >/dev/null 2>&1 || true
    rm -rf "$place"
}
trap clean_up EXIT
debian=$place/debian
root=$place/root
mkdir "$place/packages"
mmdebstrap --quiet --mode=root --variant=extract --include="$(IFS=,; echo "${from[*]}")" \
    --extract-hook="cp \"\$1\"/var/cache/apt/archives/*.deb '$place/packages'" "$suite" "$debian"

mkdir -p "$root"/{etc/ssl/certs,etc/keychain,proc,sys,dev,run/keychain,tmp,usr/bin,usr/lib64,var/lib/keychain}
mkdir -p "$root"/var/lib/dpkg/status.d
for folder in bin lib lib64; do ln -s "usr/$folder" "$root/$folder"; done
dpkg-deb --fsys-tarfile "$package" | tar -x -C "$root" ./usr/bin/keychain ./usr/bin/keychaind \
    ./usr/share/doc/swift-keychain/copyright

# The libraries, by what the loader of that release finds.
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
libraries=$root/usr/lib/$triplet
mkdir -p "$libraries"
cp "$root/usr/bin/keychain" "$debian/keychain"
loader=$(readelf -p .interp "$debian/keychain" | awk '/\// { print $NF }')
install -D -m 755 "$(realpath "$debian/usr/${loader#/}")" "$root/usr/${loader#/}"
{
    chroot "$debian" "$loader" --list /keychain
    for library in "${loaded[@]}"; do
        echo "$library => /usr/lib/$triplet/$library"
        chroot "$debian" "$loader" --list "/usr/lib/$triplet/$library"
    done
} >"$place/list"
! grep 'not found' "$place/list" || { echo "image: $suite has no such library" >&2; exit 1; }
awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' "$place/list" | sort -u | while read -r name path; do
    install -m 644 "$(realpath "$debian/$path")" "$libraries/$name"
done

# Which packages those are, for programs that look for known faults, with their licenses.
for deb in "$place"/packages/*.deb; do
    name=$(dpkg-deb -f "$deb" Package)
    dpkg-deb -c "$deb" | awk '{ print $6 }' | sed 's|.*/||' >"$place/files"
    find "$root/usr/lib" -type f -printf '%f\n' >"$place/inside"
    # A library is there under the name by which programs ask for it.
    [[ $name == ca-certificates || $name == base-files ]] || grep -qxFf "$place/inside" "$place/files" || continue
    dpkg-deb -f "$deb" >"$root/var/lib/dpkg/status.d/$name"
    mkdir -p "$root/usr/share/doc/$name"
    cp -L "$debian/usr/share/doc/$name/copyright" "$root/usr/share/doc/$name/copyright"
done
dpkg-deb -f "$package" >"$root/var/lib/dpkg/status.d/swift-keychain"
cp -a "$debian/usr/share/common-licenses" "$root/usr/share/common-licenses"
cp "$debian/usr/lib/os-release" "$root/usr/lib/os-release"
ln -s ../usr/lib/os-release "$root/etc/os-release"
cat "$debian"/usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
cat >"$root/etc/passwd" <<END
root:x:0:0:root:/root:/usr/sbin/nologin
keychain:x:$user:$user::/var/lib/keychain:/usr/sbin/nologin
END
printf '%s\n' 'root:x:0:' "keychain:x:$user:" >"$root/etc/group"
printf '%s\n' 'passwd: files' 'group: files' 'hosts: files dns' >"$root/etc/nsswitch.conf"
chmod 1777 "$root/tmp"
chown "$user:$user" "$root"/{run,var/lib}/keychain
chmod 700 "$root/var/lib/keychain"
find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +

container=$(buildah "${storage[@]}" from --format docker scratch)
mounted=$(buildah "${storage[@]}" mount "$container")
cp -a "$root/." "$mounted"
touch --date="@$SOURCE_DATE_EPOCH" "$mounted"
buildah "${storage[@]}" umount "$container" >/dev/null
# The vault is a folder in the volume: the volume itself may belong to root, as in Kubernetes.
buildah "${storage[@]}" config \
    --user "$user:$user" --workingdir / \
    --entrypoint '["/usr/bin/keychaind"]' \
    --cmd '--system --home /var/lib/keychain/vault' \
    --env PATH=/usr/bin --env KEYCHAIN_SOCKET=/run/keychain/socket \
    --env SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    --volume /run/keychain --volume /var/lib/keychain \
    --stop-signal SIGTERM \
    --healthcheck 'CMD /usr/bin/keychain status' \
    --healthcheck-interval 30s --healthcheck-timeout 10s --healthcheck-retries 3 \
    --label org.opencontainers.image.title=keychaind \
    --label 'org.opencontainers.image.description=Keychain for passwords, keys and certificates: the daemon for a pod' \
    --label "org.opencontainers.image.version=$version" \
    --label "org.opencontainers.image.revision=$(git rev-parse HEAD 2>/dev/null || true)" \
    --label "org.opencontainers.image.created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)" \
    --label org.opencontainers.image.licenses=Apache-2.0 \
    --label "org.opencontainers.image.base.name=debian:$suite" \
    "$container"
# Docker's form, which keeps the check of health.
built=$(buildah "${storage[@]}" commit --quiet --format docker --timestamp "$SOURCE_DATE_EPOCH" "$container")
archive=keychain-$version.docker.tar
buildah "${storage[@]}" push --quiet "$built" "docker-archive:$place/archive:localhost/keychain:$version"
# buildah writes the names of the container in which it worked. Without them, the same content has the same digest.
image=$(python3 - "$place/archive" "$target/$archive" <<'END'
import hashlib, io, json, sys, tarfile

with tarfile.open(sys.argv[1]) as archive:
    manifest = json.load(archive.extractfile("manifest.json"))
    config = json.load(archive.extractfile(manifest[0]["Config"]))
    for name in ["container", "container_config"]:
        config.pop(name, None)
    config["config"].pop("Hostname", None)
    text = json.dumps(config, sort_keys=True).encode()
    digest = hashlib.sha256(text).hexdigest()
    manifest[0]["Config"] = digest + ".json"
    with tarfile.open(sys.argv[2], "w", format=tarfile.USTAR_FORMAT) as result:
        def add(name, file, size):
            entry = tarfile.TarInfo(name)
            entry.size = size
            result.addfile(entry, file)
        for name, content in [("manifest.json", json.dumps(manifest).encode()), (digest + ".json", text)]:
            add(name, io.BytesIO(content), len(content))
        for layer in manifest[0]["Layers"]:
            add(layer, archive.extractfile(layer), archive.getmember(layer).size)
print("sha256:" + digest)
END
)
(cd "$target" && sha256sum "$archive" >"$archive.sha256")
echo "$target/$archive $image"
