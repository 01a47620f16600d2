// As on Apple's systems, a program that imports this module also sees the types that its functions use.
@_exported import Crypto
@_exported import KeychainServices
@_exported import LocalAuthenticationServices
