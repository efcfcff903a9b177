package protocol

// SkillsListParams asks for the skills of working directories, of the server's own without
// Cwds. ForceReload has no effect: skills are read whenever they are asked for.
type SkillsListParams struct {
	Cwds        []string `json:"cwds,omitempty"`
	ForceReload bool     `json:"forceReload,omitempty"`
}

// SkillsListResponse is the skills by working directory.
type SkillsListResponse struct {
	Data []SkillsListEntry `json:"data"`
}

// SkillsListEntry has the skills of a working directory, and the files that are not valid skills.
type SkillsListEntry struct {
	Cwd    string           `json:"cwd"`
	Skills []SkillMetadata  `json:"skills"`
	Errors []SkillErrorInfo `json:"errors"`
}

// SkillErrorInfo is the reason why a SKILL.md file is not used.
type SkillErrorInfo struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// SkillMetadata is a skill: instructions for the model in a file, which are read when
// somebody names the skill. PluginID is always null.
type SkillMetadata struct {
	Name             string             `json:"name"`
	Description      string             `json:"description"`
	ShortDescription *string            `json:"shortDescription,omitempty"`
	Interface        *SkillInterface    `json:"interface,omitempty"`
	Dependencies     *SkillDependencies `json:"dependencies,omitempty"`
	Path             string             `json:"path"`
	Scope            string             `json:"scope" oneof:"user repo system admin"`
	Enabled          bool               `json:"enabled"`
	PluginID         *string            `json:"pluginId"`
}

// SkillInterface is how clients show a skill. The URLs are always null.
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

// SkillDependencies are the declared dependencies of a skill. The server installs none of them.
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

// SkillsExtraRootsSetParams names folders with more skills of the user's, in the place of
// those named before. They hold until the server ends.
type SkillsExtraRootsSetParams struct {
	ExtraRoots []string `json:"extraRoots"`
}

// SkillsChangedNotification reports that the result of skills/list changed.
type SkillsChangedNotification struct{}

// NotificationMethod is skills/changed.
func (SkillsChangedNotification) NotificationMethod() string { return "skills/changed" }
