import CLibrary
import FoundationEssentials

/// Shows progress in one line of the terminal, for work on many items.
package enum ItemProgress {
    private static let few = 10_000

    /// - Parameters:
    ///   - what: The work, as in "sealing under new keys".
    ///   - few: What is shown for this many items or more.
    package static func show(_ what: String, _ done: Int, of all: Int, from few: Int = few) {
        guard all >= few else { return }
        put(done < all ? "\(what): \(done) of \(all) items" : "")
    }

    /// Removes the line.
    package static func end() { put("") }

    private static func put(_ text: String) {
        guard isatty(2) == 1 else { return }
        // A line that cannot be shown is no reason to fail.
        try? FileOutput.write(Data(("\r\u{1B}[K" + text).utf8), to: 2)
    }
}
