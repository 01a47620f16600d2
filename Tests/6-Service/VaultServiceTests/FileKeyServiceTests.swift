import Access
import Bytes
import DaemonLink
import Enclave
import Foundation
import Frames
import Glibc
import KeychainModel
import TestSupport
import Testing
import VaultInterface
import VaultService

/// Keys of files from a daemon.
@Suite struct FileKeyServiceTests {
    // By the user: a confined daemon does not see which program calls.
    private static let owner =
        #"{"uid": \#(geteuid()), "groups": ["TEAM.app", "*"], "rights": ["list", "unlock", "administer"]}"#

    private func unlock(_ vault: RemoteVault) throws {
        try vault.unlock(with: SecretBytes("right"), as: vault.granted)
    }

    private func enter(_ state: FileKeyState, _ vault: RemoteVault, _ daemon: DaemonUnderTest) throws {
        guard state != .noPasscode else { return }
        try vault.setPasscode(SecretBytes("right"), options: .cheapest, as: vault.granted)
        if state == .lockedAfterUnlock { try vault.lock(after: .zero, as: vault.granted) }
        if state == .beforeFirstUnlock {
            #expect(daemon.stop() == 0)
            try daemon.start()
        }
    }

    @Test(arguments: FileKeyState.allCases, EnclaveKind.allCases)
    func everyClassInEveryState(_ state: FileKeyState, _ kind: EnclaveKind) throws {
        let tpm = kind == .tpm2 ? try SoftwareTPM() : nil
        let daemon = try DaemonUnderTest(["--landlock"], rules: [Self.owner], in: tpm)
        let vault = try daemon.connect()
        let keys = try KeptFileKey.makeAll(in: vault, as: vault.granted)
        try enter(state, vault, daemon)
        var added: [KeptFileKey] = []
        #expect(vault.differences(from: state, keys, as: vault.granted, added: &added) == [])
        #expect(added.count == state.makes.count * (1 + state.opens.count))
        if state != .noPasscode { try unlock(vault) }
        for key in keys + added { #expect(try key.opens(in: vault, as: vault.granted), "\(key.fileClass)") }
    }

    @Test func refusalsAreTheSameAsInAProcess() throws {
        let daemon = try DaemonUnderTest()
        let vault = try daemon.connect()
        let key = try KeptFileKey.make(.completeUnlessOpen, in: vault, as: vault.granted)
        for wrapped in [Data(), Data(count: 72), Data(count: 1 << 16), key.made.wrapped.dropLast()] {
            #expect(throws: VaultError.corruptFileKey) {
                try vault.fileKey(for: key.fileClass, file: key.file, wrapped: wrapped, as: vault.granted)
            }
        }
        #expect(throws: VaultError.corruptFileKey) {
            try vault.fileKey(for: .complete, file: key.file, wrapped: key.made.wrapped, as: vault.granted)
        }
        let reason = "a file's identifier has 16 bytes, not 3"
        #expect(throws: VaultError.invalidRequest(reason: reason)) {
            try vault.makeFileKey(for: .none, file: Data(1...3), as: vault.granted)
        }
        #expect(throws: VaultError.accessDenied(.noAccessGroups(client: vault.granted.identifier))) {
            try KeptFileKey.make(.none, in: vault, as: Client(identifier: "nobody", accessGroups: []))
        }
        // The session is what formats of files know of the vault.
        let session: any FileKeySource = VaultSession(vault: vault, client: vault.granted)
        #expect(try session.fileKey(for: key.fileClass, file: key.file, wrapped: key.made.wrapped) == key.made.key)
        let rewrapped = try session.rewrapFileKey(
            from: key.fileClass, to: .none, file: key.file, wrapped: key.made.wrapped)
        #expect(try session.fileKey(for: .none, file: key.file, wrapped: rewrapped) == key.made.key)
        #expect(try session.makeFileKey(for: .none, file: key.file).key != key.made.key)
    }

    @Test func aClassThatThereIsNotEndsTheConnectionAlone() throws {
        let daemon = try DaemonUnderTest()
        let vault = try daemon.connect()
        for fileClass in [UInt8(0), 5, 255] {
            let socket = try daemon.greeted()
            let frame = FrameBuffer()
            frame.appendRequest(
                MakeFileKey(for: .none, file: Data(count: 16)), claim: vault.granted, canAsk: false)
            var bytes = Data(frame.bytes)
            // The class stands before the identifier and its length.
            bytes[bytes.count - 21] = fileClass
            try socket.send(FrameBuffer(bytes), within: Patience.duration)
            let kind = try socket.receiveFrame(into: frame)
            #expect(kind == .failure)
        }
        _ = try KeptFileKey.make(.none, in: vault, as: vault.granted)
    }
}
