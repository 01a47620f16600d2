import Bytes
import CLibrary
import Crypto
import CryptoExtras
import FoundationEssentials
import SQLCipherWire

/// The search for the format of a file from its first page, with a raw key. The library only reports a wrong key.
///
/// A page ends with an initialization vector of 16 bytes and an HMAC, in whole AES blocks. The HMAC covers all bytes
/// before it and the page's number as four bytes in little-endian order; on the first page, it leaves out the salt in
/// the first 16 bytes. The key of the HMAC is PBKDF2 of the key with two rounds, and with each byte of the salt XOR
/// 0x3A. Version 3 uses SHA-1 in both functions, version 4 SHA-512.
enum FirstPage {
    static func format(of path: String, key: SecretBytes) -> Opened? {
        guard let bytes = FileStart.read(path, count: 65_536), bytes.count >= 512 else { return nil }
        let salt = bytes[..<16].map { $0 ^ 0x3A }
        for compatibility in CipherCompatibility.allCases {
            guard let authentication = authenticationKey(key, salt, compatibility) else { continue }
            for shift in 9...16 {
                let size = 1 << shift
                guard size <= bytes.count else { break }
                if isAuthentic(bytes[..<size], authentication, compatibility) {
                    return Opened(compatibility: compatibility, pageSize: UInt32(size))
                }
            }
        }
        return nil
    }

    private static func authenticationKey(
        _ key: SecretBytes, _ salt: [UInt8], _ compatibility: CipherCompatibility
    ) -> SymmetricKey? {
        key.withUnsafeBytes { key in
            try? KDF.Insecure.PBKDF2.deriveKey(
                from: key, salt: salt, using: compatibility == .three ? .insecureSHA1 : .sha512, outputByteCount: 32,
                unsafeUncheckedRounds: 2)
        }
    }

    private static func isAuthentic(
        _ page: ArraySlice<UInt8>, _ key: SymmetricKey, _ compatibility: CipherCompatibility
    ) -> Bool {
        let reserved = compatibility == .three ? 48 : 80
        guard page.count > 16 + reserved else { return false }
        let end = page.count - reserved + 16
        let message = page[16..<end] + [1, 0, 0, 0]
        switch compatibility {
        case .three:
            let code = page[end..<(end + Insecure.SHA1.byteCount)]
            return HMAC<Insecure.SHA1>.isValidAuthenticationCode(code, authenticating: message, using: key)
        case .four:
            let code = page[end..<(end + SHA512.byteCount)]
            return HMAC<SHA512>.isValidAuthenticationCode(code, authenticating: message, using: key)
        }
    }
}
