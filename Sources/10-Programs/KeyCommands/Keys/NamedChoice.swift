import Bytes
import CommandKit
import StatusCodes

/// How a person's name for a key or a certificate becomes one of them.
struct NamedChoice {
    /// What is chosen, such as `key`.
    let kind: String
    /// The command that lists them all, without `keychain`.
    let list: String
    /// What tells apart those of one name.
    let digits: String

    /// Returns the only one that was found.
    ///
    /// - Parameter mark: What tells it apart: its digits and its access group.
    func one<Found>(
        of found: [Found], named name: String, mark: (Found) -> (digits: String, group: String)
    ) throws(Failure) -> Found {
        let quoted = "'\(name.escapedForTerminal)'"
        guard let first = found.first else {
            throw Failure(
                status: errSecItemNotFound, "there is no \(kind) \(quoted): `keychain \(list)` shows what there is")
        }
        guard found.count == 1 else {
            let choices = found.map { one in
                let mark = mark(one)
                return "\(mark.digits.prefix(16)) in '\(mark.group.escapedForTerminal)'"
            }
            throw Failure(
                status: errSecParam,
                "\(found.count) \(kind)s are called \(quoted): give the beginning of a \(digits) instead, or --group "
                    + "(\(choices.joined(separator: ", ")))")
        }
        return first
    }
}
