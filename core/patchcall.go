package core

import (
	"fmt"
	"slices"

	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

func (in PatchPlanned) apply(s *step) { s.patchPlanned(in) }
func (in PatchWritten) apply(s *step) { s.patchWritten(in) }

func (s *step) startPatch(c *toolCall) {
	dir, text, err := toolspec.ParsePatch(s.state.Settings.Cwd, c.call.Arguments, c.call.Custom)
	if err != nil {
		s.rejectArguments(c, err)
		return
	}
	s.planPatch(c, &patchCall{dir: dir, text: text})
}

// planPatch reads the files and computes the result of the patch.
func (s *step) planPatch(c *toolCall, p *patchCall) {
	c.patch = p
	p.root = s.rules().Root(p.dir)
	c.state, c.effect = callRunning, s.newEffect()
	s.active.toolEffects = append(s.active.toolEffects, c.effect)
	s.effect(PlanPatch{ID: c.effect, TurnID: s.active.id, Root: p.root, Dir: p.dir,
		Roots: s.rules().Roots(), Protect: !toolspec.Unconfined(s.state.Settings.Sandbox), Text: p.text, Cut: c.call.Cut})
}

func (s *step) patchPlanned(in PatchPlanned) {
	c := s.runningCall(in.Effect)
	if c == nil || !removeEffect(&s.active.toolEffects, in.Effect) {
		return
	}
	switch {
	case s.active.outcome != nil:
		s.completeCall(c, abortedOutputText)
		s.completeWhenIdle()
	case in.Err != nil:
		s.completeCall(c, fmt.Sprintf("apply_patch verification failed: %v\nNo file was changed.", in.Err))
		s.advance()
	default:
		c.patch.result = in.Result
		s.startPlannedPatch(c)
	}
}

// startPlannedPatch writes the files, requests an approval, or refuses.
func (s *step) startPlannedPatch(c *toolCall) {
	switch s.verdictOf(c, s.patchVerdict(c.patch)) {
	case toolspec.Run:
		s.writePatch(c)
	case toolspec.Ask:
		s.requestApproval(c)
	default:
		s.declineCall(c, "The patch was not applied: the sandbox policy does not permit to write these files, "+
			"and the approval policy does not permit to ask the user. Continue without the change.")
		s.advance()
	}
}

// patchVerdict decides on a patch. Approvals for the session come first.
func (s *step) patchVerdict(p *patchCall) toolspec.Verdict {
	if !slices.ContainsFunc(p.keys(), func(key string) bool { return !s.allowed[key] }) {
		return toolspec.Run
	}
	return s.rules().Patch(p.files())
}

func (s *step) writePatch(c *toolCall) {
	s.updatePatchItem(c)
	if s.holdForCapture(c) {
		return
	}
	c.state, c.effect = callRunning, s.newEffect()
	s.active.toolEffects = append(s.active.toolEffects, c.effect)
	s.effect(WritePatch{ID: c.effect, TurnID: s.active.id, Root: c.patch.root, Dir: c.patch.dir,
		Roots: s.rules().Roots(), Protect: !toolspec.Unconfined(s.state.Settings.Sandbox),
		Files: c.patch.result.Files, Track: s.trackPatch(c.patch)})
}

func (s *step) patchWritten(in PatchWritten) {
	c := s.runningCall(in.Effect)
	if c == nil || !removeEffect(&s.active.toolEffects, in.Effect) {
		return
	}
	output := c.patch.summary()
	status := protocol.PatchCompleted
	if in.Err != nil {
		output, status = fmt.Sprintf("The patch was not applied. %v", in.Err), protocol.PatchFailed
	}
	s.endPatch(c, status, output)
	s.recordChanges(in.Tracked)
	if s.active.outcome != nil {
		s.completeWhenIdle()
		return
	}
	s.advance()
}

// endPatch completes the item of a patch and answers its call.
func (s *step) endPatch(c *toolCall, status, output string) {
	s.updatePatchItem(c).Status = status
	s.completeItem(c.item, nil)
	s.completeCall(c, output)
}

// updatePatchItem does the same as updateCommandItem, for patches.
func (s *step) updatePatchItem(c *toolCall) *protocol.FileChangeItem {
	if c.item == nil {
		c.item = s.newItem(
			&protocol.FileChangeItem{ID: c.call.ID, Changes: c.patch.changes(), Status: protocol.PatchInProgress}, s.Now)
		s.notifyStarted(c.item)
	}
	item := *c.item.ThreadItemVariant.(*protocol.FileChangeItem)
	c.item.ThreadItemVariant = &item
	return &item
}
