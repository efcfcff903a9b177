//go:build linux && !posix

package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// withRemedy adds to a failure of a probe what an administrator can change on this machine, if that is known.
func withRemedy(err error) error {
	if err == nil {
		return nil
	}
	if text := remedy("/", os.Geteuid() == 0); text != "" {
		return fmt.Errorf("%w; %s", err, text)
	}
	return err
}

// remedy reads the settings that deny namespaces to programs below a root folder, and returns what to change, or "".
func remedy(root string, privileged bool) string {
	setting := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, "proc/sys", name))
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(text))
	}
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(root, name))
		return err == nil
	}
	switch {
	case setting("user/max_user_namespaces") == "0":
		return "this system allows no user namespaces: run sysctl -w user.max_user_namespaces=15000 as root"
	case !privileged && setting("kernel/unprivileged_userns_clone") == "0":
		return "this kernel denies user namespaces to users: run sysctl -w kernel.unprivileged_userns_clone=1 as root"
	case !privileged && setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
		return "AppArmor restricts user namespaces, as Ubuntu does from 23.10 on: give the program a profile with the rule userns, " +
			"or run sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 as root"
	case exists(".dockerenv"), exists("run/.containerenv"):
		return "this is a container, which denies namespaces by default: start it with --security-opt seccomp=unconfined " +
			"--security-opt apparmor=unconfined, or let the container confine the agent (docs/sandbox.md)"
	}
	return ""
}
