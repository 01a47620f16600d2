import Foundation
import KeychainModel

/// The standard library's accessors, keeping the type of what the closure throws.
extension Data {
    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBytes { bytes in
            Swift.Result { () throws(Failure) in try body(bytes) }
        }.get()
    }

    mutating func withBytes<Result, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeMutableBytes { bytes in
            Swift.Result { () throws(Failure) in try body(bytes) }
        }.get()
    }
}

extension SecretBytes {
    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBytes { bytes in
            Swift.Result { () throws(Failure) in try body(bytes) }
        }.get()
    }

    /// `count` bytes filled by `fill`, which sees zeros.
    static func filled(
        count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(KeyError) -> Void
    ) throws(KeyError) -> SecretBytes {
        do {
            return try SecretBytes(count: count, fill: fill)
        } catch let error as KeyError {
            throw error
        } catch {
            throw .memoryUnavailable
        }
    }

    static func copy(of bytes: UnsafeRawBufferPointer) throws(KeyError) -> SecretBytes {
        try filled(count: bytes.count) { (copy) throws(KeyError) in copy.copyMemory(from: bytes) }
    }

    /// The bytes as data that is wiped when it is freed, for interfaces that want data.
    var data: Data {
        .wipedWhenFreed(withUnsafeBytes { Data($0) })
    }
}
