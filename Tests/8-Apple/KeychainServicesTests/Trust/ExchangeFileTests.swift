import Foundation
import KeychainServices
import TestSupport
import Testing

/// PKCS#12 files that OpenSSL's program wrote.
struct ExchangeFileTests {
    private let authority: CertificateAuthority

    init() throws { authority = try CertificateAuthority.shared.get() }

    private func read(_ file: Data, _ passphrase: String?, store: Bool = false) -> (OSStatus, [[String: Any]]) {
        var items: CFArray?
        let options = NSMutableDictionary()
        if let passphrase { options[kSecImportExportPassphrase] = passphrase }
        if store { options[kSecUseDataProtectionKeychain] = true }
        let status = SecPKCS12Import(file as NSData, options, &items)
        return (status, items as? [[String: Any]] ?? [])
    }

    @Test(arguments: [
        [], ["-legacy"], ["-keypbe", "PBE-SHA1-3DES", "-certpbe", "PBE-SHA1-3DES"],
        ["-keypbe", "AES-128-CBC", "-certpbe", "NONE"], ["-keypbe", "NONE", "-certpbe", "NONE"], ["-nomac"],
        ["-macalg", "sha512", "-iter", "100000"], ["-descert"],
    ])
    func everyKindOfFile(options: [String]) throws {
        let file = try authority.exchangeFile(
            "server", with: ["intermediate", "root", "other-root"], passphrase: "pässwort", options)
        let (status, items) = read(file, "pässwort")
        #expect(status == errSecSuccess)
        let item = try #require(items.first)
        #expect(items.count == 1)
        #expect(item.count == 3)
        let identity = try #require(item[kSecImportItemIdentity.description] as? SecIdentity)
        var (certificate, key): (SecCertificate?, SecKey?)
        #expect(SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess)
        #expect(SecIdentityCopyPrivateKey(identity, &key) == errSecSuccess)
        #expect(try certificate == authority.certificate("server"))
        #expect(key.flatMap(SecKeyCopyPublicKey) == certificate.flatMap(SecCertificateCopyKey))
        let chain = item[kSecImportItemCertChain.description] as? [SecCertificate]
        #expect(try chain == ["server", "intermediate", "root"].map(authority.certificate))
        let trust = try #require(item[kSecImportItemTrust.description] as? SecTrust)
        #expect(SecTrustSetAnchorCertificates(trust, [try authority.certificate("root")]) == errSecSuccess)
        #expect(SecTrustEvaluateWithError(trust, nil))
    }

    /// Keys of kinds that the keychain does not have keep nobody from the others.
    @Test func keysOfOtherKindsAreLeftOut() throws {
        let (status, items) = read(try fixture("three-kinds-of-keys"), "password")
        #expect(status == errSecSuccess)
        #expect(items.count == 1)
        let identity = try #require(items.first?[kSecImportItemIdentity.description] as? SecIdentity)
        var certificate: SecCertificate?
        #expect(SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess)
        #expect(certificate.flatMap(SecCertificateCopySubjectSummary) as String? == "server")
        let (alone, none) = read(try fixture("ed25519"), "password")
        #expect(alone == errSecInternal)
        #expect(none.isEmpty)
    }

    private func fixture(_ name: String) throws -> Data {
        try Data(contentsOf: Bundle.module.bundleURL.appending(path: "Fixtures/\(name).p12"))
    }

    @Test func passphrases() throws {
        let file = try authority.exchangeFile("server", passphrase: "right")
        #expect(read(file, "wrong").0 == errSecAuthFailed)
        #expect(read(file, "").0 == errSecAuthFailed)
        #expect(read(file, nil).0 == errSecAuthFailed)
        #expect(read(file, "right\0").0 == errSecAuthFailed)
        let open = try authority.exchangeFile("server", passphrase: "")
        #expect(read(open, nil).0 == errSecSuccess)
        #expect(read(open, "").0 == errSecSuccess)
        #expect(read(open, "x").0 == errSecAuthFailed)
        let uncoded = try authority.exchangeFile("server", passphrase: "right", ["-nomac"])
        #expect(read(uncoded, "wrong").0 == errSecAuthFailed)
        var items: CFArray?
        #expect(SecPKCS12Import(file as NSData, [kSecImportExportPassphrase: 7], &items) == errSecParam)
    }

