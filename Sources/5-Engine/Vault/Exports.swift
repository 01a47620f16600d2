// Who works with the engine works with its interface.
@_exported import VaultInterface
