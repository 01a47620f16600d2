/// Conversions of numbers that end the program if the number does not fit.
///
/// The package uses none of them: a number from a request, a file or a message can be any number. These declarations
/// hide the standard library's from the package's code, and a build with warnings as errors refuses each use. Instead:
///
/// - `init(exactly:)` returns nil, and the caller throws what it throws for damage, or for a bad request;
/// - `init(clamping:)` takes the nearest number: for times, sizes and counts that are told to somebody;
/// - `init(truncatingIfNeeded:)` takes the low bits: for codes, masks and bytes of a number.
///
/// Conversions that always fit, such as `Int(UInt8)`, are not here and can be used.

@available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
extension Int {
    package init(_ number: Double) { self.init(clamping: number) }
    package init(_ number: Float) { self.init(clamping: number) }
    package init(_ number: UInt) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt64) { self.init(truncatingIfNeeded: number) }
}

@available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
extension Int64 {
    package init(_ number: Double) { self.init(clamping: number) }
    package init(_ number: Float) { self.init(clamping: number) }
    package init(_ number: UInt) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt64) { self.init(truncatingIfNeeded: number) }
}

@available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
extension Int32 {
    package init(_ number: Double) { self.init(clamping: number) }
    package init(_ number: Float) { self.init(clamping: number) }
    package init(_ number: Int) { self.init(truncatingIfNeeded: number) }
    package init(_ number: Int64) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt64) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt32) { self.init(truncatingIfNeeded: number) }
}

@available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
extension Int16 {
    package init(_ number: Double) { self.init(clamping: number) }
    package init(_ number: Float) { self.init(clamping: number) }
    package init(_ number: Int) { self.init(truncatingIfNeeded: number) }
    package init(_ number: Int64) { self.init(truncatingIfNeeded: number) }
    package init(_ number: Int32) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt64) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt32) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt16) { self.init(truncatingIfNeeded: number) }
}

@available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
extension Int8 {
    package init(_ number: Double) { self.init(clamping: number) }
    package init(_ number: Float) { self.init(clamping: number) }
    package init(_ number: Int) { self.init(truncatingIfNeeded: number) }
    package init(_ number: Int64) { self.init(truncatingIfNeeded: number) }
    package init(_ number: Int32) { self.init(truncatingIfNeeded: number) }
    package init(_ number: Int16) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt64) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt32) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt16) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt8) { self.init(truncatingIfNeeded: number) }
}

@available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
extension UInt {
    package init(_ number: Double) { self.init(clamping: number) }
    package init(_ number: Float) { self.init(clamping: number) }
    package init(_ number: some SignedInteger) { self.init(truncatingIfNeeded: number) }
}

@available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
extension UInt64 {
    package init(_ number: Double) { self.init(clamping: number) }
    package init(_ number: Float) { self.init(clamping: number) }
    package init(_ number: some SignedInteger) { self.init(truncatingIfNeeded: number) }
}

@available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
extension UInt32 {
    package init(_ number: Double) { self.init(clamping: number) }
    package init(_ number: Float) { self.init(clamping: number) }
    package init(_ number: some SignedInteger) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt64) { self.init(truncatingIfNeeded: number) }
}

@available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
extension UInt16 {
    package init(_ number: Double) { self.init(clamping: number) }
    package init(_ number: Float) { self.init(clamping: number) }
    package init(_ number: some SignedInteger) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt64) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt32) { self.init(truncatingIfNeeded: number) }
}

@available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
extension UInt8 {
    package init(_ number: Double) { self.init(clamping: number) }
    package init(_ number: Float) { self.init(clamping: number) }
    package init(_ number: some SignedInteger) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt64) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt32) { self.init(truncatingIfNeeded: number) }
    package init(_ number: UInt16) { self.init(truncatingIfNeeded: number) }
}

@available(*, deprecated, message: "traps if the number does not fit: use Duration(clampingSeconds:)")
extension Duration {
    package static func seconds(_ number: Double) -> Duration { Duration(clampingSeconds: number) }
    package static func milliseconds(_ number: Double) -> Duration { Duration(clampingSeconds: number / 1e3) }
    package static func microseconds(_ number: Double) -> Duration { Duration(clampingSeconds: number / 1e6) }
}
