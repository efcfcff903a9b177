package app

import (
	"path/filepath"
	"slices"
	"strings"

	"appserver/protocol"
)

// checkWorkspace returns an error unless turns may run in a directory on this server.
func (s *setup) checkWorkspace(dir string) error {
	workspaces := s.config.Current().Fleet.Workspaces
	within := func(root string) bool {
		rel, err := filepath.Rel(root, dir)
		return err == nil && filepath.IsLocal(rel)
	}
	if len(workspaces) == 0 || slices.ContainsFunc(workspaces, within) {
		return nil
	}
	return protocol.Refuse(protocol.KindCwdNotFound, "nothing runs in %s on this server: fleet.workspaces has %s; "+
		"use a server that has this directory, or another directory", dir, strings.Join(workspaces, ", "))
}
