// For programs that `import CryptoKit` unchanged: swift-crypto has Apple's names, and EnclaveKeys the rest of them.
@_exported import Crypto
@_exported import EnclaveKeys
