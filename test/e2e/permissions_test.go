//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// profiles are the built-in permission profiles, with the sandbox in responses and whether commands can write in
// the workspace.
var profiles = []struct {
	id, sandbox string
	writes      bool
}{{":read-only", "readOnly", false}, {":workspace", "workspaceWrite", true}, {":danger-full-access", "dangerFullAccess", true}}

// requireProfile requires the profile of a response.
func requireProfile(t *testing.T, result json.RawMessage, id, sandbox string) {
	t.Helper()
	require.Equal(t, sandbox, gjson.GetBytes(result, "sandbox.type").Str)
	require.Equal(t, id, gjson.GetBytes(result, "activePermissionProfile.id").Str)
}

// requireWrites runs a command that writes into the workspace, and requires that it does or fails.
func requireWrites(t *testing.T, c *apptest.Client, thread, cwd string, writes bool) {
	t.Helper()
	file := filepath.Join(cwd, "made")
	require.NoError(t, os.RemoveAll(file))
	c.Turn(thread, "run: echo x > made")
	_, err := os.Stat(file)
	require.Equal(t, writes, err == nil, "the file exists: %v", err == nil)
}

// TestPermissionProfilesHold names each built-in profile in each request that can name one, with a configuration that
// allows more or less. The profile is that of the response, of the commands, and of the thread after a kill.
func TestPermissionProfilesHold(t *testing.T) {
	t.Parallel()
	for _, p := range profiles {
		for _, configured := range []string{"danger-full-access", "read-only"} {
			t.Run(p.id+" over "+configured, func(t *testing.T) {
				t.Parallel()
				home, cwd := t.TempDir(), t.TempDir()
				arguments := []string{"-c", "sandbox_mode=" + configured, "-c", "approval_policy=never"}
				c := apptest.StartOffline(t, home, arguments...)

				result := c.Call("thread/start", apptest.Object{"cwd": cwd, "permissions": p.id})
				requireProfile(t, result, p.id, p.sandbox)
				started := gjson.GetBytes(result, "thread.id").Str
				requireWrites(t, c, started, cwd, p.writes)

				plain := c.StartThread(apptest.Object{"cwd": cwd})
				c.Turn(plain, "say hello")
				result = c.Call("thread/fork", apptest.Object{"threadId": plain, "permissions": p.id})
				requireProfile(t, result, p.id, p.sandbox)
				requireWrites(t, c, gjson.GetBytes(result, "thread.id").Str, cwd, p.writes)

				c.Call("turn/start", apptest.Object{"threadId": plain, "input": apptest.TextInput("say more"),
					"permissions": p.id})
				c.AwaitTurn()
				requireWrites(t, c, plain, cwd, p.writes)

				c.Kill()
				c = apptest.StartOffline(t, home, arguments...)
				for _, id := range []string{started, plain} {
					requireProfile(t, c.Call("thread/resume", apptest.Object{"threadId": id}), p.id, p.sandbox)
					requireWrites(t, c, id, cwd, p.writes)
				}
				joined := c.Call("thread/resume", apptest.Object{"threadId": plain, "permissions": ":read-only"})
				requireProfile(t, joined, ":read-only", "readOnly")
				requireWrites(t, c, plain, cwd, false)
				c.Close()
				c = apptest.StartOffline(t, home, arguments...)
				requireProfile(t, c.Call("thread/resume", apptest.Object{"threadId": plain, "permissions": p.id}),
					p.id, p.sandbox)
				requireWrites(t, c, plain, cwd, p.writes)
				c.Close()
			})
		}
	}
}

