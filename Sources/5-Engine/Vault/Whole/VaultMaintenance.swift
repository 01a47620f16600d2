import Access
import Bytes
import Enclave
import Items
import Keybag
import KeychainModel
import PrivateFiles
import Sealing
import SecureMemory
import VaultInterface

/// Tells the state of the vault, erases it, and finds and deletes damaged items.
struct VaultMaintenance: VaultMaintaining {
    let vault: OpenedVault
    let gate: VaultGate
    let tries: PasscodeGuard
    /// Returns the problems of the program that serves the vault.
    let otherProblems: @Sendable () -> [VaultProblem]
    /// Returns the lowest limit that the program that serves the vault sets for an access group.
    let quota: @Sendable (String) -> Int?

    func status(_ operation: ReadStatus, as client: Client) throws(VaultError) -> VaultStatus {
        let authorization = try gate.authorize(AccessRequest(.status), as: client, recordedAs: .inspected)
        return try gate.run(authorization) {
            try vault.takeOverChangedKeybag()
            let keys = vault.keys
            // Where the vault is and how its owner types is for those who unlock it or look after it.
            let isKeeper = !client.rights.isDisjoint(with: [.unlock, .administer])
            var status = VaultStatus(
                path: isKeeper ? vault.folder?.folder.path : nil, enclave: keys.keybag.enclaveKind.name,
                lockState: keys.lockState,
                isPasscodeSet: keys.hasPasscodeClass, itemCounts: try vault.upkeep.itemCounts(for: authorization),
                formatVersion: 2)
            if authorization.scope == .every, client.rights.contains(.administer), let folder = vault.folder {
                status.recoveryKey = try folder.recoveryKeyState()
            }
            if isKeeper, keys.keybag.passcode != nil {
                let attempts = try tries.state(keys)
                status.failedAttempts = Int(attempts.failures)
                status.retryAfter = max(Int(clamping: attempts.wait.rounded(.up)), try keys.enclave.lockoutTime())
            }
            return status
        }
    }

    func condition(_ operation: ReadCondition, as client: Client) throws(VaultError) -> VaultCondition {
        _ = try gate.authorize(AccessRequest(.status), as: client, recordedAs: .inspected)
        guard !client.rights.isDisjoint(with: [.unlock, .administer]) else { return VaultCondition() }
        do {
            let problem = try vault.deviceSecretProblem()
            let passcode = vault.keys.keybag.passcode
            return VaultCondition(
                problems: [problem].compactMap(\.self) + otherProblems(),
                cost: passcode.map { Argon2Cost(memoryKiB: $0.cost.memoryKiB, passes: $0.cost.passes) },
                eraseAfter: passcode?.eraseAfter)
        } catch {
            throw VaultError(error)
        }
    }

    func usage(_ operation: ReadUsage, as client: Client, send: Sink<GroupUsage>) throws(VaultError) {
        let authorization = try gate.authorize(
            AccessRequest(.status, namesItems: false), as: client, recordedAs: .inspected)
        try gate.run(authorization) {
            var named: [Int64: String]?
            if case .only(let names) = authorization.scope {
                named = Dictionary(names.map { (vault.keybag.groupDigest($0), $0) }) { first, _ in first }
            }
            var next = try named.map { $0.keys.sorted() } ?? vault.upkeep.groups(for: authorization)
            while let group = next.popLast() {
                let (items, bytes, name) = try vault.reading(for: authorization) { reader, keybag in
                    let (items, bytes) = try reader.usage(of: group)
                    return (items, bytes, try named?[group] ?? keybag.name(ofGroup: group, reader))
                }
                try CurrentCall.served?.giveWay()
                guard bytes > 0 || named != nil else { continue }
                let isOperator = authorization.scope == .every && client.rights.contains(.administer)
                try send(
                    GroupUsage(
                        group: name, items: items, bytes: bytes,
                        quota: name.flatMap { isOperator ? quota($0) : client.quotas?.bytes(of: $0) }))
            }
        }
    }

    func erase(_ operation: EraseVault, as client: Client) throws(VaultError) {
        let authorization = try gate.authorize(
            AccessRequest(.erase, isAboutWholeVault: true), as: client, recordedAs: .erased)
        try gate.run(authorization) { try vault.keyChange.erase(for: authorization) }
    }

