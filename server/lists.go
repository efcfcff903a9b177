package server

import (
	"encoding/json"
	"slices"
	"strconv"

	"appserver/protocol"
)

// ModelList lists the models of a provider.
func (h ServerHandlers) ModelList(to protocol.Caller, p *protocol.ModelListParams) error {
	provider := ""
	if p.ModelProvider != nil {
		provider = *p.ModelProvider
	}
	return h.Catalog.Models(provider, func(models []protocol.Model) {
		if p.IncludeHidden == nil || !*p.IncludeHidden {
			models = slices.DeleteFunc(models, func(m protocol.Model) bool { return m.Hidden })
		}
		data, next, err := listPage(models, p.Cursor, p.Limit)
		if err != nil {
			h.Outbox.Refuse(to, err)
			return
		}
		h.Outbox.Reply(to, protocol.ModelListResponse{Data: data, NextCursor: next})
	})
}

// page is the part of a list that begins at the cursor, a number of rows, and holds as many
// as limit says: one at least, all without it.
func listPage[T any](all []T, cursor *string, limit *uint32) (rows []T, next *string, err *protocol.Error) {
	from := 0
	if cursor != nil {
		n, bad := strconv.ParseUint(*cursor, 10, 31)
		if bad != nil || int(n) > len(all) {
			return nil, nil, &protocol.Error{
				Code: protocol.CodeInvalidRequest, Message: "invalid cursor: " + string(quote([]byte(*cursor))) + " (use the nextCursor of a page of the same list)",
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
func (h ServerHandlers) ModelProviderList(to protocol.Caller, p *protocol.ModelProviderListParams) error {
	h.Outbox.Reply(to, h.Catalog.Providers())
	return nil
}

// ModelProviderCapabilitiesRead tells that no tools run at the provider.
func (h ServerHandlers) ModelProviderCapabilitiesRead(to protocol.Caller, p *protocol.ModelProviderCapabilitiesReadParams) error {
	h.Outbox.Reply(to, protocol.ModelProviderCapabilitiesReadResponse{})
	return nil
}

// GetAccount tells that nobody is logged in.
func (h ServerHandlers) GetAccount(to protocol.Caller, p *protocol.GetAccountParams) error {
	h.Outbox.Reply(to, protocol.GetAccountResponse{})
	return nil
}

// GetAuthStatus tells the same.
func (h ServerHandlers) GetAuthStatus(to protocol.Caller, p *protocol.GetAuthStatusParams) error {
	h.Outbox.Reply(to, protocol.GetAuthStatusResponse{})
	return nil
}

// ExperimentalFeatureList lists the switches of the configuration.
func (h ServerHandlers) ExperimentalFeatureList(to protocol.Caller, p *protocol.ExperimentalFeatureListParams) error {
	data, next, err := listPage(h.Catalog.Features(), p.Cursor, p.Limit)
	if err != nil {
		return err
	}
	h.Outbox.Reply(to, protocol.ExperimentalFeatureListResponse{Data: data, NextCursor: next})
	return nil
}

// CollaborationModeList lists the modes of turns.
func (h ServerHandlers) CollaborationModeList(to protocol.Caller, p *protocol.CollaborationModeListParams) error {
	plan, normal, effort := protocol.ModePlan, protocol.ModeDefault, "medium"
	h.Outbox.Reply(to, protocol.CollaborationModeListResponse{Data: []protocol.CollaborationModeMask{
		{Name: "Plan", Mode: &plan, ReasoningEffort: &effort}, {Name: "Default", Mode: &normal},
	}})
	return nil
}

// PermissionProfileList lists the built-in profiles.
func (h ServerHandlers) PermissionProfileList(to protocol.Caller, p *protocol.PermissionProfileListParams) error {
	profiles := []protocol.PermissionProfileSummary{
		{ID: ":read-only", Allowed: true}, {ID: ":workspace", Allowed: true}, {ID: ":danger-full-access", Allowed: true},
	}
	data, next, err := listPage(profiles, p.Cursor, p.Limit)
	if err != nil {
		return err
	}
	h.Outbox.Reply(to, protocol.PermissionProfileListResponse{Data: data, NextCursor: next})
	return nil
}

// ConfigRequirementsRead tells that nothing is demanded.
func (h ServerHandlers) ConfigRequirementsRead(to protocol.Caller, p *protocol.ConfigRequirementsReadParams) error {
	h.Outbox.Reply(to, protocol.ConfigRequirementsReadResponse{})
	return nil
}

// HooksList tells that there are none.
func (h ServerHandlers) HooksList(to protocol.Caller, p *protocol.HooksListParams) error {
	answer := protocol.HooksListResponse{Data: []protocol.HooksListEntry{}}
	for _, cwd := range h.cwdsOrDefault(p.Cwds) {
		answer.Data = append(answer.Data, protocol.HooksListEntry{
			Cwd: cwd, Hooks: []json.RawMessage{}, Warnings: []string{}, Errors: []json.RawMessage{},
		})
	}
	h.Outbox.Reply(to, answer)
	return nil
}

// cwds are those that a client asks about, the server's own where it names none.
func (h ServerHandlers) cwdsOrDefault(asked []string) []string {
	if len(asked) > 0 {
		return asked
	}
	return []string{h.Cwd}
}

// SkillsList lists the skills of working directories.
func (h ServerHandlers) SkillsList(to protocol.Caller, p *protocol.SkillsListParams) error {
	return h.RunInBackground(to, func() (any, error) {
		return protocol.SkillsListResponse{Data: h.Catalog.Skills(h.cwdsOrDefault(p.Cwds))}, nil
	})
}

// SkillsExtraRootsSet names folders with more skills, and tells every client.
func (h ServerHandlers) SkillsExtraRootsSet(to protocol.Caller, p *protocol.SkillsExtraRootsSetParams) error {
	if err := h.Catalog.SetExtraSkills(p.ExtraRoots); err != nil {
		return err
	}
	h.Outbox.Reply(to, protocol.Empty{})
	for _, conn := range h.Outbox.Clients() {
		h.Outbox.Notify(conn, protocol.SkillsChangedNotification{})
	}
	return nil
}
