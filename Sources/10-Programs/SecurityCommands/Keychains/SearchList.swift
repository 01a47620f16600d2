import Bytes
import CommandKit
import FoundationEssentials
import PrivateFiles
import StatusCodes

/// Which keychains are searched, and which one gets new items: a file in the folder of keychains.
struct SearchList: Codable, Equatable, Sendable {
    /// Paths, and ``login``. Nil as long as nobody changed the list.
    private var list: [String]?
    /// Nil for the login keychain.
    private var standard: String?

    /// The entry for the login keychain, whose path depends on the daemon.
    private static let login = "login"
    private static let file = "search-list"
    private static let largest = 1 << 20

    private enum CodingKeys: String, CodingKey {
        case list = "keychains"
        case standard = "default"
    }

    var keychains: [KeychainPlace] {
        get { (list ?? [Self.login]).map(Self.place) }
        set { list = newValue.map(Self.text) }
    }

    /// The keychain for new items.
    var standardKeychain: KeychainPlace {
        get { Self.place(standard ?? Self.login) }
        set { standard = newValue == .login ? nil : Self.text(newValue) }
    }

    mutating func add(_ place: KeychainPlace) {
        if !keychains.contains(place) { keychains.append(place) }
    }

    /// Removes a keychain. The list without it is not empty: passwords of the login keychain would look lost.
    mutating func remove(_ place: KeychainPlace) {
        if keychains.contains(place) { keychains.removeAll { $0 == place } }
        if keychains.isEmpty { list = nil }
        if standardKeychain == place { standardKeychain = .login }
    }

    private static func place(_ text: String) -> KeychainPlace { text == login ? .login : .folder(text) }

    private static func text(_ place: KeychainPlace) -> String {
        switch place {
        case .login: login
        case .folder(let path): path
        }
    }

    /// Reads the list; where there is none, it has the login keychain alone.
    static func read(in names: KeychainNames) throws -> SearchList {
        do {
            return try read(PrivateFolder(existing: names.folder))
        } catch FileError.notFound {
            return SearchList()
        }
    }

    private static func read(_ folder: PrivateFolder) throws -> SearchList {
        guard folder.contains(file) else { return SearchList() }
        do {
            return try JSONDecoder().decode(SearchList.self, from: folder.read(file, limit: largest))
        } catch is DecodingError {
            throw SecurityFailure.other(
                "\(folder.path(of: file).escapedForTerminal) is damaged: delete it, and name the keychains again with "
                    + "list-keychains -s")
        }
    }

    /// Runs `body`, which may change the list, while no other process changes it or makes a keychain.
    static func change<Result>(
        in names: KeychainNames, _ body: (inout SearchList) throws -> Result
    ) throws -> Result {
        let folder = try PrivateFolder(creating: names.folder)
        return try folder.withLock {
            let before = try read(folder)
            var list = before
            let result = try body(&list)
            if list != before { try folder.replace(file, with: JSONEncoder().encode(list)) }
            return result
        }
    }
}
