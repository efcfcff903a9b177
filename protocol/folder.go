package protocol

// FolderInspectParams requests facts about a folder that a user chooses for threads.
type FolderInspectParams struct {
	// Path is the text that the user has typed so far. It can begin with ~ for the home of the server's user. A
	// relative path is relative to the server's working directory, which is the folder of an empty path.
	Path string `json:"path"`
}

// FolderInspectResponse describes a folder.
type FolderInspectResponse struct {
	// Path is the absolute form of the path.
	Path        string `json:"path"`
	IsDirectory bool   `json:"isDirectory"`
	// Completions are the folders that the path is the beginning of, with absolute paths, at most 50, by name. After a
	// separator they are those in the folder. Hidden ones are listed if the name begins with a dot.
	Completions []string `json:"completions"`
	// Repository is the git repository of the folder, or null.
	Repository *string `json:"repository"`
	// Trust is the decision of the user about the folder, or null. TrustFolder is the folder of the decision, or the one
	// that a decision is recorded for. It is null if the path is no folder.
	Trust       *string `json:"trust" oneof:"trusted untrusted"`
	TrustFolder *string `json:"trustFolder"`
	// ProjectFolders are the folders of settings that apply to threads in the folder if it is trusted.
	ProjectFolders []string `json:"projectFolders"`
	// Problem is the reason why threads cannot start in the folder, or null.
	Problem *string `json:"problem"`
}
