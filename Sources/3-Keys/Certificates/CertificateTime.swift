import FoundationEssentials
import SwiftASN1

/// The Time of RFC 5280, 4.1.2.5: UTCTime or GeneralizedTime, always in UTC.
enum CertificateTime {
    static func date(of node: ASN1Node, as part: String) throws(CertificateError) -> Date {
        if node.identifier == .utcTime {
            let time = try node.decoded(UTCTime.self, as: part)
            return date(
                year: time.year, month: time.month, day: time.day,
                secondOfDay: time.hours * 3600 + time.minutes * 60 + time.seconds)
        }
        let time = try node.decoded(GeneralizedTime.self, as: part)
        return date(
            year: time.year, month: time.month, day: time.day,
            secondOfDay: time.hours * 3600 + time.minutes * 60 + time.seconds
        ).addingTimeInterval(time.fractionalSeconds)
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
