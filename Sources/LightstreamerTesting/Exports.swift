// Faults and counts of the server; only the public declarations of the module are exported.
@_exported public import DemoServer
