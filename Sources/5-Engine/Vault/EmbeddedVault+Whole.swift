import Access
import Enclave
import FoundationEssentials
import Items
import Keybag
import KeychainModel
import PrivateFiles
import Sealing
import VaultInterface

/// Operations on the vault as a whole.
extension EmbeddedVault {
    package func perform(_ operation: ReadStatus, as client: Client) throws(VaultError) -> VaultStatus {
        try gated(AccessRequest(.status), as: client, recordedAs: .inspected) { try status($0) }
    }

    private func status(_ authorization: Authorization) throws -> VaultStatus {
        try takeOverChangedKeybag()
        let keybag = currentKeybag
        let groups: [Int64]? =
            switch authorization.scope {
            case .every: nil
            case .only(let names): names.map(keybag.groupDigest)
            }
        var status = VaultStatus(
            path: folder?.folder.path, enclave: keybag.keys.keybag.enclaveKind.name,
            lockState: keybag.keys.lockState, isPasscodeSet: keybag.keys.hasPasscodeClass,
            itemCounts: try store.counts(for: authorization, inGroups: groups), formatVersion: 1)
        if keybag.keys.keybag.passcode != nil {
            let attempts = try passcodeGuard.state(keybag.keys)
            status.failedAttempts = Int(attempts.failures)
            status.retryAfter = max(Int(attempts.wait.rounded(.up)), try keybag.keys.enclave.lockoutTime())
        }
        return status
    }

    package func perform(_ operation: EraseVault, as client: Client) throws(VaultError) {
        try gated(AccessRequest(.erase, isAboutWholeVault: true), as: client, recordedAs: .erased) {
            try eraseEverything(for: $0)
        }
    }

    /// Destroys every key and every item.
    func eraseEverything(for authorization: Authorization) throws {
        if let folder {
            try folder.folder.withLock { try destroyKeysThenItems(in: folder, authorization) }
        } else {
            let enclave = currentKeybag.keys.enclave
            let keys = try ClassKeys(Keybag.generate(in: enclave), in: enclave)
            if currentKeybag.keys.hasPasscodeClass { try keys.setPasscodeClass(present: true) }
            try store.write(for: authorization) { try $0.reset(to: keys.keybag.identifier) }
            replaceKeybag(OpenedKeybag(keys))
        }
        notifier.changed(.thisProcess)
    }

    /// First the keys, then the rows: from the moment the new keybag is in place nothing that was stored
    /// can be read, and a crash before the rows are gone is completed at the next opening.
    private func destroyKeysThenItems(in folder: VaultFolder, _ authorization: Authorization) throws {
        try checkStoreIsInPlace()
        // The rows may still belong to an older keybag than the file, when an erase by another process
        // was killed half-way; a crash of this one must leave a keybag that names the rows' own.
        let erased = try store.check()
        let fresh = try folder.replaceKeys(erasing: erased)
        try store.write(for: authorization) { try $0.reset(to: fresh.identifier) }
        replaceKeybag(fresh)
    }

    package func perform(_ operation: VerifyItems, as client: Client) throws(VaultError) -> IntegrityReport {
        try gated(
            AccessRequest(.status, isAboutWholeVault: true), as: client, asking: .init(), recordedAs: .inspected,
            items: \.validItems
        ) { authorization, _ in try verifyRows(authorization) }
    }

    private func verifyRows(_ authorization: Authorization) throws -> IntegrityReport {
        let problems = try store.structuralProblems()
        return try reading(for: authorization) { reader, keybag in
            var report = IntegrityReport(validItems: 0, lockedItems: 0, problems: problems)
            var filings: [(row: Int64, terms: Set<Int64>)] = []
            try reader.forEachRow { row in
                do {
                    let row = try row.get()
                    guard let (item, isSealedFurther) = try self.opened(row, keybag) else { return }
                    filings.append((row.binding.rowID, keybag.expectedFiling(of: row, item)))
                    if isSealedFurther { report.lockedItems += 1 } else { report.validItems += 1 }
                } catch KeybagError.locked {
                    report.lockedItems += 1
                } catch {
                    report.problems.append(VaultError(error).description)
                }
            }
            for filing in filings
            where try reader.filings(of: filing.row, under: filing.terms) < filing.terms.count {
                report.problems.append(
                    "item \(filing.row) is missing from the search index; store it again to mend the index")
            }
            return report
        }
    }

    /// The item in `row`, and whether more than the class key opens its value, which then was not opened; nil if it is
    /// of a class that has no key any more.
    private func opened(_ row: ItemRow, _ keybag: OpenedKeybag) throws -> (item: StoredItem, isSealedFurther: Bool)? {
        guard keybag.keys.hasKey(for: row.binding.protection) else { return nil }
        let item = try keybag.openMetadata(of: row)
        let isSealedFurther = try keybag.header(of: row, item.accessControl) != nil
        _ = try keybag.openValue(of: row, accessControl: item.accessControl, .waived)
        return (item, isSealedFurther)
    }

    package func perform(_ operation: DeleteDamagedItems, as client: Client) throws(VaultError) -> Int {
        try gated(
            AccessRequest(.delete, isAboutWholeVault: true), as: client, asking: .init(), recordedAs: .deleted,
            items: { $0 }
        ) { authorization, _ in
            try writing(for: authorization) { writer, keybag in
                let damaged = try damagedRows(in: writer.reader, keybag)
                for row in damaged { try writer.deleteUnread(row) }
                return damaged.count
            }
        }
    }

    private func damagedRows(in reader: ItemStore.Reader, _ keybag: OpenedKeybag) throws -> [Int64] {
        var damaged: [Int64] = []
        try reader.forEachRow { row in
            do {
                _ = try self.opened(try row.get(), keybag)
            } catch KeybagError.locked {
                return
            } catch {
                guard case .corruptItem(let row, _) = VaultError(error) else { throw error }
                damaged.append(row)
            }
        }
        return damaged
    }

    package func changes() -> AsyncStream<VaultChange> {
        notifier.stream(watching: folder == nil ? nil : store)
    }
}
