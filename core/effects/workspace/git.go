package workspace

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"appserver/protocol"
)

// gitTimeout ends the git process that reads refs in a format of git's own.
const gitTimeout = time.Second

// Bounds of git's files. Longer ones are read in part; what stands behind is then
// not found.
const (
	maxRefBytes        = 4 << 10
	maxGitConfigBytes  = 256 << 10
	maxPackedRefsBytes = 16 << 20
)

// maxRefHops bounds how often a ref may name another one.
const maxRefHops = 5

// unreadableHead is the content of HEAD if the refs are in a table of binary format.
const unreadableHead = "refs/heads/.invalid"

// Git returns the commit, the branch and the address of origin of the repository that
// cwd is in; nil outside of one. Unborn branches have no commit, detached heads no
// branch. Passwords and tokens in the address are left out. The files of git are
// read as they are: no hook, filter or program of the repository runs.
func Git(ctx context.Context, cwd string) *protocol.StoredGitInfo {
	return describe(ctx, cwd, gitTimeout)
}

// describe does the same as Git. A process of git, if it needs one, ends after timeout.
func describe(ctx context.Context, cwd string, timeout time.Duration) *protocol.StoredGitInfo {
	repo, ok := openRepository(cwd)
	if !ok {
		return nil
	}
	commit, branch := repo.head()
	if branch == strings.TrimPrefix(unreadableHead, "refs/heads/") {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		commit, branch = askGit(ctx, cwd)
	}
	return &protocol.StoredGitInfo{
		CommitHash: protocol.OrNil(commit), Branch: protocol.OrNil(branch), RepositoryURL: protocol.OrNil(repo.origin()),
	}
}

// repository has the folders of git: dir for the worktree, common for all worktrees.
type repository struct{ dir, common string }

// openRepository finds the repository of cwd. A worktree and a submodule have a file .git with the
// path of the folder.
func openRepository(cwd string) (repository, bool) {
	root := repositoryRoot(cwd)
	if root == "" {
		return repository{}, false
	}
	dir := filepath.Join(root, ".git")
	if path, ok := strings.CutPrefix(readLine(dir), "gitdir: "); ok {
		dir = against(root, path)
	}
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err != nil {
		return repository{}, false
	}
	r := repository{dir: dir, common: dir}
	if common := readLine(filepath.Join(dir, "commondir")); common != "" {
		r.common = against(dir, common)
	}
	return r, true
}

// RepositoryKey identifies the repository of a directory by its root without links. It is the root of
// the main worktree for a linked one, and the directory itself outside of repositories. A worktree is
// linked if the repository confirms it.
func RepositoryKey(cwd string) string {
	if real, err := filepath.EvalSymlinks(cwd); err == nil {
		cwd = real
	}
	cwd = filepath.Clean(cwd)
	repo, ok := openRepository(cwd)
	if !ok {
		return cwd
	}
	root := repositoryRoot(cwd)
	linked := filepath.Dir(repo.dir) == filepath.Join(repo.common, "worktrees") &&
		against(repo.dir, readLine(filepath.Join(repo.dir, "gitdir"))) == filepath.Join(root, ".git")
	if !linked {
		return root
	}
	if filepath.Base(repo.common) == ".git" {
		return filepath.Dir(repo.common)
	}
	return repo.common // a bare one
}

// readLine returns the first line of a small file, or "".
func readLine(path string) string {
	text, err := readRegular(path, maxRefBytes)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimRight(line, "\r")
}

func against(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// head returns the commit that is checked out and its branch. Each may be "".
func (r repository) head() (commit, branch string) {
	line := readLine(filepath.Join(r.dir, "HEAD"))
	ref, symbolic := target(line)
	if !symbolic {
		return hash(line), ""
	}
	return r.resolve(ref, maxRefHops), strings.TrimPrefix(ref, "refs/heads/")
}

// target returns the ref that a symbolic ref names.
func target(line string) (ref string, symbolic bool) {
	ref, symbolic = strings.CutPrefix(line, "ref:")
	return strings.TrimSpace(ref), symbolic
}

// resolve returns the commit of a ref: its own file, of the worktree or shared, is
// newer than its line among the packed ones.
func (r repository) resolve(ref string, hops int) string {
	if hops == 0 || !strings.HasPrefix(ref, "refs/") || strings.Contains(ref, "..") {
		return ""
	}
	for _, dir := range []string{r.dir, r.common} {
		line := readLine(filepath.Join(dir, ref))
		if next, symbolic := target(line); symbolic {
			return r.resolve(next, hops-1)
		}
		if commit := hash(line); commit != "" {
			return commit
		}
	}
	return r.packed(ref)
}

func (r repository) packed(ref string) string {
	refs, err := readRegular(filepath.Join(r.common, "packed-refs"), maxPackedRefsBytes)
	if err != nil {
		return ""
	}
	end := bytes.Index(refs, []byte(" "+ref+"\n"))
	if end < 0 {
		return ""
	}
	return hash(string(refs[bytes.LastIndexByte(refs[:end], '\n')+1 : end]))
}

// hash returns s if it is the hash of an object, SHA-1 or SHA-256, or else "".
func hash(s string) string {
	s = strings.TrimSpace(s)
	if len(s) != 40 && len(s) != 64 || strings.Trim(s, "0123456789abcdef") != "" {
		return ""
	}
	return s
}

// origin returns the address of the remote origin without what must stay secret.
func (r repository) origin() string {
	text, err := readRegular(filepath.Join(r.common, "config"), maxGitConfigBytes)
	if err != nil {
		return ""
	}
	return protocol.PublicURL(originURL(string(text)))
}

// MergeBase returns the common ancestor of the checked-out commit and a branch, or the branch's
// upstream if that has more commits. It returns "" if git fails or takes too long.
func MergeBase(ctx context.Context, cwd, branch string) string {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	commit := func(name string) string {
		return hash(strings.TrimSpace(runGit(ctx, cwd, "rev-parse", "--verify", "--quiet", "--end-of-options", name+
			"^{commit}")))
	}
	tip := commit(branch)
	if upstream := commit(branch + "@{upstream}"); upstream != "" &&
		runGit(ctx, cwd, "rev-list", "--max-count=1", tip+".."+upstream) != "" {
		tip = upstream
	}
	if tip == "" {
		return ""
	}
	return hash(strings.TrimSpace(runGit(ctx, cwd, "merge-base", "HEAD", tip)))
}

// runGit returns the output of git, or "" if git fails. It turns off all settings that run a program
// or take a lock. It ends with ctx, at the latest gitTimeout after it if a child of git keeps the
// output open.
func runGit(ctx context.Context, cwd string, args ...string) string {
	cmd := exec.CommandContext(ctx, "git",
		append([]string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"}, args...)...)
	cmd.Dir, cmd.WaitDelay = cwd, gitTimeout
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") }),
		"GIT_OPTIONAL_LOCKS=0",
		// A partial clone fetches objects that it lacks, by a program that its configuration names.
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return string(out)
}

func askGit(ctx context.Context, cwd string) (commit, branch string) {
	lines := strings.SplitN(runGit(ctx, cwd, "rev-parse", "HEAD", "--symbolic-full-name", "HEAD"), "\n", 3)
	if len(lines) < 2 || hash(lines[0]) == "" {
		return "", ""
	}
	branch, _ = strings.CutPrefix(lines[1], "refs/heads/")
	if branch == "HEAD" {
		branch = ""
	}
	return hash(lines[0]), branch
}
