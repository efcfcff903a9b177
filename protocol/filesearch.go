package protocol

// FuzzyFileSearchParams searches for files and directories below Roots whose paths match a query.
type FuzzyFileSearchParams struct {
	Query string   `json:"query"`
	Roots []string `json:"roots"`
	// CancellationToken identifies a series of searches. A later search of the connection with the
	// same token ends this one.
	CancellationToken *string `json:"cancellationToken,omitempty"`
}

// FuzzyFileSearchResponse has the matching files, the best match first.
type FuzzyFileSearchResponse struct {
	Files []FuzzyFileSearchResult `json:"files"`
}

// FuzzyFileSearchResult is a path below a root.
type FuzzyFileSearchResult struct {
	// Root is the root in the client's spelling.
	Root      string `json:"root"`
	Path      string `json:"path"`
	MatchType string `json:"match_type" oneof:"file directory"`
	FileName  string `json:"file_name"`
	// Score is comparable within one response only.
	Score uint32 `json:"score"`
	// Indices are the positions of the matching characters in Path.
	Indices []uint32 `json:"indices"`
}

// The values of FuzzyFileSearchResult.MatchType.
const (
	MatchFile      = "file"
	MatchDirectory = "directory"
)

// FuzzyFileSearchSessionStartParams starts a search session for several queries over the current
// files. A running session with the same id ends.
type FuzzyFileSearchSessionStartParams struct {
	// SessionID is an id of the client, unique within its connection.
	SessionID string   `json:"sessionId"`
	Roots     []string `json:"roots"`
}

// FuzzyFileSearchSessionUpdateParams sets the query of a session.
type FuzzyFileSearchSessionUpdateParams struct {
	SessionID string `json:"sessionId"`
	Query     string `json:"query"`
}

// FuzzyFileSearchSessionStopParams ends a session.
type FuzzyFileSearchSessionStopParams struct {
	SessionID string `json:"sessionId"`
}

// FuzzyFileSearchSessionUpdatedNotification has the files that match the session's query until now.
type FuzzyFileSearchSessionUpdatedNotification struct {
	SessionID string                  `json:"sessionId"`
	Query     string                  `json:"query"`
	Files     []FuzzyFileSearchResult `json:"files"`
}

// NotificationMethod returns "fuzzyFileSearch/sessionUpdated".
func (FuzzyFileSearchSessionUpdatedNotification) NotificationMethod() string {
	return "fuzzyFileSearch/sessionUpdated"
}

// FuzzyFileSearchSessionCompletedNotification reports that the last sessionUpdated has all matches of
// the query.
type FuzzyFileSearchSessionCompletedNotification struct {
	SessionID string `json:"sessionId"`
}

// NotificationMethod returns "fuzzyFileSearch/sessionCompleted".
func (FuzzyFileSearchSessionCompletedNotification) NotificationMethod() string {
	return "fuzzyFileSearch/sessionCompleted"
}