// TestConfigOfResumesHolds restricts a thread by the config of thread/resume, to the default and to less, while the
// thread is loaded and after a restart.
func TestConfigOfResumesHolds(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]apptest.Object{
		"mode":            {"sandbox_mode": "read-only"},
		"nested profile":  {"default_permissions": ":read-only"},
		"quoted":          {`"sandbox_mode"`: "read-only"},
		"later as params": {"sandbox_mode": "danger-full-access"},
	} {
		for _, loaded := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", loaded: ", loaded), func(t *testing.T) {
				t.Parallel()
				home, cwd := t.TempDir(), t.TempDir()
				c := apptest.StartOffline(t, home, "-c", "sandbox_mode=read-only", "-c", "approval_policy=never")
				id := c.StartThread(apptest.Object{"cwd": cwd, "sandbox": "danger-full-access"})
				requireWrites(t, c, id, cwd, true)
				if !loaded {
					c.Close()
					c = apptest.StartOffline(t, home, "-c", "sandbox_mode=read-only", "-c", "approval_policy=never")
				}
				resume := apptest.Object{"threadId": id, "config": config}
				if name == "later as params" {
					resume["sandbox"] = "read-only"
				}
				result := c.Call("thread/resume", resume)
				require.Equal(t, "readOnly", gjson.GetBytes(result, "sandbox.type").Str)
				requireWrites(t, c, id, cwd, false)
				c.Close()
			})
		}
	}
}

// TestConfigOfResumesNarrowsTools sets the approval policy and the tools of a loaded thread by the config of
// thread/resume. What the config of thread/start set is kept.
func TestConfigOfResumesNarrowsTools(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.TextAnswer("one"), apptest.TextAnswer("two"))
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": t.TempDir(), "config": apptest.Object{"tools.view_image": false}})
	c.Turn(id, "go")
	result := c.Call("thread/resume", apptest.Object{"threadId": id,
		"config": apptest.Object{"features.shell_tool": false, "approval_policy": "untrusted"}})
	require.Equal(t, "untrusted", gjson.GetBytes(result, "approvalPolicy").Str)
	c.Turn(id, "go")
	c.Close()
	before, after := p.Requests()[0].Body, p.Requests()[1].Body
	require.Contains(t, before, `"exec_command"`)
	require.NotContains(t, after, `"exec_command"`)
	require.NotContains(t, before+after, `"view_image"`)
}

// TestUnknownPermissionProfilesAreRefused names profiles that do not exist, and a profile beside a sandbox.
func TestUnknownPermissionProfilesAreRefused(t *testing.T) {
	t.Parallel()
	cwd := t.TempDir()
	c := apptest.StartOffline(t, t.TempDir())
	id := c.StartThread(apptest.Object{"cwd": cwd})
	turn := apptest.Object{"threadId": id, "input": apptest.TextInput("say hello")}
	requests := map[string]apptest.Object{"thread/start": {"cwd": cwd}, "thread/resume": {"threadId": id},
		"thread/fork": {"threadId": id}, "turn/start": turn}
	for method, params := range requests {
		for _, name := range []any{":nonsense", "mine", "", ":Read-Only", " :read-only", 7, true, apptest.Object{}} {
			params["permissions"] = name
			err := c.CallRejected(method, params)
			require.Contains(t, err.Message, "permissions", "%s %v", method, name)
		}
		params["permissions"], params["sandbox"] = ":workspace", "read-only"
		if method == "turn/start" {
			delete(params, "sandbox")
			params["sandboxPolicy"] = apptest.Object{"type": "readOnly"}
		}
		require.Contains(t, c.CallRejected(method, params).Message, "cannot be combined", method)
	}
	require.Contains(t, c.CallRejected("thread/start", apptest.Object{"permissions": "mine"}).Message,
		":read-only, :workspace, :danger-full-access")
	c.Close()
}

