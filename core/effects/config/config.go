package config

import (
	"errors"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"time"

	"appserver/core"
	"appserver/core/pure/permission"
	"appserver/core/pure/redact"
	"appserver/protocol"
)

// Source describes where settings are read from.
type Source struct {
	// Home is CODEX_HOME, the folder of the user's file. If the file does not exist, it sets nothing.
	Home string
	// System is the file for all users of the machine, or empty.
	System string
	// Overrides are key=value: a dotted key, and a value in TOML, or a plain string if it is not TOML.
	Overrides []string
	// Provider is the value of --model-provider, or empty.
	Provider string
	// Getenv reads the environment; nil is an empty one.
	Getenv func(string) string
	// Strict makes unknown keys errors.
	Strict bool
	Ports
}

// Ports are functions that know the login and the typed keys of the user. Each may be nil.
type Ports struct {
	// Login reports whether the user is signed in; nil is signed out. The error states why a login cannot be used.
	Login func() (bool, error)
	// StoredKey returns the key that the user has typed for a provider with an address, or "". The error states why a
	// stored key cannot be used.
	StoredKey func(provider, address string) (string, error)
	// Secrets returns the typed keys, which are removed from rollouts.
	Secrets func() []string
}

// Config holds the effective settings. Pointers are nil and strings empty if nothing is set and no
// default applies.
type Config struct {
	// Model is the model of new threads. It is empty if nothing is set and the provider implies none.
	Model string `key:"model"`
	// ModelProvider is the provider of new threads. It may not exist.
	ModelProvider string `key:"model_provider"`
	// ModelProviders are the built-in and the configured providers by name.
	ModelProviders Providers `key:"model_providers"`
	// OpenAIBaseURL replaces the address of the built-in provider openai.
	OpenAIBaseURL string `key:"openai_base_url"`

	// AuthStore is where the login of the user is stored.
	AuthStore string `key:"cli_auth_credentials_store" oneof:"file keyring auto ephemeral"`
	// ForcedLoginMethod and ForcedWorkspaces restrict logins. They are empty if any is permitted.
	ForcedLoginMethod string    `key:"forced_login_method" oneof:"api chatgpt"`
	ForcedWorkspaces  OneOrMore `key:"forced_chatgpt_workspace_id"`
	// ChatGPTBaseURL replaces the address of the vendor's backend.
	ChatGPTBaseURL string `key:"chatgpt_base_url"`
	// AccountHosts are hosts and proxies that may get the login of the user, beside the hosts of the vendor.
	AccountHosts []string `key:"account_hosts"`

	ApprovalPolicy        protocol.AskForApproval    `key:"approval_policy"`
	ApprovalsReviewer     protocol.ApprovalsReviewer `key:"approvals_reviewer"`
	SandboxMode           protocol.SandboxMode       `key:"sandbox_mode"`
	SandboxWorkspaceWrite SandboxWorkspaceWrite      `key:"sandbox_workspace_write"`
	// DefaultPermissions is the permission profile of threads that name none, Profiles the user's profiles.
	DefaultPermissions string              `key:"default_permissions"`
	Profiles           permission.Profiles `key:"permissions"`

	ShellEnvironmentPolicy ShellEnvironmentPolicy `key:"shell_environment_policy"`

	// ModelContextWindow and ModelAutoCompactTokenLimit are in tokens.
	ModelContextWindow         *int64  `key:"model_context_window" min:"1"`
	ModelAutoCompactTokenLimit *int64  `key:"model_auto_compact_token_limit" min:"0"`
	ModelReasoningEffort       *string `key:"model_reasoning_effort"`
	ModelReasoningSummary      *string `key:"model_reasoning_summary" oneof:"auto concise detailed none"`
	ModelVerbosity             *string `key:"model_verbosity" oneof:"low medium high"`
	ServiceTier                *string `key:"service_tier"`
	// ModelPrices are the prices of models by their names.
	ModelPrices map[string]ModelPrice `key:"model_prices"`

	// DeveloperInstructions follow the system prompt. Instructions replace the system prompt. The file
	// ModelInstructionsFile replaces both.
	DeveloperInstructions *string `key:"developer_instructions"`
	Instructions          *string `key:"instructions"`
	ModelInstructionsFile string  `key:"model_instructions_file" path:""`
	// ProjectDocMaxBytes bounds the AGENTS.md files of a prompt, in bytes.
	ProjectDocMaxBytes int `key:"project_doc_max_bytes" min:"0"`
	// ProjectDocFallbackFilenames are names of files that are read if a folder of the project has no AGENTS.md.
	ProjectDocFallbackFilenames []string `key:"project_doc_fallback_filenames"`

	// Projects are the user's decisions about folders. ProjectRootMarkers are the names of files and
	// folders that mark the root of a project.
	Projects           map[string]Project `key:"projects"`
	ProjectRootMarkers []string           `key:"project_root_markers"`

	// Notify is a program with arguments that runs after each turn, with one more argument.
	Notify []string `key:"notify"`

	Tools Tools `key:"tools"`
	// WebSearch is the way in which providers search the web for the model; nil is cached.
	WebSearch *string  `key:"web_search" oneof:"disabled cached indexed live"`
	Features  Features `key:"features"`
	Agents    Agents   `key:"agents"`

	Skills Skills `key:"skills"`

	// AllowLoginShell is false if commands of the model run in no login shell.
	AllowLoginShell bool `key:"allow_login_shell"`
	// ToolOutputTokenLimit bounds the output of a tool for the model, in tokens; nil is the bound of each tool.
	ToolOutputTokenLimit *int64 `key:"tool_output_token_limit" min:"1"`
	// IncludeEnvironmentContext is false if the model gets no description of the environment, and
	// IncludeEnvironmentContextTime if it gets no date.
	IncludeEnvironmentContext     bool `key:"include_environment_context"`
	IncludeEnvironmentContextTime bool `key:"include_environment_context_time"`
	// ThreadStore is the place of threads in the reference implementation.
	ThreadStore ThreadStore `key:"experimental_thread_store"`

	// ThreadUnloadDelaySecs is the time that a thread without subscribers stays loaded, in seconds. If
	// it is negative, the thread is never unloaded.
	ThreadUnloadDelaySecs int `key:"thread_unload_delay_secs" min:"-1" max:"31536000"`

	// McpServers are the MCP servers by name. McpStartupGrace is the time that a first turn waits for
	// servers that are starting.
	McpServers      McpServers    `key:"mcp_servers"`
	McpStartupGrace time.Duration `key:"mcp_optional_startup_grace_ms" min:"0" max:"600000"`
	// MCPToolsPercent bounds the definitions of tools of MCP servers in each request, in percent of the context window.
	MCPToolsPercent int `key:"mcp_tools_percent" min:"0" max:"100"`
	// McpCredentialsStore is where logins at MCP servers are stored. McpCallbackPort is the port for the browser, or 0
	// for a free one, and McpCallbackURL the address that authorization servers send the browser to.
	McpCredentialsStore string `key:"mcp_oauth_credentials_store" oneof:"auto file keyring"`
	McpCallbackPort     int    `key:"mcp_oauth_callback_port" min:"0" max:"65535"`
	McpCallbackURL      string `key:"mcp_oauth_callback_url"`

	History History `key:"history"`
	Context Context `key:"context"`
	Compat  Compat  `key:"compat"`
	// Compaction configures how contexts are compacted. CompactPrompt is the model's instruction for
	// summaries.
	Compaction    Compaction `key:"compaction"`
	CompactPrompt *string    `key:"compact_prompt"`
	// Memory configures the memory of what leaves contexts.
	Memory Memory `key:"memory"`
	Index  Index  `key:"index"`
	// Store selects where threads are kept.
	Store Store `key:"store"`
	Fleet Fleet `key:"fleet"`
	// Checkpoints configures the checkpoints of files that turns change.
	Checkpoints Checkpoints `key:"checkpoints"`

	// Warnings are about keys without effect, each with file, line and key. A Config from With has
	// warnings about its overrides only.
	Warnings []string
	// ProjectWarnings are about the files of the project.
	ProjectWarnings []string

	// CommandRules are the rules for commands beside the files.
	CommandRules core.CommandRules

	strict   bool // see Source.Strict
	home     string
	getenv   func(string) string
	ports    Ports
	redactor *redact.Redactor
	layers   []*layer // the weakest first
	root     *node
	project  project
	// base has the settings without the project and the overrides of a thread. It is nil if c has neither.
	base *Config
	// required are the requirements of the machine.
	required requirements
}

