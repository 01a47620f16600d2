import Crypto
import Foundation
import KeychainServices
import TestSupport
import Testing

/// Which certificates can be read at all (SecCertificateParse of SecCertificate.c; Apple, Security-61901).
struct CertificateFormTests {
    private func isRead(_ change: (inout MadeCertificate) -> Void) throws -> Bool {
        let key = try P256.Signing.PrivateKey(rawRepresentation: Data(repeating: 1, count: 32))
        let name = DERValue.name(["CN=a"])
        var certificate = MadeCertificate(
            subject: name, issuer: name, from: PathTable.validity.from, to: PathTable.validity.to,
            publicKey: key.publicKey.derRepresentation)
        change(&certificate)
        return SecCertificateCreateWithData(nil, try certificate.signed(with: key) as NSData) != nil
    }

    @Test func serialNumbersHaveAtMost37Bytes() throws {
        for (count, wanted) in [(0, false), (1, true), (21, true), (37, true), (38, false), (200, false)] {
            #expect(try isRead { $0.serialBytes = Data(repeating: 1, count: count) } == wanted, "\(count)")
        }
    }

    @Test func theFirstVersionIsNotWritten() throws {
        #expect(try isRead { $0.version = 1 })
        #expect(try !isRead { ($0.version, $0.writesVersion) = (1, true) })
        for (version, wanted) in [(2, true), (3, true), (4, false), (257, false)] {
            #expect(try isRead { $0.version = version } == wanted, "\(version)")
        }
    }

    @Test func thereAreFewerThan10000Extensions() throws {
        let one = MadeExtension("1.2.3", Data())
        for (count, wanted) in [(1, true), (9_999, true), (10_000, false)] {
            #expect(try isRead { $0.extensions = [MadeExtension](repeating: one, count: count) } == wanted, "\(count)")
        }
    }

    @Test func aListOfExtensionsIsNotEmpty() throws {
        #expect(try !isRead { $0.writesEmptyExtensions = true })
    }
}
