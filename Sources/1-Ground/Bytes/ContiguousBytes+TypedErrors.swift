import FoundationEssentials

// The standard library's accessors, keeping the type of what the closure throws.

extension ContiguousBytes {
    /// The bytes, of whatever kind of collection they are.
    package func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var outcome: Result<Value, Failure>?
        withUnsafeBytes { bytes in
            do throws(Failure) { outcome = .success(try body(bytes)) } catch { outcome = .failure(error) }
        }
        guard let outcome else { preconditionFailure("withUnsafeBytes calls its closure once") }
        return try outcome.get()
    }
}

extension Data {
    package mutating func withMutableBytes<Value, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try withUnsafeMutableBytes { bytes -> Result<Value, Failure> in
            do throws(Failure) { return .success(try body(bytes)) } catch { return .failure(error) }
        }.get()
    }
}
