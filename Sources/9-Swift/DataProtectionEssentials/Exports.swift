// For `Argon2Cost`, the one thing in it that is public.
@_exported import KeychainModel