// SandboxWorkspaceWrite configures the sandbox mode workspace-write.
type SandboxWorkspaceWrite struct {
	WritableRoots       []string `key:"writable_roots" path:""`
	NetworkAccess       bool     `key:"network_access"`
	ExcludeTmpdirEnvVar bool     `key:"exclude_tmpdir_env_var"`
	ExcludeSlashTmp     bool     `key:"exclude_slash_tmp"`
}

// ShellEnvironmentPolicy selects the environment variables of commands.
type ShellEnvironmentPolicy struct {
	Inherit string `key:"inherit" oneof:"all core none"`
	// IgnoreDefaultExcludes is set if variables that seem to have secrets are passed on. Keep has patterns of those
	// to pass on.
	IgnoreDefaultExcludes bool              `key:"ignore_default_excludes"`
	Keep                  []string          `key:"keep"`
	Exclude               []string          `key:"exclude"`
	Set                   map[string]string `key:"set"`
	IncludeOnly           []string          `key:"include_only"`
	// Filters has patterns with include or exclude: a form of Exclude and IncludeOnly.
	Filters map[string]string `key:"filters"`
	// UseProfile runs commands in a login shell unless it is false.
	UseProfile *bool `key:"experimental_use_profile"`
}

// filtered returns the patterns of names to exclude and to include, those of the filters as well.
func (p *ShellEnvironmentPolicy) filtered() (excluded, included []string) {
	excluded, included = slices.Clone(p.Exclude), slices.Clone(p.IncludeOnly)
	for _, pattern := range slices.Sorted(maps.Keys(p.Filters)) {
		if p.Filters[pattern] == filterInclude {
			included = append(included, pattern)
		} else {
			excluded = append(excluded, pattern)
		}
	}
	return excluded, included
}