// TestWorkspaceRootsHold writes in a root that the client adds. Roots without the working directory are refused where
// commands could write in it.
func TestWorkspaceRootsHold(t *testing.T) {
	t.Parallel()
	base, err := os.MkdirTemp(apptest.ShortDir(t), "roots")
	require.NoError(t, err)
	cwd, other := filepath.Join(base, "cwd"), filepath.Join(base, "other")
	require.NoError(t, os.MkdirAll(cwd, 0o755))
	require.NoError(t, os.MkdirAll(other, 0o755))
	c := apptest.StartOffline(t, t.TempDir(), "-c", "approval_policy=never",
		"-c", "sandbox_workspace_write.exclude_slash_tmp=true")
	result := c.Call("thread/start", apptest.Object{"cwd": cwd, "sandbox": "workspace-write",
		"runtimeWorkspaceRoots": []string{cwd, other}})
	require.JSONEq(t, fmt.Sprintf("[%q,%q]", cwd, other), gjson.GetBytes(result, "runtimeWorkspaceRoots").Raw)
	require.JSONEq(t, fmt.Sprintf("[%q]", other), gjson.GetBytes(result, "sandbox.writableRoots").Raw)
	id := gjson.GetBytes(result, "thread.id").Str
	c.Turn(id, "run: touch "+other+"/made")
	require.FileExists(t, filepath.Join(other, "made"))
	require.NoError(t, os.Remove(filepath.Join(other, "made")))

	turn := apptest.Object{"threadId": id, "input": apptest.TextInput("run: touch " + other + "/made"),
		"runtimeWorkspaceRoots": []string{cwd}}
	c.Call("turn/start", turn)
	c.AwaitTurn()
	require.Equal(t, os.Getenv("TMPDIR") != "" || c.Diagnostics().Sandbox.Enforced, !exists(other+"/made"))

	turn["runtimeWorkspaceRoots"] = []string{other}
	require.Contains(t, c.CallRejected("turn/start", turn).Message, "lacks the working directory")
	turn["runtimeWorkspaceRoots"] = []string{"relative"}
	require.Contains(t, c.CallRejected("turn/start", turn).Message, "not an absolute path")
	c.Close()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestDefaultPermissionsHold starts threads in a trusted project with profiles of config.toml. Profiles that can be
// enforced are obeyed. The others are refused, by name and rule.
func TestDefaultPermissionsHold(t *testing.T) {
	t.Parallel()
	custom := func(rules string) string { return "default_permissions = \"mine\"\n" + rules }
	for _, c := range []struct {
		name, toml, sandbox, refused string
	}{
		{"read-only", `default_permissions = ":read-only"`, "readOnly", ""},
		{"stronger than the mode of its file", "default_permissions = \":read-only\"\nsandbox_mode = \"danger-full-access\"",
			"readOnly", ""},
		{"unknown built-in", `default_permissions = ":other"`, "", "unknown permission profile \":other\""},
		{"missing", `default_permissions = "mine"`, "", "unknown permission profile \"mine\""},
		{"profiles, and none selected", "[permissions.mine.filesystem]\n\":root\" = \"read\"", "", "default_permissions selects none"},
		{"reads all", custom("[permissions.mine.filesystem]\n\":root\" = \"read\""), "readOnly", ""},
		{"extends", custom("[permissions.mine]\nextends = \":workspace\""), "workspaceWrite", ""},
		{"writes in the workspace", custom("[permissions.mine.filesystem]\n\":root\" = \"read\"\n\":workspace_roots\" = \"write\""),
			"workspaceWrite", ""},
		{"denies a path", custom("[permissions.mine]\nextends = \":workspace\"\n[permissions.mine.filesystem]\n\"/etc/passwd\" = \"deny\""),
			"", "filesystem.\"/etc/passwd\" = \"deny\" cannot be enforced"},
		{"denies a pattern", custom("[permissions.mine]\nextends = \":read-only\"\n[permissions.mine.filesystem]\n\"/home/**/*.env\" = \"none\""),
			"", "cannot be enforced"},
		{"reads little", custom("[permissions.mine.filesystem]\n\"/usr\" = \"read\""), "", "could read more"},
		{"empty", custom("[permissions.mine]\n"), "", "could read more"},
		{"narrows the workspace", custom("[permissions.mine]\nextends = \":workspace\"\n[permissions.mine.filesystem.\":workspace_roots\"]\n\"docs\" = \"read\""),
			"", "cannot be enforced"},
		{"narrows a root", custom("[permissions.mine]\nextends = \":workspace\"\n[permissions.mine.filesystem]\n\"/opt\" = \"write\"\n\"/opt/keep\" = \"read\""),
			"", "cannot be enforced"},
		{"some hosts", custom("[permissions.mine]\nextends = \":workspace\"\n[permissions.mine.network]\nenabled = true\n[permissions.mine.network.domains]\n\"a.example\" = \"allow\""),
			"", "network.domains cannot be enforced"},
		{"extends itself", custom("[permissions.mine]\nextends = \"mine\""), "", "extends itself"},
		{"a later rule", custom("[permissions.mine]\nextends = \":workspace\"\nprocesses = \"few\""), "", "processes is not supported"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home, cwd := t.TempDir(), t.TempDir()
			text := fmt.Sprintf("%s\n[projects.%q]\ntrust_level = \"trusted\"\n", c.toml, cwd)
			require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600))
			s := apptest.StartOffline(t, home, "-c", "approval_policy=never")
			if c.refused != "" {
				require.Contains(t, s.CallRejected("thread/start", apptest.Object{"cwd": cwd}).Message, c.refused)
				allowed := s.StartThread(apptest.Object{"cwd": cwd, "permissions": ":read-only"})
				requireWrites(t, s, allowed, cwd, false)
				s.Close()
				return
			}
			result := s.Call("thread/start", apptest.Object{"cwd": cwd})
			require.Equal(t, c.sandbox, gjson.GetBytes(result, "sandbox.type").Str)
			requireWrites(t, s, gjson.GetBytes(result, "thread.id").Str, cwd, c.sandbox != "readOnly")
			s.Close()
		})
	}
}

