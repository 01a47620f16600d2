import Crypto
import Foundation
import SecureMemory
import TestSupport

/// A keybag of version 4 as other software reads it, by Documentation/Specify/Formats/Vault.md and with tpm2-tools.
struct StoredKeybag {
    let salt: Data
    /// By class code.
    let wrappedKeys: [UInt8: Data]
    /// Salt, memory in KiB and passes of the passcode; nil without one.
    let passcode: (salt: [UInt8], memoryKiB: UInt32, passes: UInt32)?
    let binding: Data
    let counter: UInt32
    let value: UInt64
    let sealed: Data

    /// Nil for anything but a keybag of version 5.
    init?(_ bytes: Data) {
        var rest = Data(bytes)
        func take(_ count: Int) -> Data {
            defer { rest = Data(rest.dropFirst(count)) }
            return Data(rest.prefix(count))
        }
        func number(_ count: Int) -> UInt64 { take(count).reduce(0) { $0 << 8 | UInt64($1) } }
        guard take(8) == Data("SKKEYBAG".utf8), number(2) == 5, number(1) == 2 else { return nil }
        let hasPasscode = number(1) == 1
        _ = take(32)
        salt = take(32)
        var wrapped: [UInt8: Data] = [:]
        for _ in 0..<number(1) { wrapped[UInt8(number(1))] = take(40) }
        wrappedKeys = wrapped
        if hasPasscode {
            passcode = (Array(take(16)), UInt32(number(4)), UInt32(number(4)))
            _ = take(1)
        } else {
            passcode = nil
        }
        binding = take(Int(number(2)))
        counter = UInt32(number(4))
        value = number(8)
        sealed = take(Int(number(2)))
        // After the number of the store's last change.
        guard rest.count == 8 + 32 else { return nil }
    }

    /// Returns the secret in the TPM whose authorization comes from the passcode, followed by the stretched passcode.
    func passcodeKey(_ typed: String, _ tpm: SoftwareTPM) throws -> Data {
        guard let passcode else { return Data() }
        let stretched = try Data(typed.utf8).withUnsafeBytes {
            try Argon2id.derive(
                from: $0, salt: passcode.salt,
                cost: Argon2id.Cost(memoryKiB: passcode.memoryKiB, passes: passcode.passes))
        }.withUnsafeBytes { Data($0) }
        let authorization = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: stretched), info: Data("swift-keychain/v1/tpm-passcode".utf8),
            outputByteCount: 32)
        try tpm.load(binding)
        let password = authorization.withUnsafeBytes { bytes in
            bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
        return try tpm.unseal("hex:" + password) + stretched
    }

    /// Returns the secret that the TPM reveals only while the counter has this keybag's value.
    func freshness(_ tpm: SoftwareTPM) throws -> Data {
        try tpm.load(sealed)
        return try tpm.unseal(whileCounter: counter, is: value)
    }

    /// Returns a class key.
    ///
    /// - Parameters:
    ///   - name: For example ("ak", 1).
    ///   - passcode: Nil for a class that needs none.
    func classKey(
        _ name: (String, UInt8), deviceSecret: Data, passcode: String? = nil, _ tpm: SoftwareTPM
    ) throws -> Data {
        try tpm.load(deviceSecret.dropFirst(79).dropLast(8))
        let root = try tpm.authenticationCode(of: Data("swift-keychain/v1/tpm-root".utf8) + salt)
        let passcodeKey = try passcode.map { try self.passcodeKey($0, tpm) } ?? Data()
        let wrapping = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: root + (try freshness(tpm)) + passcodeKey), salt: salt,
            info: Data(("swift-keychain/v1/class-key/" + name.0).utf8), outputByteCount: 32)
        return try AES.KeyWrap.unwrap(wrappedKeys[name.1] ?? Data(), using: wrapping).withUnsafeBytes { Data($0) }
    }
}
