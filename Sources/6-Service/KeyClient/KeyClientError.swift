import Frames

/// Why the daemon did not do what it was asked.
package enum KeyClientError: Error, Equatable {
    /// No daemon serves a vault, or it went away.
    case unreachable(reason: String)
    case notFound
    case denied
    /// The vault is locked, or the key needs a person and nobody can be asked.
    case locked
    case canceled
    case authenticationFailed
    /// The algorithm, or what it was given, is not for this key.
    case invalid(reason: String)
    case tooLarge
    case memoryUnavailable
    case busy
    /// Something else, by the code that the protocol gives it.
    case other(code: UInt8)

    /// Reads a refusal: a code, then the fields of that code (Documentation/Specify/Protocol.md).
    init(refusal reader: inout FrameReader) throws(FrameError) {
        let code = try reader.integer(UInt8.self)
        self =
            switch code {
            case 1: .notFound
            case 3: .denied
            case 4, 5, 11: .locked
            case 6, 9, 10, 26, 28: .authenticationFailed
            case 7: .canceled
            case 8: try Self.presence(reader.integer())
            case 14, 17: .invalid(reason: try reader.string(limit: 1 << 16))
            case 15, 16: .tooLarge
            case 20, 23: .unreachable(reason: try reader.string(limit: 1 << 16))
            case 24: .busy
            case 25: .memoryUnavailable
            default: .other(code: code)
            }
    }

    private static func presence(_ code: UInt8) -> KeyClientError {
        switch code {
        case 2, 3, 4, 5: .canceled
        case 1, 9: .authenticationFailed
        default: .locked
        }
    }
}
