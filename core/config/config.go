package config

import (
	"encoding/json"
	"errors"
	"net/url"
	"reflect"
	"slices"
	"time"

	"appserver/core"
	"appserver/core/redact"
	"appserver/protocol"
)

// Source says where settings come from.
type Source struct {
	// Home is CODEX_HOME, the folder of the file. A missing file sets nothing.
	Home string
	// System is the file of settings for all users of the machine; "" is none.
	System string
	// Overrides are key=value: a dotted key, and a value in TOML or, where it is no
	// TOML, a plain string.
	Overrides []string
	// Provider is the choice of --model-provider; "" leaves it to the others.
	Provider string
	// Getenv reads the environment; nil is an empty one.
	Getenv func(string) string
}

// Config is the settings in force. Pointers are nil, and strings empty, where
// nothing is set and no default applies.
type Config struct {
	// Model is the model of new threads; empty where the provider implies none and
	// nothing is set.
	Model string `key:"model"`
	// ModelProvider names the provider of new threads. It need not exist.
	ModelProvider string `key:"model_provider"`
	// ModelProviders are the built-in and the configured providers by name.
	ModelProviders Providers `key:"model_providers"`
	// OpenAIBaseURL replaces the address of the built-in provider openai.
	OpenAIBaseURL string `key:"openai_base_url"`

	ApprovalPolicy        protocol.AskForApproval    `key:"approval_policy"`
	ApprovalsReviewer     protocol.ApprovalsReviewer `key:"approvals_reviewer"`
	SandboxMode           protocol.SandboxMode       `key:"sandbox_mode"`
	SandboxWorkspaceWrite SandboxWorkspaceWrite      `key:"sandbox_workspace_write"`

	ShellEnvironmentPolicy ShellEnvironmentPolicy `key:"shell_environment_policy"`

	// ModelContextWindow and ModelAutoCompactTokenLimit are in tokens.
	ModelContextWindow         *int64  `key:"model_context_window" min:"1"`
	ModelAutoCompactTokenLimit *int64  `key:"model_auto_compact_token_limit" min:"0"`
	ModelReasoningEffort       *string `key:"model_reasoning_effort"`
	ModelReasoningSummary      *string `key:"model_reasoning_summary" oneof:"auto concise detailed none"`
	ModelVerbosity             *string `key:"model_verbosity" oneof:"low medium high"`
	ServiceTier                *string `key:"service_tier"`

	// DeveloperInstructions go behind the system prompt. Instructions, and stronger
	// the file ModelInstructionsFile, replace the system prompt itself.
	DeveloperInstructions *string `key:"developer_instructions"`
	Instructions          *string `key:"instructions"`
	ModelInstructionsFile string  `key:"model_instructions_file" path:""`
	// ProjectDocMaxBytes bounds the AGENTS.md files of a prompt, in bytes.
	ProjectDocMaxBytes int `key:"project_doc_max_bytes" min:"0"`

	// Projects are the user's decisions about folders. ProjectRootMarkers are the names of
	// files and folders that mark the root of a project.
	Projects           map[string]Project `key:"projects"`
	ProjectRootMarkers []string           `key:"project_root_markers"`

	// Notify is a program with arguments. It is run with one more after each turn.
	Notify []string `key:"notify"`

	Tools Tools `key:"tools"`
	// WebSearch is how providers may search the web for the model; nil is cached.
	WebSearch *string  `key:"web_search" oneof:"disabled cached indexed live"`
	Features  Features `key:"features"`

	// ThreadUnloadDelaySecs is how long a thread stays loaded that nobody is subscribed to;
	// below 0 it does for good.
	ThreadUnloadDelaySecs int `key:"thread_unload_delay_secs" min:"-1" max:"31536000"`

	// McpServers are the MCP servers by name; McpStartupGrace is how long a first turn
	// waits for those that are being started.
	McpServers      McpServers    `key:"mcp_servers"`
	McpStartupGrace time.Duration `key:"mcp_optional_startup_grace_ms" min:"0" max:"600000"`

	History History `key:"history"`
	Context Context `key:"context"`
	Compat  Compat  `key:"compat"`
	// Compaction says how contexts are compacted, CompactPrompt how the model is asked for
	// summaries.
	Compaction    Compaction `key:"compaction"`
	CompactPrompt *string    `key:"compact_prompt"`
	// Memory says what is remembered of what leaves contexts.
	Memory Memory `key:"memory"`
	Index  Index  `key:"index"`
	// Checkpoints are of the files that turns change.
	Checkpoints Checkpoints `key:"checkpoints"`

	// Warnings are about keys without effect, each with file, line and key. Those
	// of a Config made by With are about its overrides only.
	Warnings []string
	// ProjectWarnings are about the files of the project.
	ProjectWarnings []string

	home     string
	getenv   func(string) string
	redactor *redact.Redactor
	layers   []*layer // the weakest first
	root     *node
	project  project
}

