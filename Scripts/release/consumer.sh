#!/usr/bin/env bash
# Tries the last commit as others will get it: tagged with its version, from a git server, by an app that depends on it
# by URL. Then it plants a break of the public API, which the comparison of APIs has to find.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD

step() { printf '\n==> %s\n' "$1"; }
fail() {
    printf 'consumer: %s\n' "$1" >&2
    exit 1
}

version=$(Scripts/install/version.sh)
folder=$(mktemp -d "${TMPDIR:-/tmp}/keychain-consumer.XXXXXX")
server=
clean_up() {
    [[ -z $server ]] || kill "$server" 2>/dev/null || true
    rm -rf "$folder"
}
trap clean_up EXIT

step "Serving the last commit as version $version"
git clone --quiet --bare . "$folder/served/swift-keychain.git"
git -C "$folder/served/swift-keychain.git" tag --force "$version" "$(git rev-parse HEAD)" >/dev/null
git -C "$folder/served/swift-keychain.git" update-server-info
: >"$folder/server"
python3 -u -m http.server --bind 127.0.0.1 --directory "$folder/served" 0 >>"$folder/server" 2>&1 &
server=$!
port=
for _ in {1..300}; do
    port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$folder/server")
    [[ -z $port ]] || break
    kill -0 "$server" 2>/dev/null || fail "the server of the repository ended: $(<"$folder/server")"
    sleep 0.1
done
[[ -n $port ]] || fail 'the server of the repository names no port after half a minute'

step 'Building an app that depends on it by URL'
mkdir -p "$folder/app/Sources/App"
cat >"$folder/app/Package.swift" <<END
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "App",
    dependencies: [
        .package(url: "http://127.0.0.1:$port/swift-keychain.git", from: "$version")
    ],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "Keychain", package: "swift-keychain"),
                .product(name: "Security", package: "swift-keychain", condition: .when(platforms: [.linux])),
            ])
    ]
)
END
cat >"$folder/app/Sources/App/App.swift" <<'END'
import Foundation
import Keychain
import Security

@main
struct App {
    static func main() throws {
        let keychain = Keychain(service: "com.example.app")
        try keychain.set("correct horse", for: "alice")
        let item: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "com.example.app", kSecAttrAccount: "alice",
            kSecReturnData: true,
        ]
        var found: CFTypeRef?
        let status = SecItemCopyMatching(item as CFDictionary, &found)
        print(status, String(decoding: found as? Data ?? Data(), as: UTF8.self))
    }
}
END
swift build --package-path "$folder/app"
said=$(KEYCHAIN_HOME=$folder/vault "$folder/app/.build/debug/App")
[[ $said == '0 correct horse' ]] || fail "the app says: $said"
grep -q '"swift-argument-parser"\|"swift-nio"' "$folder/app/.build/workspace-state.json" &&
    fail 'the app fetched packages that it does not need'
echo "    $said"

step 'Planting a break of the public API'
git clone --quiet . "$folder/broken"
cd "$folder/broken"
git tag --force "$version" >/dev/null
# No other code of the package calls it.
sed -i 's/public func setApplicationPassword/public func putApplicationPassword/' Sources/9-Swift/Keychain/*.swift
git -c user.name=test -c user.email=test@example.org commit --quiet --all --message 'Break the API'
if Scripts/release/api.sh "$version" Keychain >"$folder/log" 2>&1; then fail 'the comparison found no break'; fi
grep 'setApplicationPassword' "$folder/log" || fail "the comparison says: $(tail -n 20 "$folder/log")"

cd "$root"
printf '\nconsumer: the app builds and runs, and the break was found\n'
