import Bytes
import FoundationEssentials

/// The beginning of a value's seal if the value needs more than the class key.
///
///     1 byte    version, 2
///     1 byte    bit 0: an application password is mixed in
///               bit 1: the enrolment is mixed in
///               bit 2: there is a check of the enrolment; always with bit 1
///               bit 7: the item has no value, and the seal is there for what opens it
///     with bit 0: 4 bytes memory in KiB, 4 bytes passes, 16 bytes salt of Argon2id
///     with bit 2: 16 bytes check
///
/// Integers are big-endian. A seal without a header is of version 1 and told by its length.
package struct SealHeader: Sendable, Hashable {
    /// The stretching of the application password.
    package struct Password: Sendable, Hashable {
        package var memoryKiB: UInt32
        package var passes: UInt32
        /// Sixteen random bytes for this item only.
        package var salt: Data

        package init(memoryKiB: UInt32, passes: UInt32, salt: Data) {
            self.memoryKiB = memoryKiB
            self.passes = passes
            self.salt = salt
        }

        static let saltSize = 16
    }

    /// The set of fingers or faces at the time when the item was stored.
    package struct Enrolment: Sendable, Hashable {
        /// Shows whether the set is still the same; see ``ItemWrap/enrolmentCheck(of:classKey:)``.
        package var check: Data
        /// Whether the item cannot be opened with another set. It can be if the enrolment is only one of several
        /// alternatives.
        package var isMixedIn: Bool

        package init(check: Data, isMixedIn: Bool) {
            self.check = check
            self.isMixedIn = isMixedIn
        }

        static let checkSize = 16
    }

    package var password: Password?
    package var enrolment: Enrolment?
    package var hasValue: Bool

    package init(password: Password?, enrolment: Enrolment?, hasValue: Bool) {
        self.password = password
        self.enrolment = enrolment
        self.hasValue = hasValue
    }

    private static let version: UInt8 = 2

    package var encoded: [UInt8] {
        var out: [UInt8] = [Self.version]
        out.append(
            (password == nil ? 0 : 1) | (enrolment?.isMixedIn == true ? 2 : 0) | (enrolment == nil ? 0 : 4)
                | (hasValue ? 0 : 0x80))
        if let password {
            out.append(bigEndian: password.memoryKiB)
            out.append(bigEndian: password.passes)
            out.append(contentsOf: password.salt)
        }
        if let enrolment { out.append(contentsOf: enrolment.check) }
        return out
    }

    /// Decodes the header in `bytes`, which hold nothing else.
    package init(decoding bytes: [UInt8]) throws(SealingError) {
        guard bytes.count >= 2, bytes[0] == Self.version else { throw .malformed("version of a value's seal") }
        let bits = bytes[1]
        guard bits & 5 != 0, bits & ~0x87 == 0, bits & 6 != 2 else { throw .malformed("factors of a value's seal") }
        let passwordSize = bits & 1 == 0 ? 0 : 8 + Password.saltSize
        let checkSize = bits & 4 == 0 ? 0 : Enrolment.checkSize
        guard bytes.count == 2 + passwordSize + checkSize else { throw .malformed("length of a value's seal") }
        if passwordSize > 0 {
            password = Password(
                memoryKiB: UInt32(bigEndianBytes: bytes[2..<6]), passes: UInt32(bigEndianBytes: bytes[6..<10]),
                salt: Data(bytes[10..<(2 + passwordSize)]))
        }
        if checkSize > 0 {
            enrolment = Enrolment(check: Data(bytes[(2 + passwordSize)...]), isMixedIn: bits & 2 != 0)
        }
        hasValue = bits & 0x80 == 0
    }
}
