//go:build linux

package sandbox

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// escape is an attempt to leave the sandbox, with a script for each interpreter. A script prints
// "escaped" if it succeeds. Interpreters without a script are skipped.
type escape struct {
	name    string
	scripts map[string]string
	// once is set if a well-configured machine prevents the attempt without a sandbox as well.
	once bool
}

// escapes returns programs that try to reach a folder (@OUT@), a process (@PID@, with @SECRET@ in
// its environment), and sockets (@TCP@, @UDP@, @PATH@, @NAME@, @DATAGRAMS@) of the machine.
func escapes() []escape {
	const said = `print("escaped")`
	return []escape{
		{name: "write outside", scripts: map[string]string{
			"bash":    `echo x > @OUT@/new && echo escaped`,
			"python3": `open("@OUT@/new", "w").write("x"); ` + said,
			"perl":    `open(my $f, ">", "@OUT@/new") or die $!; ` + said,
		}},
		{name: "append to a file outside", scripts: map[string]string{
			"bash":    `echo x >> @OUT@/victim && echo escaped`,
			"python3": `open("@OUT@/victim", "a").write("x"); ` + said,
			"perl":    `open(my $f, ">>", "@OUT@/victim") or die $!; ` + said,
		}},
		{name: "write through a symbolic link", scripts: map[string]string{
			"bash": `ln -sfn @OUT@ link && echo x > link/new && echo escaped`,
			"python3": `import os; os.path.lexists("l3") or os.symlink("@OUT@/victim", "l3"); open("l3", "w").write("x"); ` +
				said,
			"perl": `symlink("@OUT@", "l5"); open(my $f, ">", "l5/new") or die $!; ` + said,
		}},
		{name: "write through a hard link", scripts: map[string]string{
			"bash":    `ln -f @OUT@/victim h1 && echo x >> h1 && echo escaped`,
			"python3": `import os; os.link("@OUT@/victim", "h3"); open("h3", "a").write("x"); ` + said,
			"perl":    `link("@OUT@/victim", "h5") or die $!; open(my $f, ">>", "h5") or die; ` + said,
		}},
		{name: "rename over a file outside", scripts: map[string]string{
			"bash":    `echo x > evil && mv evil @OUT@/victim && echo escaped`,
			"python3": `import os; open("evil", "w"); os.rename("evil", "@OUT@/victim"); ` + said,
			"perl":    `open(my $f, ">", "evil"); rename("evil", "@OUT@/victim") or die $!; ` + said,
		}},
		{name: "take a file away", scripts: map[string]string{
			"bash":    `rm @OUT@/victim && echo escaped`,
			"python3": `import os; os.rename("@OUT@/victim", "mine"); ` + said,
			"perl":    `unlink("@OUT@/victim") or die $!; ` + said,
		}},
		{name: "change who may read it", scripts: map[string]string{
			"bash":    `chmod 666 @OUT@/victim && touch -d 2001-01-01 @OUT@/victim && echo escaped`,
			"python3": `import os; os.chmod("@OUT@/victim", 0o666); ` + said,
			"perl":    `chmod(0666, "@OUT@/victim") or die $!; ` + said,
		}},
		{name: "look at another process", scripts: map[string]string{
			"bash":    `grep -qz @SECRET@ /proc/@PID@/environ && echo escaped`,
			"python3": `assert b"@SECRET@" in open("/proc/@PID@/environ", "rb").read(); ` + said,
			"perl":    `open(my $f, "<", "/proc/@PID@/environ") or die $!; die unless <$f> =~ /@SECRET@/; ` + said,
		}},
		{name: "end another process", scripts: map[string]string{
			"bash":    `kill -KILL @PID@ && echo escaped`,
			"python3": `import os; os.kill(@PID@, 9); ` + said,
			"perl":    `kill(9, @PID@) or die $!; ` + said,
		}},
		{name: "trace another process", once: true, scripts: map[string]string{
			"python3": `import ctypes; assert ctypes.CDLL(None).ptrace(16, @PID@, 0, 0) == 0; ` + said,
			"perl":    `syscall(@PTRACE@, 16, @PID@, 0, 0) == 0 or die $!; ` + said,
		}},
		{name: "be traced", scripts: map[string]string{
			"python3": `import ctypes; assert ctypes.CDLL(None).ptrace(0, 0, 0, 0) == 0; ` + said,
			"perl":    `syscall(@PTRACE@, 0, 0, 0, 0) == 0 or die $!; ` + said,
		}},
		{name: "TCP", scripts: map[string]string{
			"bash":    `exec 3<>/dev/tcp/127.0.0.1/@TCP@ && echo escaped`,
			"python3": `import socket; socket.create_connection(("127.0.0.1", @TCP@), 5); ` + said,
			"perl":    `use IO::Socket::INET; IO::Socket::INET->new("127.0.0.1:@TCP@") or die $@; ` + said,
		}},
		// A datagram has no response, so its receiver checks it. A name lookup is a datagram as well.
		{name: "UDP and DNS", scripts: map[string]string{
			"bash":    `printf '\1\2\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1' > /dev/udp/127.0.0.1/@UDP@ && echo sent`,
			"python3": `import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"q", ("127.0.0.1", @UDP@)); print("sent")`,
			"perl":    `use IO::Socket::INET; IO::Socket::INET->new(PeerAddr => "127.0.0.1:@UDP@", Proto => "udp")->send("q"); print("sent")`,
		}},
		{name: "a socket with a path", scripts: map[string]string{
			"python3": `import socket; socket.socket(socket.AF_UNIX).connect("@PATH@"); ` + said,
			"perl":    `use IO::Socket::UNIX; IO::Socket::UNIX->new(Peer => "@PATH@") or die $!; ` + said,
		}},
		{name: "a socket with a name", scripts: map[string]string{
			"python3": `import socket; socket.socket(socket.AF_UNIX).connect("\x00@NAME@"); ` + said,
			"perl":    `use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die $!; connect($s, pack("S a*", AF_UNIX, "\x00@NAME@")) or die $!; ` + said,
		}},
		{name: "a pair whose end is sent elsewhere", scripts: map[string]string{
			"python3": `import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].connect("@DATAGRAMS@"); ` + said,
			"perl":    `use Socket; socketpair(my $a, my $b, AF_UNIX, SOCK_DGRAM, 0) or die $!; connect($a, pack_sockaddr_un("@DATAGRAMS@")) or die $!; ` + said,
		}},
		{name: "namespaces of one's own", once: true, scripts: map[string]string{
			"bash":    `unshare --user --map-root-user --mount true && echo escaped`,
			"python3": `import ctypes; assert ctypes.CDLL(None).unshare(0x10000000) == 0; ` + said,
			"perl":    `syscall(@UNSHARE@, 0x10000000) == 0 or die $!; ` + said,
		}},
		{name: "settings of the machine", once: true, scripts: map[string]string{
			"bash":    `v=$(cat /proc/sys/vm/swappiness) && echo $v > /proc/sys/vm/swappiness && echo escaped`,
			"python3": `open("/proc/sys/vm/swappiness", "r+").write("60"); ` + said,
			"perl":    `open(my $f, "+<", "/proc/sys/vm/swappiness") or die $!; ` + said,
		}},
		{name: "disks", once: true, scripts: map[string]string{
			"bash": `for d in /dev/[sv]d? /dev/nvme*n1 /dev/mem /dev/kmsg; do head -c1 $d > /dev/null 2>&1 && echo escaped; done; ` +
				`mknod disk b 254 0 && head -c1 disk && echo escaped`,
		}},
	}
}

