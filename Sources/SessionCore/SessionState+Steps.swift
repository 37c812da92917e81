extension SessionState {
    /// The WebSocket that was being opened is open. Nil: none was.
    mutating func socketOpened() -> Bool {
        switch consume self {
        case .creating(var creation) where creation.step == .opening:
            creation.step = .greeting
            self = .creating(creation)
            return true
        case .bound(var binding) where binding.step == .opening:
            binding.step = .greeting
            self = .bound(binding)
            return true
        case .creating(let creation):
            self = .creating(creation)
            return false
        case .bound(let binding):
            self = .bound(binding)
            return false
        case .idle:
            self = .idle
            return false
        case .retrying(let pause):
            self = .retrying(pause)
            return false
        case .recovering(let recovery):
            self = .recovering(recovery)
            return false
        }
    }

    /// `WSOK` arrived. False: it was not waited for.
    mutating func greeted() -> Bool {
        switch consume self {
        case .creating(var creation):
            let isDue = creation.step == .greeting
            if isDue { creation.step = .asked }
            self = .creating(creation)
            return isDue
        case .bound(var binding):
            let isDue = binding.step == .greeting
            if isDue { binding.step = .asked }
            self = .bound(binding)
            return isDue
        case .idle:
            self = .idle
            return false
        case .retrying(let pause):
            self = .retrying(pause)
            return false
        case .recovering(let recovery):
            self = .recovering(recovery)
            return false
        }
    }

    /// The binding goes on to another step, on this connection. False: there is no binding.
    mutating func bindingMoved(to step: SessionBinding.Step, on connection: ConnectionID?) -> Bool {
        switch consume self {
        case .bound(var binding):
            binding.step = step
            binding.connection = connection
            self = .bound(binding)
            return true
        case .idle:
            self = .idle
            return false
        case .retrying(let pause):
            self = .retrying(pause)
            return false
        case .creating(let creation):
            self = .creating(creation)
            return false
        case .recovering(let recovery):
            self = .recovering(recovery)
            return false
        }
    }

    /// The recovery goes on to another step. False: there is no recovery.
    mutating func recoveryMoved(to step: Recovery.Step) -> Bool {
        switch consume self {
        case .recovering(var recovery):
            recovery.step = step
            self = .recovering(recovery)
            return true
        case .idle:
            self = .idle
            return false
        case .retrying(let pause):
            self = .retrying(pause)
            return false
        case .creating(let creation):
            self = .creating(creation)
            return false
        case .bound(let binding):
            self = .bound(binding)
            return false
        }
    }
}
