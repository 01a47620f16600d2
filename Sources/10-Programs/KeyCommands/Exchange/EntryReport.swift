import CommandKit
import ExchangeFormats
import StatusCodes

/// Says what became of the entries of a file.
struct EntryReport {
    private let outcomes: [EntryImport.Outcome]
    private let isTrial: Bool

    init(_ outcomes: [EntryImport.Outcome], isTrial: Bool) { (self.outcomes, self.isTrial) = (outcomes, isTrial) }

    private struct Answer: Encodable {
        var dryRun: Bool
        var new: Int
        var changed: Int
        var same: Int
        var different: Int
        var refused: Int
        var leftOut: Int
        var entries: [EntryImport.Outcome]
    }

    private func count(_ result: EntryImport.Outcome.Result) -> Int { outcomes.count { $0.result == result } }

    /// - Throws: ``Failure`` if something was not taken.
    func show(asJSON isJSON: Bool) throws {
        if isJSON {
            try StandardOutput.write(
                json: Answer(
                    dryRun: isTrial, new: count(.new), changed: count(.changed), same: count(.same),
                    different: count(.different), refused: count(.refused), leftOut: count(.leftOut),
                    entries: outcomes))
        } else {
            // What went as it should is counted; of a trial everything is shown.
            let rows = outcomes.filter { isTrial || [.different, .refused, .leftOut].contains($0.result) }.map {
                outcome in
                [
                    word(outcome.result), outcome.title.escapedForTerminal, (outcome.account ?? "").escapedForTerminal,
                    (outcome.reason ?? "").escapedForTerminal,
                ]
            }
            if !rows.isEmpty {
                try StandardOutput.write(Table(rows, heads: ["what became of it", "entry", "account", "why"]))
            }
            try StandardOutput.write(line: summary)
        }
        guard count(.refused) == 0 else {
            throw Failure(
                status: errSecDecode, exitCode: ExitStatus.other,
                "\(count(.refused)) \(count(.refused) == 1 ? "entry was" : "entries were") not taken: see above why")
        }
    }

    private func word(_ result: EntryImport.Outcome.Result) -> String {
        switch result {
        case .new: isTrial ? "would be stored" : "stored"
        case .changed: isTrial ? "would be replaced" : "replaced"
        case .same: "here already"
        case .different: "different, left as it is here"
        case .refused: "not taken"
        case .leftOut: "left out"
        }
    }

    private var summary: String {
        let all: [EntryImport.Outcome.Result] = [.new, .changed, .same, .different, .refused, .leftOut]
        let parts = all.filter { count($0) > 0 }.map { "\(count($0)) \(word($0))" }
        return parts.isEmpty ? "the file has no entries" : parts.joined(separator: ", ")
    }
}

extension Failure {
    init(_ error: ExchangeError) {
        switch error {
        case .malformed(let format, let reason):
            self.init(
                status: errSecDecode, "the file is no export that can be read as '\(format.rawValue)': \(reason)")
        case .unknown:
            self.init(
                status: errSecDecode,
                "the file is of no format that is known: name it with --format, or export another one")
        case .needsPassword:
            self.init(
                status: errSecInteractionNotAllowed,
                "the file is encrypted, and there is no terminal to ask for its password at: give --passphrase-fd")
        case .wrongPassword: self.init(status: errSecAuthFailed, "the password of the file is wrong: try again")
        case .wrongPasswordOrKeyFile:
            self.init(
                status: errSecAuthFailed,
                "the password of the file is wrong, or its key file is missing or another one: try again, and name the "
                    + "key file with --key-file if it has one")
        case .tooExpensive:
            self.init(
                status: errSecDecode,
                "the file asks for more work or memory for its password than any program uses: export it again")
        case .tooLarge:
            self.init(status: errSecDataTooLarge, "the file has too many entries to read at once: export fewer")
        case .missing(let name):
            self.init(status: errSecUnimplemented, "the file needs \(name), which is not here: install it")
        }
    }
}
