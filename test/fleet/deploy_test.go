package fleet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/posix"
)

// deployment is deploy/compose.yaml without containers, with its scripts, files, commands and variables. The
// nodes and the load balancer have addresses of this machine of their own.
type deployment struct {
	t        *testing.T
	compose  composeFile
	balancer string
	secrets  secrets
	// local replaces names, addresses and folders of containers by those of this machine.
	local map[string]string
	nodes map[int64]*apptest.Daemon // by process id
}

func newDeployment(t *testing.T) *deployment {
	balancer, err := exec.LookPath("haproxy")
	if err != nil {
		balancer, err = exec.LookPath("/usr/sbin/haproxy")
	}
	if err != nil {
		require.NotEqual(t, "true", os.Getenv("CI"), "install the package haproxy")
		t.Skip("the load balancer is not installed: ", err)
	}
	d := &deployment{t: t, compose: readCompose(t), secrets: newSecrets(t), nodes: map[int64]*apptest.Daemon{}}
	d.secrets.env["PUBLIC_HOST"] = "127.0.0.3"
	d.local = map[string]string{"node-a": "127.0.0.1", "node-b": "127.0.0.2", "/srv/work": t.TempDir(),
		"/certificates": t.TempDir(), "/certificates.sh": apptest.Root("deploy/certificates.sh")}
	for node, host := range map[string]string{"node-a": "127.0.0.1", "node-b": "127.0.0.2"} {
		_, port, _ := strings.Cut(apptest.FreeAddress(t), ":")
		d.local[node+":4600"] = host + ":" + port
	}
	entrypoint := d.inside(nil, d.compose.Services["certificates"].Entrypoint...)
	out, err := exec.Command(entrypoint[0], entrypoint[1:]...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	primary := newPrimary(t, d.secrets.env)
	newStandby(t, primary, d.secrets.env)
	primary.awaitSync()
	first, second := d.start("node-a", primary), d.start("node-b", primary)
	d.balance(balancer, first, second)
	return d
}

// inside returns values of deploy/compose.yaml with the names of this machine.
func (d *deployment) inside(more map[string]string, values ...string) (replaced []string) {
	d.t.Helper()
	var pairs []string
	all := maps.Clone(d.local)
	maps.Copy(all, more)
	// A name can begin another one.
	longestFirst := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return len(b) - len(a) })
	for _, name := range longestFirst {
		pairs = append(pairs, name, all[name])
	}
	names := strings.NewReplacer(pairs...)
	for _, value := range values {
		replaced = append(replaced, names.Replace(interpolate(d.t, value, d.secrets.env)))
	}
	return replaced
}

// start starts a node as its service does. It returns the address for clients.
func (d *deployment) start(name string, primary *database) string {
	home, service := d.t.TempDir(), d.compose.Services[name]
	ports := map[string]string{"0.0.0.0:4500": d.local[name] + ":0", "0.0.0.0:4600": d.local[name+":4600"],
		"@primary/": "@127.0.0.1:" + primary.port + "/"}
	config, err := os.ReadFile(apptest.Root("deploy/config.toml"))
	require.NoError(d.t, err)
	text := d.inside(ports, string(config))[0]
	require.NoError(d.t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600))
	cmd := apptest.OfflineCommand(d.t, home, append(d.inside(ports, service.Command...),
		"-c", "sandbox_mode=danger-full-access", "-c", "approval_policy=never")...)
	cmd.Dir = d.local["/srv/work"]
	for variable, value := range service.Environment {
		cmd.Env = append(cmd.Env, variable+"="+d.inside(ports, value)[0])
	}
	cmd.SysProcAttr = posix.Group()
	node := apptest.LaunchDaemon(d.t, cmd, home)
	require.NotEmpty(d.t, node.URL, "%s", strings.Join(node.Stderr, "\n"))
	d.nodes[int64(cmd.Process.Pid)] = node
	return strings.TrimPrefix(node.URL, "ws://")
}

// balance starts the load balancer with deploy/haproxy.cfg.
func (d *deployment) balance(program, first, second string) {
	_, port, _ := strings.Cut(apptest.FreeAddress(d.t), ":")
	d.balancer = "127.0.0.3:" + port
	ports := map[string]string{"*:4443": d.balancer, "node-a:4500": first, "node-b:4500": second}
	cmd := exec.Command(program, "-db", "-f", apptest.Root("deploy/haproxy.cfg"))
	cmd.Env = os.Environ()
	for variable, value := range d.compose.Services["load-balancer"].Environment {
		cmd.Env = append(cmd.Env, variable+"="+d.inside(ports, value)[0])
	}
	require.NoError(d.t, cmd.Start())
	d.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// connect returns a client that the load balancer has connected to a node, and the process id of the node.
func (d *deployment) connect() (*apptest.WebSocketClient, int64) {
	text, err := os.ReadFile(filepath.Join(d.local["/certificates"], "ca.pem"))
	require.NoError(d.t, err)
	pool := x509.NewCertPool()
	require.True(d.t, pool.AppendCertsFromPEM(text))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}
	var ws *websocket.Conn
	require.Eventually(d.t, func() bool { // the load balancer may not have noticed a dead node yet
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		ws, _, err = websocket.Dial(ctx, "wss://"+d.balancer, &websocket.DialOptions{
			HTTPClient: &http.Client{Transport: transport},
			HTTPHeader: http.Header{"Authorization": {"Bearer " + d.secrets.files["client-token"]}}})
		return err == nil
	}, time.Minute, 100*time.Millisecond, "no connection through the load balancer")
	ws.SetReadLimit(-1)
	c := apptest.ConnectWebSocket(d.t, ws)
	c.Initialize()
	return c, gjson.GetBytes(c.Call("server/diagnostics", apptest.Object{}), "pid").Int()
}

// TestTheDeploymentSurvivesTheDeathOfANode uses a thread through the load balancer and both nodes, and kills
// the one that has the thread.
func TestTheDeploymentSurvivesTheDeathOfANode(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	first, owner := d.connect()
	second, other := d.connect()
	require.NotEqual(t, owner, other, "the load balancer uses both nodes")
	id := first.StartThread(apptest.Object{})
	require.Equal(t, "completed", first.Turn(id, "say hello").Status)
	second.Call("thread/resume", apptest.Object{"threadId": id})
	second.BeginTurn(id, "run: sleep 60")
	second.UntilMethod("item/started")
	edge := gjson.GetBytes(second.Call("server/diagnostics", apptest.Object{}), "fleet")
	require.GreaterOrEqual(t, edge.Get("forwarded").Int(), int64(2), "two requests")
	require.Positive(t, edge.Get("links").Int())
	require.NoError(t, posix.Kill(-int(owner), syscall.SIGKILL))
	<-first.Exited
	require.Equal(t, "interrupted", second.AwaitTurn().Status)
	require.Equal(t, "completed", second.Turn(id, "say more").Status)
	third, survivor := d.connect()
	require.Equal(t, other, survivor)
	require.Len(t, third.ReadThread(id).Turns, 3)
	require.True(t, gjson.GetBytes(third.Call("server/diagnostics", apptest.Object{}), "fleet.syncStandby").Bool())
}
