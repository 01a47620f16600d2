import Bytes
import CLibrary
import FoundationEssentials

/// A moment in UTC, formatted without loading the locale data that date formatters bring in.
package struct Timestamp {
    private let fields: tm

    package init(_ date: Date) {
        // Limited to the years 0 to 9999, which fit every field and both forms. A stored date can be any number.
        let moment = date.timeIntervalSince1970
        var seconds =
            moment.isNaN ? 0 : time_t(clamping: max(-62_167_219_200, min(moment, 253_402_300_799)).rounded(.down))
        var fields = tm()
        gmtime_r(&seconds, &fields)
        self.fields = fields
    }

    package init(secondsSince1970 seconds: Int) {
        self.init(Date(timeIntervalSince1970: TimeInterval(seconds)))
    }

    /// `2026-11-21T09:45:00Z` (ISO 8601).
    package var iso8601: String {
        "\(year)-\(padded(fields.tm_mon + 1))-\(padded(fields.tm_mday))"
            + "T\(padded(fields.tm_hour)):\(padded(fields.tm_min)):\(padded(fields.tm_sec))Z"
    }

    /// `20261121094500Z`, the form `security` prints.
    package var compact: String {
        "\(year)\(padded(fields.tm_mon + 1))\(padded(fields.tm_mday))"
            + "\(padded(fields.tm_hour))\(padded(fields.tm_min))\(padded(fields.tm_sec))Z"
    }

    private var year: String {
        let digits = String(Int(fields.tm_year) + 1900)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    private func padded(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
