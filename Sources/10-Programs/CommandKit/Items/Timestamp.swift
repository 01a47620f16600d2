import Bytes
import CLibrary
import FoundationEssentials

/// A moment in UTC, formatted without loading the locale data that date formatters bring in.
package struct Timestamp {
    private let fields: tm
    /// Where the clock of this machine's zone stands at that moment.
    private let local: tm

    package init(_ date: Date) {
        // Limited to the years 0 to 9999, which fit every field and both forms. A stored date can be any number.
        let moment = date.timeIntervalSince1970
        var seconds =
            moment.isNaN ? 0 : time_t(clamping: max(-62_167_219_200, min(moment, 253_402_300_799)).rounded(.down))
        var fields = tm()
        gmtime_r(&seconds, &fields)
        var local = tm()
        localtime_r(&seconds, &local)
        (self.fields, self.local) = (fields, local)
    }

    package init(secondsSince1970 seconds: Int) {
        self.init(Date(timeIntervalSince1970: TimeInterval(seconds)))
    }

    /// For a person at a terminal in the zone of the machine, as `2026-11-21 10:45:00 +0100`; otherwise ``iso8601``.
    package var shown: String {
        guard StandardOutput.isTerminal else { return iso8601 }
        let offset = abs(local.tm_gmtoff) / 60
        return "\(Self.year(local))-\(padded(local.tm_mon + 1))-\(padded(local.tm_mday))"
            + " \(padded(local.tm_hour)):\(padded(local.tm_min)):\(padded(local.tm_sec))"
            + " \(local.tm_gmtoff < 0 ? "-" : "+")\(padded(Int32(clamping: offset / 60)))\(padded(Int32(clamping: offset % 60)))"
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

    private var year: String { Self.year(fields) }

    private static func year(_ fields: tm) -> String {
        let digits = String(Int(fields.tm_year) + 1900)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    private func padded(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
