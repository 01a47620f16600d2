import FoundationEssentials
import SystemBus
import VaultInterface

/// The vault for one program.
struct SecretAccess {
    /// The vault with what the program may do now. New items go to the first group of its client.
    let session: () throws(VaultError) -> VaultSession
    /// The name of the program, for a person.
    let name: String
}

/// What a program asks of the service, with the arguments.
struct SecretCall: Sendable {
    let request: BusRequest
    var arguments: [BusValue] = []

    var path: String { request.path }
    var interface: String { request.interface }
    var member: String { request.member }
}

/// What a program gets for a call.
struct SecretAnswer: Sendable {
    var values: [BusArgument] = []
    var isSecret = false
    /// What goes into the file that is among the call's arguments.
    var written: Data?

    /// About how many bytes of memory the answer takes until the program has read it.
    var size: Int { values.reduce(0) { $0 + $1.size } * 2 }
}

extension FrontOrder {
    init(_ number: UInt32, _ result: Result<SecretAnswer, SecretServiceError>) {
        switch result {
        case .success(let answer):
            self = .answer(number, answer.values, isSecret: answer.isSecret, written: answer.written)
        case .failure(let failure): self = .refusal(number, name: failure.name, message: failure.message)
        }
    }
}

extension SecretAnswer {
    static func result(_ body: () throws -> SecretAnswer) -> Result<SecretAnswer, SecretServiceError> {
        do {
            return .success(try body())
        } catch {
            return .failure(SecretServiceError(error))
        }
    }
}

extension BusRequest {
    /// Checks that the service has the method, and that the arguments have its types.
    func check() throws(SecretServiceError) {
        if interface != Introspection.introspectable { _ = try SecretMethods.method(of: self) }
    }

    /// The interface that is asked; the object's own if the caller names none.
    func interface(at path: SecretPath) -> String { interface.isEmpty ? path.interface.rawValue : interface }

    /// Whether the call or its answer can be long, so that only a few are answered at a time.
    var isLong: Bool { signature.contains("a") || ["Get", "GetAll", "GetSecret", "Introspect"].contains(member) }
}
