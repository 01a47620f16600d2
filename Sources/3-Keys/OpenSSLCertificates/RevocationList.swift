import Bytes
import CLibrary
import Certificates
import FoundationEssentials

/// What revocation lists (RFC 5280, 5) say about a certificate.
package enum RevocationList {
    package enum Status: Equatable, Sendable {
        case good
        case revoked
    }

    /// The reason why the lists say nothing.
    package enum Refusal: Error, Equatable, Sendable, CustomStringConvertible {
        /// None of them is for the certificate.
        case missing
        case expired
        case notYetValid
        /// The issuer of the certificate did not sign it, or may not sign lists.
        case untrusted
        /// Any other reason, with its code (openssl/x509_vfy.h).
        case other(code: Int32)

        package var description: String {
            switch self {
            case .missing: "there is no revocation list for the certificate"
            case .expired: "the revocation list is expired"
            case .notYetValid: "the revocation list is not valid yet"
            case .untrusted: "the revocation list has no valid signature"
            case .other(let code): "the revocation list cannot be used (code \(code) of libcrypto)"
            }
        }
    }

    /// The largest list in bytes. Authorities divide lists that grow larger.
    package static let largest = 16 << 20

    /// Looks a certificate up.
    ///
    /// libcrypto chooses the list for the certificate, checks its signature, dates and scope, and applies the list of
    /// what changed since if there is one. Lists that other authorities than the issuer sign are not used.
    ///
    /// - Parameters:
    ///   - lists: DER of the lists. Those that cannot be read are left out.
    ///   - certificate: DER.
    ///   - issuer: DER of its issuer, which is trusted.
    ///   - now: The moment of the check.
    /// - Throws: ``Refusal``; ``LibcryptoFailure``; `SystemLibraryError` if libcrypto is missing.
    package static func status(of certificate: Data, issuer: Data, in lists: [Data], now: Date) throws -> Status {
        let crypto = try LibcryptoContext.shared.get()
        let functions = try crypto.revocation.get()
        defer { crypto.clearErrors() }
        return try crypto.asDefault(functions) {
            guard let pair = try? CertificatePair(certificate, issuer, crypto) else { throw Refusal.missing }
            guard let stack = crypto.stacks.make() else { throw LibcryptoFailure.memory }
            defer { crypto.stacks.freeAll(stack, functions.freeList) }
            for list in lists {
                guard let object = decoded(list, crypto, functions) else { continue }
                guard crypto.stacks.push(stack, UnsafeMutableRawPointer(object)) > 0 else {
                    functions.freeList(object)
                    throw LibcryptoFailure.memory
                }
            }
            var first: Refusal?
            // Clocks may differ, as for answers of responders.
            for offset in [0, OCSPAnswer.leeway, -OCSPAnswer.leeway] {
                do {
                    return try status(of: pair, in: stack, now.addingTimeInterval(offset), crypto, functions)
                } catch let refusal as Refusal where refusal == .notYetValid || refusal == .expired {
                    first = first ?? refusal
                }
            }
            throw first ?? Refusal.missing
        }
    }

    private static func status(
        of pair: CertificatePair, in lists: LibcryptoContext.Object, _ now: Date, _ crypto: LibcryptoContext,
        _ functions: RevocationFunctions
    ) throws -> Status {
        // X509_V_FLAG_CRL_CHECK, X509_V_FLAG_EXTENDED_CRL_SUPPORT and X509_V_FLAG_USE_DELTAS
        let store = try crypto.store(trusting: pair.issuer, at: now, functions, flags: 0x4 | 0x1000 | 0x2000)
        guard let check = crypto.paths.makeCheck(crypto.context, nil) else { throw LibcryptoFailure.memory }
        defer { crypto.paths.freeCheck(check) }
        return try withExtendedLifetime((store, pair)) {
            guard crypto.paths.begin(check, store.object, pair.certificate, nil) == 1 else {
                throw LibcryptoFailure.memory
            }
            functions.setLists(check, lists)
            if crypto.paths.verify(check) == 1 { return .good }
            let code = crypto.paths.failure(check)
            switch code {
            case 23: return .revoked
            case 3, 33, 44: throw Refusal.missing
            case 12: throw Refusal.expired
            case 11: throw Refusal.notYetValid
            case 5, 8, 35: throw Refusal.untrusted
            default: throw Refusal.other(code: code)
            }
        }
    }

    /// Returns the addresses where a list says that the list of what changed since is (RFC 5280, 5.2.6).
    ///
    /// - Throws: `SystemLibraryError` if libcrypto is missing.
    package static func deltaPlaces(of list: Data) throws -> [String] {
        let crypto = try LibcryptoContext.shared.get()
        let functions = try crypto.revocation.get()
        defer { crypto.clearErrors() }
        guard let object = decoded(list, crypto, functions) else { return [] }
        defer { functions.freeList(object) }
        // NID_freshest_crl (openssl/obj_mac.h)
        let index = functions.extensionIndex(object, 857, -1)
        guard index >= 0, let value = functions.extensionValue(functions.extensionAt(object, index)),
            let bytes = functions.stringBytes(value)
        else { return [] }
        let count = Int(max(0, functions.stringCount(value)))
        return Certificate.distributionPoints(in: Data(UnsafeBufferPointer(start: bytes, count: count)))
    }

    /// Returns when a list says that the next one comes; nil if it does not say. Its signature is not checked.
    ///
    /// - Throws: `SystemLibraryError` if libcrypto is missing.
    package static func end(of list: Data) throws -> Date? {
        let crypto = try LibcryptoContext.shared.get()
        let functions = try crypto.revocation.get()
        defer { crypto.clearErrors() }
        guard let object = decoded(list, crypto, functions) else { return nil }
        defer { functions.freeList(object) }
        return crypto.date(functions.nextUpdate(object), functions)
    }

    private static func decoded(
        _ list: Data, _ crypto: LibcryptoContext, _ functions: RevocationFunctions
    ) -> LibcryptoContext.Object? {
        guard list.count <= largest, let empty = functions.makeList(crypto.context, nil) else { return nil }
        return crypto.decoded(list, functions.decodeList, functions.freeList, into: empty)
    }
}
