import Bytes
import CommandKit
import FoundationEssentials
import SystemSQLite

/// How the rows of a statement are printed.
enum ShellFormat {
    /// `|` between values.
    case lines
    /// Heads and aligned columns, for people.
    case table
    /// An array of objects for each statement.
    case json
    /// RFC 4180, with a line of heads for each statement.
    case csv
}

/// The printed rows of one statement.
struct ShellRows {
    private let format: ShellFormat
    private let columns: [String]
    private(set) var output = Data()
    private var count = 0
    private var table: ShellTable

    init(_ format: ShellFormat, columns: [String]) {
        (self.format, self.columns) = (format, columns)
        table = ShellTable(heads: columns)
        if format == .csv { output += Data(Self.csv(columns).utf8) }
    }

    /// Adds the present row.
    mutating func add(_ statement: SQLStatement) {
        switch format {
        case .lines: output += Data((values(statement).joined(separator: "|") + "\n").utf8)
        case .csv: output += Data(Self.csv(values(statement)).utf8)
        case .json: output += Data(((count == 0 ? "[" : ",\n") + object(statement)).utf8)
        case .table:
            let cells = values(statement).enumerated().map { index, text in
                let kind = statement.kind(of: Int32(clamping: index))
                return ShellTable.Cell(text: text.escapedForTerminal, isNumber: kind == .integer || kind == .real)
            }
            if let lines = table.add(cells) { output += lines }
        }
        count += 1
    }

    /// Adds what comes after the last row.
    mutating func finish() {
        switch format {
        case .json: output += Data((count == 0 ? "[]\n" : "]\n").utf8)
        case .table: output += table.finish()
        case .lines, .csv: break
        }
    }

    /// Takes what was printed so far.
    mutating func take() -> Data {
        defer { output.removeAll(keepingCapacity: true) }
        return output
    }

    private func values(_ statement: SQLStatement) -> [String] {
        (0..<Int32(clamping: columns.count)).map { column in
            statement.kind(of: column) == .blob
                ? "X'" + bytes(statement, column).hexadecimal(uppercase: true) + "'" : text(statement, column)
        }
    }

    private static func csv(_ values: [String]) -> String {
        values.map { value in
            value.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
                ? "\"" + value.replacing("\"", with: "\"\"") + "\"" : value
        }.joined(separator: ",") + "\r\n"
    }

    private func object(_ statement: SQLStatement) -> String {
        let members = columns.enumerated().map { index, name in
            let column = Int32(clamping: index)
            let value =
                switch statement.kind(of: column) {
                case .null: "null"
                case .integer: text(statement, column)
                case .real: Self.number(statement.real(column) ?? 0)
                case .blob: Self.quoted(bytes(statement, column).base64EncodedString())
                case .text: Self.quoted(text(statement, column))
                }
            return "\(Self.quoted(name)):\(value)"
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    /// JSON has no infinity, but readers take a number that is too large for it.
    private static func number(_ value: Double) -> String {
        value.isInfinite ? (value < 0 ? "-1e999" : "1e999") : "\(value)"
    }

    private static func quoted(_ text: String) -> String { (try? JSON.string(text)) ?? "\"\"" }

    private func text(_ statement: SQLStatement, _ column: Int32) -> String {
        statement.withText(column) { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private func bytes(_ statement: SQLStatement, _ column: Int32) -> Data {
        statement.withBlob(column) { Data($0) } ?? Data()
    }
}

/// Rows with aligned columns. The widths come from the first rows, and grow where later rows need more.
struct ShellTable {
    struct Cell {
        var text: String
        var isNumber: Bool
    }

    /// So many rows are printed at a time.
    private static let chunk = 200
    /// Of several columns, a value that is longer is cut. One column alone shows all of it.
    private static let longest = 64

    private let heads: [String]
    private var rows: [[Cell]] = []
    private var widths: [Int]
    private var hasHeads = false

    init(heads: [String]) {
        self.heads = heads.map(\.escapedForTerminal)
        widths = self.heads.map(\.count)
    }

    /// Returns what is to be printed now; nil if that is nothing yet.
    mutating func add(_ cells: [Cell]) -> Data? {
        rows.append(cells.count == 1 ? cells : cells.map(Self.cut))
        return rows.count == Self.chunk ? print() : nil
    }

    mutating func finish() -> Data { rows.isEmpty ? Data() : print() }

    private static func cut(_ cell: Cell) -> Cell {
        guard cell.text.count > longest else { return cell }
        return Cell(text: cell.text.prefix(longest - 1) + "…", isNumber: cell.isNumber)
    }

    private mutating func print() -> Data {
        for row in rows {
            for (index, cell) in row.enumerated() { widths[index] = max(widths[index], cell.text.count) }
        }
        var text = ""
        if !hasHeads {
            text += line(heads.map { Cell(text: $0, isNumber: false) })
            text += line(widths.map { Cell(text: String(repeating: "-", count: $0), isNumber: false) })
            hasHeads = true
        }
        for row in rows { text += line(row) }
        rows.removeAll(keepingCapacity: true)
        return Data(text.utf8)
    }

    private func line(_ cells: [Cell]) -> String {
        let parts = cells.enumerated().map { index, cell in
            let room = String(repeating: " ", count: widths[index] - cell.text.count)
            if cell.isNumber { return room + cell.text }
            // Nothing follows the last column.
            return index == cells.count - 1 ? cell.text : cell.text + room
        }
        return parts.joined(separator: "  ") + "\n"
    }
}
