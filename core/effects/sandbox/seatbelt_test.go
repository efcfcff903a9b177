//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// world is a folder with a workspace, which is a repository, the server's home and other files.
type world struct{ root, workspace, home string }

func newWorld(t *testing.T) world {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := world{root: root, workspace: filepath.Join(root, "project"), home: filepath.Join(root, "home")}
	for _, dir := range []string{"project/.git/hooks", "project/sub", "home", "other", "tmp"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(w.workspace, ".git", "config"), []byte("[core]\n"), 0o644))
	return w
}

// profile returns the profile of a policy in the workspace.
func (w world) profile(policy protocol.SandboxPolicyVariant) Profile {
	rules, _ := For(protocol.SandboxPolicy{SandboxPolicyVariant: policy},
		Place{Workspace: w.workspace, Directory: w.workspace, Home: w.home, Env: []string{"TMPDIR=" + w.root + "/tmp"}})
	return rules.Seatbelt()
}

// denied and allowed are the decisions of a profile.
const (
	denied  = false
	allowed = true
)

func requireDecisions(t *testing.T, p Profile, want map[operation]bool) {
	t.Helper()
	for o, decision := range want {
		require.Equal(t, decision, allows(t, p, o), "%+v", o)
	}
}

// TestSeatbeltKeepsFilesOfThePolicy: commands write in the roots only, except what is protected.
func TestSeatbeltKeepsFilesOfThePolicy(t *testing.T) {
	w := newWorld(t)
	in := func(name, path string) operation { return operation{name: name, path: w.root + path} }
	requireDecisions(t, w.profile(&protocol.WorkspaceWrite{ExcludeSlashTmp: true}), map[operation]bool{
		in("file-write-create", "/project/new"):                allowed,
		in("file-write-data", "/project/sub/a"):                allowed,
		in("file-write-unlink", "/project/sub"):                allowed,
		in("file-write-mode", "/project/sub/a"):                allowed,
		in("file-write-create", "/tmp/x"):                      allowed,
		in("file-write-data", "/project/.git/index"):           allowed,
		in("file-write-create", "/project/.git/objects/a"):     allowed,
		in("file-write-create", "/project/.gitignore"):         allowed,
		in("file-write-create", "/project/.codexx"):            allowed,
		in("file-write-create", "/project/sub/.codex/c"):       allowed, // a start in it reads it, as on Linux
		in("file-write-create", "/project/.git/hooks/x"):       denied,
		in("file-write-data", "/project/.git/config"):          denied,
		in("file-write-create", "/project/.git/config"):        denied, // by a rename over it
		in("file-write-create", "/project/.git/modules"):       denied,
		in("file-write-create", "/project/.git/commondir"):     denied,
		in("file-write-create", "/project/.codex"):             denied,
		in("file-write-create", "/project/.codex/config.toml"): denied,
		in("file-write-xattr", "/project/.agents"):             denied,
		in("file-write-unlink", "/project/.git"):               denied, // its new name would not be protected
		in("file-write-unlink", "/project"):                    denied,
		in("file-link", "/project/.git/config"):                denied, // its second name would not be protected
		in("file-write-create", "/other/x"):                    denied,
		in("file-write-data", "/projectx"):                     denied,
		in("file-write-create", "/home/config.toml"):           denied,
		in("file-read-data", "/other/x"):                       allowed,
		in("file-read-data", "/project/.git/config"):           allowed,
		in("file-read-data", "/home/config.toml"):              denied,
		in("file-read-metadata", "/home"):                      denied,
		{name: "file-read-data", path: "/etc/passwd"}:          allowed,
		{name: "file-write-data", path: "/etc/passwd"}:         denied,
		{name: "file-write-create", path: "/private/tmp/xy"}:   denied,
	})
	requireDecisions(t, w.profile(&protocol.ReadOnly{}), map[operation]bool{
		in("file-write-create", "/project/new"):     denied,
		in("file-write-create", "/tmp/new"):         denied,
		in("file-read-data", "/project/sub/a"):      allowed,
		in("file-read-data", "/home/auth.json"):     denied,
		in("file-write-unlink", "/project/sub/a"):   denied,
		in("file-write-setugid", "/project/sub/a"):  denied,
		in("file-map-executable", "/project/sub/a"): allowed,
	})
}

