extension Sequence where Element == UInt8 {
    /// Two digits for each byte, in lower case.
    package var hexadecimal: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
