import Crypto
import Foundation
import SwiftASN1
import Testing

@testable import Certificates

/// What is written is what is read.
struct CertificateRequestTests {
    @Test(arguments: ["P-256", "P-384", "P-521", "RSA-1024", "RSA-2048"])
    func keysComeBackFromTheirEncodings(name: String) throws {
        let fixture = try KeyFixture.named(name)
        let type = try #require(KeyData.KeyType(rawValue: fixture.type))
        let key = try KeyData(fixture.private.data, type: type, keyClass: .private)
        let info = try #require(try key.privateKeyInfo())
        #expect(try KeyData(privateKeyInfo: info) == key)
        #expect(try key.subjectPublicKeyInfo() == fixture.spki.data)
        #expect(try key.publicKey.subjectPublicKeyInfo() == fixture.spki.data)
        #expect(try key.publicKey.privateKeyInfo() == nil)
    }

    @Test func namesAreReadAsTheyAreWritten() throws {
        for (text, texts) in [
            ("CN=a", ["a"]), ("CN=a,O=b , OU = c d ", ["c d", "b", "a"]), ("CN=a\\,b\\+c\\=d\\\\", ["a,b+c=d\\"]),
            ("CN=\\C3\\A4", ["\u{E4}"]), ("CN=a=b", ["a=b"]), ("2.5.4.3=x,c=DE", ["DE", "x"]), ("CN=\\ a\\ ", [" a "]),
            ("DC=example,DC=com", ["com", "example"]),
        ] {
            #expect(try DistinguishedName(text: text).attributes.map(\.text) == texts, "\(text)")
        }
        for text in [
            "", ",", "CN", "CN=", "=a", "XY=a", "CN=a+O=b", "CN=a\\", "CN=\\FF", "C=D", "C=\u{E4}b", "E=\u{E4}", "2=a",
            "9.9=a", "1..2=a", "2.5.4.99999999999999999999=a",
        ] {
            #expect(throws: NameTextError.self, "\(text)") { try DistinguishedName(text: text) }
        }
    }

    @Test func theSignatureIsOverTheBody() throws {
        let key = P384.Signing.PrivateKey()
        let data = try KeyData(key.publicKey.x963Representation, type: .ellipticCurve, keyClass: .public)
        let request = try CertificateRequest(
            subject: DistinguishedName(text: "CN=a"), key: data, hostNames: ["a.example.com"])
        let signature = try key.signature(for: SHA384.hash(data: request.body)).derRepresentation
        let parts = try ASN1Node.parse(request.encoded(signature: signature), as: "").members(of: .sequence, as: "")
        #expect(Data(parts[0].encodedBytes) == request.body)
        let bits = try parts[2].bits(as: "")
        #expect(Data(bits.bytes) == signature && bits.unused == 0)
        let info = try parts[0].members(of: .sequence, as: "")
        #expect(try Data(info[2].encodedBytes) == data.subjectPublicKeyInfo())
        let withoutNames = try CertificateRequest(
            subject: DistinguishedName(text: "CN=a"), key: data, hostNames: [])
        #expect(
            try ASN1Node.parse(withoutNames.body, as: "").members(of: .sequence, as: "")[3].encodedBytes == [0xA0, 0])
    }
}
