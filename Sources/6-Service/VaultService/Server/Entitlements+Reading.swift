import Access
import CLibrary
import FoundationEssentials

/// A mistake in an entitlements file, and where it is.
package struct EntitlementsError: Error, Equatable, CustomStringConvertible {
    /// What is wrong; of a file with its path, the line and the column in front.
    package let description: String
    /// Where in the JSON; nil if the file as a whole is wrong.
    let place: TextPlace?

    init(_ description: String, at place: TextPlace? = nil) {
        self.description = description
        self.place = place
    }
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
            let place = error.place.map { ":\($0.line):\($0.column)" } ?? ""
            throw EntitlementsError("\(path)\(place): \(error)", at: error.place)
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
        // Some editors begin UTF-8 with a mark of the byte order (RFC 8259, 8.1).
        let mark = Data("\u{FEFF}".utf8)
        let text = json.starts(with: mark) ? Data(json.dropFirst(mark.count)) : json
        var fields = try Fields(PlacedJSON(parsing: text), "the file")
        let version = try fields.number("version")
        guard version?.number == 1 else {
            throw EntitlementsError("'version' must be 1", at: version?.place ?? fields.place)
        }
        if let trusts = try fields.bool("trustOwnerTool") { trustsOwnerTool = trusts }
        for (index, rule) in try fields.array("rules").enumerated() {
            rules.append(try Rule(rule, "rules[\(index)]"))
        }
        try fields.finish()
    }
}

extension Entitlements.Rule {
    fileprivate init(_ json: PlacedJSON, _ place: String) throws(EntitlementsError) {
        self.init()
        var fields = try Fields(json, place)
        if let (path, position) = try fields.placedString("executable") {
            guard path.hasPrefix("/") else {
                throw EntitlementsError("\(place).executable must be an absolute path", at: position)
            }
            executable = path
        }
        if let (number, position) = try fields.number("uid") {
            guard let user = uid_t(exactly: number) else {
                throw EntitlementsError("\(place).uid is no user number", at: position)
            }
            self.user = user
        }
        unit = try fields.string("unit")
        userUnit = try fields.string("userUnit")
        flatpak = try fields.string("flatpak")
        snap = try fields.string("snap")
        label = try fields.string("label")
        groups = try fields.strings("groups").map(\.string)
        for (name, position) in try fields.strings("rights") {
            guard let right = CallerRights.names.first(where: { $0.name == name })?.right else {
                let known = CallerRights.names.map(\.name).joined(separator: ", ")
                throw EntitlementsError("\(place).rights: '\(name)' is none of \(known)", at: position)
            }
            rights.insert(right)
        }
        if let (number, position) = try fields.number("quota") {
            guard number > 0 else {
                throw EntitlementsError("\(place).quota must be a number of bytes, at least 1", at: position)
            }
            quota = number
        }
        try fields.finish()
        let conditions: [Any?] = [executable, user, unit, userUnit, flatpak, snap, label]
        guard conditions.contains(where: { $0 != nil }) else {
            throw EntitlementsError(
                "\(place) does not say whom it is for: give executable, uid, unit or the like", at: fields.place)
        }
    }
}

/// The members of a JSON object, each taken once.
private struct Fields {
    private var members: [String: PlacedJSON]
    private let name: String
    let place: TextPlace

    init(_ json: PlacedJSON, _ name: String) throws(EntitlementsError) {
        guard case .object(let members) = json.contents else {
            throw EntitlementsError("\(name) must be an object", at: json.place)
        }
        self.members = members
        self.name = name
        place = json.place
    }

    mutating func string(_ name: String) throws(EntitlementsError) -> String? {
        try placedString(name)?.string
    }

    mutating func placedString(_ name: String) throws(EntitlementsError) -> (string: String, place: TextPlace)? {
        guard let value = members.removeValue(forKey: name) else { return nil }
        guard case .string(let string) = value.contents, !string.isEmpty else {
            throw mistake(name, "a string that is not empty", value)
        }
        return (string, value.place)
    }

    mutating func strings(_ name: String) throws(EntitlementsError) -> [(string: String, place: TextPlace)] {
        var strings: [(String, TextPlace)] = []
        for value in try array(name) {
            guard case .string(let string) = value.contents, !string.isEmpty else {
                throw mistake(name, "an array of strings that are not empty", value)
            }
            strings.append((string, value.place))
        }
        return strings
    }

    mutating func number(_ name: String) throws(EntitlementsError) -> (number: Int, place: TextPlace)? {
        guard let value = members.removeValue(forKey: name) else { return nil }
        guard case .number(let number) = value.contents else { throw mistake(name, "a whole number", value) }
        return (number, value.place)
    }

    mutating func bool(_ name: String) throws(EntitlementsError) -> Bool? {
        guard let value = members.removeValue(forKey: name) else { return nil }
        guard case .bool(let bool) = value.contents else { throw mistake(name, "true or false", value) }
        return bool
    }

    /// The elements of an array; none if the member is absent.
    mutating func array(_ name: String) throws(EntitlementsError) -> [PlacedJSON] {
        guard let value = members.removeValue(forKey: name) else { return [] }
        guard case .array(let array) = value.contents else { throw mistake(name, "an array", value) }
        return array
    }

    func finish() throws(EntitlementsError) {
        if let (unknown, value) = members.min(by: { $0.key < $1.key }) {
            throw EntitlementsError("\(name): unknown member '\(unknown)'", at: value.place)
        }
    }

    private func mistake(_ member: String, _ expected: String, _ value: PlacedJSON) -> EntitlementsError {
        EntitlementsError("\(name): '\(member)' must be \(expected)", at: value.place)
    }
}
