package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"appserver/core/effects/workspace"
	"appserver/protocol"
)

// The values of projects.DIR.trust_level.
const (
	Trusted   = "trusted"
	Untrusted = "untrusted"
)

// Project is an entry of [projects].
type Project struct {
	// TrustLevel is Trusted, Untrusted, or empty.
	TrustLevel string `key:"trust_level" oneof:"trusted untrusted"`
}

// projectFolder is the folder below a directory that holds its project configuration.
const projectFolder = ".codex"

// userOnly are the keys that a project layer cannot set. The files of a project come with the
// project's code. They must not choose the destination of credentials, prompts and logs,
// the programs that run outside of the sandbox, or the data that the server keeps.
var userOnly = [][]string{
	{"openai_base_url"}, {"chatgpt_base_url"}, {"apps_mcp_product_sku"}, {"model_provider"}, {"model_providers"},
	{"notify"}, {"profile"}, {"profiles"}, {"experimental_realtime_webrtc_call_base_url"},
	{"experimental_realtime_ws_base_url"}, {"otel"}, {"features", "respect_system_proxy"},
	{"projects"}, {"project_root_markers"}, {"history"}, {"index"}, {"store"}, {"fleet"}, {"compat"}, {"memory", "embeddings"},
	{"checkpoints", "max_files"}, {"checkpoints", "max_bytes"},
	{"mcp_oauth_credentials_store"}, {"mcp_oauth_callback_port"}, {"mcp_oauth_callback_url"},
	{"shell_environment_policy", "ignore_default_excludes"}, {"shell_environment_policy", "keep"},
	{"cli_auth_credentials_store"}, {"forced_login_method"}, {"forced_chatgpt_workspace_id"}, {accountHosts},
}

// project is the project of a folder, and what its files set.
type project struct {
	// cwd is empty if the settings are for no folder.
	cwd string
	// trust is the trust level of cwd, or empty.
	trust string
	// layers are the layers of the folders from the project's root down to cwd.
	layers   []*layer
	warnings []string
}

// For returns the settings of threads in cwd: c with the layers of the project below the
// command line's, and with a thread's overrides by dotted key on top. Layers of a project that
// is not trusted have no effect. An error is a *protocol.Error.
func (c *Config) For(cwd string, overrides map[string]json.RawMessage) (*Config, error) {
	if len(overrides) == 0 {
		return c.inFolder(cwd, nil)
	}
	over, err := threadLayer(overrides)
	if err != nil {
		return nil, rejectOverride(err)
	}
	return c.inFolder(cwd, over)
}

// With returns the settings of a thread with more overrides, which are above its own. An error is a *protocol.Error.
func (c *Config) With(more map[string]json.RawMessage) (*Config, error) {
	if len(more) == 0 {
		return c, nil
	}
	over, err := threadLayer(more)
	if err != nil {
		return nil, rejectOverride(err)
	}
	if own := c.overrides(); own != nil {
		over.root = merge(own.root, over.root)
	}
	base := c
	if c.base != nil {
		base = c.base
	}
	return base.inFolder(c.project.cwd, over)
}

// overrides returns the overrides of a thread, or nil.
func (c *Config) overrides() *layer {
	if i := slices.IndexFunc(c.layers, func(l *layer) bool { return l.ofThread }); i >= 0 {
		return c.layers[i]
	}
	return nil
}

func (c *Config) inFolder(cwd string, over *layer) (*Config, error) {
	out, err := c, error(nil)
	if over != nil {
		out, err = build(c.home, c.getenv, append(slices.Clip(c.layers), over), project{}, c.required, c.strict)
	}
	if err != nil {
		return nil, rejectOverride(err)
	}
	if cwd != "" {
		p, err := out.projectOf(cwd)
		if err == nil {
			out, err = build(c.home, c.getenv, p.insertInto(out.layers), p, c.required, c.strict)
		}
		if err != nil {
			return nil, rejectProject(err)
		}
	}
	if out == c {
		return c, nil
	}
	out.base = c
	out.connect(c.ports)
	out.Warnings = slices.DeleteFunc(out.Warnings, func(w string) bool {
		return slices.Contains(c.Warnings, w)
	})
	out.Warnings = append(out.Warnings, over.readAtStart()...)
	return out, nil
}

