#!/usr/bin/env bash
# Prints the version of the programs, which is also that of the packages. It stands in one source.
set -euo pipefail
cd "$(dirname "$0")/../.."
sed -n 's/.*static let version = "\(.*\)"$/\1/p' Sources/10-Programs/KeychainDaemon/DaemonProgram.swift | grep .