// TestProfilesOfTheConfigurationAreListed lists a profile that can be used, and one that cannot with the reason.
func TestProfilesOfTheConfigurationAreListed(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(`sandbox_mode = "read-only"
[permissions.good]
description = "for reviews"
extends = ":read-only"
[permissions.strict.filesystem]
"/usr" = "read"
`), 0o600))
	c := apptest.StartOffline(t, home)
	list := gjson.ParseBytes(c.Call("permissionProfile/list", apptest.Object{})).Get("data")
	require.Equal(t, `[":read-only",":workspace",":danger-full-access","good","strict"]`, list.Get("#.id").Raw)
	require.Equal(t, "[true,true,true,true,false]", list.Get("#.allowed").Raw)
	require.Equal(t, "for reviews", list.Get("3.description").Str)
	require.Contains(t, list.Get("4.description").Str, "could read more")
	result := c.Call("thread/start", apptest.Object{"permissions": "good"})
	require.Equal(t, ":read-only", gjson.GetBytes(result, "activePermissionProfile.extends").Str)
	require.Contains(t, c.CallRejected("thread/start", apptest.Object{"permissions": "strict"}).Message, "could read more")
	c.Close()
}

// TestStoredProfilesThatCannotBeEnforcedRunNothing resumes a rollout of another program whose profile denies a path.
// The thread can be read, and has turns once the client names other permissions.
func TestStoredProfilesThatCannotBeEnforcedRunNothing(t *testing.T) {
	t.Parallel()
	apptest.NeedsFiles(t, apptest.FilesExchange)
	home, cwd := t.TempDir(), t.TempDir()
	c := apptest.StartOffline(t, home)
	thread := c.CallThread("thread/start", apptest.Object{"cwd": cwd, "sandbox": "workspace-write"})
	c.Turn(thread.ID, "say hello")
	c.Close()
	stored, err := json.Marshal(map[string]any{"timestamp": "2026-01-02T03:04:05.000Z", "type": "event_msg", "payload": map[string]any{
		"type": "thread_settings_applied", "thread_id": thread.ID, "thread_settings": map[string]any{
			"cwd": cwd, "approval_policy": "never", "active_permission_profile": map[string]any{"id": "mine"},
			"permission_profile": map[string]any{"type": "managed", "network": "restricted", "file_system": map[string]any{
				"type": "restricted", "entries": []any{
					map[string]any{"path": map[string]any{"type": "special", "value": map[string]any{"kind": "root"}}, "access": "read"},
					map[string]any{"path": map[string]any{"type": "path", "path": "/etc/passwd"}, "access": "deny"},
				}}}}}})
	require.NoError(t, err)
	f, err := os.OpenFile(thread.Path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.Write(append(stored, '\n'))
	require.NoError(t, err)
	require.NoError(t, f.Close())

	c = apptest.StartOffline(t, home)
	c.Call("thread/resume", apptest.Object{"threadId": thread.ID})
	turn := apptest.Object{"threadId": thread.ID, "input": apptest.TextInput("run: cat /etc/passwd")}
	require.Contains(t, c.CallRejected("turn/start", turn).Message, `/etc/passwd = "deny"`)
	turn["permissions"] = ":read-only"
	c.Call("turn/start", turn)
	require.Equal(t, "completed", c.AwaitTurn().Status)
	c.Close()
}
