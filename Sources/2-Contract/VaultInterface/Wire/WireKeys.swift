import Frames
import KeychainModel

// Keys of the enclave, and of protected files.

extension EnclaveKeyKind: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.append(rawValue) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self = try reader.coded("kind of key", EnclaveKeyKind.init(rawValue:))
    }
}

extension EnclaveKeyRecord: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.write(encoded) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        guard let record = EnclaveKeyRecord(decoding: try reader.read()) else {
            throw FrameError("no key of an enclave")
        }
        self = record
    }
}

extension EnclaveKeyOperation: WireValue {
    package func encode(to buffer: FrameBuffer) {
        switch self {
        case .sign(let digest): buffer.write(code: 1, digest)
        case .agree(let peer): buffer.write(code: 2, peer)
        case .decapsulate(let capsule): buffer.write(code: 3, capsule)
        case .signMessage(let message, let context): buffer.write(code: 4, message, context)
        case .attest(let nonce): buffer.write(code: 5, nonce)
        case .recognize: buffer.append(6 as UInt8)
        }
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        switch try reader.read(UInt8.self) {
        case 1: self = .sign(digest: try reader.read())
        case 2: self = .agree(with: try reader.read())
        case 3: self = .decapsulate(try reader.read())
        case 4: self = .signMessage(try reader.read(), context: try reader.read())
        case 5: self = .attest(nonce: try reader.read())
        case 6: self = .recognize
        default: throw FrameError("unknown use of a key")
        }
    }
}

extension FileProtectionClass: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.append(rawValue) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self = try reader.coded("class of files", FileProtectionClass.init(rawValue:))
    }
}

extension FileKey: WireValue {
    package func encode(to buffer: FrameBuffer) { buffer.write(key, wrapped) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(key: try OpenFileKey.Reply(from: &reader).key, wrapped: try reader.read())
    }
}
