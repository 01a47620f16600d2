extension StringProtocol {
    /// The text without such characters at its ends.
    func trimmed(where isDropped: (Character) -> Bool) -> SubSequence {
        let rest = drop(while: isDropped)
        guard let last = rest.lastIndex(where: { !isDropped($0) }) else { return rest }
        return rest[...last]
    }
}
