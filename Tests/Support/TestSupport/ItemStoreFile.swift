import Bytes
import DatabasePages
import DatabaseVFS
import Enclave
import Foundation
import Keybag
import Synchronization
import Vault

/// The file of a vault's item store, for tests that look into it or change it behind the vault's back.
package enum ItemStoreFile {
    /// Kept for good, so that connections of any length find the key.
    private static let registrations = Mutex<[String: DatabaseRegistration]>([:])

    /// Returns the name of the store of the vault in a folder.
    package static func name(inVault folder: String) throws -> String {
        let stores = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
            $0.hasPrefix("items-") && $0.hasSuffix(".db")
        }
        guard let name = stores.first, stores.count == 1 else { throw NoSingleStore(names: stores) }
        return name
    }

    package static func path(inVault folder: String) throws -> String { try folder + "/" + name(inVault: folder) }

    /// Returns the key of the store, for which a vault need not be unlocked.
    package static func key(ofVault folder: String) throws -> SecretBytes {
        let (secret, keybag) = (
            URL(fileURLWithPath: folder + "/device-secret"), URL(fileURLWithPath: folder + "/keybag")
        )
        let enclave = try EnclavePlace.environment.open(Data(contentsOf: secret))
        return try ClassKeys(Keybag(decoding: Data(contentsOf: keybag), in: enclave), in: enclave).storeKey
    }

    /// Returns the URI by which any connection of this process to SQLite opens the store.
    package static func uri(inVault folder: String) throws -> String {
        let path = try path(inVault: folder)
        let registration = try EncryptingVFS.register(path: path, key: key(ofVault: folder))
        registrations.withLock { $0[registration.path] = registration }
        return registration.uri
    }

    /// Returns the opened pages of a closed store.
    package static func openedPages(inVault folder: String) throws -> Data {
        let file = try Data(contentsOf: URL(fileURLWithPath: path(inVault: folder)))
        let cipher = try cipher(of: file, inVault: folder)
        var opened = Data(count: file.count)
        for page in 0..<file.count / cipher.pageSize {
            let range = page * cipher.pageSize..<(page + 1) * cipher.pageSize
            try file.withUnsafeBytes { file in
                try opened.withUnsafeMutableBytes { opened in
                    _ = try cipher.open(
                        UnsafeRawBufferPointer(rebasing: file[range]),
                        at: .main(page: UInt32(truncatingIfNeeded: page + 1)),
                        into: UnsafeMutableRawBufferPointer(rebasing: opened[range]))
                }
            }
        }
        return opened
    }

    /// Gives a closed store other pages, as many as it has, as somebody can who has its key.
    package static func seal(_ pages: Data, inVault folder: String) throws {
        let path = try path(inVault: folder)
        var file = try Data(contentsOf: URL(fileURLWithPath: path))
        let cipher = try cipher(of: file, inVault: folder)
        let index = try PageIndex.open(
            PageIndex.path(ofDatabase: path, cipher.header.database), database: cipher.header.database,
            key: key(ofVault: folder))
        for page in 0..<file.count / cipher.pageSize {
            let range = page * cipher.pageSize..<(page + 1) * cipher.pageSize
            let version = try pages.withUnsafeBytes { pages in
                try file.withUnsafeMutableBytes { file in
                    try cipher.seal(
                        UnsafeRawBufferPointer(rebasing: pages[range]), extra: 0,
                        at: .main(page: UInt32(truncatingIfNeeded: page + 1)),
                        into: UnsafeMutableRawBufferPointer(rebasing: file[range]))
                }
            }
            try index.set(version, of: UInt32(truncatingIfNeeded: page + 1))
        }
        try FolderContents.write(file, to: path)
        try index.flush(pageCount: nil, durably: false)
    }

    private static func cipher(of file: Data, inVault folder: String) throws -> PageCipher {
        guard let header = file.withUnsafeBytes({ DatabaseHeader($0) }) else { throw NoSingleStore(names: []) }
        return PageCipher(key: try key(ofVault: folder), header: header)
    }

    package struct NoSingleStore: Error {
        package let names: [String]
    }
}
