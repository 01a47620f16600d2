import SwiftASN1

/// Reads parsed nodes and throws this module's error with the name of the part.
extension ASN1Node {
    /// Returns the root of a DER document, which is one value with nothing after it.
    static func parse(_ der: some Collection<UInt8>, as part: String) throws(CertificateError) -> ASN1Node {
        do {
            return try DER.parse(Array(der))
        } catch {
            throw CertificateError(malformed: part)
        }
    }

    /// Returns the members of a constructed value with this tag.
    func members(of identifier: ASN1Identifier, as part: String) throws(CertificateError) -> [ASN1Node] {
        guard self.identifier == identifier, case .constructed(let nodes) = content else {
            throw CertificateError(malformed: part)
        }
        return Array(nodes)
    }

    /// Returns the contents of a primitive value with this tag.
    func bytes(of identifier: ASN1Identifier, as part: String) throws(CertificateError) -> ArraySlice<UInt8> {
        guard self.identifier == identifier, case .primitive(let bytes) = content else {
            throw CertificateError(malformed: part)
        }
        return bytes
    }

    /// Returns the value as a type of SwiftASN1.
    func decoded<Value: DERImplicitlyTaggable>(
        _ type: Value.Type = Value.self, as part: String
    ) throws(CertificateError) -> Value {
        do {
            return try Value(derEncoded: self)
        } catch {
            throw CertificateError(malformed: part)
        }
    }

    /// Returns the contents of a BIT STRING of whole bytes. Every key and signature has whole bytes.
    func wholeBytes(as part: String) throws(CertificateError) -> ArraySlice<UInt8> {
        let bits = try decoded(ASN1BitString.self, as: part)
        guard bits.paddingBits == 0 else { throw CertificateError(malformed: part) }
        return bits.bytes
    }
}

extension ASN1Identifier {
    /// Returns a tag of the context-specific class.
    static func context(_ number: UInt) -> ASN1Identifier {
        ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
    }
}
