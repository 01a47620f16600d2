import Tokens

#if canImport(Security)
#error("a module named Security is in sight of a program that never asked for it")
#endif
precondition(!libraryCanImportSecurity)

print("subject \(try await exerciseTokens()), certificate of \(try issueCertificate().count) bytes")
