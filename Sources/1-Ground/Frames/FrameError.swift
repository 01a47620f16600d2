/// Bytes that are no message of the protocol; the connection they came on cannot be used further.
package struct FrameError: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
