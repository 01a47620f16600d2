import Bytes
import FoundationEssentials

/// A moment as people type it: a date, a date with a time, or a distance from now.
package enum Moment {
    /// What people may type.
    package static let forms = "90s, 10m, 12h or 7d with a number below 1,000,000, 2027-01-31 or 2027-01-31T12:00:00Z"

    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]

    /// Returns the moment that `text` names; nil if it names none. A date without a time is its beginning in UTC.
    ///
    /// - Parameter direction: 1 if a distance leads into the future, -1 for the past.
    package static func date(_ text: String, direction: Int64) -> Date? {
        let digits = text.dropLast()
        if let unit = text.last.flatMap({ units[$0] }), (1...6).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int64(digits)
        {
            // Whole seconds.
            let now = Date().timeIntervalSince1970.rounded(.down)
            return Date(timeIntervalSince1970: now + Double(direction * count * unit))
        }
        let full = text.count == 10 ? text + "T00:00:00Z" : text
        // The parser takes the 30th of February for a day in March, and passes over what follows a date.
        guard let date = try? Date(full, strategy: .iso8601), Timestamp(date).iso8601 == full else { return nil }
        return date
    }
}
