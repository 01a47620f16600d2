import CPKCS11

/// A session, with what it has begun.
struct TokenSession {
    let isReadWrite: Bool
    /// What a search found and has not handed out; nil if there is no search.
    var found: ArraySlice<CK_OBJECT_HANDLE>?
    var signing: KeyOperation?
    var verifying: KeyOperation?
    var encrypting: KeyOperation?
    var decrypting: KeyOperation?
    var digesting: DigestOperation?
    /// The value of a password whose length was told.
    var password: (handle: CK_OBJECT_HANDLE, value: [UInt8])?
}

/// The use of a key, from its Init function on.
struct KeyOperation {
    let object: TokenObject
    var mechanism: Mechanism
    let purpose: Mechanism.Purpose
    /// What several calls gave, as a digest or as it is; nil for one call.
    var parts: Parts?
    /// Whether the length was asked for that all of the input at once makes.
    var isWhole = false
    /// What was made, until the caller has room for it.
    var result: [UInt8]?

    enum Parts {
        case digest(Digest)
        case bytes([UInt8])
    }

    /// More is not kept to be signed as it is, and not sent to the vault.
    static let mostBytes = 32 << 20
    /// More is not taken for a key of this process.
    static let mostBytesHere = 1 << 30
}

/// A digest, from its Init function on.
struct DigestOperation {
    let hash: Mechanism.Hash
    let digest: Digest
    var isInParts = false
    /// As ``KeyOperation/isWhole``.
    var isWhole = false
}
