import Foundation

/// How much a test repeats itself: little in a plain run, everything in a soak run.
///
/// A soak run is one with `KEYCHAIN_TEST_SCALE=soak` in the environment.
package enum TestScale {
    package static let isSoak = ProcessInfo.processInfo.environment["KEYCHAIN_TEST_SCALE"] == "soak"

    package static func count(_ plain: Int, soak: Int) -> Int { isSoak ? soak : plain }
}
