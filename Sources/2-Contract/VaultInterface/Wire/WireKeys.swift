import FoundationEssentials
import Frames
import KeychainModel

extension WireBuffer {
    package func append(_ operation: EnclaveKeyOperation) {
        switch operation {
        case .sign(let digest):
            append(UInt8(1))
            append(digest)
        case .agree(let peer):
            append(UInt8(2))
            append(peer)
        case .decapsulate(let capsule):
            append(UInt8(3))
            append(capsule)
        case .signMessage(let message, let context):
            append(UInt8(4))
            append(message)
            append(context)
        case .attest(let nonce):
            append(UInt8(5))
            append(nonce)
        }
    }
}

extension WireReader {
    package mutating func enclaveKeyRecord() throws(WireError) -> EnclaveKeyRecord {
        guard let record = EnclaveKeyRecord(decoding: try data()) else { throw WireError("no key of an enclave") }
        return record
    }

    package mutating func enclaveKeyOperation() throws(WireError) -> EnclaveKeyOperation {
        switch try integer(UInt8.self) {
        case 1: return .sign(digest: try data())
        case 2: return .agree(with: try data())
        case 3: return .decapsulate(try data())
        case 4: return .signMessage(try data(), context: try data())
        case 5: return .attest(nonce: try data())
        default: throw WireError("unknown use of a key")
        }
    }
}
