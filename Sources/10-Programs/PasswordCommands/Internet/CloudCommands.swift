import ArgumentParser
import Bytes
import CommandKit
import KeychainModel
import StatusCodes
import VaultInterface

/// The keys of a profile for the AWS tools (https://docs.aws.amazon.com/cli/latest/userguide, `credential_process`).
struct AWSCommand: DocumentedCommand {
    static let summary = "Print the keys of an AWS profile for credential_process."
    static let details = """
        The secret access key is the password of the service 'aws' whose account is the profile. Its attribute \
        access-key-id has the other half.

        In ~/.aws/config: credential_process = keychain aws default
        """
    static let examples = [
        Example("Store the keys", "keychain set aws default --attribute access-key-id=AKIAEXAMPLE"),
        Example("What the tools run", "keychain aws default"),
    ]
    static let configuration: CommandConfiguration = documented("aws")
    private static let identifier = "access-key-id"

    @Argument(help: "The profile.")
    var profile = "default"

    @OptionGroup var passcode: PasscodeInput

    private struct Answer: Encodable {
        var Version = 1
        var AccessKeyId: String
        var SecretAccessKey: String
        var Expiration: String?
    }

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let item = try PasswordSearch(service: "aws", account: profile).one(in: session, includingValues: true)
        guard let identifier = item.customAttributes[Self.identifier] else {
            throw Failure(
                status: errSecParam,
                "the password has no attribute \(Self.identifier): store it with `keychain set aws "
                    + "\(profile.escapedForTerminal) --attribute \(Self.identifier)=…`")
        }
        try StandardOutput.write(
            json: Answer(
                AccessKeyId: identifier, SecretAccessKey: try item.textValue(),
                Expiration: item.expiry.date.map { Timestamp($0).iso8601 }))
    }
}

/// A token for Kubernetes' tools (https://kubernetes.io/docs/reference/config-api/client-authentication.v1).
struct KubeCommand: DocumentedCommand {
    static let summary = "Print a token for kubectl as an exec credential."
    static let details = """
        The token is a password of the keychain. In the kubeconfig's user: exec, with apiVersion \
        client.authentication.k8s.io/v1, command keychain, args kube, the service and the account, and \
        interactiveMode IfAvailable.
        """
    static let examples = [Example("What kubectl runs", "keychain kube cluster.example.org admin")]
    static let configuration: CommandConfiguration = documented("kube")

    @OptionGroup var name: PasswordName
    @OptionGroup var passcode: PasscodeInput

    private struct Answer: Encodable {
        struct Status: Encodable {
            var token: String
            var expirationTimestamp: String?
        }

        var apiVersion = "client.authentication.k8s.io/v1"
        var kind = "ExecCredential"
        var status: Status
    }

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let item = try PasswordSearch(service: name.service, account: name.account)
            .one(in: session, includingValues: true)
        try StandardOutput.write(
            json: Answer(
                status: .init(
                    token: try item.textValue(), expirationTimestamp: item.expiry.date.map { Timestamp($0).iso8601 })))
    }
}

extension StoredItem {
    /// The value, which has to be text.
    fileprivate func textValue() throws -> String {
        guard let value, let text = String(validating: value, as: UTF8.self) else {
            throw Failure(status: errSecDecode, "the password is not text, which JSON needs")
        }
        return text
    }
}
