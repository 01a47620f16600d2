/// Why bytes are not what they claim to be.
///
/// Says which part of which structure is wrong and nothing about its contents.
package struct CertificateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The part that could not be read, such as `certificate validity`.
    package let part: String

    package init(malformed part: String) {
        self.part = part
    }

    package var description: String {
        "The \(part) is malformed: check that the data is the unmodified DER encoding."
    }
}
