package app

import (
	"strings"

	"appserver/protocol"
	"appserver/server/forward"
)

// checkWorkspace returns an error unless turns may run in a directory on this server.
func (s *setup) checkWorkspace(dir string) error {
	workspaces := s.config.Current().Fleet.Workspaces
	if forward.Covers(workspaces, dir) {
		return nil
	}
	return protocol.Refuse(protocol.KindCwdNotFound, "nothing runs in %s on this server: fleet.workspaces has %s; "+
		"use a server that has this directory, or another directory", dir, strings.Join(workspaces, ", "))
}
