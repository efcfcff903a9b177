package protocol

// FuzzyFileSearchParams looks for files and directories below Roots whose path is like
// Query. A later search of the connection with the same CancellationToken ends this one.
type FuzzyFileSearchParams struct {
	Query             string   `json:"query"`
	Roots             []string `json:"roots"`
	CancellationToken *string  `json:"cancellationToken,omitempty"`
}

// FuzzyFileSearchResponse is what was found, what fits best first.
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

// FuzzyFileSearchSessionStartParams begins a search that takes one query after the other. The
// files are those of this moment. The connection's own SessionID names it; one that has the
// name already ends.
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

// FuzzyFileSearchSessionUpdatedNotification is what a session has found for its query so
// far.
type FuzzyFileSearchSessionUpdatedNotification struct {
	SessionID string                  `json:"sessionId"`
	Query     string                  `json:"query"`
	Files     []FuzzyFileSearchResult `json:"files"`
}

// NotificationMethod is fuzzyFileSearch/sessionUpdated.
func (FuzzyFileSearchSessionUpdatedNotification) NotificationMethod() string {
	return "fuzzyFileSearch/sessionUpdated"
}

// FuzzyFileSearchSessionCompletedNotification tells that the last sessionUpdated has all that
// there is for the query.
type FuzzyFileSearchSessionCompletedNotification struct {
	SessionID string `json:"sessionId"`
}

// NotificationMethod is fuzzyFileSearch/sessionCompleted.
func (FuzzyFileSearchSessionCompletedNotification) NotificationMethod() string {
	return "fuzzyFileSearch/sessionCompleted"
}
