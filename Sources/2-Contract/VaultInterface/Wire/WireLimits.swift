import DaemonLink

/// The sizes and counts that messages keep to. A longer one is refused before it is read.
package enum WireLimits {
    /// The longest frame after its length field.
    package static let frame = WireProtocol.longestFrame
    /// The longest frame before a connection has been greeted.
    package static let greeting = 1 << 10
    /// The longest passcode or application password.
    package static let secret = 1 << 16
    /// The most attributes of an item: several times the number that a class has.
    package static let attributes = 256
    package static let accessGroups = 1024
    package static let filters = 64
    package static let issuers = 1024
    /// The most reports of damage, or problems in a report, in one reply; further ones are left out.
    package static let reports = 4096
}
