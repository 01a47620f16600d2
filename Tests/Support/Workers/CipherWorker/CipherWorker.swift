import CommonCrypto

/// Encrypts a block with AES, CAST, RC2 and Blowfish, and says the status of each. `OPENSSL_MODULES` names where this
/// process looks for OpenSSL's providers.
@main struct CipherWorker {
    static func main() {
        let statuses = [kCCAlgorithmAES, kCCAlgorithmCAST, kCCAlgorithmRC2, kCCAlgorithmBlowfish].map { algorithm in
            var (output, moved) = ([UInt8](repeating: 0, count: 16), 0)
            return CCCrypt(
                CCOperation(kCCEncrypt), CCAlgorithm(algorithm), CCOptions(kCCOptionECBMode),
                [UInt8](repeating: 1, count: 16), 16, nil, output, 16, &output, 16, &moved)
        }
        print(statuses.map { "\($0)" }.joined(separator: " "))
    }
}