    /// scrypt has three numbers that are harmless one by one. Nobody has to know a passphrase to have this much work
    /// done.
    @Test(arguments: [
        (16_384, 8, 1, errSecAuthFailed), (32_768, 1, 200_000, errSecInternal), (16_384, 8, 2_000, errSecInternal),
        (16_384, 8, 0, errSecInternal),
    ])
    func workForAPassphrase(blocks: Int, size: Int, lanes: Int, status: OSStatus) {
        // In DER, with the shortest form of a length.
        func node(_ tag: UInt8, _ contents: [UInt8]...) -> [UInt8] {
            let contents = contents.flatMap(\.self)
            return [tag] + (contents.count > 127 ? [0x81] : []) + [UInt8(contents.count)] + contents
        }
        func integer(_ number: Int) -> [UInt8] {
            let bytes = withUnsafeBytes(of: Int64(number).bigEndian) { Array($0) }.drop { $0 == 0 }
            return node(2, (bytes.first ?? 0x80) & 0x80 != 0 ? [0] + bytes : Array(bytes))
        }
        let scrypt = node(
            0x30, [6, 9, 0x2B, 6, 1, 4, 1, 0xDA, 0x47, 4, 11],
            node(0x30, node(4, Array("saltsalt".utf8)), integer(blocks), integer(size), integer(lanes)))
        let cipher = node(
            0x30, [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 42], node(4, Array(repeating: 0, count: 16)))
        let algorithm = node(
            0x30, [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 5, 13], node(0x30, scrypt, cipher))
        let key = node(0x30, algorithm, node(4, Array(repeating: 7, count: 64)))
        let bag = node(0x30, [6, 11, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 12, 10, 1, 2], node(0xA0, key))
        let data: [UInt8] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1]
        let safe = node(0x30, data, node(0xA0, node(4, node(0x30, bag))))
        let file = node(0x30, [2, 1, 3], node(0x30, data, node(0xA0, node(4, node(0x30, safe)))))
        #expect(read(Data(file), "wrong").0 == status)
    }

    @Test func storing() throws {
        let file = try authority.exchangeFile("server", with: ["intermediate", "root"], passphrase: "p")
        try onFreshVault {
            #expect(read(file, "p").0 == errSecSuccess)
            let query: NSDictionary = [kSecClass: kSecClassIdentity, kSecReturnRef: true]
            var found: CFTypeRef?
            #expect(SecItemCopyMatching(query, &found) == errSecItemNotFound)
            let inMemory: NSDictionary = [
                kSecImportExportPassphrase: "p", kSecUseDataProtectionKeychain: true, kSecImportToMemoryOnly: true,
            ]
            var items: CFArray?
            #expect(SecPKCS12Import(file as NSData, inMemory, &items) == errSecSuccess && CFArrayGetCount(items) == 1)
            #expect(SecItemCopyMatching(query, &found) == errSecItemNotFound)
            #expect(read(file, "p", store: true).0 == errSecSuccess)
            #expect(SecItemCopyMatching(query, &found) == errSecSuccess && found is SecIdentity)
            #expect(read(file, "p", store: true).0 == errSecSuccess)
            let all: NSDictionary = [
                kSecClass: kSecClassCertificate, kSecMatchLimit: kSecMatchLimitAll, kSecReturnRef: true,
            ]
            #expect(SecItemCopyMatching(all, &found) == errSecSuccess)
            #expect((found as? [SecCertificate])?.count == 3)
        }
    }

    /// Rounds that would keep the program busy for an hour are refused before the first of them: those for the
    /// certificates, for the key and for the code over the file. (A key that was changed does not match the code.)
    @Test(arguments: [
        ([], [errSecInternal, errSecAuthFailed, errSecInternal]),
        (["-nomac", "-certpbe", "AES-256-CBC"], [errSecInternal, errSecInternal]),
    ])
    func roundsWithoutEnd(_ options: [String], _ expected: [OSStatus]) throws {
        let file = try authority.exchangeFile("server", passphrase: "p", ["-iter", "70000"] + options)
        let rounds = Data([0x02, 0x03, 0x01, 0x11, 0x70])
        var statuses: [OSStatus] = []
        var position = file.startIndex
        while let range = file.range(of: rounds, in: position..<file.endIndex) {
            var costly = file
            costly.replaceSubrange(range, with: [0x02, 0x03, 0x7F, 0xFF, 0xFF])
            statuses.append(read(costly, "p").0)
            position = range.upperBound
        }
        #expect(statuses == expected)
    }

    /// Many parts that cost little each cost as much as one that costs a lot.
    @Test func roundsOfManyParts() throws {
        let file = try authority.exchangeFile(
            "server", passphrase: "p", ["-iter", "70000", "-nomac", "-keypbe", "NONE", "-certpbe", "AES-256-CBC"])
        // PFX { version, ContentInfo { data, [0] { OCTET STRING { AuthenticatedSafe { ContentInfo … } } } } }
        let content = try #require(file.derMembers?.last)
        let parts = try #require(content.derMembers)
        let octets = try #require(parts.last?.derMembers?.first)
        let safes = try #require(octets.derMembers?.first?.derMembers)
        #expect(safes.count == 2)
        func exchangeFile(_ safes: [Data]) throws -> Data {
            let sequence = Data(tag: 0x30, safes)
            let data = Data(tag: 0xA0, [Data(tag: 0x04, [sequence])])
            return Data(tag: 0x30, [Data([2, 1, 3]), Data(tag: 0x30, [parts[0], data])])
        }
        #expect(try exchangeFile(safes) == file)
        #expect(read(file, "p").0 == errSecSuccess)
        let costly = try exchangeFile(Array(repeating: safes[0], count: 75) + [safes[1]])
        #expect(read(costly, "p").0 == errSecInternal)
    }

    @Test func damagedFiles() throws {
        let file = try authority.exchangeFile("server", with: ["intermediate"], passphrase: "p")
        for data in [Data(), Data([0x30]), file.dropLast(), file + [0], Data(repeating: 0x30, count: 1 << 16)] {
            #expect(read(Data(data), "p").0 == errSecDecode)
        }
        #expect(read(Data(count: 16 << 20 + 1), "p").0 == errSecDecode)
    }
}

