/// The kinds of frames. A frame is a length (4 bytes, of what follows), a kind (1 byte), and a body. Integers have their
/// most significant byte first.
package enum FrameKind: UInt8, Sendable, CaseIterable {
    // From the client. Each but `hello` and `cancel` is a request: they are numbered from 1 in the order in which they
    // come, and are answered in that order.
    case hello = 0x01
    case open = 0x02
    case query = 0x03
    case script = 0x04
    case batch = 0x05
    case rekey = 0x06
    case close = 0x07
    case cancel = 0x08
    // From the helper. Each request gets `done`, `opened` or `failure`, and a query its columns and rows before that.
    case welcome = 0x81
    case opened = 0x82
    case columns = 0x83
    case rows = 0x84
    case done = 0x85
    case failure = 0x86
    case progress = 0x87
}

package enum FrameProtocol {
    /// What the first frame begins with: "KSQL".
    package static let magic: UInt32 = 0x4B53_514C
    package static let version: UInt16 = 1
}

/// What one side accepts of the other.
package enum FrameLimits {
    /// SQLite's own limit for a value (SQLITE_MAX_LENGTH), in bytes.
    package static let value = 1_000_000_000
    /// Of a frame: one value of the greatest size, and what else is in it.
    package static let frame = value + (2 << 20)
    /// SQLite's greatest number of columns and of parameters that its builds may have.
    package static let columns = 32_767
    /// Rows are sent together up to so many bytes.
    package static let rowsTogether = 1 << 16
    /// Requests that the client may have under way.
    package static let requests = 4
    /// A path, and a message.
    package static let text = 65_536
    /// A passphrase, in bytes.
    package static let key = 4096
    /// Page sizes to be tried.
    package static let pageSizes = 8
}

/// Bytes that are no frame of the protocol; what they came from cannot be used further.
package struct FrameError: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
