// The value types of the public face that live in other rooms; only their public declarations come along.
@_exported public import SessionCore
@_exported public import TLCPTransports
