package server

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"appserver/core/pure/page"
	"appserver/protocol"
)

// ModelList returns the models of a provider, and of servers on this machine if the client searches for them.
func (h ServerHandlers) ModelList(to protocol.Caller, p *protocol.ModelListParams) error {
	return h.Catalog.Models(p, func(models []protocol.Model) {
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

// ModelProviderProbe checks a provider.
func (h ServerHandlers) ModelProviderProbe(to protocol.Caller, p *protocol.ModelProviderProbeParams) error {
	return h.RunForClient(to, func(ctx context.Context) (any, error) { return h.Catalog.Probe(ctx, p) })
}

// listPage returns the rows from cursor on, at most limit and at least one of them. The cursor
// is a decimal row number. Without a limit it returns all rows.
func listPage[T any](all []T, cursor *string, limit *uint32) (rows []T, next *string, err *protocol.Error) {
	from := 0
	if cursor != nil {
		n, bad := strconv.ParseUint(*cursor, 10, 31)
		if bad != nil || int(n) > len(all) {
			return nil, nil, &protocol.Error{
				Code: protocol.CodeInvalidRequest,
				Message: "invalid cursor: " + string(quote([]byte(*cursor))) +
					" (use the nextCursor of a page of the same list)",
				Data: &protocol.ErrorData{Kind: protocol.KindInvalidParams, Field: "cursor"},
			}
		}
		from = int(n)
	}
	rows, more := page.First(all[from:], page.Size(limit, page.Unlimited, page.Unlimited))
	if more {
		next = new(strconv.Itoa(from + len(rows)))
	}
	return append([]T{}, rows...), next, nil
}

// ModelProviderList returns the providers. It may wait for the keyring of the system.
func (h ServerHandlers) ModelProviderList(to protocol.Caller, p *protocol.ModelProviderListParams) error {
	return h.RunInBackground(to, func() (any, error) { return h.Catalog.Providers(), nil })
}

// ModelProviderCapabilitiesRead returns no capabilities, because this server runs no tools at
// the provider.
func (h ServerHandlers) ModelProviderCapabilitiesRead(
	to protocol.Caller,
	p *protocol.ModelProviderCapabilitiesReadParams,
) error {
	h.Outbox.Reply(to, protocol.ModelProviderCapabilitiesReadResponse{})
	return nil
}

// ExperimentalFeatureList returns the feature switches of the configuration.
func (h ServerHandlers) ExperimentalFeatureList(to protocol.Caller, p *protocol.ExperimentalFeatureListParams) error {
	data, next, err := listPage(h.Catalog.Features(), p.Cursor, p.Limit)
	if err != nil {
		return err
	}
	h.Outbox.Reply(to, protocol.ExperimentalFeatureListResponse{Data: data, NextCursor: next})
	return nil
}

// CollaborationModeList returns the modes of turns.
func (h ServerHandlers) CollaborationModeList(to protocol.Caller, p *protocol.CollaborationModeListParams) error {
	plan, normal, effort := protocol.ModePlan, protocol.ModeDefault, "medium"
	h.Outbox.Reply(to, protocol.CollaborationModeListResponse{Data: []protocol.CollaborationModeMask{
		{Name: "Plan", Mode: &plan, ReasoningEffort: &effort}, {Name: "Default", Mode: &normal},
	}})
	return nil
}

// PermissionProfileList returns the built-in permission profiles and those of the configuration.
func (h ServerHandlers) PermissionProfileList(to protocol.Caller, p *protocol.PermissionProfileListParams) error {
	cwd := h.Cwd
	if p.Cwd != nil {
		cwd = *p.Cwd
	}
	profiles, err := h.Catalog.PermissionProfiles(cwd)
	if err != nil {
		return err
	}
	data, next, refusal := listPage(profiles, p.Cursor, p.Limit)
	if refusal != nil {
		return refusal
	}
	h.Outbox.Reply(to, protocol.PermissionProfileListResponse{Data: data, NextCursor: next})
	return nil
}

// FolderInspect describes a folder that a user chooses for threads.
func (h ServerHandlers) FolderInspect(to protocol.Caller, p *protocol.FolderInspectParams) error {
	return h.RunInBackground(to, func() (any, error) { return h.InspectFolder(p) })
}

// ConfigRequirementsRead returns no requirements.
func (h ServerHandlers) ConfigRequirementsRead(to protocol.Caller, p *protocol.ConfigRequirementsReadParams) error {
	h.Outbox.Reply(to, protocol.ConfigRequirementsReadResponse{})
	return nil
}

// HooksList returns an empty list of hooks for each directory.
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

// cwdsOrDefault returns the directories of a request, or the server's working directory if
// there are none.
func (h ServerHandlers) cwdsOrDefault(asked []string) []string {
	if len(asked) > 0 {
		return asked
	}
	return []string{h.Cwd}
}

// SkillsList returns the skills of working directories.
func (h ServerHandlers) SkillsList(to protocol.Caller, p *protocol.SkillsListParams) error {
	return h.RunInBackground(to, func() (any, error) {
		return protocol.SkillsListResponse{Data: h.Catalog.Skills(h.cwdsOrDefault(p.Cwds))}, nil
	})
}

// SkillsExtraRootsSet sets additional skill folders and notifies all clients.
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
