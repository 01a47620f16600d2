import Tokens

print("subject \(try await exerciseTokens()), certificate of \(try issueCertificate().count) bytes")
