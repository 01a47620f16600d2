import Foundation
import KeychainServices
import TestSupport
import Testing

/// PKCS#12 files that OpenSSL's program wrote.
struct ExchangeFileTests {
    private let authority: Authority

    init() throws { authority = try Authority.shared.get() }

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

    @Test func storing() throws {
        let file = try authority.exchangeFile("server", with: ["intermediate", "root"], passphrase: "p")
        try onFreshVault {
            #expect(read(file, "p").0 == errSecSuccess)
            let query: NSDictionary = [kSecClass: kSecClassIdentity, kSecReturnRef: true]
            var found: CFTypeRef?
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

    /// Four thousand million rounds would keep the program busy for an hour.
    @Test func roundsWithoutEnd() throws {
        let file = try authority.exchangeFile("server", passphrase: "p", ["-iter", "70000"])
        let rounds = Data([0x02, 0x03, 0x01, 0x11, 0x70])
        var patched = 0
        var position = file.startIndex
        while let range = file.range(of: rounds, in: position..<file.endIndex) {
            var costly = file
            costly.replaceSubrange(range, with: [0x02, 0x03, 0x7F, 0xFF, 0xFF])
            let start = ContinuousClock.now
            #expect(read(costly, "p").0 != errSecSuccess)
            #expect(ContinuousClock.now - start < .seconds(2))
            patched += 1
            position = range.upperBound
        }
        #expect(patched >= 2)
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
        let authority = try Authority.shared.get()
        let files = try [[], ["-nomac"], ["-nomac", "-keypbe", "NONE", "-certpbe", "NONE"]].map {
            try authority.exchangeFile("server", with: ["intermediate"], passphrase: "p", $0 + ["-iter", "1"])
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
        let authority = try Authority.shared.get()
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
