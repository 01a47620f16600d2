import ArgumentParser
import FoundationEssentials

/// A moment as people type it: a date, a date with a time, or a distance from now.
enum Moment {
    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]

    /// Returns the moment that `text` names; nil if it names none.
    ///
    /// - Parameter direction: 1 if a distance leads into the future, -1 for the past.
    static func date(_ text: String, direction: Int64) -> Date? {
        if let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
            (0..<1_000_000).contains(count)
        {
            // Whole seconds.
            let now = Date().timeIntervalSince1970.rounded(.down)
            return Date(timeIntervalSince1970: now + Double(direction * count * unit))
        }
        let full = text.count == 10 ? text + "T00:00:00Z" : text
        return try? Date(full, strategy: .iso8601)
    }
}
