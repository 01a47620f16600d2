import FoundationEssentials
import SystemSQLite

extension SQLStatement {
    /// Binds a copy of `bytes`.
    func bind(_ bytes: Data, at index: Int32) throws {
        try bytes.withUnsafeBytes { try bind($0, at: index) }
    }

    /// Returns a copy of the blob in a column; nil for another type.
    func blob(_ column: Int32) -> Data? {
        withBlob(column) { Data($0) }
    }
}

extension SQLConnection {
    /// Returns the texts in the first column of the rows of `sql`.
    func texts(_ sql: String) throws -> [String] {
        let statement = try statement(sql)
        defer { statement.reset() }
        var texts: [String] = []
        while try statement.step() {
            guard let text = statement.text(0) else { throw StoreError.corrupt(reason: "a column holds no text") }
            texts.append(text)
        }
        return texts
    }
}
