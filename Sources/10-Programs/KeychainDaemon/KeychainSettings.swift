import Bytes
import FoundationEssentials
import PrivateFiles

/// When a keychain that `security` made locks itself, in a file of its folder. The file is what tells such a keychain
/// from another vault.
package struct KeychainSettings: Codable, Equatable, Sendable {
    /// Whether it locks before the machine sleeps and when the session is locked.
    package var locksOnSleep = true
    /// Seconds without a request after which it locks; nil for never. The default is that of macOS.
    package var timeout: Int? = 300

    package init(locksOnSleep: Bool = true, timeout: Int? = 300) {
        (self.locksOnSleep, self.timeout) = (locksOnSleep, timeout)
    }

    /// The name of the file in the folder of the keychain.
    package static let file = "keychain-settings"
    private static let largest = 4096

    /// Reads the settings of the keychain in the folder.
    ///
    /// - Throws: `FileError` if there are none; `DecodingError` if the file is damaged.
    package init(in folder: PrivateFolder) throws {
        self = try JSONDecoder().decode(Self.self, from: folder.read(Self.file, limit: Self.largest))
    }

    package func write(to folder: PrivateFolder) throws {
        try folder.replace(Self.file, with: JSONEncoder().encode(self))
    }
}
