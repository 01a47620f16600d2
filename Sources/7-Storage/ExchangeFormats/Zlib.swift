import Bytes
import CLibrary
import FoundationEssentials
import SystemLibraries

/// gzip (RFC 1952), which zlib expands.
enum Zlib {
    /// `z_stream` of zlib.h.
    private struct Stream {
        var next: UnsafePointer<UInt8>?
        var available: UInt32 = 0
        var total: UInt = 0
        var nextOut: UnsafeMutablePointer<UInt8>?
        var availableOut: UInt32 = 0
        var totalOut: UInt = 0
        var message: UnsafePointer<CChar>?
        var state: OpaquePointer?
        var allocate: OpaquePointer?
        var free: OpaquePointer?
        var opaque: OpaquePointer?
        var kind: Int32 = 0
        var adler: UInt = 0
        var reserved: UInt = 0
    }

    private typealias Begin =
        @convention(c) (UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, Int32) -> Int32
    private typealias Step = @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32
    private typealias End = @convention(c) (UnsafeMutableRawPointer?) -> Int32

    private static let okay: Int32 = 0
    private static let endOfStream: Int32 = 1

    /// Returns what was compressed; nil if the bytes are no gzip, or end too early.
    ///
    /// - Parameter limit: The most bytes of the result.
    /// - Throws: ``ExchangeError/missing(_:)`` and ``ExchangeError/tooLarge``.
    static func expand(_ bytes: Data, limit: Int) throws(ExchangeError) -> Data? {
        let (begin, step, end): (Begin, Step, End)
        do {
            let library = try SystemLibrary("libz.so.1", provides: "a compressed file")
            begin = try library.function("inflateInit2_")
            step = try library.function("inflate")
            end = try library.function("inflateEnd")
        } catch {
            throw .missing("zlib")
        }
        let stream = UnsafeMutablePointer<Stream>.allocate(capacity: 1)
        stream.initialize(to: Stream())
        defer { stream.deallocate() }
        // 15 bits of window, and 16 for the form of gzip. zlib compares the first digit of the version, and the size.
        let size = Int32(clamping: MemoryLayout<Stream>.size)
        guard begin(stream, 15 + 16, "1", size) == okay else { throw .missing("zlib") }
        defer { _ = end(stream) }
        var isTooLarge = false
        let expanded = bytes.withUnsafeBytes { bytes -> Data? in
            var room = [UInt8](repeating: 0, count: 1 << 18)
            defer { room.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
            var (result, position) = (Data(), 0)
            while true {
                let count = min(bytes.count - position, 1 << 20)
                var (made, used, status) = (0, 0, endOfStream)
                room.withUnsafeMutableBufferPointer { room in
                    stream.pointee.next = bytes.baseAddress.map { ($0 + position).assumingMemoryBound(to: UInt8.self) }
                    stream.pointee.available = UInt32(clamping: count)
                    stream.pointee.nextOut = room.baseAddress
                    stream.pointee.availableOut = UInt32(clamping: room.count)
                    status = step(stream, 0)
                    used = count - Int(stream.pointee.available)
                    made = room.count - Int(stream.pointee.availableOut)
                }
                guard status == okay || status == endOfStream else { return nil }
                position += used
                guard made <= limit - result.count else {
                    isTooLarge = true
                    return nil
                }
                result += room[..<made]
                if status == endOfStream { return result }
                guard used > 0 || made > 0 else { return nil }
            }
        }
        guard !isTooLarge else { throw .tooLarge }
        return expanded
    }
}
