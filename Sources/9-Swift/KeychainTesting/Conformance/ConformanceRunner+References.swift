import Bytes
import Foundation
import KeychainServices

extension ConformanceRunner {
    /// Nil when `operation` is none of those on keys, certificates, identities and access controls.
    func performReferenceOperation(
        _ operation: String, _ arguments: inout ConformanceArguments, _ values: ConformanceValues
    ) throws(ConformanceProblem) -> Outcome? {
        let parts = operation.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return nil }
        switch parts[0] {
        case "ac": return try performAccessControlOperation(parts[1], &arguments, values)
        case "cert": return try performCertificateOperation(parts[1], &arguments, values)
        case "identity": return try performIdentityOperation(parts[1], &arguments, values)
        case "key": return try performKeyOperation(parts[1], &arguments, values)
        case "p12": return try performExchangeOperation(parts[1], &arguments, values)
        default: return nil
        }
    }

    private func performAccessControlOperation(
        _ operation: String, _ arguments: inout ConformanceArguments, _ values: ConformanceValues
    ) throws(ConformanceProblem) -> Outcome? {
        guard operation == "create" else { return nil }
        let protection = try values.protectionObject(arguments.take("protection"))
        let flags = try ConformanceValues.flags(arguments.take("flags") ?? .array([]))
        var error: Unmanaged<CFError>?
        let control = SecAccessControlCreateWithFlags(nil, protection, flags, &error)
        return Outcome(status: Self.code(of: error), result: control)
    }

    private func performCertificateOperation(
        _ operation: String, _ arguments: inout ConformanceArguments, _ values: ConformanceValues
    ) throws(ConformanceProblem) -> Outcome? {
        if operation == "create" {
            let data = try Self.data("data", &arguments, values)
            return Outcome(result: SecCertificateCreateWithData(nil, data))
        }
        guard
            ["data", "summary", "commonName", "serial", "normalizedSubject", "normalizedIssuer", "publicKey", "email"]
                .contains(operation)
        else { return nil }
        let certificate = try Self.object("cert", SecCertificate.self, &arguments, values)
        switch operation {
        case "data": return Outcome(result: SecCertificateCopyData(certificate))
        case "summary": return Outcome(result: SecCertificateCopySubjectSummary(certificate))
        case "commonName":
            var name: CFString?
            let status = SecCertificateCopyCommonName(certificate, &name)
            return Outcome(status: Int(status), result: name)
        case "serial":
            var error: Unmanaged<CFError>?
            let serial = SecCertificateCopySerialNumberData(certificate, &error)
            return Outcome(status: Self.code(of: error), result: serial)
        case "normalizedSubject": return Outcome(result: SecCertificateCopyNormalizedSubjectSequence(certificate))
        case "normalizedIssuer": return Outcome(result: SecCertificateCopyNormalizedIssuerSequence(certificate))
        case "publicKey": return Outcome(result: SecCertificateCopyKey(certificate))
        default:
            var addresses: CFArray?
            let status = SecCertificateCopyEmailAddresses(certificate, &addresses)
            return Outcome(status: Int(status), result: addresses)
        }
    }

    private func performIdentityOperation(
        _ operation: String, _ arguments: inout ConformanceArguments, _ values: ConformanceValues
    ) throws(ConformanceProblem) -> Outcome? {
        switch operation {
        case "create":
            let certificate = try Self.object("certificate", SecCertificate.self, &arguments, values)
            let key = try Self.object("key", SecKey.self, &arguments, values)
            return Outcome(result: SecIdentityCreate(nil, certificate, key))
        case "certificate":
            let identity = try Self.object("identity", SecIdentity.self, &arguments, values)
            var certificate: SecCertificate?
            let status = SecIdentityCopyCertificate(identity, &certificate)
            return Outcome(status: Int(status), result: certificate)
        case "privateKey":
            let identity = try Self.object("identity", SecIdentity.self, &arguments, values)
            var key: SecKey?
            let status = SecIdentityCopyPrivateKey(identity, &key)
            return Outcome(status: Int(status), result: key)
        default: return nil
        }
    }

    private func performExchangeOperation(
        _ operation: String, _ arguments: inout ConformanceArguments, _ values: ConformanceValues
    ) throws(ConformanceProblem) -> Outcome? {
        guard operation == "import" else { return nil }
        let data = try Self.data("data", &arguments, values)
        let options = try values.dictionary(arguments.take("options") ?? .object([:]))
        var items: CFArray?
        let status = SecPKCS12Import(data, options, &items)
        return Outcome(status: Int(status), result: items)
    }

    // MARK: Arguments and errors

    static func data(
        _ name: String, _ arguments: inout ConformanceArguments, _ values: ConformanceValues
    ) throws(ConformanceProblem) -> NSData {
        let json = arguments.take(name)
        guard let json, let data = try values.object(json) as? NSData else {
            throw .malformed("data as '\(name)'", json)
        }
        return data
    }

    static func object<Object: AnyObject>(
        _ name: String, _ type: Object.Type, _ arguments: inout ConformanceArguments, _ values: ConformanceValues
    ) throws(ConformanceProblem) -> Object {
        let json = arguments.take(name)
        guard let json, let object = try values.object(json) as? Object else {
            throw .malformed("a \(type) as '\(name)'", json)
        }
        return object
    }

    static func code(of error: Unmanaged<CFError>?) -> Int {
        error.map { CFErrorGetCode($0.takeRetainedValue()) } ?? 0
    }
}
