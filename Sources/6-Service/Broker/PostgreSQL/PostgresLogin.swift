import Bytes
import FoundationEssentials

/// Why something is not what PostgreSQL's protocol has, or not what a rule allows.
package struct PostgresProblem: Error, Equatable {
    /// Without anything that a server or a program chose.
    package var reason: String

    package init(_ reason: String) { self.reason = reason }
}

/// The log-in at a PostgreSQL server that a rule is about.
package struct PostgresLogin: Codable, Sendable, Equatable {
    /// The only user.
    package var user: String
    /// The only database; nil for any.
    package var database: String?
    /// Whether a server that asks for the password itself gets it, over TLS. Others only get a proof that it is known.
    package var sendsPassword: Bool

    /// The port that PostgreSQL has at IANA.
    package static let port = 5_432
    /// The most bytes of a name. PostgreSQL cuts longer ones (NAMEDATALEN).
    private static let longestName = 63

    /// The beginnings of URLs that mean a log-in, and whether the server may get the password itself.
    private static let schemes = [
        ("postgres://", false), ("postgresql://", false), ("postgres+password://", true),
        ("postgresql+password://", true),
    ]

    /// Reads the part of a URL that says who logs in where.
    ///
    /// - Parameter text: `postgres://USER@HOST[:PORT][/DATABASE]`.
    /// - Returns: The log-in and the part with the server's name; nil for a URL of another kind.
    static func parse(_ text: String) throws(BrokerRule.Problem) -> (login: PostgresLogin, authority: String)? {
        let lower = text.lowercased()
        guard let (scheme, sendsPassword) = schemes.first(where: { lower.hasPrefix($0.0) }) else { return nil }
        let rest = text.dropFirst(scheme.count)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let place = rest[..<slash]
        // What is given is not repeated: it may have a password.
        guard let at = place.lastIndex(of: "@") else {
            throw BrokerRule.Problem("has a PostgreSQL server without a user: write \(scheme)USER@HOST/DATABASE")
        }
        guard !place[..<at].contains(":") else {
            throw BrokerRule.Problem(
                "has a password in the URL of a PostgreSQL server: write \(scheme)USER@HOST/DATABASE, and keep the "
                    + "password in the keychain")
        }
        guard let user = name(place[..<at]) else { throw wrongName("user") }
        var login = PostgresLogin(user: user, database: nil, sendsPassword: sendsPassword)
        let path = rest[slash...].dropFirst()
        if !path.isEmpty {
            guard !path.contains("/"), !path.contains("?"), let database = name(path) else {
                throw wrongName("database")
            }
            login.database = database
        }
        return (login, String(place[place.index(after: at)...]))
    }

    private static func name(_ text: Substring) -> String? {
        guard let name = BrokerDestination.decoded(String(text)), !name.isEmpty, name.utf8.count <= longestName,
            name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return nil }
        return name
    }

    private static func wrongName(_ kind: String) -> BrokerRule.Problem {
        BrokerRule.Problem(
            "has a PostgreSQL server with a \(kind) that has no name: 1 to \(longestName) bytes, with '%40' for '@', "
                + "and nothing behind the database")
    }

    /// The URL of the rule, as a person reads it.
    package func url(of host: String, _ port: Int) -> String {
        let name = BrokerDestination.urlHost(host)
        let number = port == Self.port ? "" : ":\(port)"
        let scheme = sendsPassword ? "postgres+password" : "postgres"
        return "\(scheme)://\(Self.escaped(user))@\(name)\(number)/\(database.map(Self.escaped) ?? "*")"
    }

    /// The URL by which a program reaches the broker.
    ///
    /// - Parameter port: Of the broker, on the loopback interface.
    package func url(atPort port: Int, placeholder: String) -> String {
        "postgres://\(Self.escaped(user)):\(Self.escaped(placeholder))@127.0.0.1:\(port)/"
            + "\(database.map(Self.escaped) ?? "")?sslmode=disable"
    }

    private static func escaped(_ text: String) -> String {
        String(decoding: SecretForms.percent(text.utf8), as: UTF8.self)
    }

    /// Decides about what a program asks for.
    ///
    /// - Returns: The parameters for the server.
    /// - Throws: ``PostgresProblem``, which says what the rule does not allow.
    package func parameters(for request: PostgresStartup.Request) throws(PostgresProblem) -> [PostgresParameter] {
        guard request.user == user else {
            throw PostgresProblem("the rule is for the user \(user), and the program asks for another one")
        }
        if let database, let wanted = request.database, wanted != database {
            throw PostgresProblem("the rule is for the database \(database), and the program asks for another one")
        }
        var parameters = [PostgresParameter("user", user)]
        // PostgreSQL takes the name of the user if there is none.
        parameters.append(PostgresParameter("database", database ?? request.database ?? user))
        for parameter in request.parameters where !["user", "database"].contains(parameter.name) {
            // Options of the protocol are between the program and the broker.
            guard !parameter.name.hasPrefix("_pq_.") else { continue }
            // A connection for replication reads all databases of the server, whatever the rule names.
            guard parameter.name != "replication" || ["false", "off", "no", "0"].contains(parameter.value) else {
                throw PostgresProblem("the broker makes no connection for replication")
            }
            parameters.append(parameter)
        }
        return parameters
    }
}