// TestSeatbeltResolvesRoots: the kernel knows /tmp by the name that its link leads to.
func TestSeatbeltResolvesRoots(t *testing.T) {
	w := newWorld(t)
	link := filepath.Join(w.root, "link")
	require.NoError(t, os.Symlink("other", link))
	p := w.profile(&protocol.WorkspaceWrite{ExcludeSlashTmp: true, WritableRoots: []string{link, w.root + "/none"}})
	requireDecisions(t, p, map[operation]bool{
		{name: "file-write-create", path: w.root + "/other/x"}:      allowed,
		{name: "file-write-create", path: w.root + "/other/.codex"}: denied,
		{name: "file-write-create", path: w.root + "/none/x"}:       denied, // it was no folder when the command began
	})
}

// TestSeatbeltRootsInTheHome: only they are writable, and the home is readable.
func TestSeatbeltRootsInTheHome(t *testing.T) {
	w := newWorld(t)
	inner := filepath.Join(w.home, "a", "b")
	require.NoError(t, os.MkdirAll(inner, 0o755))
	p := w.profile(&protocol.WorkspaceWrite{WritableRoots: []string{inner}})
	requireDecisions(t, p, map[operation]bool{
		{name: "file-write-create", path: inner + "/x"}:            allowed,
		{name: "file-write-create", path: inner + "/.codex/x"}:     denied,
		{name: "file-write-create", path: w.home + "/config.toml"}: denied,
		{name: "file-write-unlink", path: inner}:                   denied,
		{name: "file-read-data", path: w.home + "/config.toml"}:    allowed,
	})
	require.NoError(t, os.MkdirAll(w.workspace+"/a/home", 0o755))
	w.home = w.workspace + "/a/home"
	requireDecisions(t, w.profile(&protocol.WorkspaceWrite{}), map[operation]bool{
		{name: "file-write-create", path: w.workspace + "/a/x"}: allowed,
		{name: "file-write-create", path: w.home + "/x"}:        denied,
		{name: "file-write-unlink", path: w.workspace + "/a"}:   denied, // the home would move with it
		{name: "file-read-data", path: w.home + "/x"}:           denied,
		// Results of tools can be read.
		{name: "file-read-data", path: w.home + "/tool-files/t/x"}:    allowed,
		{name: "file-write-create", path: w.home + "/tool-files/t/x"}: denied,
		{name: "file-read-data", path: w.home + "/tool-files.x"}:      denied,
	})
}

// TestSeatbeltAgreesWithThePlaces: for each access of a place, the profile decides as the mounts of
// Linux do.
func TestSeatbeltAgreesWithThePlaces(t *testing.T) {
	w := newWorld(t)
	inner := filepath.Join(w.workspace, "sub", "deep")
	require.NoError(t, os.MkdirAll(inner, 0o755))
	w.home = filepath.Join(inner, "home")
	require.NoError(t, os.Mkdir(w.home, 0o755))
	policy := &protocol.WorkspaceWrite{WritableRoots: []string{inner, w.root + "/other"}}
	rules, _ := For(protocol.SandboxPolicy{SandboxPolicyVariant: policy}, Place{Workspace: w.workspace, Home: w.home})
	p := rules.Seatbelt()
	places := newPlaces(rules)
	require.Greater(t, len(places), 10)
	for path := range places {
		decider := places[path]
		for at := path; decider == held; decider = places[at] {
			at = places.above(at)
		}
		file := operation{name: "file-write-create", path: path + "/file"}
		require.Equal(t, decider == written, allows(t, p, file), path)
		file.name = "file-read-data"
		require.Equal(t, decider != hidden, allows(t, p, file), path)
		require.False(t, allows(t, p, operation{name: "file-write-unlink", path: path}), path)
	}
}

