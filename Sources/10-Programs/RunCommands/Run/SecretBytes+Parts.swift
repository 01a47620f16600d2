import Bytes
import CommandKit
import FoundationEssentials

extension SecretBytes {
    /// Returns these parts one after the other.
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

    /// Returns the bytes in `range`.
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
