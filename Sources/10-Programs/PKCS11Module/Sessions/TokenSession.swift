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
    /// The value of a password, kept between the call that asks for its length and the call that takes it.
    var password: (handle: CK_OBJECT_HANDLE, value: [UInt8])?
}

/// The use of a key, from its Init function on.
struct KeyOperation {
    let object: TokenObject
    var mechanism: Mechanism
    let purpose: Mechanism.Purpose
    /// The parts that Update functions took, as a digest or as they are; nil before the first one.
    var parts: Parts?
    /// Whether the caller asked how long the result of the whole message is: no parts may follow.
    var isWhole = false
    /// The result, kept until the caller has room for it.
    var result: [UInt8]?

    enum Parts {
        case digest(Digest)
        case bytes([UInt8])
    }

    /// The longest message that goes to the vault, or that is collected from parts: 32 MiB.
    static let mostBytes = 32 << 20
    /// The longest message for a key in this process: BoringSSL counts in `int`.
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
