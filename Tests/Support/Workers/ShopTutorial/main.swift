// Sources/Shop/main.swift
import Glibc
import Keychain

let secrets = Keychain(service: "com.example.shop", accessGroup: "shop", interaction: .forbidden)

// The present value comes first, and then each new one.
for try await password in secrets.values(String.self, for: "database.password") {
    if let password {
        print("connecting with a password of \(password.count) characters")
    } else {
        print("there is no password")
    }
    // Where the output is no terminal, such as the journal, `print` alone keeps lines back.
    fflush(nil)
}
