import Foundation

/// The additional data that binds a sealed value to its place: header ‖ label ‖ database, table and column, each with
/// its length ‖ the row's key.
struct BindingBytes {
    private static let label = Array("swift-keychain/v1/field".utf8)

    let database: String
    let table: String
    let column: String
    let row: RowKey

    /// The most bytes that the binding may take.
    var count: Int {
        SealedForm.headerCount + Self.label.count + 12 + database.utf8.count + table.utf8.count + column.utf8.count
            + row.bytes.count
    }

    /// Writes the binding into `room`, of ``count`` bytes.
    func write(header: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer) {
        var writer = Writer(room: room)
        writer.append(header)
        Self.label.withUnsafeBytes { writer.append($0) }
        writer.append(database, folding: false)
        writer.append(table, folding: true)
        writer.append(column, folding: true)
        row.bytes.withUnsafeBytes { writer.append($0) }
    }

    private struct Writer {
        let room: UnsafeMutableRawBufferPointer
        var place = 0

        mutating func append(_ bytes: UnsafeRawBufferPointer) {
            UnsafeMutableRawBufferPointer(rebasing: room[place...]).copyMemory(from: bytes)
            place += bytes.count
        }

        /// - Parameter folding: Whether capital letters of ASCII become small, as in names, whose case SQLite ignores.
        mutating func append(_ text: String, folding: Bool) {
            let length = UInt32(truncatingIfNeeded: text.utf8.count)
            withUnsafeBytes(of: length.bigEndian) { append($0) }
            var text = text
            let target = UnsafeMutableRawBufferPointer(rebasing: room[place...])
            text.withUTF8 { text in
                target.copyMemory(from: UnsafeRawBufferPointer(text))
                guard folding else { return }
                for (number, byte) in text.enumerated() where byte >= 0x41 && byte <= 0x5A {
                    target[number] = byte | 0x20
                }
            }
            place += text.utf8.count
        }
    }
}
