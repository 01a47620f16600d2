import Access
import Bytes
import Foundation
import Glibc
import KeychainModel
import ProtectedFiles
import TestSupport
import Testing
import VaultInterface
import VaultService

/// What can be done with files of each class in each state of a daemon's vault. Documentation/Use/Files.md has
/// the table.
@Suite(.timeLimit(.minutes(10))) struct FileStateTests {
    enum State: CaseIterable {
        case beforeFirstUnlock, locked
        /// The file was opened before.
        case lockedWithHandle
        case unlocked
    }

    enum Operation: CaseIterable {
        case create, open, read, write, append, rename, changeClass
    }

    /// By the order of the operations: + is done, - refused.
    private static let table: [FileProtectionClass: [State: String]] = [
        .complete: [
            .beforeFirstUnlock: "-----+-", .locked: "-----+-", .lockedWithHandle: "-----+-", .unlocked: "+++++++",
        ],
        .completeUnlessOpen: [
            .beforeFirstUnlock: "+----+-", .locked: "+----+-", .lockedWithHandle: "+-++++-", .unlocked: "+++++++",
        ],
        .completeUntilFirstUserAuthentication: [
            .beforeFirstUnlock: "-----+-", .locked: "+++++++", .lockedWithHandle: "+++++++", .unlocked: "+++++++",
        ],
        .none: [
            .beforeFirstUnlock: "+++++++", .locked: "+++++++", .lockedWithHandle: "+++++++", .unlocked: "+++++++",
        ],
    ]

    private static let rule =
        #"{"executable": "\#(DaemonUnderTest.ownExecutable)", "groups": ["TEAM.app", "*"], "rights": ["unlock", "administer"]}"#

    private let folder: TemporaryFolder
    private let daemon: DaemonUnderTest
    private let vault: RemoteVault
    private let keys: VaultSession

    init() throws {
        folder = try TemporaryFolder()
        daemon = try DaemonUnderTest(rules: [Self.rule])
        vault = try daemon.connect()
        keys = VaultSession(vault: vault, client: vault.granted)
        try vault.setPasscode(SecretBytes("right"), options: .cheapest, as: vault.granted)
    }

    private func unlock() throws { try vault.unlock(with: SecretBytes("right"), as: vault.granted) }

    /// A file, and what is to be in it.
    private struct Specimen {
        let fileClass: FileProtectionClass
        var path: String
        var data: Data
        var handle: SealedFile?
    }

    private func specimen(_ fileClass: FileProtectionClass, open: Bool) throws -> Specimen {
        let path = folder.path(of: "\(fileClass)")
        let data = Data("what was there before".utf8)
        let file = try SealedFile.create(path, fileClass, keys: keys)
        try file.write(data, at: 0)
        file.close()
        return Specimen(
            fileClass: fileClass, path: path, data: data,
            handle: open ? try SealedFile(path, .writing, keys: keys) : nil)
    }

    private func enter(_ state: State, _ specimens: [Specimen]) async throws {
        switch state {
        case .unlocked: return
        case .beforeFirstUnlock:
            #expect(daemon.stop() == 0)
            try daemon.start()
        case .locked, .lockedWithHandle:
            let events = vault.lockEvents()
            try vault.lock(after: .zero, as: vault.granted)
            for await event in events where event == .locked { break }
            // Whoever has such a file open gives up its key when the vault is locked.
            for specimen in specimens where specimen.fileClass == .complete { specimen.handle?.discardKey() }
        }
    }

    private func file(_ specimen: Specimen, _ mode: SealedFile.Mode) throws(SealedFileError) -> SealedFile {
        if let handle = specimen.handle { return handle }
        return try SealedFile(specimen.path, mode, keys: keys)
    }

    private func perform(_ operation: Operation, _ specimen: inout Specimen) throws(SealedFileError) {
        switch operation {
        case .create:
            let file = try SealedFile.create(specimen.path + ".new", specimen.fileClass, keys: keys)
            // Until it is closed it can be used, whatever its class.
            try file.append(specimen.data)
            #expect(try file.read(100, at: 0) == specimen.data)
        case .open:
            #expect(try SealedFile(specimen.path, .reading, keys: keys).fileClass == specimen.fileClass)
        case .read:
            #expect(try file(specimen, .reading).read(100, at: 0) == specimen.data)
        case .write:
            try file(specimen, .writing).write(Data("is".utf8), at: 5)
            specimen.data.replaceSubrange(5..<7, with: Data("is".utf8))
        case .append:
            try file(specimen, .writing).append(Data(", and more".utf8))
            specimen.data.append(contentsOf: Data(", and more".utf8))
        case .rename:
            #expect(Glibc.rename(specimen.path, specimen.path + ".renamed") == 0)
            specimen.path += ".renamed"
        case .changeClass:
            // To one of which files can be made in every state.
            let target: FileProtectionClass = specimen.fileClass == .none ? .completeUnlessOpen : .none
            try file(specimen, .writing).changeClass(to: target, keys: keys)
            // And back where that can be undone.
            if specimen.fileClass != .none {
                try file(specimen, .writing).changeClass(to: specimen.fileClass, keys: keys)
            }
        }
    }

    private func attempt(_ operation: Operation, _ specimen: inout Specimen) -> String {
        do throws(SealedFileError) {
            try perform(operation, &specimen)
            return "+"
        } catch {
            switch error {
            case .refused(.interactionNotAllowed), .keyDiscarded: return "-"
            default:
                Issue.record("\(operation) of \(specimen.fileClass): \(error)")
                return "?"
            }
        }
    }

    @Test(arguments: State.allCases) func everyOperationOnEveryClass(_ state: State) async throws {
        var specimens = try FileProtectionClass.allCases.map { try specimen($0, open: state == .lockedWithHandle) }
        try await enter(state, specimens)
        for index in specimens.indices {
            let fileClass = specimens[index].fileClass
            let outcome = Operation.allCases.map { attempt($0, &specimens[index]) }.joined()
            #expect(outcome == Self.table[fileClass]?[state], "\(fileClass), \(state)")
        }
        for specimen in specimens { specimen.handle?.close() }
        // Nothing that was done is lost, and nothing that was refused was done.
        if state != .unlocked { try unlock() }
        for specimen in specimens {
            #expect(try SealedFile(specimen.path, .reading, keys: keys).read(100, at: 0) == specimen.data)
            let isMade = Self.table[specimen.fileClass]?[state]?.hasPrefix("+") == true
            let made = specimen.path.replacingOccurrences(of: ".renamed", with: "") + ".new"
            #expect(FileManager.default.fileExists(atPath: made) == isMade)
            if isMade {
                let length = Data("what was there before".utf8).count
                #expect(try SealedFile(made, .reading, keys: keys).length == UInt64(clamping: length))
            }
        }
    }

    /// Apple's class for what comes in while nobody is there: a file can be filled until it is closed, and then waits
    /// for the next unlock.
    @Test func aFileMadeWhileLockedIsClosedForGoodOnceItIsClosed() async throws {
        try await enter(.locked, [])
        let path = folder.path(of: "mail")
        let file = try SealedFile.create(path, .completeUnlessOpen, keys: keys)
        for _ in 0..<3 { try file.append(Data("line\n".utf8)) }
        try file.write(Data("LINE".utf8), at: 5)
        #expect(try file.read(100, at: 0) == Data("line\nLINE\nline\n".utf8))
        file.close()
        for mode in [SealedFile.Mode.reading, .writing] {
            #expect(throws: SealedFileError.self) { try SealedFile(path, mode, keys: keys) }
        }
        #expect(throws: SealedFileError.self) {
            try SealedFile.create(folder.path(of: "other"), .complete, keys: keys)
        }
        try unlock()
        let opened = try SealedFile(path, .writing, keys: keys)
        try opened.append(Data("later\n".utf8))
        #expect(try opened.read(100, at: 0) == Data("line\nLINE\nline\nlater\n".utf8))
    }
}
