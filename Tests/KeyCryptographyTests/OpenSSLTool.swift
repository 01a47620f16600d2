import Foundation
import TestSupport
import Testing

@testable import KeychainServices

/// The command `openssl`, with files for what it reads and writes.
struct OpenSSLTool {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Writes a file and returns its path.
    func file(_ name: String, _ content: Data) throws -> String {
        let path = folder.path(of: name)
        try FolderContents.write(content, to: path)
        return path
    }

    /// Whether the command succeeds.
    func succeeds(_ arguments: [String]) throws -> Bool {
        let command = try Worker(arguments, command: "openssl")
        _ = command.readToEnd()
        return command.wait() == 0
    }

    /// What the command writes to the file that its last option names.
    func output(_ arguments: [String]) throws -> Data {
        let path = folder.path(of: "output")
        try? FileManager.default.removeItem(atPath: path)
        #expect(try succeeds(arguments + ["-out", path]), "openssl \(arguments.joined(separator: " "))")
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    /// The options for a private key and for its public half.
    func keys(_ pair: KeyPair) throws -> (private: [String], public: [String]) {
        let `private` = try file("private", KeyEncoding.privateKey(pair.private.external()))
        let `public` = try file("public", KeyEncoding.publicKeyInfo(pair.public.external()))
        return (
            ["-inkey", `private`, "-keyform", "DER"], ["-pubin", "-inkey", `public`, "-keyform", "DER"]
        )
    }
}

/// DER of keys, as other software reads it.
enum KeyEncoding {
    private static let curves: [Int: [UInt8]] = [
        24: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x01], 28: [0x2B, 0x81, 0x04, 0x00, 0x21],
        32: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07], 48: [0x2B, 0x81, 0x04, 0x00, 0x22],
        66: [0x2B, 0x81, 0x04, 0x00, 0x23],
    ]

    static func node(_ tag: UInt8, _ content: Data) -> Data {
        var length = Data()
        if content.count < 0x80 {
            length.append(UInt8(content.count))
        } else if content.count < 0x100 {
            length.append(contentsOf: [0x81, UInt8(content.count)])
        } else {
            length.append(contentsOf: [0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)])
        }
        return [tag] + length + content
    }

    private static func curve(_ coordinate: Int) -> Data { node(0x06, Data(curves[coordinate] ?? [])) }

    /// SubjectPublicKeyInfo (RFC 5280).
    static func publicKeyInfo(_ external: Data) -> Data {
        let algorithm =
            external.first == 0x30
            ? node(0x06, Data([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01])) + node(0x05, Data())
            : node(0x06, Data([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01])) + curve((external.count - 1) / 2)
        return node(0x30, node(0x30, algorithm) + node(0x03, [0] + external))
    }

    /// ECPrivateKey (RFC 5915) for curves; PKCS#1 is what RSA keys have already.
    static func privateKey(_ external: Data) -> Data {
        guard external.first == 0x04 else { return external }
        let count = (external.count - 1) / 3
        return node(
            0x30,
            node(0x02, Data([1])) + node(0x04, external.suffix(count)) + node(0xA0, curve(count))
                + node(0xA1, node(0x03, [0] + external.prefix(2 * count + 1))))
    }
}
