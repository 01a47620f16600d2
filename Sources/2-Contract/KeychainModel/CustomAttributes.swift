/// Attributes that Apple's keychain does not have: names and values of a program's own choice, by which items are
/// found. They are sealed like the others, and Apple's functions do not show them.
package typealias CustomAttributes = [String: String]

extension CustomAttributes {
    /// The most attributes of one item. Each has an entry in the item store's index.
    package static let most = 64
    /// The longest name in bytes of UTF-8.
    package static let longestName = 255
    /// The longest value in bytes of UTF-8.
    package static let longestValue = 8_192

    /// Says what is wrong with the attributes; nil for those that can be stored.
    package var problem: String? {
        if count > Self.most { return "an item has at most \(Self.most) custom attributes" }
        for (name, value) in self {
            guard (1...Self.longestName).contains(name.utf8.count) else {
                return "the name of a custom attribute has 1 to \(Self.longestName) bytes"
            }
            guard value.utf8.count <= Self.longestValue else {
                return "the value of a custom attribute has at most \(Self.longestValue) bytes"
            }
        }
        return nil
    }
}
