import Bytes
import FoundationEssentials

/// Where and how the broker puts one secret into a program's requests.
package struct BrokerRule: Codable, Sendable, Equatable {
    /// The variable in which the program finds the placeholder.
    package var variable: String
    /// The secret, as `keychain run` names it.
    package var reference: String
    /// The servers that get the secret; never empty.
    package var destinations: [BrokerDestination]
    /// Where in a request the placeholder may stand; empty for a log-in at PostgreSQL.
    package var places: [SecretPlace]
    /// The methods of requests that get it; empty for all.
    package var methods: [String]
    /// How many requests get it; nil for any number.
    package var times: Int?
    /// When the rule ends; nil for the end of the program.
    package var until: Date?
    /// The same as it is written: a time, or a duration.
    package var end: String?
    /// Whether a person is asked before the first use.
    package var isAsking: Bool
    /// The members of answers in JSON that are tokens, which the program gets placeholders for.
    package var keeps: [String]

    /// The longest name of a variable, in bytes: a person reads it.
    package static let longestVariable = 64

    /// What is wrong with a rule.
    package struct Problem: Error, Equatable, CustomStringConvertible {
        package let description: String

        package init(_ description: String) { self.description = description }
    }

    /// A rule that names no server yet.
    package init(variable: String, reference: String) {
        self.variable = variable
        self.reference = reference
        (destinations, places, methods, isAsking, keeps) = ([], [], [], false, [])
    }

    /// Reads a rule from a command line: `NAME=REFERENCE to URL…`, and words with which it is narrower.
    package init(_ text: String, now: Date = Date()) throws(Problem) {
        var words = text.split { " \n\t".contains($0) }.map(String.init)[...]
        guard let first = words.popFirst(), let equals = first.firstIndex(of: "=") else {
            throw Problem("does not begin with NAME=keychain://SERVICE/ACCOUNT")
        }
        self.init(
            variable: String(first[..<equals]), reference: String(first[first.index(after: equals)...]))
        var seen: Set<String> = []
        while let word = words.popFirst() {
            guard ["to", "at"].contains(word) || seen.insert(word).inserted else {
                throw Problem("has '\(word)' twice")
            }
            func value() throws(Problem) -> String {
                guard let value = words.popFirst() else { throw Problem("ends after '\(word)'") }
                return value
            }
            switch word {
            case "to": try add(server: try value())
            case "at": try dial(try value())
            case "in": for name in try value().split(separator: ",") { try add(place: String(name)) }
            case "methods": for name in try value().split(separator: ",") { try add(method: String(name)) }
            case "times":
                let number = try value()
                guard let count = Int(number) else { throw Self.wrong(times: number) }
                try limit(to: count)
            case "until": try end(at: try value(), now)
            case "ask": isAsking = true
            case "keeps": for name in try value().split(separator: ",") { try keep(String(name)) }
            default:
                throw Problem(
                    "has the word '\(word)': use 'to', 'at', 'in', 'methods', 'times', 'until', 'ask' and 'keeps'")
            }
        }
        try finish()
    }

    // MARK: The parts of a rule, wherever it is written

    package mutating func add(server text: String) throws(Problem) { destinations.append(try BrokerDestination(text)) }

    /// Sets the address to dial for the last server.
    package mutating func dial(_ text: String) throws(Problem) {
        guard !destinations.isEmpty else { throw Problem("has 'at' before 'to URL'") }
        let (address, host) = (try BrokerDestination.address(text), destinations[destinations.count - 1].host)
        // The certificate would be that of the address that is dialled.
        if let named = try? BrokerDestination.address(host), named != address {
            throw Problem("has 'at \(text)' for the address \(host): name the server that its certificate names")
        }
        destinations[destinations.count - 1].address = address
    }

    package mutating func add(place text: String) throws(Problem) { places.append(try SecretPlace(text)) }

    package mutating func add(method text: String) throws(Problem) { methods.append(try Self.method(text)) }

    /// - Parameter name: Of a member of an answer in JSON.
    package mutating func keep(_ name: String) throws(Problem) {
        guard (1...Self.longestVariable).contains(name.utf8.count), name.utf8.allSatisfy(SecretPlace.isTokenByte) else {
            throw Problem(
                "keeps '\(name)': use names of members of an answer, such as access_token, with up to "
                    + "\(Self.longestVariable) bytes")
        }
        keeps.append(name)
    }

    package mutating func limit(to count: Int) throws(Problem) {
        guard count > 0 else { throw Self.wrong(times: "\(count)") }
        times = count
    }

    /// - Parameter text: A time, or a duration from now.
    package mutating func end(at text: String, _ now: Date) throws(Problem) {
        until = try Self.end(text, now)
        end = text
    }

    /// Checks what a whole rule has, and fills in what is not said.
    package mutating func finish() throws(Problem) {
        guard variable.utf8.count <= Self.longestVariable else {
            throw Problem("names a variable with more than \(Self.longestVariable) bytes: choose a shorter name")
        }
        guard !destinations.isEmpty else { throw Problem("names no server: add 'to https://HOST'") }
        guard destinations.contains(where: { $0.login != nil }) else {
            if places.isEmpty { places = [.authorization] }
            return
        }
        guard destinations.count == 1 else {
            throw Problem("names a PostgreSQL server and another one: write a rule with a variable for each")
        }
        guard places.isEmpty, methods.isEmpty, keeps.isEmpty else {
            throw Problem("has 'in', 'methods' or 'keeps', which a log-in at PostgreSQL does not have: leave it out")
        }
    }

    /// The log-in that the rule is about; nil for a rule about requests of HTTP.
    package var login: PostgresLogin? { destinations.first?.login }

    private static func wrong(times: String) -> Problem {
        Problem("has 'times \(times)': use a number of 1 or more")
    }

    private static func method(_ name: String) throws(Problem) -> String {
        guard !name.isEmpty, name.utf8.allSatisfy({ ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A }) else {
            throw Problem("has '\(name)' as a method")
        }
        return name.uppercased()
    }

    /// Reads a time as in `2026-12-31T18:00:00Z`, or a duration as in `90s`, `30m`, `8h` and `7d`.
    private static func end(_ text: String, _ now: Date) throws(Problem) -> Date {
        // A person reads it as it is written.
        guard text.utf8.count <= 32 else {
            throw Problem(
                "has 'until' with more than 32 bytes: use a time as 2026-12-31T18:00:00Z, or a duration as 30m")
        }
        let digits = text.dropLast()
        if let last = text.last, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits),
            number > 0, number <= 100_000
        {
            let unit: Double? =
                switch last {
                case "s": 1
                case "m": 60
                case "h": 3_600
                case "d": 86_400
                default: nil
                }
            if let unit { return now.addingTimeInterval(Double(number) * unit) }
        }
        guard let time = try? Date(text, strategy: .iso8601) else {
            throw Problem("has 'until \(text)': use a time as 2026-12-31T18:00:00Z, or a duration as 30m")
        }
        guard time > now else { throw Problem("has 'until \(text)', which is over") }
        return time
    }

    /// Whether a request to this server is one that the rule is about.
    package func covers(_ request: BrokerRequest, now: Date = Date()) -> Bool {
        guard until.map({ now < $0 }) ?? true, methods.isEmpty || methods.contains(request.method) else { return false }
        return destinations.contains { $0.covers(request) }
    }
}

