import Crypto
import SQLCipherWire

/// What the rows of each table add up to, to compare a copy with what was read.
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

    /// The tables whose rows differ, or that one of both does not have.
    func differences(from other: TransferDigest, without omitted: [String]) -> [String] {
        Set(tables.keys).union(other.tables.keys).subtracting(omitted).sorted().filter { name in
            tables[name]?.finalize() != other.tables[name]?.finalize()
        }
    }
}