// Tools selects the tools of models.
type Tools struct {
	// ViewImage offers a tool to view images; nil leaves the choice to the model.
	ViewImage *bool `key:"view_image"`
	// UpdatePlan offers a plan to the model, UserInput questions to the user. Nil and true change nothing.
	UpdatePlan ToolSwitch `key:"update_plan"`
	UserInput  ToolSwitch `key:"experimental_request_user_input"`
	// WebSearch has options of the provider's web search.
	WebSearch WebSearchTool `key:"web_search"`
}

// ToolSwitch turns a tool off.
type ToolSwitch struct {
	Enabled *bool `key:"enabled"`
}

// Skills configures the list of skills in prompts.
type Skills struct {
	// IncludeInstructions is false if prompts have no list. MaxContextTokens bounds it; nil is no bound.
	IncludeInstructions bool   `key:"include_instructions"`
	MaxContextTokens    *int64 `key:"max_context_tokens" min:"1"`
}

// ThreadStore is the place of threads in the reference implementation.
type ThreadStore struct {
	// Type is local, or in_memory for threads without rollouts.
	Type string `key:"type" oneof:"local in_memory"`
}

// Features are switches of the reference implementation.
type Features struct {
	// UnifiedExec allows models to run commands in the background.
	UnifiedExec bool `key:"unified_exec"`
	// UserInput allows models to ask the user in turns outside of plan mode.
	UserInput bool `key:"default_mode_request_user_input"`
	// ShellTool is false if models run no commands. ViewImage is false if they view no image files.
	ShellTool bool `key:"shell_tool"`
	ViewImage bool `key:"view_image"`
	// ToolSearch is false if models get the definitions of all tools of MCP servers. AlwaysDefer is set if they find all
	// of them by a search.
	ToolSearch  bool `key:"tool_search"`
	AlwaysDefer bool `key:"tool_search_always_defer_mcp_tools"`
	// MultiAgent is false if models start no other agents.
	MultiAgent bool `key:"multi_agent"`
	// MultiAgentPaths gives agents paths by which they send each other messages.
	MultiAgentPaths MultiAgentPaths `key:"multi_agent_v2"`
}

