import Access
import CLibrary
import FoundationEssentials

/// A mistake in an entitlements file, and where it is.
package struct EntitlementsError: Error, Equatable, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}

extension Entitlements {
    /// The largest entitlements file: 1 MiB.
    private static let largestFile = 1 << 20

    /// The rules in the file at `path`; none if there is no file.
    package init(file path: String) throws(EntitlementsError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0, errno == ENOENT {
            self.init()
            return
        }
        guard descriptor >= 0 else { throw EntitlementsError("\(path): \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        var info = stat()
        guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            throw EntitlementsError("\(path): not a regular file")
        }
        guard info.st_uid == geteuid() || info.st_uid == 0, info.st_mode & 0o022 == 0 else {
            throw EntitlementsError(
                "\(path): others may change it; give it to its user and take their rights (chmod go-w)")
        }
        guard info.st_size <= Self.largestFile, let contents = Self.contents(descriptor) else {
            throw EntitlementsError("\(path): larger than \(Self.largestFile) bytes, or unreadable")
        }
        do throws(EntitlementsError) {
            try self.init(json: contents)
        } catch {
            throw EntitlementsError("\(path): \(error)")
        }
    }

    /// Returns all that is left to read; nil if that is more than the largest file, or cannot be read.
    private static func contents(_ descriptor: Int32) -> Data? {
        var contents = Data()
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while contents.count <= largestFile {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { return contents }
            contents.append(contentsOf: buffer[..<count])
        }
        return nil
    }

    /// Strict: what is not known is an error, so that a misspelt condition cannot turn a rule for one program into one
    /// for all.
    package init(json: Data) throws(EntitlementsError) {
        self.init()
        guard let parsed = try? JSONDecoder().decode(JSONValue.self, from: json) else {
            throw EntitlementsError("not JSON, or with numbers that are not whole")
        }
        var fields = try Fields(parsed, "the file")
        guard try fields.number("version") == 1 else { throw EntitlementsError("'version' must be 1") }
        if let trusts = try fields.bool("trustOwnerTool") { trustsOwnerTool = trusts }
        for (index, rule) in try (fields.array("rules") ?? []).enumerated() {
            rules.append(try Rule(rule, "rules[\(index)]"))
        }
        try fields.finish()
    }
}

extension Entitlements.Rule {
    fileprivate init(_ json: JSONValue, _ place: String) throws(EntitlementsError) {
        self.init()
        var fields = try Fields(json, place)
        executable = try fields.string("executable")
        if let executable, !executable.hasPrefix("/") {
            throw EntitlementsError("\(place).executable must be an absolute path")
        }
        if let number = try fields.number("uid") {
            guard let user = uid_t(exactly: number) else { throw EntitlementsError("\(place).uid is no user number") }
            self.user = user
        }
        unit = try fields.string("unit")
        userUnit = try fields.string("userUnit")
        flatpak = try fields.string("flatpak")
        snap = try fields.string("snap")
        label = try fields.string("label")
        groups = try fields.strings("groups") ?? []
        for name in try fields.strings("rights") ?? [] {
            guard let right = CallerRights.names.first(where: { $0.name == name })?.right else {
                let known = CallerRights.names.map(\.name).joined(separator: ", ")
                throw EntitlementsError("\(place).rights: '\(name)' is none of \(known)")
            }
            rights.insert(right)
        }
        try fields.finish()
        let conditions: [Any?] = [executable, user, unit, userUnit, flatpak, snap, label]
        guard conditions.contains(where: { $0 != nil }) else {
            throw EntitlementsError("\(place) says not whom it is for: give executable, uid, unit or the like")
        }
    }
}

/// The members of a JSON object, each taken once.
private struct Fields {
    private var members: [String: JSONValue]
    private let place: String

    init(_ json: JSONValue, _ place: String) throws(EntitlementsError) {
        guard case .object(let members) = json else { throw EntitlementsError("\(place) must be an object") }
        self.members = members
        self.place = place
    }

    mutating func string(_ name: String) throws(EntitlementsError) -> String? {
        guard let value = members.removeValue(forKey: name) else { return nil }
        guard case .string(let string) = value, !string.isEmpty else {
            throw mistake(name, "a string that is not empty")
        }
        return string
    }

    mutating func strings(_ name: String) throws(EntitlementsError) -> [String]? {
        guard let values = try array(name) else { return nil }
        var strings: [String] = []
        for value in values {
            guard case .string(let string) = value, !string.isEmpty else {
                throw mistake(name, "an array of strings that are not empty")
            }
            strings.append(string)
        }
        return strings
    }

    mutating func number(_ name: String) throws(EntitlementsError) -> Int? {
        guard let value = members.removeValue(forKey: name) else { return nil }
        guard case .number(let number) = value else { throw mistake(name, "a whole number") }
        return number
    }

    mutating func bool(_ name: String) throws(EntitlementsError) -> Bool? {
        guard let value = members.removeValue(forKey: name) else { return nil }
        guard case .bool(let bool) = value else { throw mistake(name, "true or false") }
        return bool
    }

    mutating func array(_ name: String) throws(EntitlementsError) -> [JSONValue]? {
        guard let value = members.removeValue(forKey: name) else { return nil }
        guard case .array(let array) = value else { throw mistake(name, "an array") }
        return array
    }

    func finish() throws(EntitlementsError) {
        if let unknown = members.keys.sorted().first {
            throw EntitlementsError("\(place): unknown member '\(unknown)'")
        }
    }

    private func mistake(_ name: String, _ expected: String) -> EntitlementsError {
        EntitlementsError("\(place): '\(name)' must be \(expected)")
    }
}

/// JSON as far as an entitlements file has it.
private enum JSONValue: Decodable {
    case string(String)
    case number(Int)
    case bool(Bool)
    case array([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? container.decode(Int.self) {
            self = .number(number)
        } else if let string = try? container.decode(String.self) {
            self = .string(string)
        } else if let array = try? container.decode([JSONValue].self) {
            self = .array(array)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }
}
