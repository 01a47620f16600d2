import SystemBus

/// A method of the Secret Service: what a program says in a call of it, and what the service does then.
protocol SecretMethod: Sendable {
    static var declaration: MethodDeclaration { get }
    /// Reads the arguments of a call, which has the declared signature.
    init(_ arguments: inout SecretArguments) throws
    /// - Parameters:
    ///   - client: The client for the program that calls.
    ///   - path: The object that is called. Its interface has the method.
    /// - Returns: Values of the declared types.
    func answer(in client: SecretClient, at path: SecretPath) throws -> [BusArgument]
}

/// What programs know of a method.
struct MethodDeclaration: Sendable {
    let interface: SecretInterface
    let name: String
    /// The types of the arguments by their names, in D-Bus's notation.
    let input: KeyValuePairs<String, String>
    let output: KeyValuePairs<String, String>

    init(
        _ interface: SecretInterface, _ name: String, _ input: KeyValuePairs<String, String> = [:],
        out output: KeyValuePairs<String, String> = [:]
    ) {
        (self.interface, self.name, self.input, self.output) = (interface, name, input, output)
    }

    var signature: String { input.map(\.value).joined() }
    /// Whether the answer has secrets.
    var isSecret: Bool { output.contains { $0.value.contains(TransferredSecret.type) } }
}

/// The list of the methods.
enum SecretMethods {
    /// In the order in which the introspection shows them.
    static let all: [any SecretMethod.Type] = [
        OpenSession.self, CreateCollection.self, SearchService.self, UnlockObjects.self, LockObjects.self,
        GetSecrets.self, ReadAlias.self, SetAlias.self,
        DeleteCollection.self, SearchCollection.self, CreateItem.self,
        DeleteItem.self, GetSecret.self, SetSecret.self,
        CloseSession.self,
        StartPrompt.self, DismissPrompt.self,
        GetProperty.self, GetProperties.self, SetProperty.self,
    ]

    /// Returns the method that a program calls, and checks that the types of the arguments are the declared ones.
    static func method(of request: BusRequest) throws(SecretServiceError) -> any SecretMethod.Type {
        guard let path = SecretPath(request.path) else { throw .noObject(request.path) }
        let interface = request.interface(at: path)
        let method = all.first {
            $0.declaration.name == request.member && $0.declaration.interface.rawValue == interface
        }
        guard let method else { throw .unknownMethod(request) }
        let signature = method.declaration.signature
        guard request.signature == signature else {
            throw .invalid("the arguments of \(request.member) are '\(signature)', and not '\(request.signature)'")
        }
        return method
    }
}
