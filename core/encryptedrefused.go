package core

import (
	"appserver/platform/excerpt"
	"appserver/protocol"
)

// maxRefusalReason bounds the words of a provider in the rollout, in runes.
const maxRefusalReason = 300

// dropEncrypted sends the request again without encrypted content, if the provider could not read that. It reports
// whether it does. The items before an encrypted compaction are sent in its place.
func (s *step) dropEncrypted(err *ModelError) bool {
	if !err.Encrypted || !s.context.SendsEncrypted() {
		return false
	}
	provider := s.state.Settings.Provider
	s.record(protocol.LineEncryptedRefused,
		protocol.EncryptedRefused{Provider: provider, Reason: excerpt.FirstRunes(err.Message, maxRefusalReason)})
	s.out.Sync = true
	s.warn([]string{"Provider " + provider + " cannot read encrypted content that it made earlier in this conversation, for " +
		"example after a change of the account. The server does not send that content again. The provider said: " + err.Message})
	s.expandEncrypted(&s.active.env)
	s.contextChanged(nil)
	s.requestModel()
	return true
}
