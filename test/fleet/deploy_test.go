package fleet

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
	"go.yaml.in/yaml/v3"

	"appserver/test/apptest"
)

// deployment is the topology of deploy/compose.yaml without containers, with its scripts and files. The
// nodes have addresses of this machine of their own.
type deployment struct {
	t                      *testing.T
	certificates, balancer string
	nodes                  map[int64]*apptest.Daemon // by process id
}

const clientToken = "the token of clients"

func newDeployment(t *testing.T) *deployment {
	balancer, err := exec.LookPath("haproxy")
	if err != nil {
		balancer, err = exec.LookPath("/usr/sbin/haproxy")
	}
	if err != nil {
		require.NotEqual(t, "true", os.Getenv("CI"), "install the package haproxy")
		t.Skip("the load balancer is not installed: ", err)
	}
	d := &deployment{t: t, certificates: t.TempDir(), nodes: map[int64]*apptest.Daemon{}}
	out, err := exec.Command("sh", apptest.Root("deploy/certificates.sh"), d.certificates, "127.0.0.1", "127.0.0.2",
		"127.0.0.3").CombinedOutput()
	require.NoError(t, err, "%s", out)
	url, work := newPair(t).url(), t.TempDir()
	first, second := d.start("127.0.0.1", url, work), d.start("127.0.0.2", url, work)
	d.balance(balancer, first, second)
	return d
}

// start starts a node as compose.yaml does. It returns the address for clients.
func (d *deployment) start(host, url, work string) string {
	home := d.t.TempDir()
	config, err := os.ReadFile(apptest.Root("deploy/config.toml"))
	require.NoError(d.t, err)
	require.NoError(d.t, os.WriteFile(filepath.Join(home, "config.toml"), config, 0o600))
	file := func(name string) string { return filepath.Join(d.certificates, name) }
	cmd := apptest.OfflineCommand(d.t, home, "--listen", "ws://"+host+":0", "--ws-auth", "capability-token",
		"--ws-token-sha256", fmt.Sprintf("%x", sha256.Sum256([]byte(clientToken))),
		"-c", "fleet.listen=wss://"+host+":0", "-c", "fleet.cert="+file(host+".pem"), "-c", "fleet.key="+file(host+".key"),
		"-c", "fleet.ca="+file("ca.pem"), "-c", `fleet.workspaces=["`+work+`"]`, "-c", "sandbox_mode=danger-full-access",
		"-c", "approval_policy=never")
	cmd.Dir = work
	cmd.Env = append(cmd.Env, "APPSERVER_STORE_URL="+url, "APPSERVER_FLEET_SECRET="+secret)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	node := apptest.LaunchDaemon(d.t, cmd, home)
	require.NotEmpty(d.t, node.URL, "%s", strings.Join(node.Stderr, "\n"))
	d.nodes[int64(cmd.Process.Pid)] = node
	return strings.TrimPrefix(node.URL, "ws://")
}

// balance starts the load balancer with deploy/haproxy.cfg.
func (d *deployment) balance(program, first, second string) {
	_, port, _ := strings.Cut(freePort(d.t), ":")
	d.balancer = "127.0.0.3:" + port
	cmd := exec.Command(program, "-db", "-f", apptest.Root("deploy/haproxy.cfg"))
	cmd.Env = append(os.Environ(), "LISTEN="+d.balancer, "NODE_A="+first, "NODE_B="+second,
		"CERTIFICATE="+filepath.Join(d.certificates, "load-balancer.pem"))
	require.NoError(d.t, cmd.Start())
	d.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// connect returns a client that the load balancer has connected to a node, and the process id of the node.
func (d *deployment) connect() (*apptest.WebSocketClient, int64) {
	text, err := os.ReadFile(filepath.Join(d.certificates, "ca.pem"))
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
			HTTPHeader: http.Header{"Authorization": {"Bearer " + clientToken}}})
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
	require.NoError(t, syscall.Kill(-int(owner), syscall.SIGKILL))
	<-first.Exited
	require.Equal(t, "interrupted", second.AwaitTurn().Status)
	require.Equal(t, "completed", second.Turn(id, "say more").Status)
	third, survivor := d.connect()
	require.Equal(t, other, survivor)
	require.Len(t, third.ReadThread(id).Turns, 3)
	require.True(t, gjson.GetBytes(third.Call("server/diagnostics", apptest.Object{}), "fleet.syncStandby").Bool())
}

// TestFilesOfTheDeploymentExist finds each file that deploy/compose.yaml mounts.
func TestFilesOfTheDeploymentExist(t *testing.T) {
	text, err := os.ReadFile(apptest.Root("deploy/compose.yaml"))
	require.NoError(t, err)
	var compose struct {
		Services map[string]struct {
			Volumes []string
			Build   struct{ Dockerfile string }
		}
		Volumes map[string]any
	}
	require.NoError(t, yaml.Unmarshal(text, &compose))
	require.Len(t, compose.Services, 6)
	for name, service := range compose.Services {
		if service.Build.Dockerfile != "" {
			require.FileExists(t, apptest.Root(service.Build.Dockerfile))
		}
		for _, volume := range service.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			if strings.HasPrefix(source, "./") {
				require.FileExists(t, apptest.Root("deploy", source), name)
			} else {
				require.Contains(t, compose.Volumes, source, name)
			}
		}
	}
}