// SandboxWorkspaceWrite widens or narrows the sandbox mode workspace-write.
type SandboxWorkspaceWrite struct {
	WritableRoots       []string `key:"writable_roots" path:""`
	NetworkAccess       bool     `key:"network_access"`
	ExcludeTmpdirEnvVar bool     `key:"exclude_tmpdir_env_var"`
	ExcludeSlashTmp     bool     `key:"exclude_slash_tmp"`
}

// ShellEnvironmentPolicy says which variables commands get.
type ShellEnvironmentPolicy struct {
	Inherit string `key:"inherit" oneof:"all core none"`
	// IgnoreDefaultExcludes is set where variables with names of secrets are passed on.
	IgnoreDefaultExcludes bool              `key:"ignore_default_excludes"`
	Exclude               []string          `key:"exclude"`
	Set                   map[string]string `key:"set"`
	IncludeOnly           []string          `key:"include_only"`
	// UseProfile changes nothing: commands always run in a login shell.
	UseProfile *bool `key:"experimental_use_profile"`
}

// Tools says which tools models are offered.
type Tools struct {
	// ViewImage is whether they can look at images; nil leaves that to the model.
	ViewImage *bool `key:"view_image"`
	// WebSearch has the details of the provider's search of the web.
	WebSearch WebSearchTool `key:"web_search"`
}

// Features are what can be turned on and off of the reference implementation's.
type Features struct {
	// UnifiedExec is false where models run no commands in the background.
	UnifiedExec bool `key:"unified_exec"`
	// UserInput lets models ask the user in turns that are not in plan mode, too.
	UserInput bool `key:"default_mode_request_user_input"`
}

// History says what is kept of conversations.
type History struct {
	// SaveHistory is false where threads live in memory only.
	SaveHistory bool `key:"saveHistory"`
	// MaxSize bounds the turns in the live context; 0 is no bound.
	MaxSize int `key:"maxSize" min:"0"`
	// SensitivePatterns are words and regular expressions (RE2) for texts that are not
	// written to disk.
	SensitivePatterns []string `key:"sensitivePatterns"`
	// RedactSecrets is false where keys of known forms are written as they come.
	RedactSecrets bool `key:"redactSecrets"`
	// MaxAge is how many days a thread stays after it was last written, MaxBytes how many
	// bytes rollouts may have together; 0 is no bound.
	MaxAge   int   `key:"maxAge" min:"0" max:"36500"`
	MaxBytes int64 `key:"maxBytes" min:"0"`
	// Retention is what is done with the oldest threads where a bound is passed.
	Retention string `key:"retention" oneof:"archive delete"`
}

// The words of History.Retention.
const (
	RetentionArchive = "archive"
	RetentionDelete  = "delete"
)

// Index is about the index over rollouts.
type Index struct {
	// Enabled is false where lists read the rollouts, and nothing can be searched.
	Enabled bool `key:"enabled"`
	// Path is the database's; a relative one is below the home.
	Path string `key:"path"`
}

// Checkpoints is about the states of worktrees that are kept.
type Checkpoints struct {
	// Enabled is false where worktrees are not captured.
	Enabled bool `key:"enabled"`
	// Keep is how many checkpoints a thread has at most.
	Keep int `key:"keep" min:"1" max:"10000"`
	// MaxFiles and MaxBytes bound the worktrees that are captured: how many files they have,
	// and how many bytes of them would have to be stored; 0 is the usual bound.
	MaxFiles int   `key:"max_files" min:"0"`
	MaxBytes int64 `key:"max_bytes" min:"0"`
}

// Context is about context control.
type Context struct {
	// RewriteOnUnload is false where rollouts only ever grow.
	RewriteOnUnload bool `key:"rewrite_on_unload"`
}

// Compat holds what is done for the sake of particular clients.
type Compat struct {
	// TurnCompletedFloor is the least time between the answer of turn/start and
	// the turn's turn/completed. Half of it lies before the model's first words.
	TurnCompletedFloor time.Duration `key:"turn_completed_floor_ms" min:"0" max:"60000"`
}

func defaults() *Config {
	return &Config{
		ModelProvider:          ProviderOpenAI,
		ModelProviders:         builtinProviders(),
		ApprovalPolicy:         protocol.AskForApproval{Mode: protocol.ApprovalOnRequest},
		ApprovalsReviewer:      protocol.ReviewerUser,
		SandboxMode:            protocol.SandboxReadOnly,
		ShellEnvironmentPolicy: ShellEnvironmentPolicy{Inherit: core.InheritAll},
		ProjectDocMaxBytes:     32 << 10,
		ProjectRootMarkers:     []string{".git"},
		ThreadUnloadDelaySecs:  30 * 60,
		History:                History{SaveHistory: true, RedactSecrets: true, Retention: RetentionArchive},
		Features:               Features{UnifiedExec: true},
		Context:                Context{RewriteOnUnload: true},
		Index:                  Index{Enabled: true, Path: "appserver-index.sqlite"},
		Checkpoints:            Checkpoints{Enabled: true, Keep: 50},
		Compaction:             defaultCompaction(),
		Memory:                 defaultMemory(),
		McpServers:             McpServers{},
		McpStartupGrace:        2 * time.Second,
		Compat:                 Compat{TurnCompletedFloor: 50 * time.Millisecond},
	}
}

