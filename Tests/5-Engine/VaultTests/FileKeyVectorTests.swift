import Bytes
import Crypto
import Foundation
import Keybag
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// Keys of files against values that Python's cryptography worked out (see
/// Documentation/Specify/Formats/ProtectedFiles.md).
@Suite struct FileKeyVectorTests {
    private let classKey = SymmetricKey(data: Data(0...31))
    private let file = Data(0x40...0x4F)
    private let fileKey = SymmetricKey(data: Data(0xA0...0xBF))

    private static let classKeys: [(FileProtectionClass, String)] = [
        (.complete, "f31ac70c1669fa578e11725cee4e4d20f3f094cc60d004b22af73cdf210b698f"),
        (.completeUnlessOpen, "2d26384e54d6edb6d56e9850572756217e5adc48aad01969e6a3ff39984ae0cd"),
        (
            .completeUntilFirstUserAuthentication,
            "13db48b79757e3d88210a75f7d621e495b6b7ca59ce980d6ad10431ab74d525f"
        ),
        (.none, "c6d2a8cd878af09717a2b5cd7e651379b717f8b770ab3494d487c9ded1fb979f"),
    ]

    private static let wraps: [(FileProtectionClass, String)] = [
        (.complete, "46108f9ef8ab941a9dc411d3243137e7c09dd1dbf5d5999997c2fd2ecea21163a367ff34484354c6"),
        (
            .completeUntilFirstUserAuthentication,
            "b9d7cde6b1c1ec4a13b895e508d432d42112015c4a9fda3ea963a1a51e3d409038b9cc9bb1f58032"
        ),
        (.none, "9ba0e971503aaddd9a719703bdeaf66741ba11f5e619146c6b00a23e65f4ae233ad39ec541ec4968"),
    ]

    private static let publicKey = "dd9a7d96a791cf34896a31ba2548e4ec0e110b973e06f38670dcd117d1b4d61f"

    private func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String(format: "%02x", $0) }.joined()
    }

    private func hexadecimal(_ key: SymmetricKey) -> String { key.withUnsafeBytes { hexadecimal($0) } }

    @Test(arguments: classKeys)
    func keysOfClasses(_ fileClass: FileProtectionClass, _ expected: String) {
        #expect(hexadecimal(FileClassKeys.key(of: fileClass, from: classKey)) == expected)
    }

    @Test(arguments: wraps)
    func wrapsWithOneKey(_ fileClass: FileProtectionClass, _ expected: String) throws {
        let key = FileClassKeys.key(of: fileClass, from: classKey)
        let wrapped = try FileClassKeys.wrap(fileKey, for: file, under: key)
        #expect(hexadecimal(wrapped) == expected)
        #expect(FileClassKeys.unwrap(wrapped, for: file, under: key) == fileKey)
    }

    @Test func agreement() throws {
        let key = try FileClassKeys.agreementKey(from: classKey)
        #expect(hexadecimal(key.publicKey.rawRepresentation) == Self.publicKey)
        let wrapped = try FileClassKeys.wrap(
            fileKey, for: file, to: key.publicKey, ephemeral: .init(rawRepresentation: Data(0x60...0x7F)))
        #expect(
            hexadecimal(wrapped) == "675dd574ed7789310b3d2e7681f3790b466c773b1521fecf36577958371ea52f"
                + "7bbac31c1c69fbf79eba5e8b4836769363cc1161880e47785bf224285f475f608ece67f793bc0968")
        #expect(FileClassKeys.unwrap(wrapped, for: file, with: key) == fileKey)
    }

    @Test func keysOfSmallOrderAreRefused() throws {
        let key = try FileClassKeys.agreementKey(from: classKey)
        for sender in [Data(count: 32), Data([1]) + Data(count: 31)] {
            #expect(FileClassKeys.unwrap(sender + Data(count: 40), for: file, with: key) == nil)
            let publicKey = try FileClassKeys.PublicKey(rawRepresentation: sender)
            #expect(throws: KeybagError.self) { try FileClassKeys.wrap(fileKey, for: file, to: publicKey) }
        }
    }

    @Test func storedPublicKey() throws {
        let keybag = try #require(UUID(uuidString: "01020304-0506-0708-090A-0B0C0D0E0F10"))
        let publicKey = try FileClassKeys.agreementKey(from: classKey).publicKey.rawRepresentation
        let encoded = FileAgreementRecord(keybag: keybag, publicKey: publicKey).encoded(under: classKey)
        #expect(
            hexadecimal(encoded) == "534b46494c45414700010102030405060708090a0b0c0d0e0f10" + Self.publicKey
                + "f05993ebb6d967baed8108b5ddcf15088315ea7fc73897ee3873d85fefc2f5b3")
        let decoded = try FileAgreementRecord(decoding: encoded, of: keybag, under: classKey)
        #expect(decoded.publicKey == publicKey)
        #expect(throws: KeybagError.authenticationFailed) {
            try FileAgreementRecord(decoding: encoded, of: UUID(), under: classKey)
        }
    }

    /// The second implementation opens the keys of files in a whole vault, with the passcode as its only secret.
    @Test func aSecondImplementationOpensThem() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "vault")
        let vault = try EmbeddedVault.open(at: path)
        try vault.setPasscode(SecretBytes("right"), options: .cheapest, as: .owner)
        try Data("right".utf8).write(to: URL(fileURLWithPath: folder.path(of: "passcode")))
        var keys = try KeptFileKey.makeAll(in: vault, as: .app)
        // Those of before hang on former class keys.
        try vault.renewKeys("right")
        keys += try KeptFileKey.makeAll(in: vault, as: .app)
        vault.close()
        let asked = keys.flatMap {
            ["--file-key", "\($0.fileClass.rawValue):\(hexadecimal($0.file)):\(hexadecimal($0.made.wrapped))"]
        }
        let output = try FormatVectors.read(path, ["--passcode", folder.path(of: "passcode")] + asked)
        struct Inventory: Decodable { var fileKeys: [String] }
        let read = try JSONDecoder().decode(Inventory.self, from: output)
        #expect(read.fileKeys == keys.map { $0.made.key.withUnsafeBytes { hexadecimal($0) } })
    }
}
