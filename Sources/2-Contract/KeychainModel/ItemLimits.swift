/// The sizes that a vault accepts.
package enum ItemLimits {
    /// The largest value: 16 MiB.
    package static let value = 16 << 20
    /// The largest encoding of an item's attributes: 1 MiB.
    package static let attributes = 1 << 20
}
