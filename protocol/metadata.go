package protocol

import (
	"reflect"

	"github.com/tidwall/gjson"
)

// ThreadDeleteParams deletes a thread, loaded or not, archived or not. It must have no
// turn under way.
type ThreadDeleteParams struct {
	ThreadID string `json:"threadId"`
}

// ThreadDeletedNotification tells that a thread is gone, with all that was kept of it.
type ThreadDeletedNotification struct {
	ThreadID string `json:"threadId"`
}

// NotificationMethod is thread/deleted.
func (ThreadDeletedNotification) NotificationMethod() string { return "thread/deleted" }

// ThreadMetadataUpdateParams changes what is told of a thread.
type ThreadMetadataUpdateParams struct {
	ThreadID string                             `json:"threadId"`
	GitInfo  *ThreadMetadataGitInfoUpdateParams `json:"gitInfo,omitempty"`
}

// ThreadMetadataGitInfoUpdateParams changes the members of a GitInfo that are there; null
// clears one, as does the empty text, which stands for it here.
type ThreadMetadataGitInfoUpdateParams struct {
	Sha       *string `json:"sha,omitempty"`
	Branch    *string `json:"branch,omitempty"`
	OriginURL *string `json:"originUrl,omitempty"`
}

// UnmarshalJSON tells members that are null from those that are absent.
func (p *ThreadMetadataGitInfoUpdateParams) UnmarshalJSON(b []byte) error {
	members, err := objectMembers(gjson.ParseBytes(b))
	if err != nil {
		return err
	}
	if err := decodeFields(members, reflect.ValueOf(p).Elem()); err != nil {
		return err
	}
	for name, value := range map[string]**string{"sha": &p.Sha, "branch": &p.Branch, "originUrl": &p.OriginURL} {
		if in, found := members[name]; found && in.Type == gjson.Null {
			*value = new(string)
		}
	}
	return nil
}

// ThreadMetadataUpdateResponse shows the thread without its turns.
type ThreadMetadataUpdateResponse struct {
	Thread Thread `json:"thread"`
}

// ThreadMetadata is the payload of the line that keeps what is told of a thread from then
// on. Git is null where there is nothing to tell.
type ThreadMetadata struct {
	Git *StoredGitInfo `json:"git"`
}

// LineThreadMetadata is the type of a line with a ThreadMetadata.
const LineThreadMetadata = "thread_metadata"
