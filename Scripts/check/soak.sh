#!/usr/bin/env bash
# Runs all tests at full counts: crash points, many processes, damage of every kind. It takes a day on two processors.
#
#   Scripts/check/soak.sh          all of them
#   Scripts/check/soak.sh REGEX    only those whose names match
#
# SCALE=0.1 runs a tenth of the full counts, and no test less than `make test` does.
set -euo pipefail
cd "$(dirname "$0")/../.."
. Scripts/check/checks.sh
export KEYCHAIN_TEST_SCALE=${SCALE:-1}
bounds=(--test-bound 20000 --bound 80000)
optimized=(-c release -Xswiftc -enable-testing --disable-xctest "${traits[@]}")
swift build "${optimized[@]}" --build-tests
Scripts/check/run-tests.py "${bounds[@]}" "${groups[@]}" ${1:+--filter "$1"} \
    "$(swift build "${optimized[@]}" --show-bin-path)/swift-keychainPackageTests.xctest"
[[ -z ${1-} ]] || exit 0
# What an honest program waits while a hostile one asks for everything. It needs the optimized programs of an installation.
read -ra release < <(Scripts/install/release-flags.sh)
for product in VaultBenchmark keychain; do swift build "${release[@]}" --product "$product"; done
programs=$(swift build "${release[@]}" --show-bin-path)
ln -sf keychain "$programs/keychaind"
vaults=$(mktemp -d /tmp/keychain-load.XXXXXX)
trap 'rm -rf "$vaults"' EXIT
"$programs/VaultBenchmark" fill "$vaults" 100
"$programs/VaultBenchmark" foreign "$vaults" 4000
"$programs/VaultBenchmark" load "$vaults" 20
"$programs/VaultBenchmark" floods "$vaults" 5
# The package for Debian and the container image, with the same programs.
make packages-check
forget_names
swift build --build-tests "${flags[@]}" --package-path Examples/Friendvatars
Scripts/check/run-tests.py "${bounds[@]}" --filter 'AttackTests|DiskTests' "$checks/debug/FriendvatarsPackageTests.xctest"
