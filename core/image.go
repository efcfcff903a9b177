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

func imageTool() builtInTool {
	return builtInTool{
		name:    toolspec.ViewImage,
		spec:    func(*Thread) ToolSpec { return toolspec.ImageSpec },
		offered: func(t *Thread) bool { return t.capabilities.Images },
		decode: func(s *step, c *toolCall) (callKind, error) {
			path, err := toolspec.ParseImage(c.call.Arguments, s.state.Settings.Cwd)
			return &imageCall{path, err}, nil
		},
	}
}

// imageCall is a call of view_image. A call with an error reads nothing, so it can run beside others as well.
type imageCall struct {
	path string // absolute
	err  error
}

func (k *imageCall) readsOnly(*step) bool { return true }

func (k *imageCall) start(s *step, c *toolCall) {
	if k.err != nil {
		s.rejectArguments(c, k.err)
		return
	}
	s.effect(ReadImage{ID: s.runCall(c), TurnID: s.active.id, Path: k.path,
		Confined: !toolspec.Unconfined(s.state.Settings.Sandbox)})
}

func (s *step) imageRead(in ImageRead) {
	c, k := endedCall[*imageCall](s, in.Effect)
	if c == nil {
		return
	}
	switch {
	case s.isEnding():
		s.completeCall(c, abortedOutputText)
	case in.Err != nil:
		s.completeCall(c, fmt.Sprintf("The image %s cannot be shown: %v", k.path, in.Err))
	default:
		k.complete(s, c, in.URL)
	}
	s.effectOfCallEnded()
}

// complete ends the call with the image as output, so that edits of the output cover the image.
func (k *imageCall) complete(s *step, c *toolCall, url string) {
	c.item = s.newItem(&protocol.ImageViewItem{ID: c.call.ID, Path: k.path}, s.Now)
	s.notifyStarted(c.item)
	s.completeItem(c.item, nil)
	s.completeCallWith(c,
		protocol.ToolOutput{Parts: []protocol.ContentItem{{Type: protocol.ContentInputImage, ImageURL: url, Detail: "high"}}})
}
