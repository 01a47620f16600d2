import CPKCS11

// The numbers of the standard (pkcs11t.h of OASIS), under its names.

extension CK_RV {
    static let ok: CK_RV = 0x000
    static let slotInvalid: CK_RV = 0x003
    static let functionFailed: CK_RV = 0x006
    static let argumentsBad: CK_RV = 0x007
    static let noEvent: CK_RV = 0x008
    static let cantLock: CK_RV = 0x00A
    static let attributeSensitive: CK_RV = 0x011
    static let attributeTypeInvalid: CK_RV = 0x012
    static let attributeValueInvalid: CK_RV = 0x013
    static let actionProhibited: CK_RV = 0x01B
    static let dataInvalid: CK_RV = 0x020
    static let dataLengthRange: CK_RV = 0x021
    static let deviceError: CK_RV = 0x030
    static let deviceMemory: CK_RV = 0x031
    static let encryptedDataInvalid: CK_RV = 0x040
    static let encryptedDataLengthRange: CK_RV = 0x041
    static let functionCanceled: CK_RV = 0x050
    static let functionNotParallel: CK_RV = 0x051
    static let functionNotSupported: CK_RV = 0x054
    static let keyHandleInvalid: CK_RV = 0x060
    static let keySizeRange: CK_RV = 0x062
    static let keyTypeInconsistent: CK_RV = 0x063
    static let keyIndigestible: CK_RV = 0x067
    static let keyFunctionNotPermitted: CK_RV = 0x068
    static let keyUnextractable: CK_RV = 0x06A
    static let mechanismInvalid: CK_RV = 0x070
    static let mechanismParameterInvalid: CK_RV = 0x071
    static let objectHandleInvalid: CK_RV = 0x082
    static let operationActive: CK_RV = 0x090
    static let operationNotInitialized: CK_RV = 0x091
    static let pinIncorrect: CK_RV = 0x0A0
    static let sessionCount: CK_RV = 0x0B1
    static let sessionHandleInvalid: CK_RV = 0x0B3
    static let sessionParallelNotSupported: CK_RV = 0x0B4
    static let sessionReadOnly: CK_RV = 0x0B5
    static let signatureInvalid: CK_RV = 0x0C0
    static let signatureLengthRange: CK_RV = 0x0C1
    static let templateIncomplete: CK_RV = 0x0D0
    static let templateInconsistent: CK_RV = 0x0D1
    static let tokenNotPresent: CK_RV = 0x0E0
    static let userAlreadyLoggedIn: CK_RV = 0x100
    static let userNotLoggedIn: CK_RV = 0x101
    static let userTypeInvalid: CK_RV = 0x103
    static let wrappedKeyInvalid: CK_RV = 0x110
    static let randomSeedNotSupported: CK_RV = 0x120
    static let curveNotSupported: CK_RV = 0x140
    static let bufferTooSmall: CK_RV = 0x150
    static let notInitialized: CK_RV = 0x190
    static let alreadyInitialized: CK_RV = 0x191
}

/// CKF_…
enum Flag {
    static let tokenPresent: CK_FLAGS = 0x1
    static let randomGenerator: CK_FLAGS = 0x1
    static let protectedAuthenticationPath: CK_FLAGS = 0x100
    static let tokenInitialized: CK_FLAGS = 0x400
    static let readWriteSession: CK_FLAGS = 0x2
    static let serialSession: CK_FLAGS = 0x4
    static let osLockingOK: CK_FLAGS = 0x2
    static let dontBlock: CK_FLAGS = 0x1
    static let hardware: CK_FLAGS = 0x1
    static let findObjects: CK_FLAGS = 0x40
    static let encrypt: CK_FLAGS = 0x100
    static let decrypt: CK_FLAGS = 0x200
    static let digest: CK_FLAGS = 0x400
    static let sign: CK_FLAGS = 0x800
    static let verify: CK_FLAGS = 0x2000
    static let generate: CK_FLAGS = 0x8000
    static let generateKeyPair: CK_FLAGS = 0x10000
    static let wrap: CK_FLAGS = 0x20000
    static let unwrap: CK_FLAGS = 0x40000
    static let derive: CK_FLAGS = 0x80000
    static let ecUncompressed: CK_FLAGS = 0x0100_0000
    static let ecNamedCurve: CK_FLAGS = 0x0080_0000
    static let ecPrimeField: CK_FLAGS = 0x0010_0000
    static let encapsulate: CK_FLAGS = 0x1000_0000
    static let decapsulate: CK_FLAGS = 0x2000_0000
}

/// CKO_…
enum ObjectClass {
    static let data: CK_ULONG = 0
    static let certificate: CK_ULONG = 1
    static let publicKey: CK_ULONG = 2
    static let privateKey: CK_ULONG = 3
    static let secretKey: CK_ULONG = 4
}

