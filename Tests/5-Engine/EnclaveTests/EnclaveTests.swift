import Crypto
import Enclave
import Foundation
import SecureMemory
import TestSupport
import Testing

/// What every enclave does.
@Suite struct EnclaveTests {
    private let salt = Data(repeating: 7, count: 32)

    @Test(arguments: EnclaveUnderTest.all)
    func derivesOneKeyForOnePurpose(_ kind: EnclaveUnderTest) throws {
        let bench = try kind.make()
        defer { bench.stay() }
        let enclave = bench.enclave
        let again = try bench.open(enclave.encoded())
        let other = try kind.make()
        defer { other.stay() }
        let input = try LockedBytes.random(count: 32)
        let key = try enclave.deriveKey(tangling: input, salt: salt, context: "a").data
        #expect(key.count == 32)
        #expect(try again.deriveKey(tangling: input, salt: salt, context: "a").data == key)
        let others = [
            try enclave.deriveKey(tangling: nil, salt: salt, context: "a").data,
            try enclave.deriveKey(tangling: input, salt: salt, context: "b").data,
            try enclave.deriveKey(tangling: input, salt: Data(repeating: 8, count: 32), context: "a").data,
            try enclave.deriveKey(tangling: .random(count: 32), salt: salt, context: "a").data,
            try other.enclave.deriveKey(tangling: input, salt: salt, context: "a").data,
        ]
        #expect(Set(others + [key]).count == 6)
    }

    @Test(arguments: EnclaveUnderTest.all)
    func signsDigestsOfAllLengths(_ kind: EnclaveUnderTest) throws {
        let bench = try kind.make()
        defer { bench.stay() }
        let enclave = bench.enclave
        let authorization = SymmetricKey.random
        let created = try enclave.createKey(for: .signing, authorization: authorization)
        let key = try EnclaveBlob(decoding: created.encoded())
        #expect(key == created)
        let again = try bench.open(enclave.encoded())
        let publicKey = try P256.Signing.PublicKey(x963Representation: again.publicKey(of: key))
        let message = Data("message".utf8)

        func signature(of digest: some Sequence<UInt8>) throws -> P256.Signing.ECDSASignature {
            let raw = try again.sign(digest: Data(digest), with: key, authorization: authorization)
            #expect(raw.count == 64)
            return try P256.Signing.ECDSASignature(rawRepresentation: raw)
        }
        for _ in 0..<8 {
            // Leading zeros of r and s are rare and easily lost.
            let sha256 = SHA256.hash(data: message)
            #expect(publicKey.isValidSignature(try signature(of: sha256), for: sha256))
        }
        let sha512 = SHA512.hash(data: message)
        #expect(publicKey.isValidSignature(try signature(of: sha512), for: sha512))
        let sha384 = SHA384.hash(data: message)
        #expect(publicKey.isValidSignature(try signature(of: sha384), for: sha384))
        let sha1 = Insecure.SHA1.hash(data: message)
        #expect(publicKey.isValidSignature(try signature(of: sha1), for: sha1))
        #expect(!publicKey.isValidSignature(try signature(of: sha1), for: sha384))
    }

