// Package release installs what make release makes, and uses the installed program. make test-release runs
// it: it needs npm, dpkg, Ruby and git, and a network for a linter from npm.
package release
