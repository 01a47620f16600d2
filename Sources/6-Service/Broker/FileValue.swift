/// A value of a file of settings, as the program that read the file tells it.
package indirect enum FileValue: Codable, Sendable, Equatable {
    case text(String)
    case number(Int)
    case flag(Bool)
    case list([FileValue])
    case table([Member])
    /// A value that no setting has, such as a date; with what it is.
    case other(String)

    /// A key of a table, and its value.
    package struct Member: Codable, Sendable, Equatable {
        package var key: String
        package var value: FileValue

        package init(_ key: String, _ value: FileValue) { (self.key, self.value) = (key, value) }
    }

    /// What a person calls it.
    package var kind: String {
        switch self {
        case .text: "text"
        case .number: "a number"
        case .flag: "true or false"
        case .list: "a list"
        case .table: "a table"
        case .other(let kind): kind
        }
    }
}

/// What was read of a file of settings.
package enum FileReading: Codable, Sendable, Equatable {
    case table([FileValue.Member])
    /// The file is not in its language: the line, counted from 1, and why.
    case problem(line: Int, reason: String)

    /// The longest file in bytes.
    package static let longest = 65_536
    /// How deep tables and lists are in each other. What is deeper is ``FileValue/other(_:)``.
    package static let deepest = 4
}