/// CKK_…
enum KeyKind {
    static let rsa: CK_ULONG = 0
    static let ec: CK_ULONG = 3
    static let genericSecret: CK_ULONG = 0x10
    static let aes: CK_ULONG = 0x1F
    /// CKK_SHA_1_HMAC and those of SHA-2: keys of HMAC by the hash function that they are for.
    static let hmac: Set<CK_ULONG> = [0x28, 0x2B, 0x2C, 0x2D, 0x2E]
    static let edwards: CK_ULONG = 0x40
    static let mlkem: CK_ULONG = 0x49
    static let mldsa: CK_ULONG = 0x4A
}

/// CKA_…
enum Attribute {
    static let objectClass: CK_ATTRIBUTE_TYPE = 0x000
    static let token: CK_ATTRIBUTE_TYPE = 0x001
    static let isPrivate: CK_ATTRIBUTE_TYPE = 0x002
    static let label: CK_ATTRIBUTE_TYPE = 0x003
    static let uniqueID: CK_ATTRIBUTE_TYPE = 0x004
    static let application: CK_ATTRIBUTE_TYPE = 0x010
    static let value: CK_ATTRIBUTE_TYPE = 0x011
    static let objectID: CK_ATTRIBUTE_TYPE = 0x012
    static let certificateType: CK_ATTRIBUTE_TYPE = 0x080
    static let issuer: CK_ATTRIBUTE_TYPE = 0x081
    static let serialNumber: CK_ATTRIBUTE_TYPE = 0x082
    static let trusted: CK_ATTRIBUTE_TYPE = 0x086
    static let certificateCategory: CK_ATTRIBUTE_TYPE = 0x087
    static let javaMIDP: CK_ATTRIBUTE_TYPE = 0x088
    static let url: CK_ATTRIBUTE_TYPE = 0x089
    static let subjectKeyHash: CK_ATTRIBUTE_TYPE = 0x08A
    static let issuerKeyHash: CK_ATTRIBUTE_TYPE = 0x08B
    static let checkValue: CK_ATTRIBUTE_TYPE = 0x090
    static let keyType: CK_ATTRIBUTE_TYPE = 0x100
    static let subject: CK_ATTRIBUTE_TYPE = 0x101
    static let id: CK_ATTRIBUTE_TYPE = 0x102
    static let sensitive: CK_ATTRIBUTE_TYPE = 0x103
    static let encrypt: CK_ATTRIBUTE_TYPE = 0x104
    static let decrypt: CK_ATTRIBUTE_TYPE = 0x105
    static let wrap: CK_ATTRIBUTE_TYPE = 0x106
    static let unwrap: CK_ATTRIBUTE_TYPE = 0x107
    static let sign: CK_ATTRIBUTE_TYPE = 0x108
    static let signRecover: CK_ATTRIBUTE_TYPE = 0x109
    static let verify: CK_ATTRIBUTE_TYPE = 0x10A
    static let verifyRecover: CK_ATTRIBUTE_TYPE = 0x10B
    static let derive: CK_ATTRIBUTE_TYPE = 0x10C
    static let startDate: CK_ATTRIBUTE_TYPE = 0x110
    static let endDate: CK_ATTRIBUTE_TYPE = 0x111
    static let modulus: CK_ATTRIBUTE_TYPE = 0x120
    static let modulusBits: CK_ATTRIBUTE_TYPE = 0x121
    static let publicExponent: CK_ATTRIBUTE_TYPE = 0x122
    static let privateExponent: CK_ATTRIBUTE_TYPE = 0x123
    static let primes: ClosedRange<CK_ATTRIBUTE_TYPE> = 0x124...0x128
    static let publicKeyInfo: CK_ATTRIBUTE_TYPE = 0x129
    static let valueLength: CK_ATTRIBUTE_TYPE = 0x161
    static let extractable: CK_ATTRIBUTE_TYPE = 0x162
    static let local: CK_ATTRIBUTE_TYPE = 0x163
    static let neverExtractable: CK_ATTRIBUTE_TYPE = 0x164
    static let alwaysSensitive: CK_ATTRIBUTE_TYPE = 0x165
    static let keyGenerationMechanism: CK_ATTRIBUTE_TYPE = 0x166
    static let modifiable: CK_ATTRIBUTE_TYPE = 0x170
    static let copyable: CK_ATTRIBUTE_TYPE = 0x171
    static let destroyable: CK_ATTRIBUTE_TYPE = 0x172
    static let ecParameters: CK_ATTRIBUTE_TYPE = 0x180
    static let ecPoint: CK_ATTRIBUTE_TYPE = 0x181
    static let alwaysAuthenticate: CK_ATTRIBUTE_TYPE = 0x202
    static let wrapWithTrusted: CK_ATTRIBUTE_TYPE = 0x210
    static let parameterSet: CK_ATTRIBUTE_TYPE = 0x61D
    static let encapsulate: CK_ATTRIBUTE_TYPE = 0x633
    static let decapsulate: CK_ATTRIBUTE_TYPE = 0x634
    static let seed: CK_ATTRIBUTE_TYPE = 0x637
}

/// CK_UNAVAILABLE_INFORMATION
let unavailable = ~CK_ULONG(0)
