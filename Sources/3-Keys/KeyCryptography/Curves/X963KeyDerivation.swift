import Bytes
import FoundationEssentials

/// The key derivation function of ANSI X9.63 (SEC 1, 3.6.1): blocks of Hash(Z ‖ counter ‖ SharedInfo). The counter has
/// four bytes in big-endian order and starts at 1.
struct X963KeyDerivation {
    /// The largest output in bytes. The standard allows 2³² - 1 blocks, more than any caller's memory.
    static let greatestCount = 1 << 24

    let digest: DigestAlgorithm

    func derive(count: Int, from secret: SecretBytes, sharedInfo: Data) throws(KeyError) -> SecretBytes {
        guard (1...Self.greatestCount).contains(count) else {
            throw .invalidInput(reason: "From 1 to \(Self.greatestCount) bytes can be derived.")
        }
        return try SecretBytes.filled(count: count) { (output) throws(KeyError) in
            // Every input block and every digest is as secret as the output.
            let size = secret.count + 4 + sharedInfo.count
            _ = try SecretBytes.filled(count: size + digest.byteCount) { (scratch) throws(KeyError) in
                let message = UnsafeMutableRawBufferPointer(rebasing: scratch[..<size])
                let block = UnsafeMutableRawBufferPointer(rebasing: scratch[size...])
                secret.withUnsafeBytes { message.copyMemory(from: $0) }
                sharedInfo.withUnsafeBytes {
                    UnsafeMutableRawBufferPointer(rebasing: message[(secret.count + 4)...]).copyMemory(from: $0)
                }
                var counter: UInt32 = 0
                for start in stride(from: 0, to: count, by: digest.byteCount) {
                    counter += 1
                    message.storeBytes(of: counter.bigEndian, toByteOffset: secret.count, as: UInt32.self)
                    try digest.hash(UnsafeRawBufferPointer(message), into: block)
                    let length = min(digest.byteCount, count - start)
                    UnsafeMutableRawBufferPointer(rebasing: output[start...])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: block[..<length]))
                }
            }
        }
    }
}
