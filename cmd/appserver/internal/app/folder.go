package app

import (
	"os"
	"path/filepath"

	"appserver/core/effects/workspace"
	"appserver/protocol"
)

// inspectFolder describes the folder that a user chooses. It reads the disk.
func (s *setup) inspectFolder(p *protocol.FolderInspectParams) (protocol.FolderInspectResponse, error) {
	answer := protocol.FolderInspectResponse{ProjectFolders: []string{}}
	userHome, _ := os.UserHomeDir() // "" rejects ~ only
	dir, name, ok := workspace.Expand(s.cwd, userHome, p.Path)
	if !ok {
		return answer, protocol.InvalidParams("path", "`path`: the home of the server's user is unknown: write the whole path")
	}
	answer.Path, answer.Completions = filepath.Join(dir, name), workspace.Completions(dir, name)
	cwd, err := workspace.ResolveCwd(s.cwd, &answer.Path)
	if err == nil {
		err = s.checkWorkspace(cwd)
	}
	if err != nil {
		answer.Problem = new(err.Error())
		return answer, nil
	}
	answer.IsDirectory, answer.Repository = true, protocol.OrNil(workspace.Repository(cwd))
	c, err := s.config.Current().For(cwd, nil)
	if err != nil {
		answer.Problem = new(err.Error())
		return answer, nil
	}
	level, folder := c.Trust()
	answer.Trust, answer.TrustFolder, answer.ProjectFolders = protocol.OrNil(level), &folder, c.ProjectFolders()
	return answer, nil
}
