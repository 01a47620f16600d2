import Foundation

/// The number of repetitions in a test: few in a plain run, all in a soak run.
///
/// A soak run has `KEYCHAIN_TEST_SCALE=soak` in the environment.
package enum TestScale {
    package static let isSoak = ProcessInfo.processInfo.environment["KEYCHAIN_TEST_SCALE"] == "soak"

    package static func count(_ plain: Int, soak: Int) -> Int { isSoak ? soak : plain }
}
