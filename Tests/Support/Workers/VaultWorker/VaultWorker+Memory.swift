import Bytes
import Foundation
import Glibc
import KeychainModel
import TestSupport
import VaultInterface

/// Jobs whose memory is looked at from outside.
extension VaultWorker {
    /// Unlocks with a passcode from standard input, reads every item, opens the keys of files in the next line, and
    /// drops what it read; then locks.
    static func forget(_ vault: any Vault) throws {
        try vault.unlock(with: passcodeLine(), as: .app)
        var read = 0
        for number in 0... {
            let found = try vault.items(.password("s", "\(number)"))
            guard found.first?.value != nil else { break }
            read += 1
        }
        var opened = 0
        for key in (readLine() ?? "").split(separator: " ") {
            let fields = key.split(separator: ":")
            guard fields.count == 3, let fileClass = UInt8(fields[0]).flatMap(FileProtectionClass.init),
                let file = Data(base64Encoded: String(fields[1])), let wrapped = Data(base64Encoded: String(fields[2]))
            else { exit(64) }
            let secret = try vault.fileKey(for: fileClass, file: file, wrapped: wrapped, as: .app)
            let rewrapped = try vault.rewrapFileKey(
                from: fileClass, to: .complete, file: file, wrapped: wrapped, as: .app)
            guard try vault.fileKey(for: .complete, file: file, wrapped: rewrapped, as: .app) == secret else { break }
            opened += 1
        }
        report("unlocked \(read) and \(opened)")
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
