// Program.swift
import Keychain

/// Says who the program is. Call it before the first operation on the keychain.
func declareProgram() throws {
    try KeychainProgram.declare(
        identifier: "com.example.mail", accessGroups: ["TEAM.com.example.mail", "TEAM.com.example.shared"])
}
