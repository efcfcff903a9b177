package server

import (
	"encoding/json"
	"slices"
	"strconv"

	"appserver/protocol"
)

// ModelList lists the models of a provider.
func (l Lobby) ModelList(to protocol.Caller, p *protocol.ModelListParams) error {
	provider := ""
	if p.ModelProvider != nil {
		provider = *p.ModelProvider
	}
	return l.Catalog.Models(provider, func(models []protocol.Model) {
		if p.IncludeHidden == nil || !*p.IncludeHidden {
			models = slices.DeleteFunc(models, func(m protocol.Model) bool { return m.Hidden })
		}
		data, next, err := page(models, p.Cursor, p.Limit)
		if err != nil {
			l.Outbox.Refuse(to, err)
			return
		}
		l.Outbox.Reply(to, protocol.ModelListResponse{Data: data, NextCursor: next})
	})
}

// page is the part of a list that begins at the cursor, a number of rows, and holds as many
// as limit says: one at least, all without it.
func page[T any](all []T, cursor *string, limit *uint32) (rows []T, next *string, err *protocol.Error) {
	from := 0
	if cursor != nil {
		n, bad := strconv.ParseUint(*cursor, 10, 31)
		if bad != nil || int(n) > len(all) {
			return nil, nil, &protocol.Error{
				Code: protocol.CodeInvalidRequest, Message: "invalid cursor: " + string(clip([]byte(*cursor))) + " (use the nextCursor of a page of the same list)",
				Data: &protocol.ErrorData{Kind: protocol.KindInvalidParams, Field: "cursor"},
			}
		}
		from = int(n)
	}
	to := len(all)
	if limit != nil {
		to = min(to, from+max(int(*limit), 1))
	}
	if to < len(all) {
		text := strconv.Itoa(to)
		next = &text
	}
	return append([]T{}, all[from:to]...), next, nil
}

// ModelProviderList lists the providers.
func (l Lobby) ModelProviderList(to protocol.Caller, p *protocol.ModelProviderListParams) error {
	l.Outbox.Reply(to, l.Catalog.Providers())
	return nil
}

// ModelProviderCapabilitiesRead tells that no tools run at the provider.
func (l Lobby) ModelProviderCapabilitiesRead(to protocol.Caller, p *protocol.ModelProviderCapabilitiesReadParams) error {
	l.Outbox.Reply(to, protocol.ModelProviderCapabilitiesReadResponse{})
	return nil
}

// GetAccount tells that nobody is logged in.
func (l Lobby) GetAccount(to protocol.Caller, p *protocol.GetAccountParams) error {
	l.Outbox.Reply(to, protocol.GetAccountResponse{})
	return nil
}

// GetAuthStatus tells the same.
func (l Lobby) GetAuthStatus(to protocol.Caller, p *protocol.GetAuthStatusParams) error {
	l.Outbox.Reply(to, protocol.GetAuthStatusResponse{})
	return nil
}

// ExperimentalFeatureList lists the switches of the configuration.
func (l Lobby) ExperimentalFeatureList(to protocol.Caller, p *protocol.ExperimentalFeatureListParams) error {
	data, next, err := page(l.Catalog.Features(), p.Cursor, p.Limit)
	if err != nil {
		return err
	}
	l.Outbox.Reply(to, protocol.ExperimentalFeatureListResponse{Data: data, NextCursor: next})
	return nil
}

// CollaborationModeList lists the modes of turns.
func (l Lobby) CollaborationModeList(to protocol.Caller, p *protocol.CollaborationModeListParams) error {
	plan, normal, effort := protocol.ModePlan, protocol.ModeDefault, "medium"
	l.Outbox.Reply(to, protocol.CollaborationModeListResponse{Data: []protocol.CollaborationModeMask{
		{Name: "Plan", Mode: &plan, ReasoningEffort: &effort}, {Name: "Default", Mode: &normal},
	}})
	return nil
}

// PermissionProfileList lists the built-in profiles.
func (l Lobby) PermissionProfileList(to protocol.Caller, p *protocol.PermissionProfileListParams) error {
	profiles := []protocol.PermissionProfileSummary{
		{ID: ":read-only", Allowed: true}, {ID: ":workspace", Allowed: true}, {ID: ":danger-full-access", Allowed: true},
	}
	data, next, err := page(profiles, p.Cursor, p.Limit)
	if err != nil {
		return err
	}
	l.Outbox.Reply(to, protocol.PermissionProfileListResponse{Data: data, NextCursor: next})
	return nil
}

// ConfigRequirementsRead tells that nothing is demanded.
func (l Lobby) ConfigRequirementsRead(to protocol.Caller, p *protocol.ConfigRequirementsReadParams) error {
	l.Outbox.Reply(to, protocol.ConfigRequirementsReadResponse{})
	return nil
}

// HooksList tells that there are none.
func (l Lobby) HooksList(to protocol.Caller, p *protocol.HooksListParams) error {
	answer := protocol.HooksListResponse{Data: []protocol.HooksListEntry{}}
	for _, cwd := range l.cwds(p.Cwds) {
		answer.Data = append(answer.Data, protocol.HooksListEntry{
			Cwd: cwd, Hooks: []json.RawMessage{}, Warnings: []string{}, Errors: []json.RawMessage{},
		})
	}
	l.Outbox.Reply(to, answer)
	return nil
}

// cwds are those that a client asks about, the server's own where it names none.
func (l Lobby) cwds(asked []string) []string {
	if len(asked) > 0 {
		return asked
	}
	return []string{l.Cwd}
}

// SkillsList lists the skills of working directories.
func (l Lobby) SkillsList(to protocol.Caller, p *protocol.SkillsListParams) error {
	return l.Aside(to, func() (any, error) {
		return protocol.SkillsListResponse{Data: l.Catalog.Skills(l.cwds(p.Cwds))}, nil
	})
}

// SkillsExtraRootsSet names folders with more skills, and tells every client.
func (l Lobby) SkillsExtraRootsSet(to protocol.Caller, p *protocol.SkillsExtraRootsSetParams) error {
	if err := l.Catalog.SetExtraSkills(p.ExtraRoots); err != nil {
		return err
	}
	l.Outbox.Reply(to, protocol.Empty{})
	for _, conn := range l.Outbox.Clients() {
		l.Outbox.Notify(conn, protocol.SkillsChangedNotification{})
	}
	return nil
}