func rejectProject(err error) error {
	return protocol.Refuse(protocol.KindConfig, "the project configuration cannot be used: %v", err)
}

// lacksProjectFiles reports whether the project had no configuration when c was read, and has none now.
func (c *Config) lacksProjectFiles() bool {
	return len(c.project.layers) == 0 && (c.project.cwd == "" || !c.hasProjectFolder(c.project.cwd))
}

// hasProjectFolder reports whether a folder from the project's root down to cwd has a project folder.
func (c *Config) hasProjectFolder(cwd string) bool {
	root := c.projectRoot(cwd)
	for dir := cwd; ; dir = filepath.Dir(dir) {
		if c.isProjectFolder(filepath.Join(dir, projectFolder)) {
			return true
		}
		if dir == root || dir == filepath.Dir(dir) {
			return false
		}
	}
}

// foldersBetween returns the folders from root down to dir, both included.
func foldersBetween(root, dir string) (folders []string) {
	for ; ; dir = filepath.Dir(dir) {
		folders = append(folders, dir)
		if dir == root || dir == filepath.Dir(dir) {
			break
		}
	}
	slices.Reverse(folders)
	return folders
}

// isProjectFolder reports whether a folder exists, is not empty and is not the home. While a command runs in a sandbox,
// an empty folder protects the place of a missing one.
func (c *Config) isProjectFolder(folder string) bool {
	info, err := os.Stat(folder)
	return err == nil && info.IsDir() && !isEmpty(folder) && realPath(folder) != realPath(c.home)
}

