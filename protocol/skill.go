package protocol

// SkillsListParams requests the skills of working directories.
type SkillsListParams struct {
	// Cwds are the working directories. The default is the server's own.
	Cwds []string `json:"cwds,omitempty"`
	// ForceReload has no effect: skills are read on each request.
	ForceReload bool `json:"forceReload,omitempty"`
}

// SkillsListResponse lists the skills by working directory.
type SkillsListResponse struct {
	Data []SkillsListEntry `json:"data"`
}

// SkillsListEntry has the skills of a working directory, and the files that are not valid skills.
type SkillsListEntry struct {
	Cwd    string           `json:"cwd"`
	Skills []SkillMetadata  `json:"skills"`
	Errors []SkillErrorInfo `json:"errors"`
}

// SkillErrorInfo is the reason for which a SKILL.md file is not used.
type SkillErrorInfo struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// SkillMetadata describes a skill: a file with instructions, which the model reads if the skill is
// named.
type SkillMetadata struct {
	Name             string             `json:"name"`
	Description      string             `json:"description"`
	ShortDescription *string            `json:"shortDescription,omitempty"`
	Interface        *SkillInterface    `json:"interface,omitempty"`
	Dependencies     *SkillDependencies `json:"dependencies,omitempty"`
	Path             string             `json:"path"`
	Scope            string             `json:"scope" oneof:"user repo system admin"`
	Enabled          bool               `json:"enabled"`
	// PluginID is always null.
	PluginID *string `json:"pluginId"`
}

// SkillInterface has the names, icons and texts with which clients show a skill. The URLs are
// always null.
type SkillInterface struct {
	DisplayName      *string `json:"displayName"`
	ShortDescription *string `json:"shortDescription"`
	IconSmall        *string `json:"iconSmall"`
	IconLarge        *string `json:"iconLarge"`
	IconSmallURL     *string `json:"iconSmallUrl"`
	IconLargeURL     *string `json:"iconLargeUrl"`
	BrandColor       *string `json:"brandColor"`
	DefaultPrompt    *string `json:"defaultPrompt"`
}

// SkillDependencies has the declared dependencies of a skill. The server installs none of them.
type SkillDependencies struct {
	Tools []SkillToolDependency `json:"tools"`
}

// SkillToolDependency is a tool that a skill declares as a dependency.
type SkillToolDependency struct {
	Type        string  `json:"type"`
	Value       string  `json:"value"`
	Description *string `json:"description"`
	Transport   *string `json:"transport"`
	Command     *string `json:"command"`
	URL         *string `json:"url"`
}

// SkillsExtraRootsSetParams sets folders with further skills of the user. It replaces the folders
// of the last request. They are in force until the server ends.
type SkillsExtraRootsSetParams struct {
	ExtraRoots []string `json:"extraRoots"`
}

// SkillsChangedNotification reports that the result of skills/list changed.
type SkillsChangedNotification struct{}

// NotificationMethod returns "skills/changed".
func (SkillsChangedNotification) NotificationMethod() string { return "skills/changed" }
