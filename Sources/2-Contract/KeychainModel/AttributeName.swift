import Bytes

/// The four-character name of an item attribute, such as `acct` or `svce`.
///
/// Apple's SecItem constants are strings of four ASCII characters; the packed form makes a name a
/// plain integer that hashes and compares without touching memory. Trailing blanks matter.
package struct AttributeName: Hashable, Sendable, Comparable {
    /// The four characters, most significant first.
    package let code: UInt32

    package init(code: UInt32) { self.code = code }

    /// The name spelled by `characters`, or nil unless it is exactly four ASCII bytes.
    package init?(_ characters: String) {
        var code: UInt32 = 0
        var count = 0
        for byte in characters.utf8 {
            guard byte < 0x80, count < 4 else { return nil }
            code = code << 8 | UInt32(byte)
            count += 1
        }
        guard count == 4 else { return nil }
        self.code = code
    }

    /// The four characters as a string.
    package var string: String { String(decoding: code.bigEndianBytes, as: UTF8.self) }

    package static func < (left: AttributeName, right: AttributeName) -> Bool {
        left.code < right.code
    }
}

extension AttributeName: ExpressibleByStringLiteral, CustomStringConvertible {
    /// A literal of exactly four ASCII characters. Literals are written by programmers and never
    /// come from input, so a malformed one is a programming error.
    package init(stringLiteral literal: StaticString) {
        precondition(literal.utf8CodeUnitCount == 4, "an attribute name has four characters")
        self.code = literal.withUTF8Buffer { UInt32(bigEndianBytes: $0) }
    }

    package var description: String { string }
}

/// The attribute names the engine itself gives a meaning to.
extension AttributeName {
    package static let accessGroup: AttributeName = "agrp"
    package static let accessible: AttributeName = "pdmn"
    package static let accessControl: AttributeName = "accc"
    package static let synchronizable: AttributeName = "sync"
    package static let tombstone: AttributeName = "tomb"
    package static let creationDate: AttributeName = "cdat"
    package static let modificationDate: AttributeName = "mdat"
    package static let label: AttributeName = "labl"
    package static let account: AttributeName = "acct"
    package static let service: AttributeName = "svce"
    package static let generic: AttributeName = "gena"
    package static let comment: AttributeName = "icmt"
    package static let itemDescription: AttributeName = "desc"
    package static let server: AttributeName = "srvr"
    package static let path: AttributeName = "path"
    package static let port: AttributeName = "port"
    package static let networkProtocol: AttributeName = "ptcl"
    package static let securityDomain: AttributeName = "sdmn"
    package static let authenticationType: AttributeName = "atyp"
    package static let tokenID: AttributeName = "tkid"
    package static let multiUser: AttributeName = "musr"
    package static let sharingGroup: AttributeName = "ggrp"
    package static let itemHash: AttributeName = "sha1"
    package static let keyClass: AttributeName = "kcls"
    package static let type: AttributeName = "type"
    package static let applicationLabel: AttributeName = "klbl"
    package static let applicationTag: AttributeName = "atag"
    package static let isPrivate: AttributeName = "priv"
    package static let publicKeyHash: AttributeName = "pkhh"
    package static let issuer: AttributeName = "issr"
    package static let subject: AttributeName = "subj"
    package static let serialNumber: AttributeName = "slnr"
    package static let subjectKeyID: AttributeName = "skid"
}
