/// Why something of a circle is not taken.
package enum CircleError: Error, Equatable {
    /// Bytes that do not have the form of what they should be.
    case malformed(String)
    /// It was made by a format that this software does not know.
    case unknownFormat(String)
    /// Its signature is not the signer's, or it was sealed under another key or for another place.
    case forged(String)
    /// The circle's log does not permit it.
    case notPermitted(String)
    /// It does not follow what is known: an entry of the log with another number or another entry before it.
    case outOfOrder
    /// An entry of the log that only later software understands: the version, if the entry says so.
    case needsLater(String?)

    /// What went wrong, in words that name no contents.
    package var reason: String {
        switch self {
        case .malformed(let what): "malformed \(what)"
        case .unknownFormat(let what): "\(what) of a format that this version does not know"
        case .forged(let what): "\(what) that does not verify"
        case .notPermitted(let why): why
        case .outOfOrder: "an entry that does not follow the last one"
        case .needsLater(let version?): "the circle needs version \(version) of this program: install it"
        case .needsLater(nil): "the circle needs a later version of this program: install it"
        }
    }
}
