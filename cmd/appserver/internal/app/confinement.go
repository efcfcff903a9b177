package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"appserver/core/effects/tool"
	"appserver/protocol"
)

// confiner returns the command line of the supervisor that confines commands.
func confiner() []string { return []string{self(), ConfineCommand} }

// confinement knows whether the kernel can confine commands. A probe finds it out, which starts a process and
// takes longer than the start of the server.
//
// So the result is kept for the next server of the same program in the same boot and the same namespaces. That
// server relies on it, and probes without waiting: another result replaces the kept one. Only success is kept.
// If it is wrong, a command is not run, because its supervisor cannot confine it. A wrong failure would let
// commands run unconfined.
type confinement struct {
	file     string        // has the kept result
	probe    func() error  // returns nil if commands can be confined
	identity func() string // identifies the machine and the program, or "" if that is unknown
	log      *zap.Logger

	relyOnKept func() bool // reports whether a success was kept; reads it once
	kept       atomic.Bool // success was kept, and the probe has not ended
	probed     func() protocol.SandboxDiagnostics
	reading    func() bool // reports whether commands that only read can be confined in another way; tries it once
	background func()      // starts the probe
	failure    error       // of the probe, after it
	warn       func()      // logs the failure once: when the first thread needs the result, not while the server starts
	later      func()      // starts the probe after checkDelay
	checkDelay time.Duration
}

// checkDelay is the time from the first use of a kept result to the probe that checks it, so that the probe
// does not compete with the first requests for the processor.
const checkDelay = time.Second

func newConfinement(home string, log *zap.Logger) *confinement {
	return (&confinement{
		file:     filepath.Join(home, "appserver-cache", "confinement"),
		probe:    func() error { return tool.Probe(confiner()) },
		identity: machineIdentity,
		reading:  sync.OnceValue(func() bool { return tool.ProbeReading(confiner()) == nil }),
		log:      log, checkDelay: checkDelay,
	}).init()
}

func (c *confinement) init() *confinement {
	c.relyOnKept = sync.OnceValue(c.readKept)
	c.probed = sync.OnceValue(c.run)
	c.warn = sync.OnceFunc(func() { c.log.Warn("commands are not confined", zap.Error(c.failure)) })
	c.background = sync.OnceFunc(func() { go c.probed() })
	c.later = sync.OnceFunc(func() { time.AfterFunc(c.checkDelay, c.background) })
	return c
}

// prepare starts the probe, unless its result was kept.
func (c *confinement) prepare() {
	if !c.relyOnKept() {
		c.background()
	}
}

// diagnose reports whether commands are confined. It waits for the probe if no result was kept.
func (c *confinement) diagnose() protocol.SandboxDiagnostics {
	if c.relyOnKept() && c.kept.Load() {
		c.later()
		return protocol.SandboxDiagnostics{Enforced: true}
	}
	d := c.probed()
	if !d.Enforced {
		c.warn()
	}
	return d
}

// confinesReading reports whether the kernel can confine commands that only read, if it can confine none by namespaces.
func (c *confinement) confinesReading(enforced bool) bool { return enforced || c.reading() }

// readKept reports whether a probe of this program on this machine has succeeded.
func (c *confinement) readKept() bool {
	identity := c.identity()
	content, err := os.ReadFile(c.file)
	kept := err == nil && identity != "" && string(content) == identity
	c.kept.Store(kept)
	return kept
}

// run probes, and keeps or removes the result.
func (c *confinement) run() protocol.SandboxDiagnostics {
	err := c.probe()
	defer c.kept.Store(false)
	if keepErr := c.keep(err == nil); keepErr != nil {
		c.log.Info("the result of the sandbox's probe is not kept", zap.Error(keepErr))
	}
	if err == nil {
		return protocol.SandboxDiagnostics{Enforced: true}
	}
	c.failure = err
	return whyUnconfined(err)
}

// whyUnconfined returns the diagnostics of a failed probe.
func whyUnconfined(err error) protocol.SandboxDiagnostics {
	return protocol.SandboxDiagnostics{Reason: new(fmt.Sprintf("commands are not confined here (%v): unless the sandbox policy is danger-full-access, "+
		"a command that may do more than read needs an approval, and is rejected if the approval policy permits none", err))}
}

// keep keeps success, and removes what an earlier server kept otherwise.
func (c *confinement) keep(success bool) error {
	identity := c.identity()
	switch {
	case !success || identity == "":
		if err := os.Remove(c.file); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	case c.kept.Load():
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(c.file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(c.file, []byte(identity), 0o600) // a torn file equals no identity
}

// machineIdentity identifies the boot, the kernel, the namespaces and the user that decide whether the kernel
// confines commands, and this program. It returns "" on systems other than Linux.
func machineIdentity() string {
	text := fmt.Sprintf("%s\n%d\n", program(), os.Getuid())
	for _, name := range []string{"/proc/sys/kernel/random/boot_id", "/proc/version"} {
		content, err := os.ReadFile(name)
		if err != nil {
			return ""
		}
		text += string(content)
	}
	for _, name := range []string{"/proc/self/ns/user", "/proc/self/ns/mnt"} {
		target, err := os.Readlink(name)
		if err != nil {
			return ""
		}
		text += target + "\n"
	}
	return text
}
