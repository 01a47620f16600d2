import Crypto
import Enclave
import Foundation
import SecureMemory
import TestSupport
import Testing

/// Many keys, one after the other and again.
@Suite struct SoakEnclaveTests {
    @Test(arguments: EnclaveUnderTest.all) func hasRoomForAnyNumberOfKeys(_ kind: EnclaveUnderTest) throws {
        let bench = try kind.make()
        defer { bench.stay() }
        let enclave = bench.enclave
        enclave.close()
        let before = try bench.tpm?.loadedHandles()
        let peer = P256.KeyAgreement.PrivateKey()
        var keys: [(key: EnclaveBlob, publicKey: Data, authorization: SymmetricKey)] = []
        for _ in 0..<TestScale.count(20, soak: 1000) {
            let authorization = SymmetricKey.random
            let key = try enclave.createKey(for: [.signing, .keyAgreement], authorization: authorization)
            keys.append((key, try enclave.publicKey(of: key), authorization))
        }
        #expect(Set(keys.map(\.publicKey)).count == keys.count)
        for (key, publicKey, authorization) in keys.shuffled() {
            let digest = SHA256.hash(data: publicKey)
            let signature = try enclave.sign(digest: Data(digest), with: key, authorization: authorization)
            #expect(
                try P256.Signing.PublicKey(x963Representation: publicKey).isValidSignature(
                    .init(rawRepresentation: signature), for: digest))
            let shared = try enclave.sharedSecret(
                with: peer.publicKey.x963Representation, using: key, authorization: authorization)
            let expected = try peer.sharedSecretFromKeyAgreement(with: .init(x963Representation: publicKey))
            #expect(shared.data == expected.withUnsafeBytes { Data($0) })
        }
        enclave.close()
        #expect(try bench.tpm?.loadedHandles() == before)
    }
}
