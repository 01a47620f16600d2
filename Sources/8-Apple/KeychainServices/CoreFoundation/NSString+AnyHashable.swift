import Foundation

/// As on Apple's systems, a Core Foundation string and a Swift string with the same characters are the same
/// key of an `[AnyHashable: Any]`: code that casts a result to such a dictionary and looks up a `kSec…`
/// constant in it depends on that, and Foundation on Linux leaves it out.
// swift-format-ignore: AvoidRetroactiveConformances
extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
    /// The string as Swift's own, which is what `AnyHashable` compares.
    public func _toCustomAnyHashable() -> AnyHashable? { AnyHashable(self as String) }
}
