#if HTTPClientSupport
import Bytes
import Crypto
import Foundation
import Frames
import VaultInterface

/// The revisions up to which a vault has read etcd. The vault stores it together with what it took.
///
/// The findings are at its beginning, where `keychain circle status` reads them.
struct EtcdPlace: Equatable {
    /// The cluster's number.
    var cluster: UInt64 = 0
    /// The last revision of each area that was taken whole, by the area's beginning.
    var revisions: [Data: Int64] = [:]
    /// Something that this vault wrote. After a restore from an older state, etcd no longer has it.
    var witness: Witness?
    /// What this vault has seen last of each member.
    var claims = EtcdClaims()
    /// What others have seen and this vault has not.
    var findings = CircleFindings()

    struct Witness: Equatable {
        var key: Data
        var revision: Int64
        var digest: Data

        init(key: Data, revision: Int64, value: Data) {
            (self.key, self.revision, digest) = (key, revision, Data(SHA256.hash(data: value)))
        }

        fileprivate init(key: Data, revision: Int64, digest: Data) {
            (self.key, self.revision, self.digest) = (key, revision, digest)
        }
    }

    /// The last revision that this vault has seen of the store.
    var last: Int64 { max(revisions.values.max() ?? 0, witness?.revision ?? 0) }

    /// Notes how far areas are read.
    mutating func reach(_ reached: [Data: Int64]) { revisions.merge(reached, uniquingKeysWith: max) }

    private static let format: UInt8 = 2

    init() {}

    /// Reads a place. One that cannot be read is the beginning: everything is then read once more.
    init(decoding data: Data) {
        let buffer = FrameBuffer()
        buffer.appendRaw(data)
        var (place, reader) = (EtcdPlace(), FrameReader(buffer))
        do throws(FrameError) {
            place.findings = try reader.read()
            guard try reader.read() as UInt8 == Self.format else { return }
            place.cluster = UInt64(bitPattern: try reader.read() as Int64)
            let count: UInt32 = try reader.read()
            for _ in 0..<min(count, Self.mostAreas) {
                let (prefix, revision): (Data, Int64) = (try reader.read(), try reader.read())
                place.revisions[prefix] = revision
            }
            if try reader.read() as Bool {
                place.witness = Witness(key: try reader.read(), revision: try reader.read(), digest: try reader.read())
            }
            place.claims = EtcdClaims(decoding: try reader.read())
            try reader.finish()
        } catch { return }
        self = place
    }

    private static let mostAreas: UInt32 = 8_192

    var encoded: Data {
        let buffer = FrameBuffer()
        buffer.write(findings)
        buffer.write(Self.format, Int64(bitPattern: cluster), UInt32(clamping: revisions.count))
        for (prefix, revision) in revisions.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            buffer.write(prefix, revision)
        }
        buffer.write(witness != nil)
        if let witness { buffer.write(witness.key, witness.revision, witness.digest) }
        buffer.write(claims.encoded)
        return Data(buffer.bytes)
    }
}
#endif
