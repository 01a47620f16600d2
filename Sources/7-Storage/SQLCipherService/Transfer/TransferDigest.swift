import Crypto
import Frames
import SQLCipherWire

/// The digests of all rows of each table, for comparing a copy with the original.
struct TransferDigest {
    private var tables: [String: SHA256] = [:]
    private var table = ""

    mutating func add(_ part: DatabaseTransfer) {
        switch part {
        case .table(let found):
            table = found.object.name
            if found.kind != .virtual { tables[table] = SHA256() }
        case .rows(let rows):
            let buffer = FrameBuffer(capacity: rows.size)
            for row in rows.rows { for value in row { buffer.append(value) } }
            tables[table, default: SHA256()].update(bufferPointer: buffer.bytes)
        case .settings, .object:
            break
        }
    }

    /// Returns the tables whose rows differ, or that only one of the two has.
    func differences(from other: TransferDigest, without omitted: [String]) -> [String] {
        Set(tables.keys).union(other.tables.keys).subtracting(omitted).sorted().filter { name in
            tables[name]?.finalize() != other.tables[name]?.finalize()
        }
    }
}
