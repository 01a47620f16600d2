import Foundation
import KeychainModel

/// The data of a chunk as they came out of the cipher, which are wiped in the end.
final class OpenedChunk {
    let number: UInt64
    private let data: Data

    /// - Parameter data: Of which nobody else has a copy.
    init(number: UInt64, data: Data) {
        (self.number, self.data) = (number, data)
    }

    func copy(_ part: Range<Int>, to target: UnsafeMutableRawBufferPointer) {
        data.withUnsafeBytes { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[part])) }
    }

    /// The data where they are.
    func withBytes(_ part: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Void) {
        data.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[part])) }
    }

    deinit {
        // Wiped where they are: the cipher gave them in memory of their own, from malloc.
        data.withUnsafeBytes { SecretBytes.wipe(UnsafeMutableRawBufferPointer(mutating: $0)) }
    }
}
