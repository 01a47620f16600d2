import Bytes
import CLibrary
import SQLCipherService
import SQLCipherWire
import StatusCodes
import SystemLibraries
import VaultInterface

/// The program `sqlcipher` on a file whose key it gets through a pipe.
struct CipherShell {
    let path: String
    let key: CipherKey
    let isWriting: Bool

    /// Checks that the key fits, and then replaces this process with the program.
    func start(_ statements: [String]) throws {
        let program = try Self.program()
        let (library, format) = try namingDatabase(path) {
            let database = try SQLCipherDatabase(path, key: key, readOnly: true)
            try database.close()
            return (database.library, database.format)
        }
        let pipe = try openPipe()
        try write(script(library, format), to: pipe.write)
        // A text that begins with a dash would be an option.
        let texts = statements.map { $0.hasPrefix("-") ? " " + $0 : $0 }
        let absolute = path.hasPrefix("/") ? path : "./" + path
        let arguments = [program, "-init", "/dev/fd/\(pipe.read)", absolute] + texts
        ProcessVault.close()
        InheritedDescriptors.keep(pipe.read)
        for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_DFL) }
        var pointers = arguments.map { strdup($0) } + [nil]
        execv(program, &pointers)
        throw Failure.file("start", program, errno)
    }

    private static func program() throws -> String {
        let path = Environment.value(of: "PATH") ?? "/usr/local/bin:/usr/bin:/bin"
        let places = path.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/sqlcipher" }
        guard let found = places.first(where: { access($0, X_OK) == 0 }) else {
            throw Failure(
                status: errSecIO, exitCode: ExitStatus.other,
                "the program sqlcipher is not installed: install the package of this name, or take the database over "
                    + "with `keychain db import`")
        }
        return found
    }

    /// What the program runs first, before anything that is typed.
    private func script(_ library: HelperWelcome, _ format: Opened) throws -> SecretBytes {
        var parts: [SecretBytes] = []
        do {
            // Later versions answer to each of these.
            try parts.append(SecretBytes(".output /dev/null\nPRAGMA key = "))
            switch key.kind {
            case .raw:
                parts += [try SecretBytes("\"x'"), try RawCipherKey.digits(of: key.bytes), try SecretBytes("'\"")]
            case .passphrase: parts += [try SecretBytes("'"), try Self.quoted(key.bytes), try SecretBytes("'")]
            }
            var rest = ";\n"
            // A library of version 3 has no such pragma for its own format.
            if !library.cipherVersion.hasPrefix("3."), format.compatibility == .three {
                rest += "PRAGMA cipher_compatibility = 3;\n"
            }
            rest += "PRAGMA cipher_page_size = \(format.pageSize);\nPRAGMA temp_store = MEMORY;\n"
            if !isWriting { rest += "PRAGMA query_only = ON;\n" }
            parts.append(try SecretBytes(rest + ".output stdout\n"))
            return try SecretBytes(count: parts.reduce(0) { $0 + $1.count }) { room in
                var place = 0
                for part in parts {
                    part.withUnsafeBytes {
                        UnsafeMutableRawBufferPointer(rebasing: room[place...]).copyMemory(from: $0)
                    }
                    place += part.count
                }
            }
        } catch let error as Failure {
            throw error
        } catch {
            throw Failure(VaultError.memoryUnavailable)
        }
    }

    /// Returns the passphrase for use between quotes in SQL.
    private static func quoted(_ passphrase: SecretBytes) throws -> SecretBytes {
        let quote = UInt8(ascii: "'")
        let quotes = passphrase.withUnsafeBytes { bytes in bytes.count { $0 == quote } }
        return try SecretBytes(count: passphrase.count + quotes) { room in
            passphrase.withUnsafeBytes { bytes in
                var place = 0
                for byte in bytes {
                    room[place] = byte
                    place += 1
                    guard byte == quote else { continue }
                    room[place] = quote
                    place += 1
                }
            }
        }
    }

    private func openPipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        guard CLibrary.pipe(&ends) == 0 else { throw Failure.file("open", "a pipe", errno) }
        return (ends[0], ends[1])
    }

    /// The script fits into a pipe as a whole (pipe(7): at least 4,096 bytes, 65,536 unless the user has very many).
    private func write(_ script: SecretBytes, to descriptor: Int32) throws {
        guard script.count <= 4096 else {
            throw Failure(status: errSecParam, "the passphrase is too long to be handed over: use `keychain db import`")
        }
        let code = script.withUnsafeBytes { FileOutput.put($0, to: descriptor) }
        close(descriptor)
        guard code == 0 else { throw Failure.file("write", "a pipe", code) }
    }
}