func TestSeatbeltNetworkAndServices(t *testing.T) {
	w := newWorld(t)
	connect := operation{name: "network-outbound", ip: true}
	docker := operation{name: "network-outbound", path: "/private/var/run/docker.sock"}
	names := operation{name: "network-outbound", path: "/private/var/run/mDNSResponder"}
	for network, p := range map[bool]Profile{
		false: w.profile(&protocol.WorkspaceWrite{}), true: w.profile(&protocol.ReadOnly{NetworkAccess: true}),
	} {
		requireDecisions(t, p, map[operation]bool{
			connect:                             network,
			names:                               network,
			docker:                              denied,
			{name: "network-bind", ip: true}:    network,
			{name: "network-inbound", ip: true}: network,
			{name: "network-bind", path: w.workspace + "/socket"}:                        denied,
			{name: "process-exec", path: "/bin/ls"}:                                      allowed,
			{name: "process-fork"}:                                                       allowed,
			{name: "signal", same: true}:                                                 allowed,
			{name: "signal"}:                                                             denied,
			{name: "process-info-pidinfo"}:                                               denied,
			{name: "process-info-pidinfo", same: true}:                                   allowed,
			{name: "sysctl-read", service: "hw.ncpu"}:                                    allowed,
			{name: "sysctl-read", service: "kern.procargs2.1"}:                           denied,
			{name: "sysctl-write", service: "kern.hostname"}:                             denied,
			{name: "mach-lookup", service: "com.apple.system.opendirectoryd.libinfo"}:    allowed,
			{name: "mach-lookup", service: "com.apple.coreservices.launchservicesd"}:     denied,
			{name: "mach-lookup", service: "com.apple.SecurityServer"}:                   denied,
			{name: "mach-lookup", service: "com.apple.SystemConfiguration.configd"}:      network,
			{name: "appleevent-send"}:                                                    denied,
			{name: "user-preference-write"}:                                              denied,
			{name: "nvram-set"}:                                                          denied,
			{name: "iokit-open", service: "IOHIDSystem"}:                                 denied,
			{name: "system-socket", service: "AF_ROUTE"}:                                 denied,
			{name: "mach-priv-task-port"}:                                                denied,
			{name: "system-privilege"}:                                                   denied,
			{name: "ipc-posix-sem"}:                                                      allowed,
			{name: "ipc-posix-shm-read-data", service: "a segment of another program's"}: denied,
		})
	}
}

func TestSeatbeltDevices(t *testing.T) {
	w := newWorld(t)
	const pty = "com.apple.sandbox.pty"
	for _, p := range []Profile{
		w.profile(&protocol.ReadOnly{}), w.profile(&protocol.WorkspaceWrite{}),
		w.profile(&protocol.WorkspaceWrite{WritableRoots: []string{"/"}}),
	} {
		requireDecisions(t, p, map[operation]bool{
			{name: "file-write-data", path: "/dev/null"}:                      allowed,
			{name: "file-read-data", path: "/dev/urandom"}:                    allowed,
			{name: "file-write-data", path: "/dev/tty"}:                       allowed,
			{name: "file-read-data", path: "/dev/fd/0"}:                       allowed,
			{name: "file-read-metadata", path: "/dev/disk0"}:                  allowed,
			{name: "file-read-data", path: "/dev/disk0"}:                      denied,
			{name: "file-write-data", path: "/dev/rdisk0"}:                    denied,
			{name: "file-ioctl", path: "/dev/disk0"}:                          denied,
			{name: "file-write-create", path: "/dev/null"}:                    denied,
			{name: "pseudo-tty"}:                                              allowed,
			{name: "file-write-data", path: "/dev/ptmx"}:                      allowed,
			{name: "file-ioctl", path: "/dev/ttys001"}:                        allowed, // of an open terminal
			{name: "file-read-data", path: "/dev/ttys001"}:                    denied,  // the user's
			{name: "file-write-data", path: "/dev/ttys001"}:                   denied,
			{name: "file-write-data", path: "/dev/ttys001", extension: pty}:   allowed, // the command's own
			{name: "file-write-data", path: "/dev/ttys001/x", extension: pty}: denied,
		})
	}
}

