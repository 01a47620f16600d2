import Bytes
import FoundationEssentials
import OneTimeCodes

/// Comma-separated values (RFC 4180) as browsers and password managers write them: Chrome, Firefox, Safari and Apple
/// Passwords, and others with the same kinds of columns. The names of the columns in the first line say what they are.
enum CSVReader {
    /// What a column is, by its name in small letters.
    private enum Column {
        case title, address, username, password, note, oneTimePassword, folder, tags, favorite, created, changed

        init?(_ name: String) {
            switch name {
            case "name", "title": self = .title
            case "url", "login_uri", "website", "web site": self = .address
            case "username", "login_username", "user name", "login", "user", "email": self = .username
            case "password", "login_password": self = .password
            case "note", "notes", "extra", "comments": self = .note
            case "otpauth", "totp", "login_totp", "otp": self = .oneTimePassword
            case "folder", "grouping", "group": self = .folder
            case "tags": self = .tags
            case "favorite", "fav": self = .favorite
            case "timecreated", "created": self = .created
            case "timepasswordchanged", "last modified", "modified": self = .changed
            default: return nil
            }
        }
    }

    /// What other columns say nothing of use in, such as when a browser last used the password.
    private static let ignored: Set = [
        "httprealm", "formactionorigin", "guid", "timelastused", "reprompt", "type", "icon", "archived", "archivedate",
    ]

    static func isMeant(_ bytes: Data) -> Bool {
        guard let first = rows(bytes, limit: 1)?.first else { return false }
        let columns = first.compactMap { Column($0.lowercased()) }
        return columns.contains(.password) && (columns.contains(.address) || columns.contains(.title))
    }

    static func read(_ bytes: Data) throws(ExchangeError) -> ExchangeContents {
        guard let rows = rows(bytes, limit: .max), let head = rows.first else {
            throw .malformed(.csv, "it is not text in UTF-8, or a quotation mark has no end")
        }
        let names = head.map { $0.lowercased() }
        let columns = names.map { Column($0) }
        guard columns.contains(.password) else { throw .malformed(.csv, "no column is called 'password'") }
        var contents = ExchangeContents()
        for (number, row) in rows.enumerated().dropFirst() where row != [""] {
            var entry = ExchangeEntry(title: "")
            for (index, value) in row.enumerated() where !value.isEmpty {
                guard index < columns.count else {
                    contents.refuse("line \(number + 1)", "it has more columns than the first line")
                    continue
                }
                guard let column = columns[index] else {
                    if !ignored.contains(names[index]) {
                        entry.fields.append(.init(head[index], value, isConcealed: false))
                    }
                    continue
                }
                read(value, column, into: &entry, &contents)
            }
            // A browser names an entry by its address alone.
            if entry.title.isEmpty { entry.title = entry.addresses.first ?? entry.username ?? "line \(number + 1)" }
            contents.take(entry)
        }
        return contents
    }

    private static func read(
        _ value: String, _ column: Column, into entry: inout ExchangeEntry, _ contents: inout ExchangeContents
    ) {
        switch column {
        case .title: entry.title = value
        case .address: entry.addresses += addresses(value)
        case .username: if entry.username == nil { entry.username = value }
        case .password: entry.password = value
        case .note: entry.note = value
        case .folder: entry.folder = value
        case .tags: entry.tags = value.split(separator: ",").map { String($0.drop { $0 == " " }) }
        case .favorite: entry.isFavorite = ["1", "true"].contains(value.lowercased())
        case .created: entry.created = date(value)
        case .changed: entry.modified = date(value)
        case .oneTimePassword:
            do throws(OneTimePasswordError) {
                entry.oneTimePassword = try OneTimePassword(value)
            } catch {
                entry.fields.append(.init("one-time code", value, isConcealed: true))
                contents.leaveOut(entry.title, "its one-time code cannot be made here (\(error)); its text is kept")
            }
        }
    }

    /// Some programs write several addresses in one column, and a comma can be part of one.
    private static func addresses(_ value: String) -> [String] {
        let parts = value.split(separator: ",").map { String($0.drop { $0 == " " }) }
        return parts.allSatisfy { $0.contains("://") } ? parts : [value]
    }

    private static func date(_ value: String) -> Date? {
        Int64(value).flatMap { JSONValue.integer($0).date } ?? JSONValue.string(value).date
    }

    /// Returns the values of each row; nil for what is not text or has an open quotation mark.
    private static func rows(_ bytes: Data, limit: Int) -> [[String]]? {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let bytes = [UInt8](bytes.starts(with: byteOrderMark) ? bytes.dropFirst(3) : bytes)
        var (rows, row, value): ([[String]], [String], [UInt8]) = ([], [], [])
        var (isQuoted, isValid) = (false, true)
        func end() {
            guard let text = String(validating: value, as: UTF8.self) else {
                isValid = false
                return
            }
            row.append(text)
            value.removeAll(keepingCapacity: true)
        }
        var index = 0
        while index < bytes.count, rows.count < limit, isValid {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\"") where isQuoted:
                // Two of them are one of the text.
                if index < bytes.count, bytes[index] == byte {
                    value.append(byte)
                    index += 1
                } else {
                    isQuoted = false
                }
            case UInt8(ascii: "\"") where value.isEmpty: isQuoted = true
            case UInt8(ascii: ",") where !isQuoted: end()
            case UInt8(ascii: "\n") where !isQuoted:
                if value.last == UInt8(ascii: "\r") { value.removeLast() }
                end()
                rows.append(row)
                row = []
            default: value.append(byte)
            }
        }
        guard isValid, !isQuoted || rows.count >= limit else { return nil }
        if rows.count < limit, !value.isEmpty || !row.isEmpty {
            if value.last == UInt8(ascii: "\r") { value.removeLast() }
            end()
            rows.append(row)
        }
        return isValid ? rows : nil
    }
}
