extension Array where Element == UInt8 {
    /// Fresh bytes of the kernel's (getrandom(2)).
    package static func random(count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            Swift.withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0.prefix(count - bytes.count)) }
        }
        return bytes
    }
}