/// Whatever the bytes, reading ends with a status.
struct SoakExchangeFileTests {
    @Test func mutatedFiles() throws {
        let authority = try CertificateAuthority.shared.get()
        let files = try [[], ["-nomac"], ["-nomac", "-keypbe", "NONE", "-certpbe", "NONE"]].map {
            try authority.exchangeFile("server", with: ["intermediate"], passphrase: "p", ["-iter", "1"] + $0)
        }
        var random = SeededGenerator()
        for round in 0..<TestScale.count(600, soak: 100_000) {
            let file = random.mutated(files[round % files.count])
            var items: CFArray?
            let status = SecPKCS12Import(file as NSData, [kSecImportExportPassphrase: "p"], &items)
            #expect((status == errSecSuccess) == (items != nil), "seed \(random.seed), round \(round)")
        }
    }

    @Test func mutatedCertificates() throws {
        let authority = try CertificateAuthority.shared.get()
        let names = ["server", "short-key", "root"]
        let originals = try names.map(authority.der)
        let root = try authority.certificate("root")
        var random = SeededGenerator()
        for round in 0..<TestScale.count(600, soak: 100_000) {
            let der = random.mutated(originals[round % originals.count])
            guard der != originals[round % originals.count],
                let certificate = SecCertificateCreateWithData(nil, der as NSData)
            else { continue }
            var trust: SecTrust?
            let chain = [certificate, try authority.certificate("intermediate")] as NSArray
            #expect(SecTrustCreateWithCertificates(chain, SecPolicyCreateSSL(true, "example.com"), &trust) == 0)
            let created = try #require(trust)
            #expect(SecTrustSetAnchorCertificates(created, [root]) == errSecSuccess)
            #expect(!SecTrustEvaluateWithError(created, nil), "seed \(random.seed), round \(round)")
        }
    }
}

extension Data {
    /// The DER values inside a DER value.
    fileprivate var derMembers: [Data]? {
        guard var rest = derContent?.inside else { return nil }
        var members: [Data] = []
        while !rest.isEmpty {
            guard let (_, end) = rest.derContent else { return nil }
            members.append(Data(rest.prefix(end)))
            rest = Data(rest.dropFirst(end))
        }
        return members
    }

    /// The contents of the first DER value, and where it ends.
    private var derContent: (inside: Data, end: Int)? {
        let bytes = [UInt8](self)
        guard bytes.count > 1 else { return nil }
        let size = bytes[1] & 0x80 == 0 ? 0 : Int(bytes[1] & 0x7F)
        let count = size == 0 ? Int(bytes[1]) : bytes.dropFirst(2).prefix(size).reduce(0) { $0 << 8 | Int($1) }
        guard bytes.count >= 2 + size + count else { return nil }
        return (Data(bytes[(2 + size)..<(2 + size + count)]), 2 + size + count)
    }

    fileprivate init(tag: UInt8, _ members: [Data]) {
        let content = members.reduce(Data(), +)
        let size = content.count < 0x80 ? 0 : content.count < 0x100 ? 1 : 2
        var header = [tag, size == 0 ? UInt8(content.count) : 0x80 | UInt8(size)]
        for position in (0..<size).reversed() { header.append(UInt8(content.count >> (8 * position) & 0xFF)) }
        self = Data(header) + content
    }
}
