import Foundation

/// A certificate made by OpenSSL and what an independent parser reads in it.
struct CertificateFixture: Decodable {
    let certificate: Data
    let version: Int
    let serial: Hexadecimal
    let subject: Hexadecimal
    let issuer: Hexadecimal
    let normalizedSubject: Hexadecimal
    let normalizedIssuer: Hexadecimal
    let commonNames: [String]
    let emailAddresses: [String]
    let subjectKeyIdentifier: Hexadecimal?
    let publicKeyHash: Hexadecimal
    let publicKey: Hexadecimal?
    let keySize: Int?
    let notBefore: TimeInterval
    let notAfter: TimeInterval

    static func all() throws -> [String: CertificateFixture] { try Fixtures.read("certificates") }

    static func named(_ name: String) throws -> CertificateFixture {
        guard let fixture = try all()[name] else { throw CocoaError(.fileNoSuchFile) }
        return fixture
    }
}

/// A key in every form it may arrive in.
struct KeyFixture: Decodable {
    let type: Int
    let size: Int
    let `public`: Hexadecimal
    let `private`: Hexadecimal
    let applicationLabel: Hexadecimal
    let spki: Hexadecimal
    let pkcs8: Hexadecimal

    static func all() throws -> [String: KeyFixture] { try Fixtures.read("keys") }

    static func named(_ name: String) throws -> KeyFixture {
        guard let fixture = try all()[name] else { throw CocoaError(.fileNoSuchFile) }
        return fixture
    }
}

/// Bytes written as hexadecimal digits.
struct Hexadecimal: Decodable {
    let data: Data

    init(from decoder: any Decoder) throws {
        let digits = try Array(decoder.singleValueContainer().decode(String.self))
        data = Data(
            try stride(from: 0, to: digits.count, by: 2).map { index in
                guard let byte = UInt8(String(digits[index..<index + 2]), radix: 16) else {
                    throw CocoaError(.coderReadCorrupt)
                }
                return byte
            })
    }
}

enum Fixtures {
    static var folder: URL { Bundle.module.bundleURL.appending(path: "Fixtures") }

    static func read<Value: Decodable>(_ name: String) throws -> Value {
        guard let url = Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Fixtures") else {
            throw CocoaError(.fileNoSuchFile)
        }
        return try JSONDecoder().decode(Value.self, from: Data(contentsOf: url))
    }
}
