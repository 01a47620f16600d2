import CommonCrypto.CommonCryptor
import CommonCrypto.CommonDigest
import CommonCrypto.CommonHMAC
import CommonCrypto.CommonKeyDerivation
import CommonCrypto.CommonSymmetricKeywrap
import CommonCrypto.Error
import CommonCrypto.Random
import Testing

/// The file does not compile if a part of the module has another name than Apple's.
@Suite struct PartTests {
    @Test func thePartsHaveApplesNames() {
        var bytes = [UInt8](repeating: 0, count: 32)
        #expect(CCRandomGenerateBytes(&bytes, bytes.count) == CCRNGStatus(kCCSuccess))
        #expect(bytes.contains { $0 != 0 })
    }
}
