extension FixedWidthInteger {
    /// The nearest integer towards zero; 0 for NaN, and the nearest bound for a number that is too large.
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

extension UInt64 {
    /// The product, or the largest number if it does not fit.
    package func timesClamping(_ other: UInt64) -> UInt64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }
}

extension Duration {
    /// A number of seconds, to the nanosecond; 0 for NaN, and at most 292 years.
    package init(clampingSeconds seconds: Double) {
        self = .nanoseconds(Int64(clamping: seconds * 1e9))
    }
}
