import Foundation
import KeychainModel
import ProtectedFiles

extension ContiguousBytes {
    /// The bytes, keeping the type of what the closure throws.
    func withRawBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var outcome: Result<Value, Failure>?
        withUnsafeBytes { bytes in outcome = Result { () throws(Failure) in try body(bytes) } }
        guard let outcome else { preconditionFailure("withUnsafeBytes calls its closure once") }
        return try outcome.get()
    }
}

extension Data {
    /// Up to `count` bytes that `fill` puts into memory, which is wiped when the last copy of the value goes.
    ///
    /// - Parameter fill: Returns how many bytes there are.
    static func wiped<Failure: Error>(
        _ count: Int, orOutOfMemory failure: @autoclosure () -> Failure,
        _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Data {
        guard count > 0 else { return Data() }
        guard let base = malloc(count) else { throw failure() }
        let room = UnsafeMutableRawBufferPointer(start: base, count: count)
        let filled: Int
        do throws(Failure) {
            filled = try fill(room)
        } catch {
            SecretBytes.wipe(room)
            free(base)
            throw error
        }
        return Data(
            bytesNoCopy: base, count: filled,
            deallocator: .custom { base, _ in
                SecretBytes.wipe(UnsafeMutableRawBufferPointer(start: base, count: count))
                free(base)
            })
    }
}
