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

    /// Returns the contents of a BIT STRING, and how many bits of its last byte do not belong to it.
    ///
    /// Every valid key and signature has whole bytes. Apple's systems read certificates whose signature has not, and
    /// find that it is not valid. So the unused bits may have any value here.
    func bits(as part: String) throws(CertificateError) -> (bytes: ArraySlice<UInt8>, unused: UInt8) {
        let content = try bytes(of: .bitString, as: part)
        guard let unused = content.first, unused < 8, unused == 0 || content.count > 1 else {
            throw CertificateError(malformed: part)
        }
        return (content.dropFirst(), unused)
    }
}

extension ASN1Identifier {
    /// Returns a tag of the context-specific class.
    static func context(_ number: UInt) -> ASN1Identifier {
        ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
    }
}
