package codeindex

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Reason is the reason why a file has no chunks.
type Reason string

// The reasons. What was learned by reading a file is kept in the sink, so that it is learned once.
const (
	// NoFile is any path except a regular file: a link, a FIFO, a socket, a device.
	NoFile Reason = "noFile"
	// TooMany is a file beyond the maximum number of a repository.
	TooMany Reason = "tooMany"
	// Foreign is a file of a package manager below the repository.
	Foreign Reason = "foreign"
	// Large is a file with too many bytes or lines.
	Large Reason = "large"
	// LockFile is a file that a package manager writes for itself.
	LockFile Reason = "lockFile"
	// Private is a file whose name suggests keys or passwords.
	Private Reason = "private"
	// Binary is a file with a NUL in its first 8 KB.
	Binary Reason = "binary"
	// Encoding is text that is not UTF-8.
	Encoding Reason = "encoding"
	// Generated is a file that declares itself generated at its beginning, or has lines of more
	// than 2,000 bytes.
	Generated Reason = "generated"
	// Unreadable is a file that the system does not permit to read.
	Unreadable Reason = "unreadable"
	// Gone is a file that was deleted or replaced during the look.
	Gone Reason = "gone"
)

const (
	binaryHead  = 8 << 10
	maxLine     = 2000
	maxLines    = 50_000
	generatedIn = 2 << 10
)

// judgeName returns the reason to skip a file by its name, or "".
func judgeName(name string) Reason {
	base := strings.ToLower(path.Base(name))
	switch {
	case isForeign(path.Dir(name)):
		return Foreign
	case slices.Contains(lockFiles(), base), strings.HasSuffix(base, ".lock"):
		return LockFile
	case slices.Contains(privateFiles(), base), slices.Contains(privateExtensions(), path.Ext(base)),
		strings.HasPrefix(base, ".env.") && !strings.HasSuffix(base, "example"):
		return Private
	case strings.HasSuffix(base, ".min.js"), strings.HasSuffix(base, ".min.css"), strings.HasSuffix(base, ".map"):
		return Generated
	}
	return ""
}

// isForeign reports whether a folder has installed packages, or is below one that has. Git ignores
// most of them, but not all, and a folder without a repository has no ignore rules.
func isForeign(dir string) bool {
	for part := range strings.SplitSeq(dir, "/") {
		switch part {
		case "node_modules", "bower_components", "site-packages", "__pycache__", ".venv":
			return true
		}
	}
	return false
}

func lockFiles() []string {
	return []string{"bun.lockb", "composer.lock", "go.sum", "go.work.sum", "gradle.lockfile", "npm-shrinkwrap.json",
		"package-lock.json",
		"package.resolved", "packages.lock.json", "pnpm-lock.yaml"}
}

func privateFiles() []string {
	return []string{".env", ".envrc", ".git-credentials", ".htpasswd", ".netrc", ".npmrc", ".pgpass", ".pypirc",
		"credentials", "id_dsa", "id_ecdsa",
		"id_ed25519", "id_rsa", "secrets.json", "secrets.toml", "secrets.yaml", "secrets.yml"}
}

func privateExtensions() []string {
	return []string{".jks", ".kdbx", ".key", ".keystore", ".p12", ".pem", ".pfx", ".tfstate", ".tfvars"}
}

// judgeContent returns the reason to skip a file by its content, or "".
func judgeContent(content []byte) Reason {
	switch {
	case bytes.IndexByte(content[:min(len(content), binaryHead)], 0) >= 0:
		return Binary
	case !utf8.Valid(content):
		return Encoding
	case bytes.Count(content, []byte("\n")) >= maxLines:
		return Large
	case saysGenerated(content), longLine(content):
		return Generated
	}
	return ""
}

// saysGenerated reports whether a file has the warnings of generators. They are written in two halves
// here, so that this file does not match.
func saysGenerated(content []byte) bool {
	head := content[:min(len(content), generatedIn)]
	for l := range bytes.Lines(head) {
		if !bytes.HasPrefix(l, []byte("//")) && !bytes.HasPrefix(l, []byte("#")) && !bytes.HasPrefix(l, []byte("/*")) &&
			!bytes.HasPrefix(l, []byte(" *")) {
			continue
		}
		lower := bytes.ToLower(l)
		if bytes.Contains(lower, []byte("@gener"+"ated")) || bytes.Contains(lower, []byte("generated")) &&
			bytes.Contains(lower, []byte("do not "+"edit")) {
			return true
		}
	}
	return false
}

func longLine(content []byte) bool {
	for l := range bytes.Lines(content) {
		if len(l) > maxLine {
			return true
		}
	}
	return false
}
