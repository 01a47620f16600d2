import Bytes
import CLibrary
import SystemLibraries

/// bcrypt (Provos and Mazières, "A Future-Adaptable Password Scheme", 1999), computed by the system's libcrypt.
struct BcryptHash: Equatable, Sendable {
    /// The largest cost; bcrypt runs 2^cost rounds. 17 takes about ten seconds on a current machine.
    static let costLimit = 17
    /// The number of characters after the salt.
    private static let hashLength = 31

    let cost: Int
    private let text: String

    /// - Throws: ``PasswordHashError/tooExpensive``.
    init?(_ text: String) throws(PasswordHashError) {
        // $2b$12$, 22 characters of salt, 31 of hash.
        let bytes = Array(text.utf8)
        guard bytes.count == 60, ["$2a$", "$2b$", "$2y$"].contains(String(text.prefix(4))),
            bytes[6] == UInt8(ascii: "$"), let cost = Int(text.dropFirst(4).prefix(2)), cost >= 4,
            bytes[4...5].allSatisfy({ (0x30...0x39).contains($0) }),
            bytes[7...].allSatisfy({
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == UInt8(ascii: ".")
                    || $0 == UInt8(ascii: "/")
            })
        else { return nil }
        guard cost <= Self.costLimit else { throw .tooExpensive }
        (self.cost, self.text) = (cost, text)
    }

    func matches(_ password: SecretBytes) throws(PasswordHashError) -> Bool {
        let hash = try LibcryptFunction.found.get()
        // A C string ends at the first zero: bcrypt would compare only the part before it.
        guard !password.withUnsafeBytes({ $0.contains(0) }) else { return false }
        // Room for a zero at the end: SecretBytes may fill their last page completely.
        let phrase = try Self.orMemoryUnavailable {
            try SecretBytes(count: password.count + 1) { room in
                password.withUnsafeBytes { room.copyMemory(from: $0) }
            }
        }
        var result: [UInt8]?
        _ = try Self.orMemoryUnavailable {
            try SecretBytes(count: LibcryptFunction.dataSize) { data in
                phrase.withUnsafeBytes { phrase in
                    guard let room = data.baseAddress, let start = phrase.baseAddress,
                        let found = hash(
                            start.assumingMemoryBound(to: CChar.self), text, room,
                            Int32(clamping: LibcryptFunction.dataSize))
                    else { return }
                    result = UnsafeBufferPointer(start: found, count: strnlen(found, 128))
                        .map(UInt8.init(bitPattern:))
                }
            }
        }
        guard let result else { throw .unknownFormat }
        // Compares the hash only. Cost and salt stand before it. libcrypt clears the unused bits of the salt's last
        // character.
        guard result.count == text.utf8.count else { return false }
        return Array(result.suffix(Self.hashLength)).withUnsafeBytes { found in
            Array(text.utf8.suffix(Self.hashLength)).withUnsafeBytes { isEqualInConstantTime(found, $0) }
        }
    }

    private static func orMemoryUnavailable(_ make: () throws -> SecretBytes) throws(PasswordHashError) -> SecretBytes {
        do {
            return try make()
        } catch {
            throw .memoryUnavailable
        }
    }
}

/// `crypt_rn` of libxcrypt: `char *crypt_rn(const char *phrase, const char *setting, void *data, int size)`.
private enum LibcryptFunction {
    typealias Hash =
        @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer, Int32) ->
        UnsafeMutablePointer<CChar>?

    /// `sizeof(struct crypt_data)`, a fixed value of crypt.h.
    static let dataSize = 32_768

    static let found: Result<Hash, PasswordHashError> = {
        for name in ["libcrypt.so.1", "libcrypt.so.2"] {
            if let library = try? SystemLibrary(name, provides: "bcrypt"),
                let function: Hash = try? library.function("crypt_rn")
            {
                return .success(function)
            }
        }
        return .failure(
            .libraryMissing("there is no libcrypt.so.1 with bcrypt on this machine; install libcrypt1 (libxcrypt)"))
    }()
}