// Load reads the settings. An error is one *Error, or several joined.
func Load(o Source) (*Config, error) {
	file, err := userLayer(o.Home)
	if err != nil {
		return nil, err
	}
	return o.build(file)
}

// with is what Load would give if the file of settings had a content.
func (o Source) with(file string, text []byte) (*Config, error) {
	l, err := decodeLayer(userSource(file), text, decodeTOML)
	if err != nil {
		return nil, err
	}
	return o.build(l)
}

func (o Source) build(file *layer) (*Config, error) {
	flags, err := flagLayer(o.Overrides, o.Provider)
	if err != nil {
		return nil, err
	}
	var layers []*layer
	if o.System != "" {
		system, err := readLayer(protocol.ConfigLayerSource{Type: protocol.LayerSystem, File: o.System}, o.System, decodeTOML)
		if err != nil {
			return nil, err
		}
		layers = append(layers, system)
	}
	layers = append(layers, file)
	if flags != nil {
		layers = append(layers, flags)
	}
	getenv := o.Getenv
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	return build(o.Home, getenv, layers, project{})
}

// With is c with a thread's overrides by dotted key on top. An error is a
// *protocol.Error that names the key as config.KEY.
func (c *Config) With(overrides map[string]json.RawMessage) (*Config, error) {
	return c.For("", overrides)
}

// refuseOverride is the first of the errors in err as an answer to the client.
func refuseOverride(err error) error {
	var bad *Error
	if !errors.As(err, &bad) {
		return protocol.InvalidParams("config", "`config`: %v", err)
	}
	field := "config"
	if bad.Key != "" {
		field += "." + bad.Key
	} else if bad.Place != "" {
		field = bad.Place
	}
	return protocol.InvalidParams(field, "`%s`: %s", field, bad.Problem)
}

// build makes the settings of layers, the weakest first, in a project.
func build(home string, getenv func(string) string, layers []*layer, p project) (*Config, error) {
	c := defaults()
	c.home, c.getenv, c.layers, c.project = home, getenv, layers, p
	for _, l := range layers {
		if l.disabled == "" {
			c.root = merge(c.root, l.root)
		}
	}
	d := &decoder{resolve: resolver(getenv("HOME"))}
	d.fields(reflect.ValueOf(c).Elem(), c.root, nil)
	c.followTrust()
	c.chooseModel()
	c.applyBaseURL()
	c.applyOldUnifiedExec()
	c.check(d)
	c.Warnings, c.ProjectWarnings = d.sortedWarnings()
	c.ProjectWarnings = append(c.ProjectWarnings, p.warnings...)
	return c, errors.Join(d.problems...)
}

// chooseModel leaves the model to the provider where nothing is set, and where the
// provider was chosen by a stronger layer than the model: that model was meant for
// another provider.
func (c *Config) chooseModel() {
	implied := impliedModels[c.ModelProvider]
	if implied != "" && (c.Model == "" || c.rank("model") < c.rank("model_provider")) {
		c.Model = implied
	}
}

// Redactor takes out of lines what is not to be written; nil takes out nothing.
func (c *Config) Redactor() *redact.Redactor { return c.redactor }

// rank is the strength of the layer that set a key, -1 where none did.
func (c *Config) rank(key string) int {
	n := c.root.find(key)
	if n == nil {
		return -1
	}
	return slices.Index(c.layers, n.place.layer)
}

// check finds what is of the right type and yet of no use.
func (c *Config) check(d *decoder) {
	if effort := c.ModelReasoningEffort; effort != nil && *effort == "" {
		c.ModelReasoningEffort = nil
	}
	if n := c.root.find("openai_base_url"); n != nil {
		d.checkURL(c.OpenAIBaseURL, n, []string{"openai_base_url"})
	}
	var err error
	if c.redactor, err = redact.New(c.History.SensitivePatterns, c.History.RedactSecrets); err != nil {
		path := []string{"history", "sensitivePatterns"}
		d.problem(c.root.find(path...), path, "expected words and regular expressions: %v", err)
	}
	c.checkProviders(d)
	c.checkServers(d)
}

func (c *Config) checkProviders(d *decoder) {
	configured := c.root.find("model_providers")
	if configured == nil {
		return
	}
	for _, name := range sortedKeys(configured.table) {
		p, path := c.ModelProviders[name], []string{"model_providers", name}
		if n := c.root.find(append(path, "base_url")...); n != nil {
			d.checkURL(p.BaseURL, n, append(path, "base_url"))
		}
	}
}

// checkURL wants an address of http or https. An empty one counts as not set.
func (d *decoder) checkURL(address string, n *node, path []string) {
	u, err := url.Parse(address)
	ok := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
	if address != "" && !ok {
		d.problem(n, path, "expected an address such as https://HOST/v1")
	}
}
