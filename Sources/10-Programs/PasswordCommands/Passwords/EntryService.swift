/// The services of what belongs to an entry of another password manager.
package enum EntryService {
    /// Begins the service of one-time passwords, whose values are `otpauth://` addresses.
    package static let codePrefix = "one-time-code/"
    /// The service of what has no place elsewhere, as JSON. The account is the entry's number.
    package static let details = "entry-details"
}
