/// The kinds of frames. A frame is a length (4 bytes, without itself), a kind (1 byte) and a body. Integers are
/// big-endian.
package enum HelperFrameKind: UInt8, Sendable, CaseIterable {
    // From the client. All except `hello` and `cancel` are requests. Requests are numbered from 1 in their order, and
    // are answered in that order.
    case hello = 0x01
    case open = 0x02
    case query = 0x03
    case script = 0x04
    case batch = 0x05
    case rekey = 0x06
    case close = 0x07
    case cancel = 0x08
    // From the helper. Each request gets `done`, `opened` or `failure`. A query gets its columns and rows before that.
    case welcome = 0x81
    case opened = 0x82
    case columns = 0x83
    case rows = 0x84
    case done = 0x85
    case failure = 0x86
    case progress = 0x87
}

package enum FrameProtocol {
    /// The first bytes of the first frame: "KSQL".
    package static let magic: UInt32 = 0x4B53_514C
    package static let version: UInt16 = 1
}

/// The limits for received frames.
package enum FrameLimits {
    /// SQLite's own limit for a value (SQLITE_MAX_LENGTH), in bytes.
    package static let value = 1_000_000_000
    /// The largest frame in bytes: one value of the largest size, with room for the rest.
    package static let frame = value + (2 << 20)
    /// The largest number of columns and of parameters in any build of SQLite.
    package static let columns = 32_767
    /// The size in bytes at which collected rows are sent.
    package static let rowsTogether = 1 << 16
    /// The number of requests that the client may send before their answers.
    package static let requests = 4
    /// The largest path or message in bytes.
    package static let text = 65_536
    /// The largest passphrase in bytes.
    package static let key = 4096
    /// The largest number of page sizes to try.
    package static let pageSizes = 8
}
