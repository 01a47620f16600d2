extension FixedWidthInteger {
    /// The nearest integer towards zero; 0 for a number that is none, and the nearest bound for one that is too large.
    package init(clamping number: some BinaryFloatingPoint) {
        if let exact = Self(exactly: number.rounded(.towardZero)) {
            self = exact
        } else if number.isNaN {
            self = 0
        } else {
            self = number < 0 ? .min : .max
        }
    }
}

extension Duration {
    /// A number of seconds, to the nanosecond; 0 for a number that is none, and some 292 years at the most.
    package init(clampingSeconds seconds: Double) {
        self = .nanoseconds(Int64(clamping: seconds * 1e9))
    }
}
