// Package permission compiles permission profiles of the configuration into sandbox policies.
//
// These rules of [permissions.NAME] are obeyed:
//
//	extends                              :read-only, :workspace, or another profile
//	workspace_roots."PATH" = true        a writable root
//	filesystem.":root" = "read"          required; "write" makes / a writable root
//	filesystem.":workspace_roots"        "write", or {"." = "write"}; ".git", ".agents" and ".codex" can be "read"
//	filesystem.":slash_tmp", ":tmpdir"   "write" or "read"
//	filesystem."PATH"                    "write", or "read" outside of the writable roots
//	network.enabled                      true or false
//
// Any other rule makes a profile unusable. The names are those of the reference implementation.
package permission
