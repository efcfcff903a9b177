package core

// Follow tells an agent's thread that a client follows it, because the client has opened the thread that started the
// agent. The client gets the requests that no client has answered.
type Follow struct{ Conn uint64 }

func (in Follow) apply(s *step) { s.resendRequests(in.Conn) }
