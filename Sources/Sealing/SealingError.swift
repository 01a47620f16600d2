/// Why sealed bytes could not be opened.
package enum SealingError: Error, Equatable {
    /// The tag or key wrap does not verify: the bytes were changed, moved from elsewhere, or sealed
    /// under another key.
    case authenticationFailed
    /// The opened bytes do not have the shape they must have.
    case malformed(String)
}
