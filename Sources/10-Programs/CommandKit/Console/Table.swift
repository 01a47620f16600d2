/// Rows of text for a terminal or a script.
package struct Table {
    private let rows: [[String]]

    package init(_ rows: [[String]]) { self.rows = rows }

    package func text(aligned: Bool) -> String {
        guard aligned else { return rows.map { $0.joined(separator: "\t") }.joined(separator: "\n") }
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            row.enumerated().map { column, cell in
                let isLast = column == row.count - 1
                return isLast ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
