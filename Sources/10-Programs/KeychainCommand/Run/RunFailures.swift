import FoundationEssentials
import Glibc
import KeychainModel
import StatusCodes
import Vault

extension Failure {
    /// A file that was named to `keychain run` cannot be used.
    static func input(_ path: String, _ reason: String) -> Failure {
        Failure(status: errSecParam, exitCode: ExitStatus.other, "\(path.escapedForTerminal): \(reason)")
    }

    static let memory = Failure(VaultError.memoryUnavailable)

    static func system(_ what: String, _ code: Int32) -> Failure {
        Failure(status: errSecIO, exitCode: ExitStatus.other, "\(what) (\(String(cString: strerror(code))))")
    }
}

extension SecretBytes {
    /// These parts one after the other.
    static func joining(_ parts: [SecretBytes]) throws(Failure) -> SecretBytes {
        try orOutOfMemory {
            try SecretBytes(count: parts.reduce(0) { $0 + $1.count }) { room in
                var place = 0
                for part in parts {
                    part.withUnsafeBytes {
                        UnsafeMutableRawBufferPointer(rebasing: room[place...]).copyMemory(from: $0)
                    }
                    place += part.count
                }
            }
        }
    }

    /// The bytes in `range` alone.
    func part(_ range: Range<Int>) throws(Failure) -> SecretBytes {
        try Self.orOutOfMemory {
            try withUnsafeBytes { try SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[range])) }
        }
    }

    static func copy(_ bytes: Data) throws(Failure) -> SecretBytes {
        try orOutOfMemory { try bytes.withUnsafeBytes { try SecretBytes(copying: $0) } }
    }

    static func text(_ text: String) throws(Failure) -> SecretBytes {
        try orOutOfMemory { try SecretBytes(text) }
    }

    private static func orOutOfMemory(_ make: () throws -> SecretBytes) throws(Failure) -> SecretBytes {
        do {
            return try make()
        } catch {
            throw Failure.memory
        }
    }
}

/// The whole of a file that was named to `keychain run`.
enum RunInput {
    /// More than any file of settings has, in bytes.
    static let limit = 1 << 20

    static func read(_ path: String) throws(Failure) -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .input(path, "cannot be opened (\(String(cString: strerror(errno))))")
        }
        defer { close(descriptor) }
        do throws(DescriptorReader.Failure) {
            return try DescriptorReader.readAll(descriptor, limit: limit)
        } catch {
            switch error {
            case .tooLong: throw .input(path, "has more than \(limit >> 20) MiB: name a file of settings")
            case .system(let code): throw .input(path, "cannot be read (\(String(cString: strerror(code))))")
            }
        }
    }
}