func isEmpty(folder string) bool {
	dir, err := os.Open(folder)
	if err != nil {
		return false
	}
	defer dir.Close()
	_, err = dir.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

// insertInto inserts the project's layers above the user's file.
func (p project) insertInto(layers []*layer) []*layer {
	i := 1 + slices.IndexFunc(layers, func(l *layer) bool { return l.name.Type == protocol.LayerUser })
	return slices.Insert(slices.Clone(layers), i, p.layers...)
}

// projectOf reads the layers of the project that cwd is in. A file that is broken is an error
// if the project is trusted, and an empty layer otherwise.
func (c *Config) projectOf(cwd string) (project, error) {
	root := c.projectRoot(cwd)
	p := project{cwd: cwd}
	p.trust, _ = c.trustOf(cwd, root)
	for dir := cwd; ; dir = filepath.Dir(dir) {
		l, warning, err := c.projectLayer(dir, root)
		if err != nil {
			return p, err
		}
		if l != nil {
			p.layers = append(p.layers, l)
		}
		if warning != "" {
			p.warnings = append(p.warnings, warning)
		}
		if dir == root || dir == filepath.Dir(dir) {
			break
		}
	}
	slices.Reverse(p.layers)
	slices.Reverse(p.warnings)
	return p, nil
}

// projectRoot returns the nearest folder at or above cwd that holds a marker, or cwd.
func (c *Config) projectRoot(cwd string) string {
	for dir := cwd; len(c.ProjectRootMarkers) > 0; dir = filepath.Dir(dir) {
		if slices.ContainsFunc(c.ProjectRootMarkers, func(m string) bool { return exists(filepath.Join(dir, m)) }) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return cwd
}

// trustOf returns the trust level of dir, and the folder whose entry decides it or would. The
// entry of dir is stronger than the entry of the project's root, and both are stronger than the entry
// of the repository. The repository of a linked worktree is the main worktree.
func (c *Config) trustOf(dir, root string) (level, folder string) {
	repository := workspace.RepositoryKey(dir)
	for _, folder := range []string{dir, root, repository} {
		for _, name := range []string{realPath(folder), folder} {
			if level := c.Projects[name].TrustLevel; level != "" {
				return level, name
			}
		}
	}
	return "", repository
}

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// projectLayer returns the layer of dir, or nil if dir has no project configuration, and a
// warning if the layer sets keys that only the user can set.
func (c *Config) projectLayer(dir, root string) (l *layer, warning string, err error) {
	folder := filepath.Join(dir, projectFolder)
	if !c.isProjectFolder(folder) {
		return nil, "", nil
	}
	name := protocol.ConfigLayerSource{Type: protocol.LayerProject, DotCodexFolder: folder}
	trust, decides := c.trustOf(dir, root)
	l, err = readLayer(name, filepath.Join(folder, "config.toml"), root, decodeTOML)
	if trust != Trusted {
		if err != nil {
			l = newLayer(name)
		}
		l.removeKeys(userOnly)
		l.disabled = c.disabledReason(trust, decides)
		return l, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	if ignored := l.removeKeys(userOnly); len(ignored) > 0 {
		warning = fmt.Sprintf("%s: project configuration cannot set these keys: %s. They have no effect. To use them, set them in %s.",
			filepath.Join(folder, "config.toml"), strings.Join(ignored, ", "), c.file())
	}
	return l, warning, nil
}

func (c *Config) disabledReason(trust, folder string) string {
	if trust == Untrusted {
		return fmt.Sprintf("%s is marked as untrusted in the configuration. To apply its project configuration, change its trust_level to \"trusted\".", folder)
	}
	return fmt.Sprintf("%s is not a trusted project. To apply its project configuration, set trust_level = \"trusted\" in [projects.%q] of %s.", folder, folder, c.file())
}

// removeKeys removes keys from the layer, and returns the ones that were set.
func (l *layer) removeKeys(keys [][]string) (had []string) {
	for _, path := range keys {
		last := len(path) - 1
		if table := l.root.find(path[:last]...); table != nil && table.table[path[last]] != nil {
			delete(table.table, path[last])
			had = append(had, dotted(path))
		}
	}
	return had
}

// applyTrust sets the defaults of the sandbox and the approval policy. If the user has decided
// about the project, it can be written. If it is not trusted, commands need an approval.
func (c *Config) applyTrust() {
	if c.project.trust != "" && c.root.find("sandbox_mode") == nil {
		c.SandboxMode = protocol.SandboxWorkspaceWrite
	}
	if c.project.trust == Untrusted && c.root.find("approval_policy") == nil {
		c.ApprovalPolicy = protocol.AskForApproval{Mode: protocol.ApprovalUntrusted}
	}
}

// Trust returns the decision of the user about the folder of c, or "", and the folder of the decision, or the one that
// a decision is recorded for.
func (c *Config) Trust() (level, folder string) {
	level, folder = c.trustOf(c.project.cwd, c.projectRoot(c.project.cwd))
	return level, realPath(folder)
}

// ProjectFolders returns the folders of settings of the project, from its root down to the folder of c.
func (c *Config) ProjectFolders() []string {
	folders := []string{}
	for _, l := range c.project.layers {
		folders = append(folders, l.name.DotCodexFolder)
	}
	return folders
}

// TrustTarget returns the folder to record as trusted if the user lets a thread write in the
// project of c, or "" if the user has decided already.
func (c *Config) TrustTarget() string {
	if c.project.cwd == "" || c.project.trust != "" {
		return ""
	}
	return realPath(workspace.RepositoryKey(c.project.cwd))
}

// Disabled returns a warning about the project layers that have no effect because the project
// is not trusted, or "".
func (c *Config) Disabled() string {
	var lines []string
	for _, l := range c.layers {
		if l.disabled != "" {
			lines = append(lines, fmt.Sprintf("%s is not applied: %s", l.name.DotCodexFolder, l.disabled))
		}
	}
	return strings.Join(lines, "\n")
}

// Trust records in the user's file that the project at root is trusted.
func (l *Live) Trust(root string) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	value, err := json.Marshal(Trusted)
	if err != nil {
		return err
	}
	name, err := json.Marshal(root)
	if err != nil {
		return err
	}
	_, err = l.edit(&protocol.ConfigBatchWriteParams{Edits: []protocol.ConfigEdit{
		{KeyPath: "projects." + string(name) + ".trust_level", Value: value, MergeStrategy: protocol.MergeUpsert},
	}})
	return err
}

// TrustOverride returns a thread's overrides with an entry that root is trusted.
func TrustOverride(overrides map[string]json.RawMessage, root string) (map[string]json.RawMessage, error) {
	name, err := json.Marshal(root)
	if err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{}
	for key, value := range overrides {
		out[key] = value
	}
	out["projects."+string(name)+".trust_level"] = json.RawMessage(`"trusted"`)
	return out, nil
}
