package core

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"appserver/core/pure/patch"
	"appserver/core/pure/toolspec"
	"appserver/core/pure/transcript"
	"appserver/protocol"
)

// PatchPlanned ends a PlanPatch, with the result of the patch or an error.
type PatchPlanned struct {
	Effect EffectID
	Result *patch.Result
	Err    error
}

func (in PatchPlanned) apply(s *step) { s.patchPlanned(in) }

// PatchWritten ends a WritePatch. With Err no file changed.
type PatchWritten struct {
	Effect  EffectID
	Err     error
	Tracked *Tracked
}

func (in PatchWritten) apply(s *step) { s.patchWritten(in) }

func patchTool() builtInTool {
	return builtInTool{
		name: toolspec.ApplyPatch,
		spec: func(*Thread) ToolSpec { return toolspec.PatchSpec },
		decode: func(s *step, c *toolCall) (callKind, error) {
			dir, text, err := toolspec.ParsePatch(s.state.Settings.Cwd, c.call.Arguments, c.call.Custom)
			return &patchCall{dir: dir, text: text}, err
		},
		asks: true, early: true,
	}
}

// patchCall is a patch of the model.
type patchCall struct {
	dir, text string
	// root is the writable root above dir, or "".
	root string
	// result is nil until the files were read.
	result *patch.Result
}

// patchIn returns the patch that a command passes to apply_patch, or nil.
func patchIn(c *shellCommand) *patchCall {
	dir, text, ok := c.Patch()
	if !ok {
		return nil
	}
	return &patchCall{dir: dir, text: text}
}

// abs returns the absolute path of a name of the patch.
func (p *patchCall) abs(name string) string { return patch.Full(p.dir, name) }

// summary returns the output of an applied patch: added files, then modified ones by their new
// names, then deleted ones. Models are trained on this form.
func (p *patchCall) summary() string {
	var b strings.Builder
	b.WriteString("Success. Updated the following files:\n")
	for _, letter := range []string{"A", "M", "D"} {
		for _, c := range p.result.Changes {
			if changeLetter(c.Kind) == letter {
				fmt.Fprintf(&b, "%s %s\n", letter, cmp.Or(c.MovePath, c.Path))
			}
		}
	}
	return b.String()
}

func changeLetter(kind patch.Kind) string {
	switch kind {
	case patch.Add:
		return "A"
	case patch.Delete:
		return "D"
	}
	return "M"
}

// changes returns the files for the item, sorted by path. A rollout keeps them in that order.
func (p *patchCall) changes() []protocol.FileUpdateChange {
	changes := []protocol.FileUpdateChange{}
	for _, c := range p.result.Changes {
		move := protocol.OrNil(c.MovePath)
		if move != nil {
			*move = p.abs(*move)
		}
		changes = append(changes,
			protocol.FileUpdateChange{Path: p.abs(c.Path), Kind: transcript.ChangeKind(string(c.Kind), move), Diff: c.Diff +
				transcript.MovedTo(move)})
	}
	slices.SortFunc(changes, func(a, b protocol.FileUpdateChange) int { return strings.Compare(a.Path, b.Path) })
	return changes
}

// files returns the absolute paths of the changed files.
func (p *patchCall) files() []string {
	var files []string
	for _, f := range p.result.Files {
		files = append(files, p.abs(f.Path))
	}
	return files
}

// keys returns the keys for acceptForSession: exactly these files.
func (p *patchCall) keys() []string {
	keys := p.files()
	for i := range keys {
		keys[i] = "file\x00" + keys[i]
	}
	return keys
}

func (k *patchCall) readsOnly(*step) bool { return false }

// start reads the files and computes the result of the patch.
func (k *patchCall) start(s *step, c *toolCall) {
	k.root = s.rules().Root(k.dir)
	s.effect(PlanPatch{ID: s.runCall(c), TurnID: s.active.id, Root: k.root, Dir: k.dir,
		Roots: s.rules().Roots(), Protect: !toolspec.Unconfined(s.state.Settings.Sandbox), Text: k.text, Cut: c.call.Cut})
}

func (s *step) patchPlanned(in PatchPlanned) {
	c, k := endedCall[*patchCall](s, in.Effect)
	if c == nil {
		return
	}
	switch {
	case s.isEnding():
		s.completeCall(c, abortedOutputText)
	case in.Err != nil:
		s.completeCall(c, fmt.Sprintf("apply_patch verification failed: %v\nNo file was changed.", in.Err))
	default:
		k.result = in.Result
		k.startPlanned(s, c)
		return
	}
	s.effectOfCallEnded()
}