// History configures the storage of conversations.
type History struct {
	// SaveHistory is false if threads are in memory only.
	SaveHistory bool `key:"saveHistory"`
	// MaxSize bounds the turns in the live context; 0 is no bound.
	MaxSize int `key:"maxSize" min:"0"`
	// SensitivePatterns are words and regular expressions (RE2) for texts that are not written to
	// disk.
	SensitivePatterns []string `key:"sensitivePatterns"`
	// RedactSecrets is false if keys of known forms are written unchanged.
	RedactSecrets bool `key:"redactSecrets"`
	// MaxAge is the number of days after the last write that a thread is kept. MaxBytes bounds the
	// size of all rollouts, in bytes. 0 is no bound.
	MaxAge   int   `key:"maxAge" min:"0" max:"36500"`
	MaxBytes int64 `key:"maxBytes" min:"0"`
	// Retention is the action for the oldest threads if a bound is exceeded.
	Retention string `key:"retention" oneof:"archive delete"`
}

// The values of History.Retention.
const (
	RetentionArchive = "archive"
	RetentionDelete  = "delete"
)

// Index configures the index of rollouts.
type Index struct {
	// Enabled is false if there is no index: lists read the rollouts, and searches fail.
	Enabled bool `key:"enabled"`
	// Path is the file of the database. A relative path is below the home.
	Path string `key:"path"`
}

// Checkpoints configures the stored states of worktrees.
type Checkpoints struct {
	// Enabled is false if worktrees are not captured.
	Enabled bool `key:"enabled"`
	// Keep bounds the number of checkpoints of a thread.
	Keep int `key:"keep" min:"1" max:"10000"`
	// MaxFiles and MaxBytes bound the worktrees that are captured: their number of files, and the
	// bytes that would have to be stored. 0 is the default.
	MaxFiles int   `key:"max_files" min:"0"`
	MaxBytes int64 `key:"max_bytes" min:"0"`
}

// Context configures context control.
type Context struct {
	// RewriteOnUnload is false if rollouts are never rewritten.
	RewriteOnUnload bool `key:"rewrite_on_unload"`
	// Economy configures edits that the server suggests or makes by itself.
	Economy Economy `key:"economy"`
}

// Compat has settings for particular clients.
type Compat struct {
	// TurnCompletedFloor is the minimum time between the response to turn/start and turn/completed.
	// Half of it passes before the first words of the model.
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
		MCPToolsPercent:        10,
		Features: Features{UnifiedExec: true, ShellTool: true, ViewImage: true, ToolSearch: true,
			MultiAgent: true},
		Agents:                    defaultAgents(),
		Skills:                    Skills{IncludeInstructions: true},
		AllowLoginShell:           true,
		IncludeEnvironmentContext: true, IncludeEnvironmentContextTime: true,
		Context:             Context{RewriteOnUnload: true, Economy: defaultEconomy()},
		Index:               Index{Enabled: true, Path: "appserver-index.sqlite"},
		Store:               defaultStore(),
		Fleet:               defaultFleet(),
		Checkpoints:         Checkpoints{Enabled: true, Keep: 50},
		Compaction:          defaultCompaction(),
		Memory:              defaultMemory(),
		McpServers:          McpServers{},
		McpStartupGrace:     2 * time.Second,
		McpCredentialsStore: "auto",
		AuthStore:           storeInFile,
		Compat:              Compat{TurnCompletedFloor: 50 * time.Millisecond},
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

// with returns the result of Load for another content of the user's file.
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
		name := protocol.ConfigLayerSource{Type: protocol.LayerSystem, File: o.System}
		system, err := readLayer(name, o.System, "", decodeTOML)
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
	required, err := readRequirements(o.System)
	if err != nil {
		return nil, err
	}
	c, err := build(o.Home, getenv, layers, project{}, required, o.Strict)
	if c != nil {
		c.connect(o.Ports)
	}
	return c, err
}

