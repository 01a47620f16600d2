/// The reason why bytes cannot be read as the expected structure, or cannot be stored.
///
/// Names the part of the structure, but nothing of its contents.
package struct CertificateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The part that could not be read, such as `certificate validity`.
    package let part: String
    /// Whether the part is well-formed, and only memory for it is missing.
    private let isMemoryMissing: Bool

    package init(malformed part: String) {
        self.part = part
        isMemoryMissing = false
    }

    package init(noMemoryFor part: String) {
        self.part = part
        isMemoryMissing = true
    }

    package var description: String {
        isMemoryMissing
            ? "There is no memory for the \(part): free some and try again."
            : "The \(part) is malformed: check that the data is the unmodified DER encoding."
    }
}
