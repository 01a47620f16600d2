/// The reason why sealed bytes could not be opened.
package enum SealingError: Error, Equatable {
    /// The tag or key wrap does not verify: the bytes were changed, moved from another place, or sealed with another
    /// key.
    case authenticationFailed
    /// The bytes are unchanged, but a part of the wrapping key other than the class key is wrong: the application
    /// password or the enrolment.
    case wrongFactor
    /// The opened bytes do not have the shape they must have.
    case malformed(String)
}
