import Foundation
import Glibc
import KeychainModel
import TestSupport
import Vault

/// Jobs whose memory is looked at from outside.
extension VaultWorker {
    /// Unlocks with a passcode from standard input, reads every item and drops what it read; then locks.
    static func forget(_ vault: any Vault) throws {
        try vault.unlock(with: passcodeLine(), as: .app)
        var read = 0
        for number in 0... {
            let found = try vault.items(.password("s", "\(number)"))
            guard found.first?.value != nil else { break }
            read += 1
        }
        report("unlocked \(read)")
        waitForCue(saying: nil)
        try vault.lock(after: .zero, as: .app)
        report("locked")
        waitForCue(saying: nil)
    }

    /// A line of standard input that passes through no buffer of the runtime's.
    private static func passcodeLine() throws -> SecretBytes {
        var length = 0
        let longest = try SecretBytes(count: 256) { bytes in
            while length < bytes.count, Glibc.read(0, bytes.baseAddress! + length, 1) == 1, bytes[length] != 0x0A {
                length += 1
            }
        }
        return try longest.withUnsafeBytes { try SecretBytes(copying: .init(rebasing: $0[..<length])) }
    }
}
