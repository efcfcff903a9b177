package core

import (
	"slices"

	"appserver/protocol"
)

// peerMail is a message that waits for the next model request of a turn.
type peerMail struct {
	PeerMail
	// triggers is set if the turn does not end before the model has the message.
	triggers bool
}

// addMails adds the messages that came since the last model request of the turn.
func (s *step) addMails() {
	for _, in := range s.active.mail {
		s.addMail(in)
	}
	s.active.mail = nil
}

func (s *step) addMail(in peerMail) {
	m := in.Message
	m.ID = "amsg_" + s.NewID()
	if !s.isIdle() {
		m.TurnID = s.active.id
	}
	s.record(protocol.LinePeerDelivery, protocol.PeerDelivery{TriggerTurn: in.triggers})
	s.itemOfThread(m.Item())
}

// hasTask reports whether a message waits that the model has to answer in this turn.
func (s *step) hasTask() bool {
	return slices.ContainsFunc(s.active.mail, func(in peerMail) bool { return in.triggers })
}

// showActivity shows the activity of an agent with a path as an item of the turn.
func (s *step) showActivity(id string, activity protocol.SubAgentActivityItem) {
	activity.ID = id
	item := s.newItem(&activity, s.Now)
	s.notifyStarted(item)
	s.completeItem(item, nil)
}
