import CLibrary
import FoundationEssentials

/// Shows how many items of long work are done, in one line of the terminal that is removed at the end. Work on few
/// items needs no line.
enum ItemProgress {
    private static let few = 10_000

    /// - Parameter what: What is done with the items.
    static func show(_ what: String, _ done: Int, of all: Int) {
        guard all >= few, isatty(2) == 1 else { return }
        let text = done < all ? "\(what): \(done) of \(all) items" : ""
        // A line that cannot be shown is no reason to fail.
        try? FileOutput.write(Data(("\r\u{1B}[K" + text).utf8), to: 2)
    }
}
