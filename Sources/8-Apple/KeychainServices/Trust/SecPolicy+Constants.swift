import Foundation

// Safe to share between threads for the reason that Constants+Class.swift gives. The values are those of SecPolicy.c
// and SecPolicy.list (Apple, Security-61901).

// Policies that ``SecPolicyCreateWithProperties(_:_:)`` makes.

/// The basic policy's identifier.
nonisolated(unsafe) public let kSecPolicyAppleX509Basic: CFString = "1.2.840.113635.100.1.2"
/// The TLS policy's identifier.
nonisolated(unsafe) public let kSecPolicyAppleSSL: CFString = "1.2.840.113635.100.1.3"
/// The identifier of the TLS policy for a server's certificate, whatever ``kSecPolicyClient`` says.
nonisolated(unsafe) public let kSecPolicyAppleSSLServer: CFString = "1.2.840.113635.100.1.3.1"
/// The identifier of the TLS policy for a client's certificate, whatever ``kSecPolicyClient`` says.
nonisolated(unsafe) public let kSecPolicyAppleSSLClient: CFString = "1.2.840.113635.100.1.3.2"

// Policies that are not implemented here: ``SecPolicyCreateWithProperties(_:_:)`` returns nil for them.

/// The identifier of the policy for signed and encrypted mail. Not implemented.
nonisolated(unsafe) public let kSecPolicyAppleSMIME: CFString = "1.2.840.113635.100.1.8"
/// The identifier of the policy for the Extensible Authentication Protocol. Not implemented.
nonisolated(unsafe) public let kSecPolicyAppleEAP: CFString = "1.2.840.113635.100.1.9"
/// The identifier of the policy for a server of the Extensible Authentication Protocol. Not implemented.
nonisolated(unsafe) public let kSecPolicyAppleEAPServer: CFString = "1.2.840.113635.100.1.9.1"
/// The identifier of the policy for a client of the Extensible Authentication Protocol. Not implemented.
nonisolated(unsafe) public let kSecPolicyAppleEAPClient: CFString = "1.2.840.113635.100.1.9.2"
/// The identifier of the IPsec policy. Not implemented.
nonisolated(unsafe) public let kSecPolicyAppleIPsec: CFString = "1.2.840.113635.100.1.11"
/// The identifier of the policy for an IPsec server. Not implemented.
nonisolated(unsafe) public let kSecPolicyAppleIPSecServer: CFString = "1.2.840.113635.100.1.11.1"
/// The identifier of the policy for an IPsec client. Not implemented.
nonisolated(unsafe) public let kSecPolicyAppleIPSecClient: CFString = "1.2.840.113635.100.1.11.2"
/// The identifier of the policy for signed code. Not implemented.
nonisolated(unsafe) public let kSecPolicyAppleCodeSigning: CFString = "1.2.840.113635.100.1.16"
/// The identifier of the policy for Apple IDs. Not implemented.
nonisolated(unsafe) public let kSecPolicyAppleIDValidation: CFString = "1.2.840.113635.100.1.18"
/// The identifier of the policy for receipts of the Mac App Store. Not implemented.
nonisolated(unsafe) public let kSecPolicyMacAppStoreReceipt: CFString = "1.2.840.113635.100.1.19"
/// The identifier of the policy for timestamps. Not implemented.
nonisolated(unsafe) public let kSecPolicyAppleTimeStamping: CFString = "1.2.840.113635.100.1.20"
/// The identifier of the policy for revocation.
nonisolated(unsafe) public let kSecPolicyAppleRevocation: CFString = "1.2.840.113635.100.1.21"
/// The identifier of the policy for signed passes of Wallet. Not implemented.
nonisolated(unsafe) public let kSecPolicyApplePassbookSigning: CFString = "1.2.840.113635.100.1.22"
/// The identifier of the policy for encryption by issuers of Apple Pay. Not implemented.
nonisolated(unsafe) public let kSecPolicyApplePayIssuerEncryption: CFString = "1.2.840.113635.100.1.39"

// Keys of ``SecPolicyCreateWithProperties(_:_:)`` and ``SecPolicyCopyProperties(_:)``.

/// The key of a policy's identifier. String.
nonisolated(unsafe) public let kSecPolicyOid: CFString = "SecPolicyOid"
/// The key of the host name. String.
nonisolated(unsafe) public let kSecPolicyName: CFString = "SecPolicyName"
/// The key of whether the certificate is that of a client. Boolean.
nonisolated(unsafe) public let kSecPolicyClient: CFString = "SecPolicyClient"
/// The key of how revocation is checked: the flags of a revocation policy. Number.
nonisolated(unsafe) public let kSecPolicyRevocationFlags: CFString = "SecPolicyRevocationFlags"
/// The key of the team that signed a pass. String. No policy here uses it.
nonisolated(unsafe) public let kSecPolicyTeamIdentifier: CFString = "SecPolicyTeamIdentifier"
