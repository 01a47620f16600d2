import Access
import ArgumentParser
import Bytes
import CommandKit
import FoundationEssentials
import PasswordGeneration
import StatusCodes
import VaultInterface

struct InviteCommand: DocumentedCommand {
    static let summary = "Invite another machine: prints the words that it needs."
    static let details = """
        Whoever knows the words may ask to join, and a person at a member still has to approve it. Say them, or send \
        them on a way that you trust. They work for as many machines as --count says, until --hours are over, or until \
        `keychain circle end`.

        With --unattended no person is asked: any member that may invite, and that has the groups, admits whoever knows \
        the words. Give such words an early end, and machines that nobody watches only what they need (--guest, \
        --group).

        With --require-attestation, a TPM has to attest that it made the keys of the machine and never lets them out. \
        The vault there has to be in a TPM 2.0. --attester names the TPMs, as `keychain key attest` prints it there; with \
        --unattended it is needed, because nobody compares.
        """
    static let examples = [
        Example("Your own second machine", "keychain circle invite"),
        Example(
            "Fifty servers that come and go without a person",
            "keychain circle invite --count 50 --guest --group web --unattended"),
        Example("With one of its machines in mind", "keychain circle invite --require-attestation"),
    ]
    static let configuration: CommandConfiguration = documented("invite")

    @Option(help: ArgumentHelp("How many machines may join with the words.", valueName: "number"))
    var count: UInt16 = 1

    @Option(help: ArgumentHelp("How long the words work, in hours.", valueName: "hours"))
    var hours: Int = 24

    @Flag(help: "The machine may change items, and neither invite nor remove others.")
    var guest = false

    @Option(
        help: ArgumentHelp(
            "An access group that the machines get; may be given several times. Without it, the person who approves decides, and "
                + "with --unattended they get all groups of this machine.", valueName: "group"))
    var group: [String] = []

    @Flag(help: "Ask no person: a member admits whoever knows the words.")
    var unattended = false

    @Flag(help: "A TPM has to attest the keys of each machine.")
    var requireAttestation = false

    @Option(
        help: ArgumentHelp(
            "The name of the attestation key of a TPM that may attest; may be given several times.", valueName: "digits"
        ))
    var attester: [String] = []

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var words: String
    }

    private var attesters: [Data] {
        attester.compactMap { [UInt8](hexadecimal: $0.utf8) }.filter { $0.count == 34 }.map { Data($0) }
    }

    func validate() throws {
        guard count > 0 else { throw ValidationError("--count takes a number from 1 on") }
        guard (1...8_760).contains(hours) else { throw ValidationError("--hours takes 1 to 8760") }
        guard attesters.count == attester.count else {
            throw ValidationError("--attester takes the 68 digits that `keychain key attest` prints")
        }
        guard attester.isEmpty || requireAttestation else {
            throw ValidationError("--attester goes with --require-attestation")
        }
        guard !unattended || !requireAttestation || !attester.isEmpty else {
            throw ValidationError(
                "without a person, an attestation proves something only if the TPMs are known: name each with --attester"
            )
        }
    }

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let travel = try CircleTravel(session)
        let rights: UInt8 = guest ? 8 : 15
        let flags: UInt8 = (requireAttestation ? 1 : 0) | (unattended ? 2 : 0)
        let made = try session.perform(
            ChangeCircle(
                .invite(
                    count: count, seconds: Int64(hours) * 3_600, rights: rights, flags: flags, groups: group,
                    attesters: attesters)))
        guard let secret = made.secret else { throw Failure(VaultError.memoryUnavailable) }
        travel.carry()
        let words = secret.withUnsafeBytes { WordCode.words(for: Array($0)) }.joined(separator: " ")
        if json { return try StandardOutput.write(json: Answer(words: words)) }
        try StandardOutput.write(line: words)
        if unattended {
            CommandNote.show(
                "whoever knows these words gets in: keep them like a secret, and end them with `keychain circle end`")
        }
    }
}

extension CircleInvitation {
    /// The digits by which people name it.
    var digits: String { String(identifier.hexadecimal().prefix(8)) }
}

struct EndInvitationCommand: DocumentedCommand {
    static let summary = "End an invitation: its words admit nobody any more."
    static let details = """
        `keychain circle list` shows the open invitations. Machines that joined already stay members. When a member is \
        removed, the invitations that it made end.
        """
    static let examples = [Example("After the last server came", "keychain circle end 5d1be40d")]
    static let configuration: CommandConfiguration = documented("end")

    @Argument(help: "The first digits of the invitation; may be left out if only one is open.")
    var invitation: String?

    @OptionGroup var passcode: PasscodeInput

    func validate() throws {
        guard invitation?.utf8.count ?? 4 >= 4 else {
            throw ValidationError("give four digits of the invitation or more")
        }
    }

    func run() throws {
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let travel = try CircleTravel(session)
        travel.carry()
        let open = try session.perform(ReadCircle()).invitations
        let found = open.filter { open in
            invitation.map { open.identifier.hexadecimal().hasPrefix($0.lowercased()) } ?? true
        }
        guard let first = found.first else {
            throw Failure(
                status: errSecItemNotFound,
                invitation.map { "no open invitation begins with '\($0.escapedForTerminal)'" }
                    ?? "there is no open invitation")
        }
        guard found.count == 1 else {
            throw Failure(
                status: errSecParam,
                "\(found.count) invitations are open (\(found.map(\.digits).joined(separator: ", "))): name one")
        }
        try session.perform(ChangeCircle(.end(invitation: first.identifier)))
        travel.carry()
    }
}
