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

extension Int {
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Double) { self.init(clamping: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Float) { self.init(clamping: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt64) { self.init(truncatingIfNeeded: number) }
}

extension Int64 {
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Double) { self.init(clamping: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Float) { self.init(clamping: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt64) { self.init(truncatingIfNeeded: number) }
}

extension Int32 {
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Double) { self.init(clamping: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Float) { self.init(clamping: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Int) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Int64) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt64) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt32) { self.init(truncatingIfNeeded: number) }
}

extension Int16 {
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Double) { self.init(clamping: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Float) { self.init(clamping: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Int) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Int64) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Int32) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt64) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt32) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt16) { self.init(truncatingIfNeeded: number) }
}

extension Int8 {
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Double) { self.init(clamping: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Float) { self.init(clamping: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Int) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Int64) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Int32) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Int16) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt64) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt32) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt16) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt8) { self.init(truncatingIfNeeded: number) }
}

extension UInt {
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Double) { self.init(clamping: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Float) { self.init(clamping: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: some SignedInteger) { self.init(truncatingIfNeeded: number) }
}

extension UInt64 {
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Double) { self.init(clamping: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Float) { self.init(clamping: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: some SignedInteger) { self.init(truncatingIfNeeded: number) }
}

extension UInt32 {
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Double) { self.init(clamping: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Float) { self.init(clamping: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: some SignedInteger) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt64) { self.init(truncatingIfNeeded: number) }
}

extension UInt16 {
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Double) { self.init(clamping: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Float) { self.init(clamping: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: some SignedInteger) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt64) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt32) { self.init(truncatingIfNeeded: number) }
}

extension UInt8 {
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Double) { self.init(clamping: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: Float) { self.init(clamping: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: some SignedInteger) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt64) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt32) { self.init(truncatingIfNeeded: number) }
    @available(*, deprecated, message: "traps if the number does not fit: see TrappingConversions.swift")
    package init(_ number: UInt16) { self.init(truncatingIfNeeded: number) }
}

extension Duration {
    @available(*, deprecated, message: "traps if the number does not fit: use Duration(clampingSeconds:)")
    package static func seconds(_ number: Double) -> Duration { Duration(clampingSeconds: number) }
    @available(*, deprecated, message: "traps if the number does not fit: use Duration(clampingSeconds:)")
    package static func milliseconds(_ number: Double) -> Duration { Duration(clampingSeconds: number / 1e3) }
    @available(*, deprecated, message: "traps if the number does not fit: use Duration(clampingSeconds:)")
    package static func microseconds(_ number: Double) -> Duration { Duration(clampingSeconds: number / 1e6) }
}
