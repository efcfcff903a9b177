package engine

import (
	"appserver/core"
	"appserver/protocol"
)

// ThreadMetadataUpdate changes the metadata of a thread, loaded or not.
func (e *Engine) ThreadMetadataUpdate(to protocol.Caller, p *protocol.ThreadMetadataUpdateParams) error {
	switch {
	case p.GitInfo == nil:
		return protocol.Refuse(protocol.KindInvalidRequest, "thread metadata update must include at least one field")
	case *p.GitInfo == (protocol.ThreadMetadataGitInfoUpdateParams{}):
		return protocol.Refuse(protocol.KindInvalidRequest, "gitInfo must include at least one field")
	}
	return e.changeThread(to, p.ThreadID, core.SetMetadata{To: to, Git: *p.GitInfo})
}
