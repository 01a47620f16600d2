import Bytes
import FoundationEssentials
import SwiftASN1

/// The Time of RFC 5280, 4.1.2.5: UTCTime or GeneralizedTime.
///
/// As Apple's parser does, it also reads the forms of X.680 that old software wrote: times without seconds, and times
/// with an offset from UTC instead of `Z`. SwiftASN1 reads DER alone. No fraction of a second is read.
enum CertificateTime {
    static func date(of node: ASN1Node, as part: String) throws(CertificateError) -> Date {
        guard node.identifier == .utcTime || node.identifier == .generalizedTime,
            case .primitive(let content) = node.content,
            let date = date(content, hasCentury: node.identifier == .generalizedTime)
        else { throw CertificateError(malformed: part) }
        return date
    }

    /// Returns the date of `[CC]YYMMDDhhmm[ss](Z|+hhmm|-hhmm)`; nil for any other text, or for a day that does not
    /// exist.
    private static func date(_ text: ArraySlice<UInt8>, hasCentury: Bool) -> Date? {
        let digits = text.prefix { (0x30...0x39).contains($0) }
        let zone = text.dropFirst(digits.count)
        var rest = digits
        func number() -> Int? {
            guard let tens = rest.popFirst(), let ones = rest.popFirst() else { return nil }
            return Int(tens - 0x30) * 10 + Int(ones - 0x30)
        }
        guard let century = hasCentury ? number() : 0, let short = number(), let month = number(), let day = number(),
            let hour = number(), let minute = number()
        else { return nil }
        let second = rest.isEmpty ? 0 : number()
        // Two digits mean 1950 to 2049.
        let year = hasCentury ? century * 100 + short : short < 50 ? 2000 + short : 1900 + short
        guard let second, rest.isEmpty, let offset = secondsEast(zone), (1...12).contains(month),
            (1...lengthOfMonth(month, year)).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }
        return date(year: year, month: month, day: day, secondOfDay: hour * 3600 + minute * 60 + second - offset)
    }

    /// Returns how far a zone is from UTC, in seconds; nil for any other text.
    private static func secondsEast(_ zone: ArraySlice<UInt8>) -> Int? {
        if zone.elementsEqual([UInt8(ascii: "Z")]) { return 0 }
        let digits = zone.dropFirst().map { Int($0) - 0x30 }
        guard let sign = zone.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), digits.count == 4,
            digits.allSatisfy((0...9).contains)
        else { return nil }
        let (hours, minutes) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
        guard hours < 24, minutes < 60 else { return nil }
        return (hours * 3600 + minutes * 60) * (sign == UInt8(ascii: "-") ? -1 : 1)
    }

    private static func lengthOfMonth(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Counts the days in years that begin in March. Then the leap day is the last day of a year, and a linear formula
    /// gives the lengths of the months.
    private static func date(year: Int, month: Int, day: Int, secondOfDay: Int) -> Date {
        let monthFromMarch = (month + 9) % 12
        let marchYear = month > 2 ? year : year - 1
        let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
        let days = marchYear * 365 + leapDays + (monthFromMarch * 153 + 2) / 5 + day - 1
        // The days from 1 March of year 0 to 1 January 1970.
        let daysBeforeEpoch = 719_468
        return Date(timeIntervalSince1970: Double((days - daysBeforeEpoch) * 86400 + secondOfDay))
    }
}
