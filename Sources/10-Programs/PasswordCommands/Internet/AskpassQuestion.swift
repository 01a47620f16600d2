import CLibrary
import FoundationEssentials
import SystemLibraries

/// What ssh and git ask `keychain-askpass`.
enum AskpassQuestion {
    case account(InternetAddress)
    case password(InternetAddress)
    case passphrase(file: String)

    /// Nil for a question that only a person can answer.
    init?(_ text: String) {
        // Some programs end their questions without a colon.
        let end = text.utf8.lastIndex { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: ":") }
        let question = String(text[..<(end.map(text.utf8.index(after:)) ?? text.startIndex)])
        if let address = Self.quoted(after: "Username for ", in: question).flatMap(Self.address) {
            self = .account(address)
        } else if let address = Self.quoted(after: "Password for ", in: question).flatMap(Self.address) {
            self = .password(address)
        } else if let file = Self.file(question) {
            self = .passphrase(file: file)
        } else if let login = question.between("", "'s password") ?? question.between("(", ") Password"),
            let at = login.lastIndex(of: "@"),
            let address = InternetAddress(
                scheme: "ssh", authority: String(login[login.index(after: at)...]), path: nil,
                account: String(login[..<at]))
        {
            // ssh names no port.
            self = .password(address)
        } else {
            return nil
        }
    }

    /// A URL with a scheme. Without one, it would name passwords of every scheme.
    private static func address(_ text: String) -> InternetAddress? {
        InternetAddress(text).flatMap { $0.scheme == nil ? nil : $0 }
    }

    /// git quotes with one mark and git-lfs with two.
    private static func quoted(after start: String, in text: String) -> String? {
        text.between(start + "'", "'") ?? text.between(start + "\"", "\"")
    }

    private static func file(_ question: String) -> String? {
        // ssh-add says that it will ask before each use.
        let question = question.between("", " (will confirm each use)") ?? question
        let start = "Enter passphrase for "
        let file = quoted(after: start + "key ", in: question) ?? quoted(after: start, in: question)
        // ssh-keygen asks for a new passphrase.
        if file == nil, question.hasSuffix(")") { return nil }
        return (file ?? question.between(start, "")).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The names under which the passphrase of a file can be stored: as ssh-add was told it, and as a whole path.
    static func paths(of file: String) -> [String] {
        var paths: [String] = []
        func add(_ path: String) { if !paths.contains(path) { paths.append(path) } }
        if !file.hasPrefix("/") {
            for folder in currentFolders { add(normal(folder + "/" + file)) }
        }
        add(file)
        if file.hasPrefix("/") { add(normal(file)) }
        return paths
    }

    /// The working directory, also by the name by which the shell knows it.
    private static var currentFolders: [String] {
        let physical = FileManager.default.currentDirectoryPath
        guard let logical = Environment.path(in: "PWD"), logical != physical else { return [physical] }
        var (first, second) = (stat(), stat())
        let isSame =
            stat(logical, &first) == 0 && stat(".", &second) == 0 && first.st_ino == second.st_ino
            && first.st_dev == second.st_dev
        return isSame ? [logical, physical] : [physical]
    }

    /// The path without `.`, `..` and double slashes.
    private static func normal(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }
}

extension String {
    /// The text between a start and an end; nil without one of them.
    fileprivate func between(_ start: String, _ end: String) -> String? {
        guard hasPrefix(start), hasSuffix(end), count >= start.count + end.count else { return nil }
        return String(dropFirst(start.count).dropLast(end.count))
    }
}
