import Bytes
import CLibrary
import Certificates
import FoundationEssentials
import SystemLibraries

/// A private key in OpenSSH's own form (OpenSSH, PROTOCOL.key).
package struct OpenSSHFile {
    /// Why a key is not read.
    package enum Failure: Error {
        case malformed
        /// A kind of key that the keychain has no type for, such as one of a token: its name in SSH.
        case foreign(String)
        case wrongPassphrase
        /// The derivation has more rounds than any program uses.
        case tooManyRounds
    }

    /// What stands between the first and the last line.
    private let blob: Data
    private let kind: String
    /// The list of private keys, as it is in the file.
    private let keys: Data
    package let isEncrypted: Bool

    /// `ssh-keygen` takes 16 by default, and people who want more some hundreds. A round takes up to ten milliseconds.
    private static let mostRounds = 2_000

    /// - Throws: ``Failure``.
    package init(_ blob: Data) throws {
        do throws(SSHAgentError) {
            let magic = Data("openssh-key-v1\0".utf8)
            guard blob.starts(with: magic) else { throw .malformed }
            var reader = SSHReader(Data(blob.dropFirst(magic.count)))
            let (cipher, derivation, options) = (try reader.text(), try reader.text(), try reader.string())
            // No program writes more than one key.
            guard try reader.uint32() == 1 else { throw .malformed }
            var publicKey = SSHReader(try reader.string())
            kind = try publicKey.text()
            keys = .wipedWhenFreed(try reader.string())
            self.blob = blob
            isEncrypted = cipher != "none"
            guard derivation != "none" else { return }
            var parameters = SSHReader(options)
            _ = try parameters.string()
            guard try parameters.uint32() <= Self.mostRounds else { throw .unsupported }
        } catch {
            throw error == .unsupported ? Failure.tooManyRounds : .malformed
        }
    }

    /// Returns the name of the key's kind if the keychain has no type for it.
    private var foreignKind: String? {
        let known = ["ssh-ed25519", "ssh-rsa"] + SSHPublicKey.Curve.allCases.map { "ecdsa-sha2-" + $0.rawValue }
        return known.contains(kind) ? nil : kind
    }

    /// Returns the key as a PrivateKeyInfo (RFC 5958), in memory that is wiped when it is freed.
    ///
    /// - Parameter passphrase: Needed if ``isEncrypted``.
    /// - Throws: ``Failure``; `SystemLibraryError` if the key needs libssh and there is none.
    package func privateKeyInfo(passphrase: SecretBytes?) throws -> Data {
        if let foreignKind { throw Failure.foreign(foreignKind) }
        // The file has an RSA key without two of the numbers that PKCS#1 has.
        if isEncrypted || kind == "ssh-rsa" { return try throughLibssh(passphrase) }
        let key: KeyData
        do {
            key = try plainKey()
        } catch {
            throw Failure.malformed
        }
        guard let info = try key.privateKeyInfo() else { throw Failure.malformed }
        return info
    }

    /// Reads a key on a curve that is not encrypted.
    private func plainKey() throws -> KeyData {
        var reader = SSHReader(keys)
        guard try reader.uint32() == reader.uint32(), try reader.text() == kind else { throw SSHAgentError.malformed }
        if kind == "ssh-ed25519" {
            let (point, secret) = (try reader.string(), Data.wipedWhenFreed(try reader.string()))
            let key = try KeyData(.wipedWhenFreed(Data(secret.prefix(32))), type: .ed25519, keyClass: .private)
            guard secret.count == 64, key.publicRepresentation == point else { throw SSHAgentError.malformed }
            return key
        }
        guard let curve = SSHPublicKey.Curve(rawValue: try reader.text()) else { throw SSHAgentError.malformed }
        let point = try reader.string()
        let scalar = Data.wipedWhenFreed(Data(try reader.string().drop { $0 == 0 }))
        guard scalar.count <= curve.coordinateSize else { throw SSHAgentError.malformed }
        let padding = Data(count: curve.coordinateSize - scalar.count)
        return try KeyData(.wipedWhenFreed(point + padding + scalar), type: .ellipticCurve, keyClass: .private)
    }

    // MARK: libssh

    // The prototypes are those of libssh/libssh.h, whose interface is stable for all versions with this name.
    private typealias Import =
        @convention(c) (
            UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafeRawPointer?, UnsafeRawPointer?,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> Int32
    private typealias Export =
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>?, UnsafeRawPointer?, UnsafeRawPointer?,
            UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        ) -> Int32

    /// Lets libssh decrypt the key and write it anew: bcrypt_pbkdf, OpenSSH's derivation, is in no library that only
    /// has ciphers.
    private func throughLibssh(_ passphrase: SecretBytes?) throws -> Data {
        let library = try SystemLibrary("libssh.so.4", provides: "this kind of key of OpenSSH")
        let read: Import = try library.function("ssh_pki_import_privkey_base64")
        let write: Export = try library.function("ssh_pki_export_privkey_base64")
        let freeKey: @convention(c) (OpaquePointer?) -> Void = try library.function("ssh_key_free")
        let freeText: @convention(c) (UnsafeMutablePointer<CChar>?) -> Void = try library.function(
            "ssh_string_free_char")

        let file = try Self.terminated(Self.document(blob))
        let words = try passphrase.map { try $0.withUnsafeBytes { try Self.terminated(Data($0)) } }
        var key: OpaquePointer?
        let status = file.withUnsafeBytes { file in
            let file = file.bindMemory(to: CChar.self).baseAddress
            guard let words else { return read(file, nil, nil, nil, &key) }
            return words.withUnsafeBytes { read(file, $0.bindMemory(to: CChar.self).baseAddress, nil, nil, &key) }
        }
        guard status == 0, let key else { throw isEncrypted ? Failure.wrongPassphrase : .malformed }
        defer { freeKey(key) }
        var text: UnsafeMutablePointer<CChar>?
        guard write(key, nil, nil, nil, &text) == 0, let text else { throw Failure.malformed }
        let count = strlen(text)
        defer {
            explicit_bzero(text, count)
            freeText(text)
        }
        return try Self.privateKeyInfo(inText: Data.wipedWhenFreed(Data(bytes: text, count: count)))
    }

    /// Reads what libssh wrote: PKCS#8 or OpenSSH's form, not encrypted.
    private static func privateKeyInfo(inText text: Data) throws -> Data {
        let lines = text.split(separator: UInt8(ascii: "\n"))
        let digits = Data.wipedWhenFreed(Data(lines.dropFirst().dropLast().joined()))
        guard let first = lines.first, let der = Data(base64Encoded: digits) else { throw Failure.malformed }
        let contents = Data.wipedWhenFreed(der)
        guard first.elementsEqual("-----BEGIN OPENSSH PRIVATE KEY-----".utf8) else {
            let form = String(decoding: first, as: UTF8.self)
            let key =
                if form.contains("RSA") {
                    try KeyData(contents, type: .rsa, keyClass: .private)
                } else if form.contains("EC") {
                    try KeyData(sec1: contents)
                } else {
                    try KeyData(privateKeyInfo: contents)
                }
            guard let info = try key.privateKeyInfo() else { throw Failure.malformed }
            return info
        }
        let file = try OpenSSHFile(contents)
        guard !file.isEncrypted, file.kind != "ssh-rsa" else { throw Failure.malformed }
        return try file.privateKeyInfo(passphrase: nil)
    }

    /// The document that libssh reads, with lines of 64 characters.
    private static func document(_ blob: Data) -> Data {
        let lines = blob.base64EncodedData(options: [.lineLength64Characters, .endLineWithLineFeed])
        return Data("-----BEGIN OPENSSH PRIVATE KEY-----\n".utf8) + lines
            + Data("\n-----END OPENSSH PRIVATE KEY-----\n".utf8)
    }

    /// Returns a C string.
    private static func terminated(_ bytes: Data) throws -> SecretBytes {
        try SecretBytes(count: bytes.count + 1) { copy in bytes.withUnsafeBytes { copy.copyMemory(from: $0) } }
    }
}
