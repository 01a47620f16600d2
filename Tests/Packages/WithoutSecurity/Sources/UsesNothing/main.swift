import Tokens

#if canImport(Security)
    let seesSecurity = true
#else
    let seesSecurity = false
#endif
print("program sees Security: \(seesSecurity); library sees Security: \(tokensSeeSecurity)")
print(try await exerciseTokens())
