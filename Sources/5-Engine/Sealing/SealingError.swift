/// Why sealed bytes could not be opened.
package enum SealingError: Error, Equatable {
    /// The tag or key wrap does not verify: the bytes were changed, moved from elsewhere, or sealed
    /// under another key.
    case authenticationFailed
    /// The bytes are as they were sealed, and what is mixed into the wrap beside the class key is not: another
    /// application password, or another enrolment.
    case wrongFactor
    /// The opened bytes do not have the shape they must have.
    case malformed(String)
}
