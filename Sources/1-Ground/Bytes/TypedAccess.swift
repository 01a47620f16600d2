import FoundationEssentials

// The standard library's accessors, keeping the type of what the closure throws.

extension ContiguousBytes {
    /// The bytes, of whatever kind of collection they are.
    package func withRawBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var outcome: Result<Value, Failure>?
        withUnsafeBytes { bytes in outcome = Result { () throws(Failure) in try body(bytes) } }
        guard let outcome else { preconditionFailure("withUnsafeBytes calls its closure once") }
        return try outcome.get()
    }
}

extension Array {
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBytes { bytes in
            Swift.Result { () throws(Failure) in try body(bytes) }
        }.get()
    }
}

extension Data {
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBytes { bytes in
            Swift.Result { () throws(Failure) in try body(bytes) }
        }.get()
    }

    package mutating func withMutableBytes<Result, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeMutableBytes { bytes in
            Swift.Result { () throws(Failure) in try body(bytes) }
        }.get()
    }
}

extension SecretBytes {
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBytes { bytes in
            Swift.Result { () throws(Failure) in try body(bytes) }
        }.get()
    }
}
