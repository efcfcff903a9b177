package core

import (
	"fmt"

	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// ReadImage reads an image file. Confined is set if the sandbox policy hides files.
type ReadImage struct {
	ID       EffectID
	TurnID   string
	Path     string
	Confined bool
}

func (ReadImage) effect() {}

// ImageRead ends a ReadImage, with the image as a data: URL or with an error.
type ImageRead struct {
	Effect EffectID
	URL    string
	Err    error
}

func (in ImageRead) apply(s *step) { s.imageRead(in) }

func (s *step) startViewImage(c *toolCall) {
	path, err := toolspec.ParseImage(c.call.Arguments, s.state.Settings.Cwd)
	if err != nil {
		s.rejectArguments(c, err)
		return
	}
	c.image = path
	c.state, c.effect = callRunning, s.newEffect()
	s.active.toolEffects = append(s.active.toolEffects, c.effect)
	s.effect(
		ReadImage{ID: c.effect, TurnID: s.active.id, Path: c.image, Confined: !toolspec.Unconfined(s.state.Settings.Sandbox)})
}

func (s *step) imageRead(in ImageRead) {
	c := s.runningCall(in.Effect)
	if c == nil || !removeEffect(&s.active.toolEffects, in.Effect) {
		return
	}
	switch {
	case s.active.outcome != nil:
		s.completeCall(c, abortedOutputText)
		s.completeWhenIdle()
		return
	case in.Err != nil:
		s.completeCall(c, fmt.Sprintf("The image %s cannot be shown: %v", c.image, in.Err))
	default:
		s.showImage(c, in.URL)
	}
	s.advance()
}

// showImage completes the call with the image as output, so that edits of the output cover the
// image.
func (s *step) showImage(c *toolCall, url string) {
	c.item = s.newItem(&protocol.ImageViewItem{ID: c.call.ID, Path: c.image}, s.Now)
	s.notifyStarted(c.item)
	s.completeItem(c.item, nil)
	s.completeCallWith(c,
		protocol.ToolOutput{Parts: []protocol.ContentItem{{Type: protocol.ContentInputImage, ImageURL: url, Detail: "high"}}})
}
