import Access
import Frames
import KeychainModel

/// Replies what an operator should know although the vault works: what will not work later, what the daemon did not
/// take over, and what guessing the passcode costs. Nothing for a client that may neither unlock nor administer.
package struct ReadCondition: UnaryOperation, EmptyWireValue {
    package init() {}

    package typealias Reply = VaultCondition

    package static let number: UInt8 = 41
    package static let name = "condition"
    package static let traits: OperationTraits = [.repeatable]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.maintenance.condition(self, as: client)
    }
}

/// Something that an operator should mend while the vault still works.
package struct VaultProblem: Sendable, Equatable {
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// The vault cannot be opened again: its device secret is gone, or another file is in its place.
        case deviceSecret = 1
        /// The daemon's entitlements file has a mistake, and the rules before it stay in force.
        case entitlements = 2
        /// The processes that speak the protocol of the Secret Service are gone.
        case secretService = 3

        /// The kind in `keychain status --json`.
        package var name: String {
            switch self {
            case .deviceSecret: "device-secret"
            case .entitlements: "entitlements"
            case .secretService: "secret-service"
            }
        }
    }

    package var kind: Kind
    /// What happened, where, and what to do.
    package var text: String

    package init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }
}

/// The reply of ``ReadCondition``.
package struct VaultCondition: WireValue, Equatable {
    package var problems: [VaultProblem]
    /// What one try of the passcode costs; nil if none is set, or if the client may not know.
    package var cost: Argon2Cost?
    /// The number of wrong passcodes in a row that erases everything; nil for never.
    package var eraseAfter: UInt8?

    package init(problems: [VaultProblem] = [], cost: Argon2Cost? = nil, eraseAfter: UInt8? = nil) {
        (self.problems, self.cost, self.eraseAfter) = (problems, cost, eraseAfter)
    }

    package func encode(to buffer: FrameBuffer) {
        buffer.append(list: problems) { problem in buffer.write(problem.kind.rawValue, problem.text) }
        buffer.write(cost?.memoryKiB, cost?.passes, eraseAfter)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        problems = []
        for _ in 0..<(try reader.count(limit: WireLimits.reports)) {
            let kind = try reader.coded("problem", VaultProblem.Kind.init(rawValue:))
            problems.append(VaultProblem(kind, try reader.read()))
        }
        let (memory, passes) = (try reader.read(UInt32?.self), try reader.read(UInt32?.self))
        if let memory, let passes { cost = Argon2Cost(memoryKiB: memory, passes: passes) }
        eraseAfter = try reader.read()
    }
}
