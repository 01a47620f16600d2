/// Whether both have the same bytes, in time that depends on their lengths alone.
// Not inlined, so that the compiler cannot tell from a caller that it may stop at the first difference.
@inline(never)
package func isEqualInConstantTime(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Bool {
    guard first.count == second.count else { return false }
    var difference: UInt8 = 0
    for index in first.indices { difference |= first[index] ^ second[index] }
    return difference == 0
}
