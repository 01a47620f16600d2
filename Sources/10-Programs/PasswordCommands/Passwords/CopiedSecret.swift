import Bytes
import CLibrary
import CommandKit
import FoundationEssentials
import StatusCodes

/// A secret that was put on the clipboard.
package struct CopiedSecret {
    let clipboard: Clipboard
    /// When the clipboard is emptied; nil if it is not.
    package let seconds: Int?

    /// Puts a secret on the clipboard.
    ///
    /// - Parameters:
    ///   - seconds: When the clipboard is emptied; 0 for never.
    ///   - secret: Reads the secret, once it is known that there is a clipboard.
    package init(seconds: Int, _ secret: () throws -> Data) throws {
        guard let clipboard = Clipboard.find() else {
            throw Failure(
                status: errSecInteractionNotAllowed, exitCode: ExitStatus.other,
                "there is no clipboard here: install wl-clipboard or xclip, or run this in a terminal")
        }
        let secret = try secret()
        guard String(validating: secret, as: UTF8.self) != nil else {
            throw Failure(status: errSecParam, "the secret is not text: `keychain get` writes it to a file")
        }
        guard clipboard.put(secret) else {
            throw Failure(
                status: errSecIO, exitCode: ExitStatus.other,
                "\(clipboard.name) does not take the secret: see whether another program can copy there")
        }
        let isEmptied = seconds > 0 && clipboard.isReadable
        if isEmptied, !ClipboardWatch(clipboard, secret, seconds: seconds).start() {
            clipboard.clear()
            throw Failure(
                status: errSecIO, exitCode: ExitStatus.other,
                "no process could be started that empties the clipboard, so nothing was copied: free some memory")
        }
        self.clipboard = clipboard
        self.seconds = isEmptied ? seconds : nil
    }

    /// What a person is told.
    package var sentence: String {
        seconds.map { "copied to \(clipboard.name), which is emptied in \($0) seconds" }
            ?? "copied to \(clipboard.name), where it stays until you copy something else"
    }
}
