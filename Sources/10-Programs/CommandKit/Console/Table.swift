import Bytes

/// Rows of text for a terminal or a script.
package struct Table {
    private let heads: [String]
    private let rows: [[String]]

    /// - Parameter heads: What each column has, for people. Scripts get the rows alone.
    package init(_ rows: [[String]], heads: [String] = []) { (self.rows, self.heads) = (rows, heads) }

    /// Returns the rows for a terminal, in columns below their heads, or with tabs between their cells.
    ///
    /// - Parameter width: The most characters of a line on a terminal. What does not fit is cut, the longest cells
    ///   first; nil to cut nothing.
    package func text(aligned: Bool, width: Int? = nil, style: TerminalStyle = .plain) -> String {
        guard aligned else { return rows.map { $0.joined(separator: "\t") }.joined(separator: "\n") }
        let all = heads.isEmpty ? rows : [heads] + rows
        var widths = (0..<(all.map(\.count).max() ?? 0)).map { column in
            all.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        if let width { Self.fit(&widths, into: width) }
        let lines = all.map { row in
            row.enumerated().map { column, cell in
                let cell = cell.count > widths[column] ? cell.prefix(max(0, widths[column] - 1)) + "…" : cell
                return column == row.count - 1
                    ? String(cell) : cell + String(repeating: " ", count: widths[column] - cell.count)
            }.joined(separator: Self.gap)
        }
        guard !heads.isEmpty, let first = lines.first else { return lines.joined(separator: "\n") }
        return ([style.head(first)] + lines.dropFirst()).joined(separator: "\n")
    }

    private static let gap = "  "
    /// A name of which less is left says nothing.
    private static let least = 12

    /// Takes from the widest columns until a line fits, or until each of them is short.
    private static func fit(_ widths: inout [Int], into width: Int) {
        var excess = widths.reduce(0, +) + gap.count * max(0, widths.count - 1) - width
        while excess > 0, let widest = widths.max(), widest > least {
            let next = max(least, widths.filter { $0 < widest }.max() ?? least)
            for column in widths.indices where widths[column] == widest && excess > 0 {
                let cut = min(widest - next, excess)
                widths[column] -= cut
                excess -= cut
            }
        }
    }
}

extension StandardOutput {
    /// Writes a table: in columns as wide as the terminal, or for a script.
    package static func write(_ table: Table) throws(Failure) {
        try write(
            line: table.text(
                aligned: isTerminal, width: isTerminal ? TerminalStyle.columns : nil, style: TerminalStyle(of: 1)))
    }
}
