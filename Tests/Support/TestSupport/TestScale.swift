import Foundation

/// The number of repetitions in a test: few in a plain run, all in a soak run, and a share of all in a part of one.
///
/// A soak run has `KEYCHAIN_TEST_SCALE` in the environment: the share of the full counts, above 0 and at most 1.
package enum TestScale {
    private static let share = ProcessInfo.processInfo.environment["KEYCHAIN_TEST_SCALE"].map { text in
        guard let share = Double(text), share > 0, share <= 1 else {
            preconditionFailure("KEYCHAIN_TEST_SCALE is '\(text)', and has to be a number above 0 and at most 1")
        }
        return share
    }
    package static let isSoak = share != nil

    /// A share of the full count, and never less than in a plain run. A full count below that of a plain run is a
    /// distance: of that, a share makes more.
    package static func count(_ plain: Int, soak: Int) -> Int {
        guard let share else { return plain }
        return soak < plain ? min(plain, Int(Double(soak) / share)) : max(plain, Int(Double(soak) * share))
    }
}
