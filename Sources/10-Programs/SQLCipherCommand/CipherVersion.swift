import SQLCipherWire

/// The version of SQLCipher. Asking for it also proves that the library is SQLCipher.
struct CipherVersion {
    /// As in `3.4.1`, and for later versions with the edition after it.
    let text: String
    let major: UInt8

    init(_ library: CipherLibrary) throws(RequestFailure) {
        var handle: Handle?
        let code = library.open(":memory:", &handle, 2 | 4 | 0x8000, nil)
        defer { _ = library.close(handle) }
        guard code == ResultCode.ok, let handle else {
            throw RequestFailure(.libraryUnusable, "\(library.name) does not open a database in memory")
        }
        var found: Handle?
        defer { _ = library.finalize(found) }
        guard library.prepare(handle, "PRAGMA cipher_version", -1, &found, nil) == ResultCode.ok, let found,
            library.step(found) == ResultCode.row, let text = library.columnText(found, 0)
        else {
            throw RequestFailure(
                .libraryUnusable, "\(library.name) is not SQLCipher: it has no `PRAGMA cipher_version`")
        }
        self.text = String(cString: text.assumingMemoryBound(to: CChar.self))
        guard let major = UInt8(self.text.prefix { $0 != "." }), major >= 3 else {
            throw RequestFailure(
                .libraryUnusable, "SQLCipher \(self.text) is too old: install version 3 or later of libsqlcipher")
        }
        self.major = major
    }

    /// Returns the format to use if `wanted` is asked for.
    func compatibility(_ wanted: CipherCompatibility?) throws(RequestFailure) -> CipherCompatibility {
        let greatest: CipherCompatibility = major >= 4 ? .four : .three
        guard let wanted else { return greatest }
        guard wanted.rawValue <= greatest.rawValue else {
            throw RequestFailure(
                .formatNotSupported,
                "SQLCipher \(text), which is installed, neither opens nor makes files of "
                    + "version \(wanted.rawValue): install a newer libsqlcipher, or have the file written with "
                    + "`PRAGMA cipher_compatibility = \(greatest.rawValue)`")
        }
        return wanted
    }
}
