import Bytes
import CLibrary
import CommandKit
import FoundationEssentials
import StatusCodes
import SystemLibraries

/// A secret in a file that an editor changes.
///
/// The file is in memory: no disk ever has it. It is overwritten and removed at the end, and what a killed command left
/// behind, by the next one.
struct EditedSecret {
    private let secret: Data

    init(_ secret: Data) { self.secret = secret }

    /// Returns what the editor made of the secret.
    func edited() throws(Failure) -> Data {
        // The terminal's signals are for the editor; a signal to this process must not leave the file behind.
        guard let signals = EndingSignals() else { throw .system("there is no descriptor left", errno) }
        return try withExtendedLifetime(signals) { () throws(Failure) in try editedInFolder() }
    }

    private func editedInFolder() throws(Failure) -> Data {
        MemoryFolder.removeLeftovers()
        let folder = try MemoryFolder(otherwise: "give the secret to `keychain set` on standard input")
        defer { folder.remove() }
        let copy: SecretBytes
        do {
            copy = try secret.withUnsafeBytes { try SecretBytes(copying: $0) }
        } catch {
            throw .memory
        }
        let path = try folder.write(copy, to: "secret")
        try Self.runEditor(path)
        let result = try Self.open(path)
        defer { close(result) }
        var edited = Data.wipedWhenFreed(try SecretInput.readAll(result, keepingNewline: true))
        let newline = UInt8(ascii: "\n")
        if edited.last == newline, secret.last != newline { edited = .wipedWhenFreed(Data(edited.dropLast())) }
        return edited
    }

    /// Opens what the editor left: no link, which may name a file that is no secret, and no pipe, which may never end.
    private static func open(_ path: String) throws(Failure) -> Int32 {
        let file = CLibrary.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 || errno == ELOOP else { throw .file("read", path, errno) }
        var info = stat()
        guard file >= 0, fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            if file >= 0 { close(file) }
            throw Failure(
                status: errSecIO, exitCode: ExitStatus.other,
                "the editor put something else in the place of the file, so nothing was changed: name another editor "
                    + "with $EDITOR")
        }
        return file
    }

    private static func runEditor(_ path: String) throws(Failure) {
        let named = ["VISUAL", "EDITOR"].lazy.compactMap(Environment.value(of:)).first { !$0.trimmed.isEmpty }
        // Without a terminal, vi would wait for keys that nobody can type.
        guard named != nil || isatty(0) == 1 else {
            throw Failure(
                status: errSecInteractionNotAllowed,
                "there is no terminal for an editor: give the secret to `keychain set` on standard input, or name an "
                    + "editor that needs none with $EDITOR")
        }
        let editor = named ?? "vi"
        let name = editor.split(separator: " ").first?.split(separator: "/").last ?? ""
        let isVim = ["vi", "vim", "nvim"].contains(name)
        let quiet = isVim ? ["-n", "-c", "set nobackup nowritebackup noundofile viminfo="] : []
        let words = ["/bin/sh", "-c", editor + " \"$@\"", editor] + quiet + [path]
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        dropRaisedIdentity(in: &attributes)
        resetSignals([SIGPIPE, SIGXFSZ], in: &attributes)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        closeDescriptors(from: 3, in: &actions)
        // The parent process may have ignored SIGCHLD. Then the kernel keeps no exit status of children.
        signal(SIGCHLD, SIG_DFL)
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, words[0], &actions, &attributes, &arguments, environ)
        guard code == 0 else { throw .system("the editor cannot be started", code) }
        var status: Int32 = 0
        _ = SystemCall.retryOnInterrupt { waitpid(process, &status, 0) }
        guard status == 0 else {
            throw Failure(
                status: errSecUserCanceled, exitCode: ExitStatus.other,
                "'\(editor.escapedForTerminal)' ended with an error, so nothing was changed: name an editor with $EDITOR"
            )
        }
    }
}
