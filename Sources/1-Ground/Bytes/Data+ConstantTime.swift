import FoundationEssentials

/// Whether both have the same bytes, in time that depends on their lengths alone.
package func isEqualInConstantTime(_ first: Data, _ second: Data) -> Bool {
    first.withUnsafeBytes { first in
        second.withUnsafeBytes { second in isEqualInConstantTime(first, second) }
    }
}
