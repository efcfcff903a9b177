package protocol

// The fs methods take absolute paths of the machine that the server runs on, and follow
// links in them. They act for the client's user: no sandbox policy holds for them.

// FsReadFileParams reads a file.
type FsReadFileParams struct {
	Path string `json:"path"`
}

// FsReadFileResponse has the content of a file.
type FsReadFileResponse struct {
	// DataBase64 is the content, in base64.
	DataBase64 string `json:"dataBase64"`
}

// FsWriteFileParams replaces the content of a file, or creates the file.
type FsWriteFileParams struct {
	Path string `json:"path"`
	// DataBase64 is the content, in base64.
	DataBase64 string `json:"dataBase64"`
}

// FsCreateDirectoryParams creates a directory.
type FsCreateDirectoryParams struct {
	Path string `json:"path"`
	// Recursive, true by default, also creates the parents and accepts an existing directory.
	Recursive *bool `json:"recursive,omitempty"`
}

// FsGetMetadataParams requests the metadata of a path.
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

// FsReadDirectoryParams lists a directory.
type FsReadDirectoryParams struct {
	Path string `json:"path"`
}

// FsReadDirectoryResponse lists the direct entries of a directory, sorted by name.
type FsReadDirectoryResponse struct {
	Entries []FsReadDirectoryEntry `json:"entries"`
}

// FsReadDirectoryEntry is an entry of a directory. For a link, it describes the target. Broken
// links are not listed.
type FsReadDirectoryEntry struct {
	FileName    string `json:"fileName"`
	IsDirectory bool   `json:"isDirectory"`
	IsFile      bool   `json:"isFile"`
}

// FsRemoveParams removes a file, a link or a directory.
type FsRemoveParams struct {
	Path string `json:"path"`
	// Recursive, true by default, removes the content of a directory as well.
	Recursive *bool `json:"recursive,omitempty"`
	// Force, true by default, accepts a path that does not exist.
	Force *bool `json:"force,omitempty"`
}

// FsCopyParams copies a file, a link or a directory. A file replaces an existing one. A directory
// is merged into an existing one.
type FsCopyParams struct {
	SourcePath      string `json:"sourcePath"`
	DestinationPath string `json:"destinationPath"`
	// Recursive permits to copy a directory.
	Recursive bool `json:"recursive,omitempty"`
}

// FsWatchParams subscribes to changes of a file, or of a directory and its direct entries.
type FsWatchParams struct {
	// WatchID is an id of the client, unique within its connection.
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

// FsChangedNotification reports changes below a watch.
type FsChangedNotification struct {
	WatchID string `json:"watchId"`
	// ChangedPaths are the paths that changed since the last notification, or the path of the watch
	// if too many changed.
	ChangedPaths []string `json:"changedPaths"`
}

// NotificationMethod returns "fs/changed".
func (FsChangedNotification) NotificationMethod() string { return "fs/changed" }