// rejectOverride returns the first of the errors in err as an error for the client.
func rejectOverride(err error) error {
	var bad *Error
	if !errors.As(err, &bad) {
		return protocol.InvalidParams("config", "`config`: %v", err)
	}
	field := "config"
	if bad.Key != "" {
		field += "." + bad.Key
	} else if bad.Position != "" {
		field = bad.Position
	}
	return protocol.InvalidParams(field, "`%s`: %s", field, bad.Problem)
}

// build merges layers, the weakest first, to the settings in a project that the requirements permit.
func build(home string, getenv func(string) string, layers []*layer, p project, r requirements, strict bool) (
	*Config, error) {
	c := defaults()
	c.required, c.strict = r, strict
	c.home, c.getenv, c.layers, c.project = home, getenv, layers, p
	for _, l := range layers {
		if l.disabled == "" {
			c.root = merge(c.root, l.root)
		}
	}
	c.applyOllamaHost()
	d := &decoder{resolve: resolver(getenv("HOME")), strict: strict}
	d.fields(reflect.ValueOf(c).Elem(), c.root, nil)
	c.applyTrust()
	c.chooseModel()
	c.applyBaseURL()
	c.applyOldUnifiedExec()
	c.applyRestrictions()
	c.check(d)
	c.Warnings, c.ProjectWarnings = d.sortedWarnings()
	c.ProjectWarnings = append(c.ProjectWarnings, p.warnings...)
	c.readGuards()
	c.Warnings = append(c.Warnings, r.apply(&c.SandboxMode, &c.ApprovalPolicy, &c.WebSearch)...)
	return c, errors.Join(d.problems...)
}

// readGuards reads the rules for commands beside the files, and those of the requirements.
func (c *Config) readGuards() {
	c.CommandRules = slices.Clone(c.required.rules)
	hooks := hooksOn(c.root)
	for _, l := range c.layers {
		rules, warnings := guardsOf(l, c.home, c.projectRoot(c.project.cwd), hooks)
		c.CommandRules = append(c.CommandRules, rules...)
		if l.name.Type == protocol.LayerProject {
			c.ProjectWarnings = append(c.ProjectWarnings, warnings...)
		} else {
			c.Warnings = append(c.Warnings, warnings...)
		}
	}
}

// chooseModel clears the model if nothing is set, or if a stronger layer than the model's chose the
// provider: the model belongs to another provider then.
func (c *Config) chooseModel() {
	implied := c.implied(c.ModelProvider)
	if implied != "" && (c.Model == "" || c.rank("model") < c.rank("model_provider")) {
		c.Model = implied
	}
}

// Redactor removes secrets from lines; nil removes nothing.
func (c *Config) Redactor() *redact.Redactor { return c.redactor }

// rank returns the strength of the layer that set a key, or -1 if none did.
func (c *Config) rank(key string) int {
	n := c.root.find(key)
	if n == nil {
		return -1
	}
	return slices.Index(c.layers, n.position.layer)
}

// check reports values of the right type that cannot be used.
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
	refused(c.root, d.problem)
	c.checkProviders(d)
	c.checkAccount(d)
	c.checkServers(d)
	c.checkPrices(d)
	c.checkFleet(d)
	c.checkFilters(d)
	c.checkAgents(d)
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

// checkURL requires an address of http or https. An empty one counts as not set.
func (d *decoder) checkURL(address string, n *node, path []string) {
	u, err := url.Parse(address)
	ok := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
	if address != "" && !ok {
		d.problem(n, path, "expected an address such as https://HOST/v1")
	}
}
