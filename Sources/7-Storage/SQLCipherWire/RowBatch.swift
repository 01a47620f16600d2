import Frames

/// Rows with the same number of values.
package struct RowBatch: Sendable, Equatable {
    package let columns: Int
    package private(set) var rows: [[SQLValue]] = []
    /// The size of the rows in a frame, in bytes.
    package private(set) var size = 0

    package init(columns: Int) { self.columns = columns }

    package var isFull: Bool { size >= FrameLimits.rowsTogether }

    /// - Parameter row: One value for each column.
    package mutating func append(_ row: [SQLValue]) {
        rows.append(row)
        size += row.reduce(0) { $0 + $1.encodedSize }
    }

    /// Returns the rows and removes them from this batch.
    package mutating func take() -> RowBatch {
        defer {
            rows.removeAll(keepingCapacity: true)
            size = 0
        }
        return self
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.append(UInt32(truncatingIfNeeded: columns))
        buffer.append(UInt32(truncatingIfNeeded: rows.count))
        for row in rows { for value in row { buffer.append(value) } }
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        columns = try reader.count(limit: FrameLimits.columns)
        // Each row takes at least one byte, so the received bytes limit the number of rows.
        guard columns > 0 else { throw FrameError("rows without columns") }
        let count = try reader.count(limit: FrameLimits.frame)
        for _ in 0..<count { append(try reader.values(count: columns)) }
    }
}