/// What the broker knows of a request before it decides about secrets.
package struct BrokerRequest: Sendable, Equatable {
    /// Whether it goes over TLS.
    package var isSecure: Bool
    /// In lower case, without a dot at its end.
    package var host: String
    package var port: Int
    package var method: String
    /// Without the query, as the program wrote it.
    package var path: String

    package init(isSecure: Bool, host: String, port: Int, method: String, path: String) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        self.method = method
        self.path = path
    }
}

/// Where in a request a placeholder may stand.
package enum SecretPlace: Codable, Sendable, Equatable, Hashable {
    /// The header `Authorization`: after a scheme, or as the user or the password of HTTP Basic.
    case authorization
    /// A header, by its name in lower case.
    case header(String)
    /// A part of the path.
    case path
    /// A value of the query.
    case query
    /// A value of a form (`application/x-www-form-urlencoded`).
    case form
    /// Text in a JSON body.
    case json
    /// A text message of a WebSocket, or text in one that is JSON.
    case websocket
    /// The key with which a client of Amazon Web Services signs a request.
    case aws
    /// The identifier of such a key, beside the signature.
    case awsID

    package init(_ word: String) throws(BrokerRule.Problem) {
        switch word {
        case "authorization": self = .authorization
        case "path": self = .path
        case "query": self = .query
        case "form": self = .form
        case "json": self = .json
        case "websocket": self = .websocket
        case "aws": self = .aws
        case "aws-id": self = .awsID
        default:
            guard word.hasPrefix("header:"), case let name = word.dropFirst(7).lowercased(),
                !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte)
            else {
                throw BrokerRule.Problem(
                    "has '\(word)' as a place: use authorization, header:NAME, path, query, form, json, "
                        + "websocket, aws or aws-id")
            }
            guard !Self.ofTheConnection.contains(name) else {
                throw BrokerRule.Problem("has the header '\(name)' as a place, which no rule may have")
            }
            self = name == "authorization" ? .authorization : .header(name)
        }
    }

    /// What a person reads.
    package var name: String {
        switch self {
        case .authorization: "header authorization"
        case .header(let name): "header \(name)"
        case .path: "path"
        case .query: "query"
        case .form: "form"
        case .json: "JSON"
        case .websocket: "WebSocket"
        case .aws: "signature for AWS"
        case .awsID: "name of the key for AWS"
        }
    }

    /// Headers that say where a message goes and where it ends, which a secret must not decide; and `Cookie`, of which
    /// no placeholder is the whole value.
    private static let ofTheConnection: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "te", "trailer", "upgrade", "proxy-authorization",
        "proxy-connection", "keep-alive", "expect", "cookie",
    ]

    /// RFC 9110, 5.6.2.
    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
