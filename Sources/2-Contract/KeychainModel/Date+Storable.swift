import FoundationEssentials

extension Date {
    /// The dates that an item can have: years 1 to 9999, which ISO 8601 writes with four digits, and which fit every
    /// count of seconds that another protocol has.
    ///
    /// It begins with `Date.distantPast`, two days before 1 January of year 1 in today's calendar.
    package static let storable = Date.distantPast..<Date(timeIntervalSince1970: 253_402_300_800)

    /// Why a request with another date is refused.
    package static let notStorable = "an item has a date that is not in the years 1 to 9999"

    /// Whether an item can have this date. NaN cannot be stored.
    package var isStorable: Bool { Self.storable.contains(self) }

    /// The nearest date that an item can have: for one that is stored already, which can be any number.
    package var nearestStorable: Date {
        if isStorable { return self }
        if timeIntervalSinceReferenceDate.isNaN { return Date(timeIntervalSinceReferenceDate: 0) }
        // The last millisecond of year 9999.
        return self < Self.storable.lowerBound
            ? Self.storable.lowerBound : Self.storable.upperBound.addingTimeInterval(-0.001)
    }
}

extension AttributeValue {
    /// Whether an item can have this value: a date can be too far away.
    package var isStorable: Bool {
        if case .date(let date) = self { date.isStorable } else { true }
    }
}

extension Expiry {
    /// Whether an item can have this end.
    package var isStorable: Bool { date?.isStorable ?? true }
}
