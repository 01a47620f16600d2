import DatabaseVFS
import Enclave
import Foundation
import Keybag

/// The encrypted file of a vault's item store, for measuring SQLite alone.
struct RawFile {
    let path: String
    let registration: DatabaseRegistration

    init(vault folder: String) throws {
        let enclave = try SoftwareEnclave(decoding: Data(contentsOf: URL(fileURLWithPath: folder + "/device-secret")))
        let keybag = try Keybag(decoding: Data(contentsOf: URL(fileURLWithPath: folder + "/keybag")), in: enclave)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
        guard let name = files.first(where: { $0.hasPrefix("items-") && $0.hasSuffix(".db") }) else {
            throw RawStore.Failure(reason: "there is no item store")
        }
        path = folder + "/" + name
        registration = try EncryptingVFS.register(path: path, key: ClassKeys(keybag, in: enclave).storeKey)
    }
}
