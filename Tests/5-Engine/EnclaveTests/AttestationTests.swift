import Attestation
import Crypto
import Enclave
import Foundation
import SecureMemory
import TPM
import TestSupport
import Testing

/// A TPM's word for a key, and what tpm2-tools and OpenSSL make of it.
@Suite struct AttestationTests {
    private let tpm: SoftwareTPM
    private let enclave: TPMEnclave
    private let authorization = SymmetricKey.random
    private let nonce = Data(0..<32)

    init() throws {
        tpm = try SoftwareTPM()
        enclave = try TPMEnclave.make(.shared(tpm.address))
    }

    private func attested(
        _ uses: EnclaveKeyUses = .signing
    ) throws -> (key: EnclaveBlob, attestation: KeyAttestation) {
        let key = try enclave.createKey(for: uses, authorization: authorization)
        return (key, try enclave.attest(key, nonce: nonce, authorization: authorization))
    }

    private func write(_ bytes: Data, _ name: String) throws -> String {
        let path = tpm.path(of: name)
        try bytes.write(to: URL(fileURLWithPath: path))
        return path
    }

    private func read(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: tpm.path(of: name))) }

    @Test(arguments: [[.signing], [.keyAgreement], [.signing, .keyAgreement]] as [EnclaveKeyUses])
    func toolsAgree(_ uses: EnclaveKeyUses) throws {
        let (key, attestation) = try attested(uses)
        let shown = try attestation.verified(nonce: nonce)
        #expect(try shown.publicKey == enclave.publicKey(of: key))
        #expect(shown.nonce == nonce)
        #expect(shown.attributes.contains(.sign) == uses.contains(.signing))
        #expect(shown.attributes.contains(.decrypt) == uses.contains(.keyAgreement))
        enclave.close()

        let statement = try write(attestation.statement, "statement")
        // Some versions print the head alone, and end with an error.
        let words = try tpm.tool("sh", "-c", "tpm2_print -t TPMS_ATTEST \(statement) || :")
        #expect(words.contains("magic: ff544347"))
        #expect(words.contains("type: 8017"))
        #expect(words.contains("extraData: \(hexadecimal(nonce))"))
        let keyArea = try write(attestation.key, "key.pub")
        try tpm.tool(
            "tpm2_loadexternal", "-Q", "-C", "n", "-u", keyArea, "-c", tpm.path(of: "key"), "-n",
            tpm.path(of: "key.name"))
        let name = try read("key.name")
        #expect(name.count == 34)
        #expect(attestation.statement.suffix(70).prefix(34) == name)

        let attester = try write(attestation.attestationKey, "ak.pub")
        let signature = try write(attestation.signature, "signature")
        try tpm.tool(
            "tpm2_loadexternal", "-Q", "-C", "n", "-u", attester, "-c", tpm.path(of: "ak"), "-n",
            tpm.path(of: "ak.name"))
        #expect(try read("ak.name") == shown.attester)
        try tpm.tool(
            "tpm2_verifysignature", "-c", tpm.path(of: "ak"), "-g", "sha256", "-m", statement, "-s", signature)
        let der = try write(try #require(AttestationSignature(decoding: attestation.signature).der), "signature.der")
        let point = try PublicArea(decoding: attestation.attestationKey, of: "").point
        let pem = try write(Data(P256.Signing.PublicKey(x963Representation: point).pemRepresentation.utf8), "ak.pem")
        let verdict = try tpm.tool("openssl", "dgst", "-sha256", "-verify", pem, "-signature", der, statement)
        #expect(verdict == "Verified OK\n")
    }

    /// The last link: that the attestation key is in the TPM that the endorsement key is of.
    @Test func theTPMShowsThatItHasTheAttestationKey() throws {
        let attestation = try attested().attestation
        let shown = try attestation.verified(nonce: nonce)
        enclave.close()
        let secret = Data("what only this TPM can read".utf8)
        // The one who asks has no TPM.
        try tpm.tool(
            "tpm2_makecredential", "-Q", "-T", "none", "-u", try write(attestation.endorsementKey, "ek.pub"), "-s",
            try write(secret, "secret"), "-n", hexadecimal(shown.attester), "-o", tpm.path(of: "credential"))

        try tpm.tool("tpm2_createek", "-Q", "-G", "ecc", "-c", tpm.path(of: "ek"), "-u", tpm.path(of: "ek.own"))
        #expect(try read("ek.own") == attestation.endorsementKey)
        try tpm.tool(
            "tpm2_createprimary", "-Q", "-C", "e", "-g", "sha256", "-G", "ecc256:ecdsa-sha256:null", "-a",
            "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|noda|restricted|sign", "-c", tpm.path(of: "ak"))
        try tpm.tool("tpm2_flushcontext", "-t")
        try tpm.tool("tpm2_startauthsession", "-Q", "--policy-session", "-S", tpm.path(of: "session"))
        try tpm.tool("tpm2_policysecret", "-Q", "-S", tpm.path(of: "session"), "-c", "e")
        try tpm.tool(
            "tpm2_activatecredential", "-Q", "-c", tpm.path(of: "ak"), "-C", tpm.path(of: "ek"), "-i",
            tpm.path(of: "credential"), "-o", tpm.path(of: "answer"), "-P", "session:\(tpm.path(of: "session"))")
        #expect(try read("answer") == secret)
    }

    @Test func theAttestationKeyIsTheTPMs() throws {
        let first = try attested().attestation
        enclave.close()
        try tpm.restart()
        // Another vault in the same TPM, and one in another.
        let second = try TPMEnclave.make(.shared(tpm.address))
        let key = try second.createKey(for: .signing, authorization: authorization)
        let again = try second.attest(key, nonce: nonce, authorization: authorization)
        #expect(again.attestationKey == first.attestationKey)
        #expect(again.endorsementKey == first.endorsementKey)
        #expect(again.key != first.key)
        let other = try SoftwareTPM()
        let third = try TPMEnclave.make(.shared(other.address))
        let foreign = try third.createKey(for: .signing, authorization: authorization)
        let moved = try third.attest(foreign, nonce: nonce, authorization: authorization)
        #expect(moved.attestationKey != first.attestationKey)
        #expect(throws: EnclaveError.self) { try enclave.attest(foreign, nonce: nonce, authorization: authorization) }
        third.close()
    }

    @Test func certificatesComeAlong() throws {
        #expect(try attested().attestation.rsaCertificate.isEmpty)
        enclave.close()
        // More than a TPM gives at a time, and with other bytes behind.
        let long = Data([0x30, 0x82, 0x05, 0x00]) + Data((0..<0x500).map { UInt8($0 & 0xFF) })
        let short = Data([0x30, 0x82, 0x01, 0x00]) + Data(count: 0x100)
        for (index, contents, readers) in [
            ("0x01c00002", long + Data(repeating: 0xFF, count: 100), "ppread|authread|ownerread"),
            ("0x01c0000a", short, "ppread|ownerread"),
        ] {
            try tpm.tool(
                "tpm2_nvdefine", "-Q", index, "-C", "p", "-s", "\(contents.count)", "-a",
                "ppwrite|platformcreate|no_da|\(readers)")
            try tpm.tool("tpm2_nvwrite", "-Q", index, "-C", "p", "-i", try write(contents, "contents"))
        }
        let attestation = try attested().attestation
        #expect(attestation.rsaCertificate == long)
        #expect(attestation.ellipticCertificate == short)
        #expect(try KeyAttestation(decoding: attestation.encoded) == attestation)
        enclave.close()
        try tpm.tool("tpm2_nvundefine", "-Q", "0x01c00002", "-C", "p")
        try tpm.tool(
            "tpm2_nvdefine", "-Q", "0x01c00002", "-C", "p", "-s", "9", "-a", "ppwrite|ppread|authread|platformcreate")
        // What was never written and what is no certificate are none.
        #expect(try attested().attestation.rsaCertificate.isEmpty)
        enclave.close()
        #expect(try tpm.loadedHandles().isEmpty)
    }

    @Test func leavesNothingBehind() throws {
        let key = try attested().key
        enclave.close()
        let before = try tpm.loadedHandles()
        #expect(before.isEmpty)
        for _ in 0..<5 {
            _ = try enclave.attest(key, nonce: nonce, authorization: authorization)
            #expect(throws: EnclaveError.wrongAuthorization) {
                try enclave.attest(key, nonce: nonce, authorization: .random)
            }
            #expect(throws: EnclaveError.self) {
                try enclave.attest(key, nonce: Data(count: 33), authorization: authorization)
            }
        }
        enclave.close()
        #expect(try tpm.loadedHandles() == before)
    }

    @Test func saysWhoHasToBeAsked() throws {
        let key = try attested().key
        enclave.close()
        try tpm.tool("tpm2_changeauth", "-Q", "-c", "e", "a password")
        let error = #expect(throws: EnclaveError.self) {
            try enclave.attest(key, nonce: nonce, authorization: authorization)
        }
        #expect(error?.description.contains("tpm2_changeauth -c e") == true, "\(String(describing: error))")
        _ = try enclave.sign(digest: nonce, with: key, authorization: authorization)
        enclave.close()
        #expect(try tpm.loadedHandles().isEmpty)
    }

    @Test func onlyATPMAttests() throws {
        let software = try SoftwareEnclave()
        let key = try software.createKey(for: .signing, authorization: authorization)
        let error = #expect(throws: EnclaveError.self) {
            try software.attest(key, nonce: nonce, authorization: authorization)
        }
        #expect(error?.description.contains("--enclave tpm2") == true)
        let sealed = try enclave.seal(.random(count: 32), authorization: authorization)
        #expect(throws: EnclaveError.self) { try enclave.attest(sealed, nonce: nonce, authorization: authorization) }
    }

    @Test func everyByteCounts() throws {
        let attestation = try attested([.signing, .keyAgreement]).attestation
        let other = try attested().attestation
        for field in [\KeyAttestation.key, \.attestationKey, \.statement, \.signature] {
            for place in attestation[keyPath: field].indices {
                for change: UInt8 in [1, 0x80, 0xFF] {
                    var changed = attestation
                    changed[keyPath: field][place] ^= change
                    #expect(throws: AttestationError.self, "byte \(place)") { try changed.verified(nonce: nonce) }
                }
            }
            for count in 0..<attestation[keyPath: field].count {
                var cut = attestation
                cut[keyPath: field] = cut[keyPath: field].prefix(count)
                #expect(throws: AttestationError.self) { try cut.verified(nonce: nonce) }
            }
            var longer = attestation
            longer[keyPath: field].append(0)
            #expect(throws: AttestationError.self) { try longer.verified(nonce: nonce) }
        }
        #expect(throws: AttestationError.otherNonce) { try attestation.verified(nonce: Data(1...32)) }
        var exchanged = attestation
        exchanged.key = other.key
        #expect(throws: AttestationError.otherKey) { try exchanged.verified(nonce: nonce) }
        exchanged = attestation
        exchanged.signature = other.signature
        #expect(throws: AttestationError.wrongSignature) { try exchanged.verified(nonce: nonce) }
    }

    private func hexadecimal(_ bytes: Data) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
