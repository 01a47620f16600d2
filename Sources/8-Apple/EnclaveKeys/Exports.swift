// As on Apple's systems, who imports this sees the types that its functions speak of.
@_exported import Crypto
@_exported import KeychainServices
@_exported import LocalAuthenticationServices
