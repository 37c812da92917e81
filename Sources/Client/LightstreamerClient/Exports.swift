// Value types of the public API that other modules declare; only their public declarations are exported.
@_exported public import SessionCore
@_exported public import TLCPTransports
