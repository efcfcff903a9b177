// Package config is what the user set: CODEX_HOME/config.toml (or config.yaml),
// the command line's overrides on top of it, and a thread's own on top of those.
// Its keys are those of the reference implementation, and some of its own.
//
// # Layers
//
// [Load] reads the layers, the weakest first: defaults, the machine's file, the
// user's file, the command line. Tables are joined key by key, everything else is
// replaced whole. [Config.For] puts the files of a project below the command line,
// and a thread's overrides on top. A null, in YAML or in a thread's overrides, leaves
// the key as the weaker layers have it.
//
// # Errors and warnings
//
// A wrong type, a word outside a closed set and broken syntax are errors that name
// the file and line, or the override, the key, and what was expected; all of them
// are reported at once. A key that nobody knows is a warning, a key of the
// reference implementation that has no effect here is neither.
//
// A *Config does not change after Load and may be used by any number of
// goroutines. The package starts none. Files are read by Load, For, and
// [Config.BaseInstructions] only.
//
// # Decisions
//
// The files of a project come with code that the user may not know. They apply only
// if the user trusts the project, and never set where credentials and prompts go,
// which programs run outside of the sandbox, or what the server keeps. Trust is
// decided by the layers that the user controls, not by those of projects.
package config
