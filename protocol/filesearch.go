package protocol

// FuzzyFileSearchParams looks for files and directories below Roots whose path is like
// Query. A later search of the connection with the same CancellationToken ends this one.
type FuzzyFileSearchParams struct {
	Query             string   `json:"query"`
	Roots             []string `json:"roots"`
	CancellationToken *string  `json:"cancellationToken,omitempty"`
}

// FuzzyFileSearchResponse has the matching files, the best match first.
type FuzzyFileSearchResponse struct {
	Files []FuzzyFileSearchResult `json:"files"`
}

// FuzzyFileSearchResult is a path below a root, as the client wrote that. Indices are the
// characters of Path that fit, by their places. Scores compare within one answer only.
type FuzzyFileSearchResult struct {
	Root      string   `json:"root"`
	Path      string   `json:"path"`
	MatchType string   `json:"match_type" oneof:"file directory"`
	FileName  string   `json:"file_name"`
	Score     uint32   `json:"score"`
	Indices   []uint32 `json:"indices"`
}

// The values of FuzzyFileSearchResult.MatchType.
const (
	MatchFile      = "file"
	MatchDirectory = "directory"
)

// FuzzyFileSearchSessionStartParams begins a search session for several queries over the current
// files. SessionID is chosen by the client and unique within its connection. A running session with
// the same id ends.
type FuzzyFileSearchSessionStartParams struct {
	SessionID string   `json:"sessionId"`
	Roots     []string `json:"roots"`
}

// FuzzyFileSearchSessionUpdateParams asks a session something else.
type FuzzyFileSearchSessionUpdateParams struct {
	SessionID string `json:"sessionId"`
	Query     string `json:"query"`
}

// FuzzyFileSearchSessionStopParams ends a session.
type FuzzyFileSearchSessionStopParams struct {
	SessionID string `json:"sessionId"`
}

// FuzzyFileSearchSessionUpdatedNotification has the files that match the session's query so far.
type FuzzyFileSearchSessionUpdatedNotification struct {
	SessionID string                  `json:"sessionId"`
	Query     string                  `json:"query"`
	Files     []FuzzyFileSearchResult `json:"files"`
}

// NotificationMethod is fuzzyFileSearch/sessionUpdated.
func (FuzzyFileSearchSessionUpdatedNotification) NotificationMethod() string {
	return "fuzzyFileSearch/sessionUpdated"
}

// FuzzyFileSearchSessionCompletedNotification reports that the last sessionUpdated has all matches of
// the query.
type FuzzyFileSearchSessionCompletedNotification struct {
	SessionID string `json:"sessionId"`
}

// NotificationMethod is fuzzyFileSearch/sessionCompleted.
func (FuzzyFileSearchSessionCompletedNotification) NotificationMethod() string {
	return "fuzzyFileSearch/sessionCompleted"
}
