import CSodium
import FoundationEssentials

/// Returns whether `first` and `second` are equal, in time that depends only on their lengths.
package func isEqualInConstantTime(_ first: Data, _ second: Data) -> Bool {
    guard first.count == second.count else { return false }
    guard !first.isEmpty else { return true }
    return first.withUnsafeBytes { first in
        second.withUnsafeBytes { second in
            guard let left = first.baseAddress, let right = second.baseAddress else { return false }
            return sodium_memcmp(left, right, first.count) == 0
        }
    }
}