// outside has the targets of the attempts.
type outside struct {
	words *strings.Replacer
	// datagrams has the received datagrams.
	datagrams chan string
	mark      func() // sends a datagram itself
}

// newOutside makes fresh files, a process and sockets, as the user of the jail.
func newOutside(j *jail) *outside {
	t := j.t
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "victim"), []byte("as it was\n"), 0o644))
	secret := rand.Text()
	victim := j.start("SECRET=" + secret)
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	path, name, datagrams := filepath.Join(dir, "s"), "@"+secret, filepath.Join(dir, "d")
	stream, err := net.Listen("unix", path)
	require.NoError(t, err)
	abstract, err := net.Listen("unix", name)
	require.NoError(t, err)
	packets, err := net.ListenPacket("unixgram", datagrams)
	require.NoError(t, err)
	if j.plain {
		apptest.GiveHome(t, dir)
	}
	land := &outside{datagrams: make(chan string, 8)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for buf := make([]byte, 64); ; {
			n, _, err := udp.ReadFrom(buf)
			if err != nil {
				return
			}
			land.datagrams <- string(buf[:n])
		}
	}()
	t.Cleanup(func() {
		for _, c := range []interface{ Close() error }{tcp, udp, stream, abstract, packets} {
			require.NoError(t, c.Close())
		}
		<-done
	})
	land.words = strings.NewReplacer("@OUT@", dir, "@PID@", fmt.Sprint(victim.Process.Pid), "@SECRET@", secret,
		"@TCP@", port(tcp.Addr()), "@UDP@", port(udp.LocalAddr()), "@PATH@", path, "@NAME@", secret, "@DATAGRAMS@", datagrams,
		"@PTRACE@", fmt.Sprint(syscall.SYS_PTRACE), "@UNSHARE@", fmt.Sprint(syscall.SYS_UNSHARE))
	land.mark = func() {
		conn, err := net.Dial("udp", udp.LocalAddr().String())
		require.NoError(t, err)
		_, err = conn.Write([]byte("mark"))
		require.NoError(t, err)
		require.NoError(t, conn.Close())
	}
	return land
}

func port(a net.Addr) string {
	_, port, _ := net.SplitHostPort(a.String())
	return port
}

// received reports whether a datagram arrived before one that the test sends.
func (g *outside) received() bool {
	g.mark()
	return <-g.datagrams != "mark"
}

// try reports whether an attempt succeeds.
func (j *jail) try(thread, call, script string) bool {
	g := newOutside(j)
	out := j.run(thread, call+" "+apptest.ShellQuote(g.words.Replace(script))).AggregatedOutput
	if strings.Contains(script, "@UDP@") {
		return g.received()
	}
	return strings.Contains(out, "escaped")
}

// TestSandboxHolds runs each attempt in each interpreter, confined and unconfined. The unconfined ones
// must succeed.
func TestSandboxHolds(t *testing.T) {
	sample.Long(t)
	jails(t, func(t *testing.T, j *jail) {
		confined, free := j.thread("workspace-write"), j.thread("danger-full-access")
		for name, call := range interpreters(t) {
			for _, e := range escapes() {
				script, ok := e.scripts[name]
				if !ok {
					continue
				}
				require.False(t, j.try(confined, call, script), "%s: %s", name, e.name)
				require.True(t, e.once || j.try(free, call, script), "%s: %s is no way out at all", name, e.name)
			}
		}
		j.Close()
	})
}
