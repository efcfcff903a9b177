package protocol

import (
	"reflect"

	"github.com/tidwall/gjson"
)

// ThreadDeleteParams deletes a thread, loaded or not, archived or not. The thread must have no
// active turn.
type ThreadDeleteParams struct {
	ThreadID string `json:"threadId"`
}

// ThreadDeletedNotification reports that a thread and its stored data were deleted.
type ThreadDeletedNotification struct {
	ThreadID string `json:"threadId"`
}

// NotificationMethod returns "thread/deleted".
func (ThreadDeletedNotification) NotificationMethod() string { return "thread/deleted" }

// ThreadMetadataUpdateParams changes the metadata of a thread.
type ThreadMetadataUpdateParams struct {
	ThreadID string                             `json:"threadId"`
	GitInfo  *ThreadMetadataGitInfoUpdateParams `json:"gitInfo,omitempty"`
}

// ThreadMetadataGitInfoUpdateParams changes the given members of a GitInfo. Null and "" clear a
// member.
type ThreadMetadataGitInfoUpdateParams struct {
	Sha       *string `json:"sha,omitempty"`
	Branch    *string `json:"branch,omitempty"`
	OriginURL *string `json:"originUrl,omitempty"`
}

// UnmarshalJSON distinguishes null from absent members.
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

// ThreadMetadataUpdateResponse has the thread without its turns.
type ThreadMetadataUpdateResponse struct {
	Thread Thread `json:"thread"`
}

// ThreadMetadata is the payload of the line that stores the metadata of a thread.
type ThreadMetadata struct {
	// Git is null if it is empty.
	Git *StoredGitInfo `json:"git"`
}

// LineThreadMetadata is the type of a line with a ThreadMetadata.
const LineThreadMetadata = "thread_metadata"
