package protocol

// The fs methods take absolute paths of the machine that the server runs on, and follow
// links in them. They act for the client's user: no sandbox policy holds for them.

// FsReadFileParams names a file to read.
type FsReadFileParams struct {
	Path string `json:"path"`
}

// FsReadFileResponse has the content of a file, in base64.
type FsReadFileResponse struct {
	DataBase64 string `json:"dataBase64"`
}

// FsWriteFileParams gives a file another content, in base64, or makes it.
type FsWriteFileParams struct {
	Path       string `json:"path"`
	DataBase64 string `json:"dataBase64"`
}

// FsCreateDirectoryParams creates a directory. Recursive, true by default, also creates its parents
// and accepts an existing directory.
type FsCreateDirectoryParams struct {
	Path      string `json:"path"`
	Recursive *bool  `json:"recursive,omitempty"`
}

// FsGetMetadataParams names what to look at.
type FsGetMetadataParams struct {
	Path string `json:"path"`
}

// FsGetMetadataResponse describes the file at a path. For a link it describes the target, except for
// IsSymlink. Times are in Unix milliseconds, or 0 if unknown.
type FsGetMetadataResponse struct {
	IsDirectory  bool  `json:"isDirectory"`
	IsFile       bool  `json:"isFile"`
	IsSymlink    bool  `json:"isSymlink"`
	CreatedAtMs  int64 `json:"createdAtMs"`
	ModifiedAtMs int64 `json:"modifiedAtMs"`
}

// FsReadDirectoryParams names a directory to list.
type FsReadDirectoryParams struct {
	Path string `json:"path"`
}

// FsReadDirectoryResponse lists the direct entries of a directory, sorted by name.
type FsReadDirectoryResponse struct {
	Entries []FsReadDirectoryEntry `json:"entries"`
}

// FsReadDirectoryEntry is a name in a directory, and what it leads to. Links that lead
// nowhere are not listed.
type FsReadDirectoryEntry struct {
	FileName    string `json:"fileName"`
	IsDirectory bool   `json:"isDirectory"`
	IsFile      bool   `json:"isFile"`
}

// FsRemoveParams removes a file, a link or a directory. Recursive, true by default, removes
// what is in a directory; Force, true by default, takes it that there is nothing.
type FsRemoveParams struct {
	Path      string `json:"path"`
	Recursive *bool  `json:"recursive,omitempty"`
	Force     *bool  `json:"force,omitempty"`
}

// FsCopyParams copies a file, a link or, with Recursive, a directory. A file takes the place
// of another; a directory is merged into one that is there.
type FsCopyParams struct {
	SourcePath      string `json:"sourcePath"`
	DestinationPath string `json:"destinationPath"`
	Recursive       bool   `json:"recursive,omitempty"`
}

// FsWatchParams subscribes to changes of a file, or of a directory and its direct entries. WatchID is
// chosen by the client and unique within its connection.
type FsWatchParams struct {
	WatchID string `json:"watchId"`
	Path    string `json:"path"`
}

// FsWatchResponse has the watched path.
type FsWatchResponse struct {
	Path string `json:"path"`
}

// FsUnwatchParams ends a watch.
type FsUnwatchParams struct {
	WatchID string `json:"watchId"`
}

// FsChangedNotification has the paths that changed below a watch since the last notification. It has
// the path of the watch itself if too many paths changed.
type FsChangedNotification struct {
	WatchID      string   `json:"watchId"`
	ChangedPaths []string `json:"changedPaths"`
}

// NotificationMethod is fs/changed.
func (FsChangedNotification) NotificationMethod() string { return "fs/changed" }
