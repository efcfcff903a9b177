// Package config reads the user's settings: CODEX_HOME/config.toml (or config.yaml), the overrides
// of the command line, and the overrides of a thread. It has the keys of the reference
// implementation, and some of its own. [Load] returns a [Config], [Config.For] the settings of
// threads in a folder, and [Live] the settings of a running server, which clients can change.
//
// # Layers
//
// Load reads the layers in order of strength, the weakest first: defaults, the file of the
// machine, the file of the user, the command line. Tables are merged key by key; other values are
// replaced. Config.For inserts the files of a project below the command line, and a thread's
// overrides on top. A null, in YAML or in a thread's overrides, keeps the value of the weaker
// layers.
//
// # Errors and warnings
//
// A wrong type, a word outside a closed set and broken syntax are errors. An error names the file
// and line, or the override, then the key and the expected value. All errors are reported at once.
// An unknown key is a warning. A key of the reference implementation that has no effect here is
// neither.
//
// A *Config does not change after Load, and any number of goroutines may use it. The package
// starts none. Only Load, For, [Config.BaseInstructions] and the methods of Live read files.
//
// # Decisions
//
// The files of a project come with code that the user may not know. They apply only if the user
// trusts the project. They never set the destination of credentials and prompts, the programs that
// run outside of the sandbox, or the data that the server keeps. Only layers that the user controls
// decide on trust.
package config
