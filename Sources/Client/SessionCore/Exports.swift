// Value types of the client's public API that TLCP declares, because it uses them to encode and decode.
@_exported public import struct TLCP.FieldSet
@_exported public import enum TLCP.RealMaxBandwidth
@_exported public import enum TLCP.RealMaxFrequency
@_exported public import enum TLCP.RequestedBufferSize
@_exported public import enum TLCP.RequestedMaxBandwidth
@_exported public import enum TLCP.RequestedMaxFrequency
@_exported public import enum TLCP.RequestedSnapshot
@_exported public import enum TLCP.SubscriptionMode