    func verify(_ operation: VerifyItems, as client: Client) throws(VaultError) -> IntegrityReport {
        let authorization = try gate.authorize(
            AccessRequest(.status, isAboutWholeVault: true), as: client, recordedAs: .inspected)
        return try gate.run(authorization, asking: .init(), items: \.validItems) { _ in
            try verifyRows(authorization)
        }
    }

    func deleteDamaged(_ operation: DeleteDamagedItems, as client: Client) throws(VaultError) -> Int {
        let authorization = try gate.authorize(
            AccessRequest(.delete, isAboutWholeVault: true), as: client, recordedAs: .deleted)
        return try gate.run(authorization, asking: .init(), items: { $0 }) { _ in
            try vault.writing(for: authorization) { writer, keybag in
                let damaged = try damagedRows(in: writer.reader, keybag)
                let versions = try damagedVersions(in: writer.reader, keybag)
                for row in damaged { try writer.deleteUnread(row) }
                for place in versions { try writer.deleteFormer(place) }
                return damaged.count + versions.count
            }
        }
    }

    private func verifyRows(_ authorization: Authorization) throws -> IntegrityReport {
        let problems = try vault.upkeep.structuralProblems()
        return try vault.reading(for: authorization) { reader, keybag in
            var report = IntegrityReport(validItems: 0, lockedItems: 0, problems: problems)
            var filings: [(row: RowBinding, terms: Set<Int64>)] = []
            var visited = 0
            func visit() throws {
                visited += 1
                if visited.isMultiple(of: ItemFinder.breath) { try CurrentCall.served?.breathe() }
            }
            try reader.forEachRow { row in
                try visit()
                do {
                    let row = try row.get()
                    guard let (item, isSealedFurther) = try opened(row, keybag) else { return }
                    try filings.append((row.binding, keybag.expectedFiling(of: row, item)))
                    if isSealedFurther { report.lockedItems += 1 } else { report.validItems += 1 }
                } catch KeybagError.locked {
                    report.lockedItems += 1
                } catch {
                    report.problems.append(VaultError(error).description)
                }
            }
            try reader.forEachFormerRow { place, former in
                try visit()
                do {
                    _ = try opened(try former.get().row, keybag)
                } catch KeybagError.locked {
                    return
                } catch {
                    report.problems.append(
                        "version \(max(place.version, 1)) of item \(place.row): \(VaultError(error).description)")
                }
            }
            for filing in filings
            where try reader.filings(of: filing.row.rowID, in: filing.row.group, under: filing.terms)
                < filing.terms.count
            {
                report.problems.append(
                    "item \(filing.row.rowID) is missing from the search index; store it again to mend the index")
            }
            return report
        }
    }

    /// The item in `row`, as ``OpenedKeybag/openChecked(_:)`` says; nil if it is of a class that has no key any more.
    private func opened(_ row: ItemRow, _ keybag: OpenedKeybag) throws -> (item: StoredItem, isSealedFurther: Bool)? {
        guard keybag.keys.hasKey(for: row.binding.protection) else { return nil }
        return try keybag.openChecked(row)
    }

    private func damagedVersions(in reader: ItemStore.Reader, _ keybag: OpenedKeybag) throws -> [FormerPlace] {
        var damaged: [FormerPlace] = []
        try reader.forEachFormerRow { place, former in
            do {
                _ = try opened(try former.get().row, keybag)
            } catch KeybagError.locked {
                return
            } catch {
                guard case .corruptItem = VaultError(error) else { throw error }
                damaged.append(place)
            }
        }
        return damaged
    }

    private func damagedRows(in reader: ItemStore.Reader, _ keybag: OpenedKeybag) throws -> [Int64] {
        var damaged: [Int64] = []
        try reader.forEachRow { row in
            do {
                _ = try opened(try row.get(), keybag)
            } catch KeybagError.locked {
                return
            } catch {
                guard case .corruptItem(let row, _) = VaultError(error) else { throw error }
                damaged.append(row)
            }
        }
        return damaged
    }
}
