package core

import (
	"time"

	"appserver/protocol"
)

// View returns the thread as clients see it.
func (t *Thread) View(includeTurns bool) protocol.Thread {
	v := View(Summary{
		ID: t.state.ID, Meta: t.state.Meta, Settings: t.state.Settings, Name: t.state.Name, Preview: t.transcript.Preview(),
		Path: t.options.Path, Began: t.options.Began, Updated: t.updated(), Ephemeral: t.options.Ephemeral,
	})
	v.Status = t.status()
	if t.options.Visited {
		t.omitDefaults(&v)
	} else {
		v.Environments, v.CanAcceptInput = Environments(t.state.Settings), new(true)
	}
	for _, p := range t.context.TrimPoints() {
		v.ContextTrimPoints = append(v.ContextTrimPoints, p.TrimPoint)
	}
	if includeTurns {
		v.Turns = t.lists().Turns()
	}
	return v
}

// responseView does the same as View, but the items are read when the response is sent.
func (t *Thread) responseView(includeTurns bool) protocol.Thread {
	v := t.View(false)
	if includeTurns {
		v.Turns = t.lists().TurnsForResponse()
	}
	return v
}

// StoredView returns the thread as clients see it while it is not loaded, for a response.
func (t *Thread) StoredView(includeTurns bool) protocol.Thread {
	v := t.responseView(includeTurns)
	v.Status = protocol.ThreadStatus{ThreadStatusVariant: &protocol.StatusNotLoaded{}}
	v.Environments, v.CanAcceptInput = nil, nil
	t.omitDefaults(&v)
	return v
}

// omitDefaults removes the model unless a line has named it. The next turn uses the default of its time,
// which may be another one.
func (t *Thread) omitDefaults(v *protocol.Thread) {
	if !t.state.ModelRecorded {
		v.Model, v.ReasoningEffort = nil, nil
	}
}

// updated returns the time of the last line.
func (t *Thread) updated() time.Time {
	return firstTime(protocol.ParseTimestamp(t.state.Written), t.options.Written)
}

// Current is the state of a loaded thread that lists show.
type Current struct {
	Model, Provider, Cwd, Effort string
	HasEffort                    bool
	Updated                      time.Time
}

// Current returns the state that lists show.
func (t *Thread) Current() Current {
	c := Current{Model: t.state.Settings.Model, Provider: t.state.Settings.Provider, Cwd: t.state.Settings.Cwd,
		Updated: t.updated()}
	if e := t.state.Settings.Effort; e != nil {
		c.Effort, c.HasEffort = *e, true
	}
	return c
}

// Settings returns the settings in c, as far as lists show them.
func (c Current) Settings() Settings {
	s := Settings{Model: c.Model, Provider: c.Provider, Cwd: c.Cwd}
	if c.HasEffort {
		s.Effort = &c.Effort
	}
	return s
}

// Summary has the facts about a thread that need no turns.
type Summary struct {
	ID       string
	Meta     protocol.SessionMeta
	Settings Settings
	Name     string
	Preview  string
	Path     string
	// Began is the time of the thread's begin if Meta has none.
	Began     time.Time
	Updated   time.Time
	Ephemeral bool
}

// View returns a thread that is not loaded as clients see it, without turns.
func View(s Summary) protocol.Thread {
	spawn := protocol.SpawnOf(s.Meta.Source)
	created := firstTime(protocol.ParseTimestamp(s.Meta.Timestamp), s.Began, s.Updated)
	s.Updated = firstTime(s.Updated, created)
	v := protocol.Thread{
		ID: s.ID, SessionID: s.ID, ForkedFromID: s.Meta.ForkedFromID,
		ParentThreadID: spawn.ParentThreadID, AgentNickname: spawn.Nickname, AgentRole: spawn.Role,
		Preview: s.Preview, Ephemeral: s.Ephemeral,
		HistoryMode:   protocol.HistoryPaginated,
		ModelProvider: s.Settings.Provider, Model: protocol.OrNil(s.Settings.Model), ReasoningEffort: s.Settings.Effort,
		CreatedAt: seconds(created), UpdatedAt: seconds(s.Updated), RecencyAt: new(seconds(s.Updated)),
		Status: protocol.ThreadStatus{ThreadStatusVariant: &protocol.StatusNotLoaded{}},
		Path:   protocol.OrNil(s.Path), Cwd: s.Settings.Cwd, CliVersion: s.Meta.CliVersion,
		Originator: protocol.OrNil(s.Meta.Originator), Source: protocol.SourceView(s.Meta.Source),
		ThreadSource: s.Meta.ThreadSource,
		GitInfo:      gitInfo(s.Meta.Git), Name: protocol.OrNil(s.Name), Turns: []protocol.Turn{},
		ContextTrimPoints: []protocol.TrimPoint{},
	}
	return v
}

// Environments returns the environments of a loaded thread with these settings.
func Environments(s Settings) []protocol.Environment {
	return []protocol.Environment{{EnvironmentID: protocol.EnvironmentLocal, Cwd: s.Cwd,
		RuntimeWorkspaceRoots: s.WorkspaceRoots()}}
}

// firstTime returns the first time that is not zero, or the zero time.
func firstTime(times ...time.Time) time.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

// seconds returns Unix time, 0 for the zero time.
func seconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func gitInfo(g *protocol.StoredGitInfo) *protocol.GitInfo {
	if g = g.Public(); g == nil {
		return nil
	}
	return &protocol.GitInfo{Sha: g.CommitHash, Branch: g.Branch, OriginURL: g.RepositoryURL}
}

// LastTurn returns the last turn without its items, or the zero Turn if there is none.
func (t *Thread) LastTurn() protocol.Turn {
	last := t.transcript.Last()
	if last == nil {
		return protocol.Turn{}
	}
	return last.View()
}

// LastTurnSummary returns the last turn with the user's input and the agent's last message, or the zero Turn.
func (t *Thread) LastTurnSummary() protocol.Turn {
	turn := t.LastTurn()
	if turn.ID != "" {
		turn.Items, turn.ItemsView = t.transcript.Last().Summary(), protocol.ItemsSummary
	}
	return turn
}

func (t *Thread) settingsView(env TurnEnv) protocol.ThreadSettingsView {
	s := t.state.Settings
	v := protocol.ThreadSettingsView{
		Model: s.Model, ModelProvider: s.Provider, ServiceTier: s.ServiceTier, DisabledPluginIDs: []string{},
		Cwd: s.Cwd, WorkspaceRoots: s.WorkspaceRoots(), MultiAgentMode: s.Agents,
		InstructionSources: []string{}, ApprovalPolicy: s.ApprovalPolicy, ApprovalsReviewer: s.Reviewer,
		Sandbox: s.Sandbox, PermissionProfile: s.Profile, ReasoningEffort: s.Effort,
	}
	for _, f := range env.Instructions {
		v.InstructionSources = append(v.InstructionSources, f.Path)
	}
	return v
}
