package fleet

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/rollout/postgres/pgtest"
	"appserver/test/apptest"
	"appserver/test/partition"
	"appserver/test/posix"
)

// leaseTime is the time to live of the leases of a rig's nodes.
const leaseTime = 2 * time.Second

// rig is a fleet whose nodes and links fail on request.
type rig struct {
	t     *testing.T
	rand  *rand.Rand
	nodes []*machine
	count struct{ kills, freezes, partitions, crashes, failovers int }
}

// machine is a node of a rig. Its links lead to the servers of the database, and from other nodes to this
// one if nodes forward requests.
type machine struct {
	home  string
	url   string
	args  []string
	links []*partition.Link
	mu    sync.Mutex
	// daemon is the present process.
	daemon *apptest.Daemon
}

// newRig starts three nodes, each with links of its own to the sockets of the database's servers.
func newRig(t *testing.T, seed uint64, isLinked bool, url string, sockets []string, args ...string) *rig {
	r := &rig{t: t, rand: rand.New(rand.NewPCG(seed, 0))}
	for range 3 {
		home := apptest.ShortDir(t)
		m := &machine{home: home, args: args}
		var addresses []string
		for _, socket := range sockets {
			link := partition.New(t, "unix", socket)
			m.links, addresses = append(m.links, link), append(addresses, link.Address())
		}
		m.url = pgtest.Through(t, url, addresses...)
		if isLinked {
			m.listen(t)
		}
		m.start(t)
		r.nodes = append(r.nodes, m)
	}
	return r
}

// listen gives a node a port for the others, which dial it through a link.
func (m *machine) listen(t *testing.T) {
	address := apptest.FreeAddress(t)
	link := partition.New(t, "tcp", address)
	m.links = append(m.links, link)
	m.args = append(slices.Clip(m.args), "-c", `fleet.listen="ws://`+address+`"`,
		"-c", `fleet.address="ws://`+link.Address()+`"`)
}

// start starts the process of a node.
func (m *machine) start(t *testing.T) {
	cmd := command(t, m.home, m.url, append([]string{"--listen", "unix://" + filepath.Join(m.home, "s"),
		"-c", "fleet.lease_ms=2000", "-c", "store.timeout_ms=3000", "-c", "thread_unload_delay_secs=0"}, m.args...)...)
	cmd.Env = append(cmd.Env, "APPSERVER_FLEET_SECRET="+strings.Repeat("secret", 6))
	d := apptest.LaunchDaemon(t, cmd, m.home)
	require.NotEmpty(t, d.URL, "%v", d.Stderr)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.daemon = d
}

// process returns the present process.
func (m *machine) process() *apptest.Daemon {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.daemon
}

func (m *machine) signal(t *testing.T, s syscall.Signal) {
	require.NoError(t, m.process().Cmd.Process.Signal(s))
}

func (m *machine) kill(t *testing.T) {
	m.signal(t, syscall.SIGKILL)
	<-m.process().Exited
}

// awaitCommands requires that the commands of a killed process end.
func (m *machine) awaitCommands(t *testing.T) {
	t.Helper()
	commands := apptest.ProcessTree{Token: m.home}
	require.Eventually(t, func() bool { return len(commands.Alive(t)) == 0 }, patience, 10*time.Millisecond,
		"commands of a killed node run: %v", commands.Alive(t))
}

func (m *machine) freeze(t *testing.T) { m.signal(t, posix.SIGSTOP) }

func (m *machine) thaw(t *testing.T) { m.signal(t, posix.SIGCONT) }

func (r *rig) anyNode() *machine { return r.nodes[r.rand.IntN(len(r.nodes))] }

// pause waits for a random time up to a limit, the moment of the next fault.
func (r *rig) pause(limit time.Duration) { <-time.After(time.Duration(r.rand.Int64N(int64(limit)))) }

// failNode makes a random node fail for a while: it is killed, frozen, or cut off from the database, from
// other nodes, or from both.
func (r *rig) failNode() {
	m := r.anyNode()
	switch r.rand.IntN(3) {
	case 0:
		r.count.kills++
		m.kill(r.t)
		m.awaitCommands(r.t)
		r.pause(2 * leaseTime)
		m.start(r.t)
	case 1:
		r.count.freezes++
		m.freeze(r.t)
		r.pause(2 * leaseTime)
		m.thaw(r.t)
	case 2:
		r.count.partitions++
		for _, i := range r.rand.Perm(len(m.links))[r.rand.IntN(len(m.links)):] {
			r.failLink(m.links[i])
		}
		r.pause(2 * leaseTime)
		for _, l := range m.links {
			l.Heal()
		}
	}
}

// failLink makes a link fail in a random way.
func (r *rig) failLink(l *partition.Link) {
	switch r.rand.IntN(6) {
	case 0:
		l.Refuse()
	case 1:
		l.Hold(partition.Requests)
	case 2:
		l.Hold(partition.Answers)
	case 3:
		l.Hold(partition.Requests)
		l.Hold(partition.Answers)
	case 4:
		l.Delay(time.Duration(r.rand.IntN(300)) * time.Millisecond)
	case 5:
		l.CutAfter(partition.Direction(r.rand.IntN(2)), r.rand.IntN(5000))
	}
}
