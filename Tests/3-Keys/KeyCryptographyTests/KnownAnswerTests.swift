import Foundation
import Testing

@testable import KeychainServices

/// Answers that another implementation gave; see the page beside the file.
@Suite("Known answers of keys")
struct KnownAnswerTests {
    private let vectors: Vectors

    init() throws {
        vectors = try Vectors.read()
    }

    @Test func representations() throws {
        #expect(vectors.keys.count == 10)
        for (name, key) in vectors.keys {
            let pair = try vectors.pair(name)
            #expect(try pair.private.external() == key.private.data)
            #expect(try pair.public.external() == key.public.data)
            #expect(SecKeyCopyPublicKey(pair.private) == pair.public, "\(name)")
        }
    }

    @Test func signatures() throws {
        #expect(vectors.signatures.count == 227)
        for vector in vectors.signatures {
            let pair = try vectors.pair(vector.key)
            let algorithm = SecKeyAlgorithm(vector.algorithm)
            let (input, signature) = (vector.input.data, vector.signature.data)
            #expect(try pair.public.verify(signature, of: input, algorithm), "\(vector)")
            var wrong = signature
            wrong[wrong.count - 1] ^= 1
            #expect(try !pair.public.verify(wrong, of: input, algorithm), "\(vector)")
            for malformed in [signature.dropLast(), signature + [0], Data(), Data(count: signature.count)] {
                #expect(try !pair.public.verify(malformed, of: input, algorithm), "\(vector)")
            }
            // Only these are the same every time.
            if vector.algorithm.contains("PKCS1v15") || vector.algorithm.hasSuffix("RSA:raw") {
                #expect(try pair.private.sign(input, algorithm) == signature, "\(vector)")
            }
        }
    }

    @Test func encryptions() throws {
        #expect(vectors.encryptions.count == 101)
        for vector in vectors.encryptions {
            let pair = try vectors.pair(vector.key)
            let algorithm = SecKeyAlgorithm(vector.algorithm)
            #expect(try pair.private.decrypt(vector.ciphertext.data, algorithm) == vector.input.data, "\(vector)")
            let refused = KeyFailure(status: errSecParam)
            // PKCS#1 may give anything for these.
            for place in [0, vector.ciphertext.data.count / 2, vector.ciphertext.data.count - 1]
            where !vector.algorithm.hasSuffix(":PKCS1") {
                var wrong = vector.ciphertext.data
                wrong[place] ^= 1
                #expect(throws: refused, "\(vector)") { try pair.private.decrypt(wrong, algorithm) }
            }
            for wrong in [vector.ciphertext.data.dropLast(), Data()] {
                #expect(throws: refused, "\(vector)") { try pair.private.decrypt(wrong, algorithm) }
            }
        }
    }

    @Test func exchanges() throws {
        #expect(vectors.exchanges.count == 80)
        for vector in vectors.exchanges {
            let key = try vectors.pair(vector.key).private
            let peer = try SecKey.make(vector.peer.data, kSecAttrKeyClassPublic)
            let parameters: NSDictionary = [
                SecKeyKeyExchangeParameter.requestedSize.rawValue: vector.count,
                SecKeyKeyExchangeParameter.sharedInfo.rawValue: vector.sharedInfo.data,
            ]
            let result = try key.exchange(with: peer, SecKeyAlgorithm(vector.algorithm), parameters)
            #expect(result == vector.result.data, "\(vector)")
        }
    }
}
