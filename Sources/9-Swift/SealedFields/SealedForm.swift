import Bytes
import Foundation

/// The layout of a sealed value; Documentation/Specify/Formats/SealedFields.md.
enum SealedForm {
    static let version: UInt8 = 1
    /// Version, algorithm and key.
    static let headerCount = 10
    static let nonceCount = 12
    static let tagCount = 16
    static let overhead = headerCount + nonceCount + tagCount

    /// The first bytes of a value under a key.
    static func header(_ algorithm: SealingAlgorithm, _ key: FieldKeyID) -> Data {
        var bytes = Data(capacity: headerCount)
        bytes.append(version)
        bytes.append(algorithm.number)
        bytes.append(bigEndian: key.number)
        return bytes
    }

    /// The fields in the first bytes of a value.
    static func parse(
        _ bytes: UnsafeRawBufferPointer, _ subject: String? = nil
    ) throws -> (algorithm: SealingAlgorithm, key: FieldKeyID) {
        guard bytes.count >= overhead else { throw SealedFieldsError.notSealed(subject) }
        guard bytes[0] == version else {
            throw SealedFieldsError(
                .unsupported, subject: subject,
                message: "the value is no sealed one, or of version \(bytes[0]), which this program does not know")
        }
        let algorithm = SealingAlgorithm(number: bytes[1])
        guard algorithm == .chaChaPoly || algorithm == .aesGCM else {
            throw SealedFieldsError(
                .unsupported, subject: subject, message: "the value is sealed with \(algorithm), which is not known")
        }
        return (algorithm, FieldKeyID(number: bytes.bigEndian(at: 2)))
    }
}

/// The identifier of a key in the values that it seals. It is random, so that keys of two keyrings differ.
struct FieldKeyID: Sendable, Hashable, CustomStringConvertible {
    let number: UInt64

    /// 8 bytes.
    var data: Data { Data(number.bigEndianBytes) }

    var description: String { number.bigEndianBytes.hexadecimal() }
}
