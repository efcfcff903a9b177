package core

// Step applies an input. The package documentation states the order in which to use the output. The
// notification of the context comes last, because it shows the list as the step leaves it.
func (t *Thread) Step(stamp Stamp, in Input) Output {
	s := &step{Thread: t, Stamp: stamp}
	in.apply(s)
	s.checkTurn()
	s.recordWait()
	s.sendContextChange()
	return s.out
}

// sendContextChange sends the notification of contextChanged, and stores the removed items in the memory. During a
// turn, it sends new items as well.
func (s *step) sendContextChange() {
	if s.contextChanges {
		s.send(ContextChanged{Update: s.context.TakeUpdate(s.changes)})
		s.storeRemoved(s.changes)
		return
	}
	if s.isIdle() {
		return
	}
	if u, ok := s.context.TakeNewItems(); ok {
		s.send(ContextChanged{Update: u, OnlyNew: true})
	}
}
