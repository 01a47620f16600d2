import SystemBus

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

    /// About how many bytes of memory the answer takes until the program has read it.
    var size: Int { values.reduce(0) { $0 + $1.size } * 2 }
}

extension BusPeer {
    func reply(to call: BusCall, with result: Result<SecretAnswer, SecretServiceError>) throws(BusError) {
        switch result {
        case .success(let answer): try reply(to: call, answer.values, isSecret: answer.isSecret)
        case .failure(let failure): try refuse(call, failure.name, failure.message)
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
