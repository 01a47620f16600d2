import Access
import Enclave
import Foundation
import Keybag
import KeychainModel
import SecureMemory
import TestSupport
import Testing
import Vault
import VaultInterface

/// Keys of files from a vault in this process.
@Suite struct FileKeyTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path(of: "vault")
    }

    /// Brings a vault without a passcode into `state`.
    private func enter(_ state: FileKeyState, _ vault: EmbeddedVault, _ place: EnclavePlace) throws -> EmbeddedVault {
        guard state != .noPasscode else { return vault }
        try vault.setPasscode(.test("right"), options: .cheapest, as: .owner)
        guard state != .unlocked else { return vault }
        guard state != .lockedAfterUnlock else {
            try vault.lock(after: .zero, as: .owner)
            return vault
        }
        vault.close()
        return try EmbeddedVault.open(at: path, enclaves: place)
    }

    @Test(arguments: FileKeyState.allCases, EnclaveKind.allCases)
    func everyClassInEveryState(_ state: FileKeyState, _ kind: EnclaveKind) throws {
        let tpm = kind == .tpm2 ? try SoftwareTPM() : nil
        let place = EnclavePlace(tpm: tpm?.address ?? "swtpm:path=/nowhere")
        let first = try EmbeddedVault.open(at: path, in: kind, enclaves: place)
        let keys = try KeptFileKey.makeAll(in: first, as: .app)
        let vault = try enter(state, first, place)
        var added: [KeptFileKey] = []
        #expect(vault.differences(from: state, keys, as: .app, added: &added) == [])
        #expect(added.count == state.makes.count * (1 + state.opens.count))
        if state != .noPasscode { try vault.unlock(with: .test("right"), as: .owner) }
        for key in keys + added { #expect(try key.opens(in: vault, as: .app), "\(key.fileClass)") }
        let agreed = (keys + added).filter { $0.fileClass == .completeUnlessOpen }
        #expect(Set(agreed.map { $0.made.wrapped.prefix(32) }).count == agreed.count)
        withExtendedLifetime(tpm) {}
    }

    /// The simulated device of the test support has no folder to keep a public key in.
    @Test func aVaultInMemoryMakesKeysWhileLocked() throws {
        let vault = try memoryVault()
        let keys = try KeptFileKey.makeAll(in: vault, as: .app)
        var added: [KeptFileKey] = []
        for (state, lockState) in [
            (FileKeyState.lockedAfterUnlock, LockState.locked), (.beforeFirstUnlock, .beforeFirstUnlock),
        ] {
            vault.enter(lockState)
            #expect(vault.differences(from: state, keys, as: .app, added: &added) == [])
        }
        vault.enter(.unlocked)
        for key in added { #expect(try key.opens(in: vault, as: .app)) }
    }

    // MARK: What keys outlive

    @Test func passcodesComeAndGo() throws {
        let vault = try EmbeddedVault.open(at: path)
        let keys = try KeptFileKey.makeAll(in: vault, as: .app)
        func expectAllOpen(_ vault: EmbeddedVault) throws {
            for key in keys { #expect(try key.opens(in: vault, as: .app), "\(key.fileClass)") }
        }
        try vault.setPasscode(.test("one"), options: .cheapest, as: .owner)
        let record = try FolderContents(of: path)["file-agreement-key"]
        #expect(record?.count == FileAgreementRecord.size)
        try expectAllOpen(vault)
        try vault.changePasscode(from: .test("one"), to: .test("two"), options: .cheapest, as: .owner)
        try expectAllOpen(vault)
        vault.close()
        let again = try EmbeddedVault.open(at: path)
        try again.unlock(with: .test("two"), as: .owner)
        try expectAllOpen(again)
        try again.removePasscode(.test("two"), as: .owner)
        try expectAllOpen(again)
        #expect(try FolderContents(of: path)["file-agreement-key"] == record)
    }

    @Test func anotherEnclaveAfterRecovery() throws {
        let vault = try EmbeddedVault.open(at: path)
        let keys = try KeptFileKey.makeAll(in: vault, as: .app)
        try vault.setPasscode(.test("one"), options: .cheapest, as: .owner)
        let recoveryKey = try vault.makeRecoveryKey(as: .owner)
        vault.close()
        try FileManager.default.removeItem(atPath: path + "/device-secret")
        let (recovered, _) = try EmbeddedVault.recover(at: path, with: recoveryKey, in: .software, as: .owner)
        for key in keys { #expect(try key.opens(in: recovered, as: .app), "\(key.fileClass)") }
        // The public key in the folder is still the vault's.
        try recovered.setPasscode(.test("two"), options: .cheapest, as: .owner)
        recovered.close()
        let locked = try EmbeddedVault.open(at: path)
        let made = try KeptFileKey.make(.completeUnlessOpen, in: locked, as: .app)
        try locked.unlock(with: .test("two"), as: .owner)
        #expect(try made.opens(in: locked, as: .app))
    }

    @Test func noneOutlivesAnErase() throws {
        let vault = try EmbeddedVault.open(at: path)
        let other = try EmbeddedVault.open(at: path)
        let keys = try KeptFileKey.makeAll(in: vault, as: .app)
        try vault.setPasscode(.test("one"), options: .cheapest, as: .owner)
        try vault.erase(as: .owner)
        #expect(try FolderContents(of: path).entries["file-agreement-key"] == nil)
        // Neither the program that erased nor one that had the folder open goes on with keys that are gone.
        for vault in [vault, other] {
            for key in keys {
                #expect(throws: VaultError.corruptFileKey, "\(key.fileClass)") { try key.opens(in: vault, as: .app) }
            }
        }
        let made = try KeptFileKey.makeAll(in: other, as: .app)
        vault.close()
        other.close()
        let again = try EmbeddedVault.open(at: path)
        for key in made { #expect(try key.opens(in: again, as: .app)) }
    }

    // MARK: What does not open

    @Test func onlyTheOwnFileClassAndVaultOpenAKey() throws {
        let vault = try EmbeddedVault.open(at: path)
        let foreign = try EmbeddedVault.open(at: folder.path(of: "foreign"))
        for key in try KeptFileKey.makeAll(in: vault, as: .app) {
            var file = key.file
            file[0] ^= 1
            #expect(throws: VaultError.corruptFileKey) {
                try vault.fileKey(for: key.fileClass, file: file, wrapped: key.made.wrapped, as: .app)
            }
            for other in FileProtectionClass.allCases where other != key.fileClass {
                #expect(throws: VaultError.corruptFileKey) {
                    try vault.fileKey(for: other, file: key.file, wrapped: key.made.wrapped, as: .app)
                }
                #expect(throws: VaultError.corruptFileKey) {
                    try vault.rewrapFileKey(
                        from: other, to: .none, file: key.file, wrapped: key.made.wrapped, as: .app)
                }
            }
            #expect(throws: VaultError.corruptFileKey) { try key.opens(in: foreign, as: .app) }
        }
    }

    @Test func everyBitOfAWrapCounts() throws {
        let vault = try memoryVault()
        for key in try KeptFileKey.makeAll(in: vault, as: .app) {
            let wrapped = key.made.wrapped
            #expect(wrapped.count == (key.fileClass == .completeUnlessOpen ? 72 : 40))
            for bit in 0..<(8 * wrapped.count) {
                var changed = wrapped
                changed[bit / 8] ^= 1 << (bit % 8)
                #expect(throws: VaultError.corruptFileKey, "bit \(bit)") {
                    try vault.fileKey(for: key.fileClass, file: key.file, wrapped: changed, as: .app)
                }
            }
            let lengths = [
                Data(), wrapped.dropLast(), wrapped.dropFirst(), wrapped + [0], wrapped.prefix(8), wrapped.prefix(16),
                wrapped + wrapped, Data(count: wrapped.count), Data(count: 1 << 20),
            ]
            for other in lengths {
                #expect(throws: VaultError.corruptFileKey, "\(other.count) bytes") {
                    try vault.fileKey(for: key.fileClass, file: key.file, wrapped: other, as: .app)
                }
            }
        }
    }

    @Test(arguments: [0, 15, 17, 4096])
    func identifiersHaveSixteenBytes(_ count: Int) throws {
        let vault = try memoryVault()
        let error = #expect(throws: VaultError.self) {
            try vault.makeFileKey(for: .none, file: Data(count: count), as: .app)
        }
        guard case .invalidRequest = error else { throw error ?? VaultError.busy }
    }

    @Test func aProgramWithoutAnyGroupGetsNone() throws {
        let vault = try memoryVault()
        let nobody = Client(identifier: "nobody", accessGroups: [])
        let key = try KeptFileKey.make(.none, in: vault, as: .app)
        let denied = VaultError.accessDenied(.noAccessGroups(client: "nobody"))
        #expect(throws: denied) { try KeptFileKey.make(.none, in: vault, as: nobody) }
        #expect(throws: denied) { try key.opens(in: vault, as: nobody) }
    }

    /// Whatever is asked while the vault is locked and unlocked all the time, the answer is the right one or none.
    @Test func lockingInTheMiddle() async throws {
        let vault = try EmbeddedVault.open(at: path)
        let keys = try KeptFileKey.makeAll(in: vault, as: .app)
        try vault.setPasscode(.test("right"), options: .cheapest, as: .owner)
        let wrong = Collected<String>()
        let opened = Collected<Bool>()
        let threads = keys.map { key in
            let thread = Thread {
                for _ in 0..<TestScale.count(30, soak: 5_000) {
                    do throws(VaultError) {
                        if try !key.opens(in: vault, as: .app) { wrong.append("\(key.fileClass): another key") }
                        let rewrapped = try vault.rewrapFileKey(
                            from: key.fileClass, to: .completeUnlessOpen, file: key.file, wrapped: key.made.wrapped,
                            as: .app)
                        if rewrapped.count != 72 { wrong.append("\(key.fileClass): \(rewrapped.count) bytes") }
                        opened.append(true)
                    } catch {
                        if case .interactionNotAllowed = error { continue }
                        wrong.append("\(error)")
                    }
                }
            }
            thread.start()
            return thread
        }
        while threads.contains(where: { !$0.isFinished }) {
            try vault.lock(after: .zero, as: .owner)
            try vault.unlock(with: .test("right"), as: .owner)
        }
        #expect(wrong.all == [])
        #expect(!opened.all.isEmpty)
        for key in keys { #expect(try key.opens(in: vault, as: .app)) }
        var events = vault.lockEvents().makeAsyncIterator()
        #expect(await events.next() == .unlocked)
    }
}
