import SwiftASN1

/// Reading of parsed nodes with this module's error, naming the part that is read.
extension ASN1Node {
    /// The root of a DER document that consists of one value and nothing after it.
    static func parse(_ der: some Collection<UInt8>, as part: String) throws(CertificateError) -> ASN1Node {
        do {
            return try DER.parse(Array(der))
        } catch {
            throw CertificateError(malformed: part)
        }
    }

    /// The members of a constructed value with this tag.
    func members(of identifier: ASN1Identifier, as part: String) throws(CertificateError) -> [ASN1Node] {
        guard self.identifier == identifier, case .constructed(let nodes) = content else {
            throw CertificateError(malformed: part)
        }
        return Array(nodes)
    }

    /// The contents of a primitive value with this tag.
    func bytes(of identifier: ASN1Identifier, as part: String) throws(CertificateError) -> ArraySlice<UInt8> {
        guard self.identifier == identifier, case .primitive(let bytes) = content else {
            throw CertificateError(malformed: part)
        }
        return bytes
    }

    /// The value as one of SwiftASN1's types.
    func decoded<Value: DERImplicitlyTaggable>(
        _ type: Value.Type = Value.self, as part: String
    ) throws(CertificateError) -> Value {
        do {
            return try Value(derEncoded: self)
        } catch {
            throw CertificateError(malformed: part)
        }
    }

    /// The contents of a BIT STRING that is made of whole bytes, as every key and signature is.
    func wholeBytes(as part: String) throws(CertificateError) -> ArraySlice<UInt8> {
        let bits = try decoded(ASN1BitString.self, as: part)
        guard bits.paddingBits == 0 else { throw CertificateError(malformed: part) }
        return bits.bytes
    }
}

extension ASN1Identifier {
    /// A tag of the context-specific class.
    static func context(_ number: UInt) -> ASN1Identifier {
        ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
    }
}
