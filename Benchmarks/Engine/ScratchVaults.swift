import Foundation
import Vault

/// Copies of filled vaults that may be changed; they go away with this object.
final class ScratchVaults {
    private let vaults: FilledVaults
    private let folder: String

    init(_ vaults: FilledVaults) throws {
        self.vaults = vaults
        folder = "\(vaults.folder)/scratch-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The folder of a copy, named so that there can be several of one size.
    func copyFolder(_ count: Int, _ name: String) throws -> String {
        let path = "\(folder)/\(name)-\(count)"
        try FileManager.default.copyItem(atPath: vaults.path(count), toPath: path)
        guard chmod(path, 0o700) == 0 else { throw POSIXError(.EPERM) }
        return path
    }

    func copy(_ count: Int) throws -> EmbeddedVault {
        try EmbeddedVault.open(at: try copyFolder(count, "engine"))
    }
}