// TestSeatbeltProfilesHaveTheForm of the language, with known operations and filters only: one that
// macOS does not know makes every command fail.
func TestSeatbeltProfilesHaveTheForm(t *testing.T) {
	w := newWorld(t)
	operations := strings.Fields(`process-exec process-fork signal process-info* file-map-executable nvram* sysctl-read
		file-read* file-read-metadata file-write* file-write-data file-write-unlink file-ioctl ipc-posix-sem mach-lookup
		pseudo-tty network-outbound network-inbound network-bind system-socket`)
	for _, policy := range []protocol.SandboxPolicyVariant{
		&protocol.ReadOnly{}, &protocol.WorkspaceWrite{NetworkAccess: true},
		&protocol.WorkspaceWrite{WritableRoots: []string{w.home}},
	} {
		p := w.profile(policy)
		rules, err := parseProfile(p.Text)
		require.NoError(t, err)
		require.Equal(t, []expression{{symbol: "version"}, {symbol: "1"}}, rules[0].list)
		require.Equal(t, []expression{{symbol: "deny"}, {symbol: "default"}}, rules[1].list)
		for _, rule := range rules[2:] {
			require.Contains(t, []string{"allow", "deny"}, rule.head())
			require.NotEmpty(t, rule.list[1].symbol)
			for _, e := range rule.list[1:] {
				if e.symbol != "" {
					require.Contains(t, operations, e.symbol)
				} else {
					filterMatches(t, p, e, operation{}) // fails for other filters
				}
			}
		}
	}
	for _, broken := range []string{"(version 1", `("a`, `("\"")`, "(a))", "(a ;)"} {
		_, err := parseProfile(broken)
		require.Error(t, err, broken)
	}
}

func TestSeatbeltCommand(t *testing.T) {
	p := Profile{Text: "(version 1)", Values: []string{"/a=b", "-x\n\"("}}
	command, err := p.Command("/bin/echo", []string{"echo", "-p", "x"})
	require.NoError(t, err)
	require.Equal(t, []string{"/usr/bin/sandbox-exec", "-p", "(version 1)", "-D", "P0=/a=b", "-D", "P1=-x\n\"(", "--",
		"/bin/echo", "-p", "x"}, command)
	_, err = p.Command("/bin/echo", nil)
	require.Error(t, err)
	_, err = Profile{Values: []string{"/a\x00"}}.Command("/bin/echo", []string{"echo"})
	require.ErrorContains(t, err, "NUL")
}

// FuzzSeatbeltPathsAreNoRules: whatever a path contains, the text of the profile is the same, and the
// rules are about this path.
func FuzzSeatbeltPathsAreNoRules(f *testing.F) {
	for _, path := range []string{"/a", "/a b", `/"`, "/))(allow default)", "/\n(allow default)", `/\`, "/;", "/é\u212a", "/P0=",
		"/(param \"P1\")", "/\xff", "/#\"", "/a\x00b", "/.*"} {
		f.Add(path)
	}
	plain := Profile{Text: basicRules}
	plain.addPlace("/plain", written)
	f.Fuzz(func(t *testing.T, path string) {
		path = filepath.Clean("/" + path)
		p := Profile{Text: basicRules}
		p.addPlace(path, written)
		require.Equal(t, plain.Text, p.Text)
		require.True(t, allows(t, p, operation{name: "file-write-data", path: path}))
		require.True(t, allows(t, p, operation{name: "file-write-data", path: filepath.Join(path, "x")}))
		require.Equal(t, path == "/", allows(t, p, operation{name: "file-write-data", path: path + "x"}))
		command, err := p.Command("/bin/echo", []string{"echo"})
		require.Equal(t, strings.ContainsRune(path, 0), err != nil)
		if err == nil {
			require.Equal(t, "P0="+path, command[4])
			require.Len(t, command, 7)
		}
	})
}
