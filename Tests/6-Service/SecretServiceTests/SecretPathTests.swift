import Testing

@testable import SecretService

/// The paths of the objects.
@Suite struct SecretPathTests {
    private static let root = "/org/freedesktop/secrets"

    @Test(arguments: [
        (SecretPath.service, "", SecretInterface.service), (.collection("login"), "/collection/login", .collection),
        (.item(collection: "a_b", id: "Z9"), "/collection/a_b/Z9", .item),
        (.alias("default", item: nil), "/aliases/default", .collection),
        (.alias("default", item: "1"), "/aliases/default/1", .item), (.session("s1"), "/session/s1", .session),
        (.prompt("p12"), "/prompt/p12", .prompt),
    ])
    func objects(_ path: SecretPath, _ rest: String, _ interface: SecretInterface) {
        #expect(SecretPath(Self.root + rest) == path)
        #expect(path.text == Self.root + rest)
        #expect(path.interface == interface)
    }

    @Test(arguments: [
        "/", "/collection", "/collection/", "/collection//a", "/collection/a/", "/collection/a/b/c", "/aliases",
        "/aliases/a/b/c", "/session", "/session/s1/x", "/prompt", "/prompt/p1/x", "/other/a", "/Collection/a",
        "/collection/a-b", "/collection/ä", "/collection/a b", "/collection/a.b", "/collection/a\0", "x",
        "//collection/a",
        "/collection/../login",
    ])
    func otherPaths(_ rest: String) {
        #expect(SecretPath(Self.root + rest) == nil)
        #expect(SecretPath(rest) == nil)
    }

    @Test func onlyTheWholeRootCounts() {
        for path in ["", "/org/freedesktop", "org/freedesktop/secrets", "/org/freedesktop/secretscollection/a"] {
            #expect(SecretPath(path) == nil)
        }
        #expect(SecretPath(SecretPath.none) == nil)
    }

    /// Letters and digits stay, and other bytes are in hexadecimal.
    @Test(arguments: [
        ("My Keyring", "My_5fKeyring"), ("a-b.c/d", "a_2db_2ec_5fd"), ("Ü", "_c3_9c"), ("under_score", "under_5fscore"),
        ("login", "login"), ("", ""),
    ])
    func namesOfLabels(_ label: String, _ name: String) {
        #expect(SecretPath.name(of: label) == name)
        #expect(SecretPath.isName(name) == !label.isEmpty)
    }
}