// startPlanned writes the files, requests an approval, or refuses.
func (k *patchCall) startPlanned(s *step, c *toolCall) {
	switch c.verdict(s.patchVerdict(k)) {
	case toolspec.Run:
		k.write(s, c)
	case toolspec.Ask:
		s.requestApproval(c, k)
	default:
		k.decline(s, c, "The patch was not applied: the sandbox policy does not permit to write these files, "+
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

func (k *patchCall) write(s *step, c *toolCall) {
	k.show(s, c)
	if s.holdForCapture(c, k) {
		return
	}
	s.effect(WritePatch{ID: s.runCall(c), TurnID: s.active.id, Root: k.root, Dir: k.dir,
		Roots: s.rules().Roots(), Protect: !toolspec.Unconfined(s.state.Settings.Sandbox),
		Files: k.result.Files, Track: s.trackPatch(k)})
}

func (k *patchCall) resume(s *step, c *toolCall) { k.write(s, c) }

func (k *patchCall) accept(s *step, c *toolCall) { k.write(s, c) }

func (k *patchCall) decline(s *step, c *toolCall, reason string) {
	k.end(s, c, protocol.PatchDeclined, reason)
}

func (k *patchCall) abort(s *step, c *toolCall) { k.decline(s, c, abortedOutputText) }

func (k *patchCall) request(t *Thread, c *toolCall) Request {
	return Request{
		ID:     c.request,
		Method: protocol.MethodFileChangeApproval,
		Params: protocol.FileChangeRequestApprovalParams{
			ThreadID: t.state.ID, TurnID: t.active.id, ItemID: c.call.ID, StartedAtMs: *c.item.StartedAtMs,
		},
	}
}

func (k *patchCall) answer(s *step, c *toolCall, in ClientAnswer) {
	word, remark := decision(c, in, false)
	s.decide(c, k, word, remark)
}

func (k *patchCall) waitFlag() string { return protocol.FlagWaitingOnApproval }

func (k *patchCall) approvalKeys(*step) []string { return k.keys() }

func (k *patchCall) declinedText() string { return "The user declined this patch" }

func (k *patchCall) notDoneText() string { return "No file was changed." }

func (s *step) patchWritten(in PatchWritten) {
	c, k := endedCall[*patchCall](s, in.Effect)
	if c == nil {
		return
	}
	output := k.summary()
	status := protocol.PatchCompleted
	if in.Err != nil {
		output, status = fmt.Sprintf("The patch was not applied. %v", in.Err), protocol.PatchFailed
	}
	k.end(s, c, status, output)
	s.recordChanges(in.Tracked)
	s.effectOfCallEnded()
}

// end completes the item of a patch and answers its call.
func (k *patchCall) end(s *step, c *toolCall, status, output string) {
	k.updateItem(s, c).Status = status
	s.completeItem(c.item, nil)
	s.completeCall(c, output)
}

// trackPatch returns the tracking of a patch, or nil.
func (s *step) trackPatch(p *patchCall) *Track {
	if !s.active.env.Tracking.Patches {
		return nil
	}
	return s.track(s.trackedDir(p))
}

// trackedDir returns the root of all files of a patch, or the directory of the patch.
func (s *step) trackedDir(p *patchCall) string {
	root := ""
	for i, file := range p.files() {
		if r := s.rules().Root(file); i > 0 && r != root || r == "" {
			return cmp.Or(p.root, p.dir)
		} else {
			root = r
		}
	}
	return cmp.Or(root, p.root, p.dir)
}

func (k *patchCall) show(s *step, c *toolCall) { k.updateItem(s, c) }

// updateItem does the same as updateCommandItem, for patches.
func (k *patchCall) updateItem(s *step, c *toolCall) *protocol.FileChangeItem {
	if c.item == nil {
		c.item = s.newItem(
			&protocol.FileChangeItem{ID: c.call.ID, Changes: k.changes(), Status: protocol.PatchInProgress}, s.Now)
		s.notifyStarted(c.item)
	}
	item := *c.item.ThreadItemVariant.(*protocol.FileChangeItem)
	c.item.ThreadItemVariant = &item
	return &item
}
