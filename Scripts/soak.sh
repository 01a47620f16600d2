#!/usr/bin/env bash
# Runs the long tests at full counts: crash points, many processes, damage of every kind. It takes hours.
#
#   Scripts/soak.sh          all of them
#   Scripts/soak.sh REGEX    only those long tests whose names match
set -euo pipefail
cd "$(dirname "$0")/.."
. Scripts/checks.sh
export KEYCHAIN_TEST_SCALE=soak
bounds=(--test-bound 20000 --bound 80000)
long='Soak|Interrupted|MovedField|HostileClient|RestartTests|WireTests|Tampering|Forgery|ProcessesTests|RandomDictionary|Exchange|CrossCheck'
long+='|VectorTests|Fuzz|ItemFilesTests|EnclaveTests|EnclaveKeysTests|ProtectedFilesTests|PasswordFilesTests|MountedFolderTests'
long+='|BusFront|KeyRenewal|CallRoom|PasswordHashesTests|EqualTime|SealedFieldsTests|DatabasePagesTests|DatabaseVFSTests|ProtectedDatabaseTests'

optimized=(-c release -Xswiftc -enable-testing --disable-xctest)
swift build "${optimized[@]}" --build-tests
Scripts/run-tests.py "${bounds[@]}" "${groups[@]}" --filter "(?=.*(?:$long)).*(?:${1-})" \
    "$(swift build "${optimized[@]}" --show-bin-path)/swift-keychainPackageTests.xctest"
[[ -z ${1-} ]] || exit 0
# What an honest program waits while a hostile one asks for everything. It needs the optimized programs of an installation.
read -ra release < <(Scripts/release-flags.sh)
for product in VaultBenchmark keychain; do swift build "${release[@]}" --product "$product"; done
programs=$(swift build "${release[@]}" --show-bin-path)
ln -sf keychain "$programs/keychaind"
vaults=$(mktemp -d /tmp/keychain-load.XXXXXX)
trap 'rm -rf "$vaults"' EXIT
"$programs/VaultBenchmark" fill "$vaults" 100
"$programs/VaultBenchmark" foreign "$vaults" 4000
"$programs/VaultBenchmark" load "$vaults" 20
"$programs/VaultBenchmark" floods "$vaults" 5
forget_names
swift build --build-tests "${flags[@]}" --package-path Examples/Friendvatars
Scripts/run-tests.py "${bounds[@]}" --filter 'AttackTests|DiskTests' "$checks/debug/FriendvatarsPackageTests.xctest"
