import ArgumentParser
import Broker
import CommandKit

/// The rules by which a broker uses secrets, as a person names them.
struct BrokerChoice: ParsableArguments {
    @Option(
        name: .customLong("broker"),
        help: ArgumentHelp(
            "Have a secret put into requests to a server, for a placeholder that is all that is given away: "
                + "'NAME=REFERENCE to URL'.", valueName: "rule"))
    var rules: [String] = []

    @Option(
        help: ArgumentHelp(
            "Use the rules of a project as --broker does: of .keychain-broker.toml in this folder, which `keychain "
                + "broker approve` has to approve.", valueName: "folder"), completion: .directory)
    var project: String?

    @Option(
        name: .customLong("broker-authority"),
        help: ArgumentHelp(
            "A file in PEM with certificates of authorities that servers may have, beside those of the system.",
            valueName: "path"), completion: .file())
    var authority: String?

    /// Whether there are rules.
    var isGiven: Bool { !rules.isEmpty || project != nil }

    /// The file of the project, read once: a program that runs later may write it.
    func file() throws -> ProjectFile? { try project.map { try ProjectFile(at: $0) } }

    /// Checks that a person can be asked where a rule wants that.
    func validate(_ passcode: PasscodeInput) throws {
        guard passcode.descriptor == nil || !rules.contains(where: { $0.split(separator: " ").contains("ask") }) else {
            throw ValidationError("with --passcode-fd nobody is asked: leave it out, or 'ask' in the rule")
        }
    }

    /// The same, for rules that were read.
    func validate(_ brokered: BrokeredSecrets, _ passcode: PasscodeInput) throws {
        guard passcode.descriptor == nil || !brokered.rules.contains(where: \.rule.isAsking) else {
            throw Failure.usage("with --passcode-fd nobody is asked: leave it out, because a rule of the project asks")
        }
    }
}
