import Foundation

/// What other software does with the stored objects of a vault: tpm2-tools with the objects' bytes.
extension SoftwareTPM {
    /// Loads the object with these two halves, TPM2B_PUBLIC ‖ TPM2B_PRIVATE, under the vault's storage key, and keeps
    /// its context at `path(of: "object")`.
    package func load(_ object: Data) throws {
        let object = Data(object)
        let size = 2 + (Int(object[0]) << 8 | Int(object[1]))
        try write(object.prefix(size), to: "public")
        try write(object.dropFirst(size), to: "private")
        try tool(
            "tpm2_createprimary", "-Q", "-C", "o", "-g", "sha256", "-G", "ecc256:aes128cfb", "-a",
            "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|restricted|decrypt|noda", "-c", path(of: "parent"))
        try tool(
            "tpm2_load", "-Q", "-C", path(of: "parent"), "-u", path(of: "public"), "-r", path(of: "private"), "-c",
            path(of: "object"))
        try flushObjects()
    }

    /// Returns the secret of the loaded object.
    ///
    /// - Parameter password: As tpm2-tools take it.
    package func unseal(_ password: String = "") throws -> Data {
        // A tool that fails leaves what it loaded.
        defer { try? flushObjects() }
        try tool("tpm2_unseal", "-Q", "-c", path(of: "object"), "-p", password, "-o", path(of: "out"))
        return try read("out")
    }

    /// Returns the secret of the loaded object, whose policy is that the counter has this value.
    package func unseal(whileCounter counter: UInt32, is value: UInt64) throws -> Data {
        let (index, session) = ("0x" + String(counter, radix: 16), path(of: "session"))
        try write(withUnsafeBytes(of: value.bigEndian) { Data($0) }, to: "value")
        try tool("tpm2_startauthsession", "--policy-session", "-S", session)
        defer { _ = try? tool("tpm2_flushcontext", session) }
        try tool("tpm2_policynv", "-Q", "-S", session, "-i", path(of: "value"), "-C", index, index, "eq")
        return try unseal("session:" + session)
    }

    /// Returns HMAC-SHA256 of `message` with the loaded object.
    package func authenticationCode(of message: Data) throws -> Data {
        defer { try? flushObjects() }
        try write(message, to: "message")
        try tool(
            "tpm2_hmac", "-Q", "-c", path(of: "object"), "-g", "sha256", "-o", path(of: "out"), path(of: "message"))
        return try read("out")
    }

    /// Frees the TPM's places for objects. The tools do not free theirs.
    package func flushObjects() throws {
        try tool("tpm2_flushcontext", "-t")
    }

    private func write(_ bytes: Data, to name: String) throws {
        try bytes.write(to: URL(fileURLWithPath: path(of: name)))
    }

    private func read(_ name: String) throws -> Data {
        let file = URL(fileURLWithPath: path(of: name))
        defer { try? FileManager.default.removeItem(at: file) }
        return try Data(contentsOf: file)
    }
}
