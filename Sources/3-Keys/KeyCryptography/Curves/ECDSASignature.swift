import FoundationEssentials
import SwiftASN1

/// The two numbers r and s of an ECDSA signature, as bytes of equal length.
struct ECDSASignature {
    /// r ‖ s.
    let raw: Data

    init(raw: Data) { self.raw = raw }

    /// Reads `SEQUENCE { r INTEGER, s INTEGER }`; nil if it is not DER, or a number is negative or too large for
    /// `coordinateByteCount` bytes.
    init?(der: Data, coordinateByteCount: Int) {
        guard let node = try? DER.parse(Array(der)),
            let numbers = try? DER.sequence(
                node, identifier: .sequence,
                {
                    [try ArraySlice<UInt8>(derEncoded: &$0), try ArraySlice<UInt8>(derEncoded: &$0)]
                }), numbers.allSatisfy({ $0.count <= coordinateByteCount })
        else { return nil }
        raw = numbers.reduce(into: Data()) { raw, number in
            raw.append(Data(count: coordinateByteCount - number.count))
            raw.append(contentsOf: number)
        }
    }

    var der: Data {
        get throws(KeyError) {
            let half = raw.count / 2
            var serializer = DER.Serializer()
            do {
                try serializer.appendConstructedNode(identifier: .sequence) {
                    // The library removes leading zeros and adds one before a set highest bit.
                    try $0.serialize(Self.magnitude(raw.prefix(half)))
                    try $0.serialize(Self.magnitude(raw.suffix(half)))
                }
            } catch {
                throw .failed(operation: "encode a signature")
            }
            return Data(serializer.serializedBytes)
        }
    }

    private static func magnitude(_ number: Data) -> ArraySlice<UInt8> { ArraySlice(number) }
}
