import Foundation

// Safe to share between threads, as `nonisolated(unsafe)` claims: each constant is a `let` that holds an object of
// exactly the class NSString (ConstantsTests), and only NSMutableString has operations that change a string. The
// class itself cannot promise it, because subclasses can change.

// Every class.

/// The key of the access group: who may see the item. String.
nonisolated(unsafe) public let kSecAttrAccessGroup: CFString = "agrp"
/// The group of items on hardware tokens.
nonisolated(unsafe) public let kSecAttrAccessGroupToken: CFString = "com.apple.token"
/// The key of whether the item may be synchronised to other devices. Boolean.
nonisolated(unsafe) public let kSecAttrSynchronizable: CFString = "sync"
/// In a query: synchronizable and local items alike.
nonisolated(unsafe) public let kSecAttrSynchronizableAny: CFString = "syna"
/// The key of when the item was added. Date, set by the keychain.
nonisolated(unsafe) public let kSecAttrCreationDate: CFString = "cdat"
/// The key of when the item was last changed. Date, set by the keychain.
nonisolated(unsafe) public let kSecAttrModificationDate: CFString = "mdat"
/// The key of the name shown to people. String.
nonisolated(unsafe) public let kSecAttrLabel: CFString = "labl"
/// The key of the token that holds the item. String.
nonisolated(unsafe) public let kSecAttrTokenID: CFString = "tkid"
/// The key of a hint to where the item is synchronised. String; part of the primary key.
nonisolated(unsafe) public let kSecAttrSyncViewHint: CFString = "vwht"
/// The key of a persistent reference among attributes. Refused with ``errSecParam``, and not among the attributes that
/// a search returns; ``kSecValuePersistentRef`` and ``kSecReturnPersistentRef`` are the keys that work.
nonisolated(unsafe) public let kSecAttrPersistentReference: CFString = "persistref"
/// Another spelling of ``kSecAttrPersistentReference``.
nonisolated(unsafe) public let kSecAttrPersistantReference: CFString = "persistref"

// Passwords.

/// The key of the account name. String or data; part of the primary key.
nonisolated(unsafe) public let kSecAttrAccount: CFString = "acct"
/// The key of the service of a generic password. String or data; part of the primary key.
nonisolated(unsafe) public let kSecAttrService: CFString = "svce"
/// The key of data of the caller's own. Not part of the primary key.
nonisolated(unsafe) public let kSecAttrGeneric: CFString = "gena"
/// The key of the kind of item, for people. String.
nonisolated(unsafe) public let kSecAttrDescription: CFString = "desc"
/// The key of a comment for people. String.
nonisolated(unsafe) public let kSecAttrComment: CFString = "icmt"
/// The key of the creator's four-character code. Number.
nonisolated(unsafe) public let kSecAttrCreator: CFString = "crtr"
/// The key of the item's type as a four-character code. Number.
nonisolated(unsafe) public let kSecAttrType: CFString = "type"
/// The key of whether the item should not be shown to people. Boolean.
nonisolated(unsafe) public let kSecAttrIsInvisible: CFString = "invi"
/// The key of whether there is deliberately no password. Boolean.
nonisolated(unsafe) public let kSecAttrIsNegative: CFString = "nega"
/// The key of the server's host name or address. String; part of the primary key.
nonisolated(unsafe) public let kSecAttrServer: CFString = "srvr"
/// The key of the security domain or realm. String; part of the primary key.
nonisolated(unsafe) public let kSecAttrSecurityDomain: CFString = "sdmn"
/// The key of the port. Number; part of the primary key.
nonisolated(unsafe) public let kSecAttrPort: CFString = "port"
/// The key of the path on the server. String; part of the primary key.
nonisolated(unsafe) public let kSecAttrPath: CFString = "path"
/// The key of further data of an internet password.
nonisolated(unsafe) public let kSecDataInetExtraClientDefined0: CFString = "bin0"
/// The key of further data of an internet password.
nonisolated(unsafe) public let kSecDataInetExtraClientDefined1: CFString = "bin1"
/// The key of further data of an internet password.
nonisolated(unsafe) public let kSecDataInetExtraClientDefined2: CFString = "bin2"
/// The key of further data of an internet password.
nonisolated(unsafe) public let kSecDataInetExtraClientDefined3: CFString = "bin3"
/// The key of notes on an internet password.
nonisolated(unsafe) public let kSecDataInetExtraNotes: CFString = "binn"
/// The key of the history of an internet password.
nonisolated(unsafe) public let kSecDataInetExtraHistory: CFString = "bini"

// Certificates.

/// The key of the X.509 version, 1 to 3. Number.
nonisolated(unsafe) public let kSecAttrCertificateType: CFString = "ctyp"
/// The key of the encoding; 3 is DER. Number.
nonisolated(unsafe) public let kSecAttrCertificateEncoding: CFString = "cenc"
/// The key of the normalised subject name. Data.
nonisolated(unsafe) public let kSecAttrSubject: CFString = "subj"
/// The key of the normalised issuer name. Data.
nonisolated(unsafe) public let kSecAttrIssuer: CFString = "issr"
/// The key of the serial number's content bytes. Data.
nonisolated(unsafe) public let kSecAttrSerialNumber: CFString = "slnr"
/// The key of the subject key identifier. Data.
nonisolated(unsafe) public let kSecAttrSubjectKeyID: CFString = "skid"
/// The key of the SHA-1 of the public key. Data, 20 bytes.
nonisolated(unsafe) public let kSecAttrPublicKeyHash: CFString = "pkhh"