    @Test(arguments: EnclaveUnderTest.all)
    func agreesWithAPeer(_ kind: EnclaveUnderTest) throws {
        let bench = try kind.make()
        defer { bench.stay() }
        let enclave = bench.enclave
        let authorization = SymmetricKey.random
        let key = try enclave.createKey(for: [.signing, .keyAgreement], authorization: authorization)
        let publicKey = try enclave.publicKey(of: key)
        for _ in 0..<4 {
            let peer = P256.KeyAgreement.PrivateKey()
            let expected = try peer.sharedSecretFromKeyAgreement(with: .init(x963Representation: publicKey))
            let shared = try enclave.sharedSecret(
                with: peer.publicKey.x963Representation, using: key, authorization: authorization)
            #expect(shared.data == expected.withUnsafeBytes { Data($0) })
        }
        var noPoint = P256.KeyAgreement.PrivateKey().publicKey.x963Representation
        noPoint[64] ^= 1
        for peer in [noPoint, Data(), Data(count: 65), noPoint.prefix(64)] {
            #expect(throws: EnclaveError.invalidPublicKey) {
                try enclave.sharedSecret(with: peer, using: key, authorization: authorization)
            }
        }
    }

    @Test(arguments: EnclaveUnderTest.all)
    func sealsSmallSecrets(_ kind: EnclaveUnderTest) throws {
        let bench = try kind.make()
        defer { bench.stay() }
        let enclave = bench.enclave
        let authorization = SymmetricKey.random
        for count in [1, 32, 64, EnclaveLimits.sealedSize] {
            let secret = try LockedBytes.random(count: count)
            let blob = try EnclaveBlob(decoding: enclave.seal(secret, authorization: authorization).encoded())
            #expect(blob.content == .sealed)
            #expect(try enclave.unseal(blob, authorization: authorization).isEqual(to: secret))
        }
        let tooLong = try LockedBytes.random(count: EnclaveLimits.sealedSize + 1)
        #expect(throws: EnclaveError.self) { try enclave.seal(tooLong, authorization: authorization) }
    }

    @Test(arguments: EnclaveUnderTest.all)
    func refusesWithoutTheAuthorization(_ kind: EnclaveUnderTest) throws {
        let bench = try kind.make()
        defer { bench.stay() }
        let enclave = bench.enclave
        let (authorization, other) = (SymmetricKey.random, SymmetricKey.random)
        let key = try enclave.createKey(for: [.signing, .keyAgreement], authorization: authorization)
        let peer = P256.KeyAgreement.PrivateKey().publicKey.x963Representation
        let digest = Data(count: 32)
        let sealed = try enclave.seal(.random(count: 32), authorization: authorization)
        for _ in 0..<3 {
            #expect(throws: EnclaveError.wrongAuthorization) {
                try enclave.sign(digest: digest, with: key, authorization: other)
            }
            #expect(throws: EnclaveError.wrongAuthorization) {
                try enclave.sharedSecret(with: peer, using: key, authorization: other)
            }
            #expect(throws: EnclaveError.wrongAuthorization) { try enclave.unseal(sealed, authorization: other) }
        }
        // And works with it right afterwards.
        _ = try enclave.sign(digest: digest, with: key, authorization: authorization)
        _ = try enclave.sharedSecret(with: peer, using: key, authorization: authorization)
        _ = try enclave.unseal(sealed, authorization: authorization)
    }

    @Test(arguments: EnclaveUnderTest.all)
    func keepsKeysToTheirUses(_ kind: EnclaveUnderTest) throws {
        let bench = try kind.make()
        defer { bench.stay() }
        let enclave = bench.enclave
        let authorization = SymmetricKey.random
        let signing = try enclave.createKey(for: .signing, authorization: authorization)
        let agreement = try enclave.createKey(for: .keyAgreement, authorization: authorization)
        let peer = P256.KeyAgreement.PrivateKey().publicKey.x963Representation
        #expect(signing.uses == .signing)
        #expect(agreement.uses == .keyAgreement)
        #expect(throws: EnclaveError.self) {
            try enclave.sharedSecret(with: peer, using: signing, authorization: authorization)
        }
        #expect(throws: EnclaveError.self) {
            try enclave.sign(digest: Data(count: 32), with: agreement, authorization: authorization)
        }
        #expect(throws: EnclaveError.self) { try enclave.createKey(for: [], authorization: authorization) }
        #expect(throws: EnclaveError.self) { try enclave.unseal(signing, authorization: authorization) }
        let sealed = try enclave.seal(.random(count: 8), authorization: authorization)
        #expect(throws: EnclaveError.self) { try enclave.publicKey(of: sealed) }

        // What the header says does not make a key fit for another use.
        let claimed = EnclaveBlob(enclave: signing.enclave, content: .agreementKey, body: signing.body)
        #expect(throws: EnclaveError.self) {
            try enclave.sharedSecret(with: peer, using: claimed, authorization: authorization)
        }
    }

    @Test(arguments: EnclaveUnderTest.all)
    func doesNotTakeWhatAnotherMade(_ kind: EnclaveUnderTest) throws {
        let (first, second) = (try kind.make(), try kind.make())
        defer {
            first.stay()
            second.stay()
        }
        let authorization = SymmetricKey.random
        let key = try first.enclave.createKey(for: .signing, authorization: authorization)
        let sealed = try first.enclave.seal(.random(count: 32), authorization: authorization)
        #expect(throws: EnclaveError.self) {
            try second.enclave.sign(digest: Data(count: 32), with: key, authorization: authorization)
        }
        #expect(throws: EnclaveError.self) { try second.enclave.unseal(sealed, authorization: authorization) }
        for other in EnclaveUnderTest.all where other.kind != kind.kind {
            let third = try other.make()
            #expect(throws: EnclaveError.otherEnclave) { try third.enclave.publicKey(of: key) }
            third.stay()
        }
    }

    @Test(arguments: EnclaveUnderTest.all)
    func noticesEveryChangedByte(_ kind: EnclaveUnderTest) throws {
        let bench = try kind.make()
        defer { bench.stay() }
        let enclave = bench.enclave
        let authorization = SymmetricKey.random
        let encoded = try enclave.createKey(for: .signing, authorization: authorization).encoded()
        for place in encoded.indices {
            var changed = encoded
            changed[place] ^= 0x55
            #expect(throws: EnclaveError.self, "byte \(place)") {
                let key = try EnclaveBlob(decoding: changed)
                _ = try enclave.sign(digest: Data(count: 32), with: key, authorization: authorization)
            }
        }
        for count in stride(from: 0, to: encoded.count, by: 7) {
            #expect(throws: EnclaveError.self, "\(count) bytes") {
                let key = try EnclaveBlob(decoding: encoded.prefix(count))
                _ = try enclave.publicKey(of: key)
                _ = try enclave.sign(digest: Data(count: 32), with: key, authorization: authorization)
            }
        }
        // The enclave is none the worse for it.
        let key = try EnclaveBlob(decoding: encoded)
        _ = try enclave.sign(digest: Data(count: 32), with: key, authorization: authorization)
    }

    @Test(arguments: EnclaveUnderTest.all)
    func knowsAPasscodeAgain(_ kind: EnclaveUnderTest) throws {
        let bench = try kind.make()
        defer { bench.stay() }
        let enclave = bench.enclave
        let (right, wrong) = (try LockedBytes.random(count: 32), try LockedBytes.random(count: 32))
        let (binding, key) = try enclave.guardPasscode(stretched: right)
        let again = try bench.open(enclave.encoded())
        #expect(try again.passcodeKey(stretched: right, binding: binding).isEqual(to: key))
        let answer = Result { try again.passcodeKey(stretched: wrong, binding: binding) }
        switch answer {
        case .success(let other): #expect(!other.isEqual(to: key))
        case .failure(let error): #expect(error as? EnclaveError == .wrongAuthorization)
        }
        enclave.close()
    }
}
