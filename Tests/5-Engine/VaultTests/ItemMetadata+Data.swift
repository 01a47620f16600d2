import FoundationEssentials
import Sealing

extension ItemMetadata {
    init(decoding data: Data) throws { self = try data.withUnsafeBytes { try Self(decoding: $0) } }
}
