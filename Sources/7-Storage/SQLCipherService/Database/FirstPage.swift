import Bytes
import DatabasePages
import SQLCipherWire

/// The search for the format of a file from its first page, with a raw key. The library only reports a wrong key.
enum FirstPage {
    static func format(of path: String, key: SecretBytes) -> Opened? {
        guard let bytes = FileStart.read(path, count: 65_536) else { return nil }
        guard let format = try? CipherSearch.pages(for: .raw(key), in: [bytes], versions: [.three, .four])?.format
        else {
            return nil
        }
        return Opened(
            compatibility: format.version == .three ? .three : .four, pageSize: UInt32(format.pageSize))
    }
}
